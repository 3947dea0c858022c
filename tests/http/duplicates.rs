//! A second request under a live id, and what belongs to which request: cases C01 and C02.

use actix_mcp::testing::{paused, settle};
use serde_json::{Value, json};

use crate::{
    client::Response,
    fixture::server,
    served::{Client, Served, call, call_with_progress},
};

async fn progress_of(stream: &mut Response) -> Value {
    let message = stream.message().await.expect("the stream has ended");
    assert_eq!(message["method"], "notifications/progress", "{message}");
    message["params"]["progress"].clone()
}

#[actix_web::test]
async fn a_second_request_under_a_live_id_is_refused_before_it_has_a_stream_and_the_first_keeps_everything() {
    paused();
    let server = server();
    let client = Client::open(&Served::new(&server).await, "2025-11-25").await;
    let first = call_with_progress(7, "progress", json!({ "n": 3, "ms": 100 }), "first");
    let mut first = client.post(&first).await.expect(200).await;
    assert_eq!(progress_of(&mut first).await, 1);

    let second = call_with_progress(7, "progress", json!({ "n": 9, "ms": 1 }), "second");
    let second = client.post(&second).await.expect(409).await;
    assert_eq!((server.stats().streams, server.stats().in_flight), (1, 1), "it had a stream or a task");
    let refusal = second.json().await;
    assert_eq!((&refusal["id"], &refusal["error"]["code"]), (&json!(7), &json!(-32600)), "{refusal}");
    assert!(refusal["error"]["message"].as_str().unwrap().contains("request id 7 is already in flight"));

    for step in [2, 3] {
        assert_eq!(progress_of(&mut first).await, step);
    }
    let rest = first.messages().await;
    assert_eq!(rest.len(), 1, "{rest:?}");
    assert_eq!((&rest[0]["id"], &rest[0]["result"]["content"][0]["text"]), (&json!(7), &json!("done")));
    assert_eq!(server.calls(), 1);

    // the answer was handed over: the id is free
    let again = client.call(7, "echo", json!({ "text": "again" })).await.expect(200).await.json().await;
    assert_eq!(again["result"]["content"][0]["text"], "again");
}

#[actix_web::test]
async fn after_a_refusal_a_cancellation_still_reaches_the_first() {
    paused();
    let server = server();
    let client = Client::open(&Served::new(&server).await, "2025-11-25").await;
    let first = call_with_progress(7, "progress", json!({ "n": 1000, "ms": 100 }), "first");
    let mut first = client.post(&first).await.expect(200).await;
    assert_eq!(progress_of(&mut first).await, 1);
    client.call(7, "slow", json!({ "ms": 1, "tag": "B" })).await.expect(409).await.json().await;
    client.notify("notifications/cancelled", json!({ "requestId": 7 })).await;
    assert_eq!(first.messages().await, [] as [Value; 0], "the cancelled call said more");
    settle().await;
    assert_eq!(server.stats().in_flight, 0);
    // and it has freed the id
    let again = client.call(7, "echo", json!({ "text": "again" })).await.expect(200).await.json().await;
    assert_eq!(again["result"]["content"][0]["text"], "again");
}

#[actix_web::test]
async fn an_initialize_under_a_live_id_evicts_nothing() {
    paused();
    let client = Client::open(&Served::new(&server()).await, "2025-11-25").await;
    let first = call_with_progress(7, "progress", json!({ "n": 2, "ms": 100 }), "first");
    let mut first = client.post(&first).await.expect(200).await;
    assert_eq!(progress_of(&mut first).await, 1);
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    let second = client.post(&crate::served::message(7, "initialize", params)).await;
    assert!(matches!(second.status, 400 | 409), "{}", second.status);
    assert_eq!(second.json().await["error"]["code"], -32600);
    assert_eq!(progress_of(&mut first).await, 2);
    assert_eq!(first.messages().await.len(), 1);
}

/// A question goes out on the stream of the call that asks, and nowhere else.
async fn asks_on_its_own_stream(tool: &str, method: &str, answer: Value, with_get: bool) {
    paused();
    let client = Client::open(&Served::new(&server()).await, "2025-11-25").await;
    let mut get = match with_get {
        true => Some(client.get().await.expect(200).await),
        false => None,
    };
    // a stream that has nothing to do with it
    let other = call_with_progress(4, "progress", json!({ "n": 2, "ms": 3_600_000 }), 4);
    let mut other = client.post(&other).await.expect(200).await;
    assert_eq!(progress_of(&mut other).await, 1);

    let mut asking = client.post(&call(5, tool, json!({}))).await.expect(200).await;
    let question = asking.message().await.expect("the stream has ended");
    assert_eq!(question["method"], method, "{question}");
    if let Some(get) = &mut get {
        let first = get.event().await;
        assert!(matches!(&first, Some(russe::Event::Message(first)) if first.data.is_empty()), "{first:?}");
        get.silence().await;
    }
    other.silence().await;
    client.answer(&question["id"], answer).await;
    let rest = asking.messages().await;
    assert_eq!(rest.len(), 1, "{rest:?}");
    assert_eq!(rest[0]["id"], 5);
    let text = rest[0]["result"]["content"][0]["text"].as_str().expect("a text");
    assert!(!text.contains("failed"), "{text}");
    if let Some(get) = &mut get {
        get.silence().await;
    }
}

fn form() -> Value {
    json!({ "action": "accept", "content": { "x": "1" } })
}

fn written() -> Value {
    json!({ "role": "assistant", "model": "m", "content": { "type": "text", "text": "short" } })
}

#[actix_web::test]
async fn an_elicitation_goes_out_on_the_stream_of_the_call_that_asked() {
    asks_on_its_own_stream("ask", "elicitation/create", form(), false).await;
}

#[actix_web::test]
async fn an_elicitation_goes_out_on_the_stream_of_the_call_that_asked_with_a_get_stream_open() {
    asks_on_its_own_stream("ask", "elicitation/create", form(), true).await;
}

#[actix_web::test]
async fn a_sampling_request_goes_out_on_the_stream_of_the_call_that_asked() {
    asks_on_its_own_stream("sample", "sampling/createMessage", written(), false).await;
}

#[actix_web::test]
async fn a_sampling_request_goes_out_on_the_stream_of_the_call_that_asked_with_a_get_stream_open() {
    asks_on_its_own_stream("sample", "sampling/createMessage", written(), true).await;
}
