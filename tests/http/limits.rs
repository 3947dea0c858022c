//! The limits of what there may be at once, each on both sides: sessions, calls, streams, subscriptions, parts of a message.

use std::time::Duration;

use actix_mcp::testing::{paused, settle};
use actix_web::rt::time::sleep;
use russe::Event;
use serde_json::{Value, json};

use crate::{
    fixture::{builder, limited, server},
    refused::{Refusal, assert_idle},
    served::{Client, Served, call, call_with_progress, initialize, message, modern, modern_call},
};

#[actix_web::test]
async fn one_more_call_than_may_be_in_flight_is_429_until_another_ends() {
    paused();
    let server = builder().limits(limited(|limits| limits.session.in_flight = 2)).build();
    let served = Served::new(&server).await;
    let client = Client::open(&served, "2025-11-25").await;
    let slow = |id: i64| client.request(&call(id, "slow", json!({ "ms": 1000, "tag": "x" })));
    let (first, second) = (client.start(&slow(1)).await, client.start(&slow(2)).await);
    settle().await;
    let full = Refusal::new(429, -32603, "the limit is 2");
    full.clone().of(3).check(client.send(&slow(3)).await, "a third").await;
    full.of("x").check(client.post(&message("x", "tools/list", json!({}))).await, "a list").await;
    // what is never in flight is served
    client.post(&message(4, "ping", json!({}))).await.expect(200).await;
    // another session has room of its own
    let other = Client::open(&served, "2025-11-25").await;
    other.call(1, "echo", json!({ "text": "x" })).await.expect(200).await;
    for running in [first, second] {
        assert_eq!(running.response().await.expect(200).await.messages().await.len(), 1);
    }
    client.send(&slow(3)).await.expect(200).await;
    assert_eq!(server.calls(), 4);
}

#[actix_web::test]
async fn one_more_session_than_may_be_open_is_503_until_another_ends() {
    paused();
    let server = builder().limits(limited(|limits| limits.process.sessions = 2)).build();
    let served = Served::new(&server).await;
    let first = Client::open(&served, "2025-11-25").await;
    let second = Client::open(&served, "2025-11-25").await;
    let full = Refusal::new(503, -32603, "the limit is 2").of(0);
    full.check(served.send(&initialize("2025-11-25")).await, "a third").await;
    // nobody loses a session for it
    for client in [&first, &second] {
        client.post(&message(1, "ping", json!({}))).await.expect(200).await;
    }
    first.delete().await.expect(204).await;
    settle().await;
    let third = Client::open(&served, "2025-11-25").await;
    full.check(served.send(&initialize("2025-11-25")).await, "a fourth").await;
    // expired ones go by themselves
    sleep(Duration::from_secs(1801)).await;
    assert_idle(&server).await;
    Client::open(&served, "2025-11-25").await;
    drop((second, third));
}

#[actix_web::test]
async fn one_more_request_without_a_session_than_the_limit_of_sessions_is_503_until_another_ends() {
    paused();
    let server = builder().limits(limited(|limits| limits.process.sessions = 2)).build();
    let served = Served::new(&server).await;
    // neither sessions nor subscriptions count
    let client = Client::open(&served, "2025-11-25").await;
    let listen = modern("l", "subscriptions/listen", json!({ "notifications": {} }));
    let listening = served.send(&listen).await.expect(200).await;
    // an id is nobody's
    let slow = modern_call(1, "slow", json!({ "ms": 1000, "tag": "x" }));
    let (mut first, mut second) = (served.connect(), served.connect());
    first.send(&slow).await;
    second.send(&slow).await;
    settle().await;
    let full = Refusal::new(503, -32603, "too many requests are open (the limit is 2)").of(1);
    full.check(served.send(&slow).await, "a third").await;
    full.check(served.send(&modern(1, "tools/list", json!({}))).await, "a list").await;
    // what is no exchange is served
    client.call(1, "none", json!({})).await.expect(200).await;
    let more = served.send(&listen).await.expect(200).await;
    // one is given up, the other is answered
    drop(first);
    settle().await;
    served.send(&modern(1, "tools/list", json!({}))).await.expect(200).await;
    second.response().await.expect(200).await.answer().await;
    let (mut first, mut second) = (served.connect(), served.connect());
    first.send(&slow).await;
    second.send(&slow).await;
    settle().await;
    full.check(served.send(&slow).await, "a third").await;
    drop((first, second, listening, more));
    client.delete().await.expect(204).await;
    assert_idle(&server).await;
}

#[actix_web::test]
async fn one_more_standalone_stream_than_eight_is_429_until_another_ends() {
    paused();
    let server = server();
    let served = Served::new(&server).await;
    let client = Client::open(&served, "2025-11-25").await;
    let mut streams = Vec::new();
    for _ in 0..8 {
        streams.push(client.get().await.expect(200).await);
    }
    let full = Refusal::new(429, -32603, "the limit is 8");
    full.check(client.get().await, "a ninth").await;
    let mut slow = client.call(1, "slow", json!({ "ms": 1000, "tag": "x" })).await.expect(200).await;
    assert!(slow.message().await.is_some(), "a call's stream is none of these");
    streams.pop();
    settle().await;
    streams.push(client.get().await.expect(200).await);
    full.check(client.get().await, "a ninth").await;
    assert_eq!(server.stats().streams, 8);
}

#[actix_web::test]
async fn readers_that_come_back_to_an_ended_stream_and_read_nothing_have_a_bounded_share() {
    paused();
    let server = builder().limits(limited(|limits| limits.session.streams = 2)).build();
    let served = Served::new(&server).await;
    let client = Client::open(&served, "2025-11-25").await;
    let large = json!({ "n": 9, "text": "x".repeat(100_000) });
    let call = call_with_progress(1, "progress", large, "p");
    let mut stream = client.post(&call).await.expect(200).await;
    let first = stream.event().await.unwrap();
    let Event::Message(first) = first else { panic!("a priming event is no comment") };
    let last = first.id.unwrap();
    assert_eq!(stream.messages().await.len(), 10);
    // 900 kB are kept, and 2 MiB may be on their way
    let readers =
        [client.resume(&last).await.expect(200).await, client.resume(&last).await.expect(200).await];
    let full = Refusal::new(429, -32603, "the limit is 2097152 bytes");
    full.check(client.resume(&last).await, "a third").await;
    // one that goes on with a stream that runs replaces its reader, and needs no such room
    let mut slow = client.call(2, "slow", json!({ "ms": 1000, "tag": "x" })).await.expect(200).await;
    let Some(Event::Message(primed)) = slow.event().await else { panic!("no priming event") };
    let resumed = client.resume(&primed.id.unwrap()).await.expect(200).await;
    assert_eq!(resumed.messages().await.len(), 1);
    for reader in readers {
        assert_eq!(reader.messages().await.len(), 10);
    }
    settle().await;
    assert_eq!(client.resume(&last).await.expect(200).await.messages().await.len(), 10);
    assert_eq!(server.stats().streams, 0);
}

#[actix_web::test]
async fn one_more_subscription_than_the_limit_is_refused_until_another_is_given_up() {
    paused();
    let server = builder().limits(limited(|limits| limits.session.subscriptions = 2)).build();
    let client = Client::open(&Served::new(&server).await, "2025-11-25").await;
    let send = async |method: &str, uri: &str| client.post(&message(1, method, json!({ "uri": uri }))).await;
    for uri in ["mem://a", "mem://b", "mem://a"] {
        assert_eq!(
            send("resources/subscribe", uri).await.expect(200).await.json().await["result"],
            json!({})
        );
    }
    let full = Refusal::new(200, -32603, "the limit is 2").of(1);
    full.check(send("resources/subscribe", "mem://item/1").await, "a third").await;
    assert_eq!(server.stats().subscriptions, 2);
    send("resources/unsubscribe", "mem://a").await.expect(200).await;
    let answer = send("resources/subscribe", "mem://item/1").await.json().await;
    assert_eq!(answer["result"], json!({}));
    client.delete().await.expect(204).await;
    assert_idle(&server).await;
}

fn nested(levels: usize) -> String {
    // the message, its params and the arguments are three
    let (open, close) = ("[".repeat(levels - 3), "]".repeat(levels - 3));
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"typed","arguments":{{"n":1,"any":{open}{close}}}}}}}"#
    )
}

#[actix_web::test]
async fn the_parts_of_a_message_have_their_limits() {
    paused();
    let server = server();
    let served = Served::new(&server).await;
    let client = Client::open(&served, "2025-11-25").await;
    let send = async |body: String| client.send(&client.dress(crate::client::Request::post(body))).await;
    // depth
    assert_eq!(
        send(nested(64)).await.expect(200).await.json().await["result"]["content"][0]["text"],
        "typed"
    );
    Refusal::new(400, -32600, "64 levels").of(1).check(send(nested(65)).await, "depth").await;
    Refusal::new(400, -32600, "64 levels").of(1).check(send(nested(100_000)).await, "a great depth").await;
    // ids
    let most = "i".repeat(8192);
    let answer = client.post(&message(&*most, "ping", json!({}))).await.expect(200).await.json().await;
    assert_eq!(answer["id"], *most);
    let response = client.post(&message(most + "i", "ping", json!({}))).await;
    Refusal::new(400, -32600, "`id`").check(response, "id").await;
    // names and URIs
    let most = "n".repeat(8192);
    let more = most.clone() + "n";
    for (method, member) in [("tools/call", "name"), ("prompts/get", "name"), ("resources/read", "uri")] {
        let named = |name: &str| message(1, method, json!({ member: name }));
        let answer = client.post(&named(&most)).await.expect(200).await.json().await;
        assert_ne!(answer["error"]["message"].as_str().map(|text| text.contains("longer")), Some(true));
        let response = client.post(&named(&more)).await;
        Refusal::new(200, -32602, "longer than 8192 bytes").of(1).check(response, method).await;
    }
    Refusal::new(200, -32601, "")
        .of(1)
        .check(client.post(&message(1, &most, json!({}))).await, "method")
        .await;
    let response = client.post(&message(1, &more, json!({}))).await;
    Refusal::new(400, -32602, "`method` is longer than 8192 bytes").of(1).check(response, "method").await;
    // batches
    let client = Client::open(&served, "2025-03-26").await;
    let batch = |length: usize| Value::Array((0..length).map(|id| message(id, "ping", json!({}))).collect());
    let answers = client.post(&batch(100)).await.expect(200).await.json().await;
    assert_eq!(answers.as_array().unwrap().len(), 100);
    let refusal = Refusal::new(400, -32600, "at most 100 messages").of(Value::Null);
    refusal.check(client.post(&batch(101)).await, "batch").await;
}

#[actix_web::test]
async fn the_limits_of_a_messages_parts_can_be_set() {
    paused();
    let limits = limited(|limits| {
        let message = &mut limits.message;
        (message.depth, message.id_bytes, message.name_bytes) = (6, 30, 40);
    });
    let client = Client::open(&Served::new(&builder().limits(limits).build()).await, "2025-11-25").await;
    let send = async |body: String| client.send(&client.dress(crate::client::Request::post(body))).await;
    send(nested(6)).await.expect(200).await;
    Refusal::new(400, -32600, "6 levels").of(1).check(send(nested(7)).await, "depth").await;
    client.post(&message("i".repeat(30), "ping", json!({}))).await.expect(200).await;
    client.post(&message("i".repeat(31), "ping", json!({}))).await.expect(400).await;
    client.post(&message(1, &"m".repeat(40), json!({}))).await.expect(200).await;
    client.post(&message(1, &"m".repeat(41), json!({}))).await.expect(400).await;
}
