//! What goes on which stream, how a stream begins, and how it ends.

use std::time::Duration;

use actix_mcp::testing::{paused, settle};
use actix_web::rt::time::sleep;
use russe::Event;
use serde_json::{Value, json};

use crate::{
    client::{Request, Response},
    fixture::{REVISIONS, server},
    refused::{Refusal, assert_idle},
    served::{Client, Served, call, call_with_progress, message},
};

// C15
#[actix_web::test]
async fn an_answer_is_on_its_own_exchange_and_nowhere_else() {
    paused();
    let served = Served::new(&server()).await;
    let client = Client::open(&served, "2025-11-25").await;
    let mut get = client.get().await.expect(200).await;
    let answer = client.post(&message(1, "tools/list", json!({}))).await.expect(200).await.json().await;
    assert_eq!(answer["id"], 1);
    let slow = client.call(2, "slow", json!({ "ms": 1000, "tag": "x" })).await.expect(200).await;
    assert_eq!(slow.messages().await.len(), 1);
    get.event().await.unwrap();
    get.silence().await;
}

// C16
#[actix_web::test]
async fn progress_and_logs_ride_the_stream_of_their_own_call() {
    paused();
    let served = Served::new(&server()).await;
    for listens in [true, false] {
        let mut sessions = Vec::new();
        for _ in 0..2 {
            let client = Client::open(&served, "2025-11-25").await;
            let get = if listens { Some(client.get().await.expect(200).await) } else { None };
            sessions.push((client, get));
        }
        // the same id and the same token in both, at the same time
        let call = call_with_progress(1, "progress", json!({ "n": 5, "ms": 50 }), "p");
        let mut streams = Vec::new();
        for (client, _) in &sessions {
            streams.push(client.start(&client.request(&call)).await);
        }
        for stream in streams {
            let messages = stream.response().await.expect(200).await.messages().await;
            let steps = messages.iter().map(|message| message["params"]["progress"].as_f64());
            let expected = [Some(1.0), Some(2.0), Some(3.0), Some(4.0), Some(5.0), None];
            assert_eq!(steps.collect::<Vec<_>>(), expected);
            assert_eq!(messages[5]["result"]["content"][0]["text"], "done");
        }
        for (client, _) in &sessions {
            let log = client.call(2, "log", json!({ "level": "error", "n": 2 })).await.expect(200).await;
            let methods = log.messages().await;
            assert_eq!(methods.len(), 3);
            assert!(methods[..2].iter().all(|message| message["method"] == "notifications/message"));
        }
        for (_, get) in &mut sessions {
            if let Some(get) = get {
                get.event().await.unwrap();
                get.silence().await;
            }
        }
    }
}

// C17
#[actix_web::test]
async fn a_progress_token_comes_back_as_it_was_and_is_never_made_up() {
    paused();
    let served = Served::new(&server()).await;
    let client = Client::open(&served, "2025-11-25").await;
    let arguments = json!({ "n": 1, "ms": 10 });
    for token in ["0", "7", r#""7""#, r#""""#, "9007199254740993", "-1"] {
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"progress","arguments":{arguments},"_meta":{{"progressToken":{token}}}}}}}"#
        );
        let mut response = client.send(&client.dress(Request::post(body))).await.expect(200).await;
        let text = String::from_utf8(response.bytes().await).unwrap();
        assert!(text.contains(&format!(r#""progressToken":{token},"#)), "{token}: {text}");
    }
    let without = call(1, "progress", arguments.clone());
    assert!(client.post(&without).await.expect(200).await.answer().await["result"].is_object());
    for token in [json!(1.5), json!(null), json!({}), json!([1]), json!(true)] {
        let call = call_with_progress(1, "progress", arguments.clone(), token);
        let mut response = client.post(&call).await.expect(200).await;
        let text = String::from_utf8(response.bytes().await).unwrap();
        assert!(!text.contains("notifications/progress"), "{text}");
    }
}

async fn cancel(client: &Client, id: i64) {
    client.notify("notifications/cancelled", json!({ "requestId": id })).await;
}

// C27
#[actix_web::test]
async fn a_cancelled_request_ends_its_exchange_in_every_form() {
    paused();
    let server = server();
    let served = Served::new(&server).await;
    let client = Client::open(&served, "2025-11-25").await;
    let slow = client.request(&call(9, "slow", json!({ "ms": 60_000, "tag": "x" })));
    let before = tokio::time::Instant::now();
    // a stream ends without an answer
    let mut stream = client.send(&slow).await.expect(200).await;
    cancel(&client, 9).await;
    assert_eq!(stream.message().await, None);
    // without a head yet: an event stream with nothing in it
    let pending = client.start(&slow).await;
    settle().await;
    cancel(&client, 9).await;
    let response = pending.response().await.expect(200).await;
    assert_eq!(response.header("content-type"), Some("text/event-stream"));
    response.empty().await;
    // a client that reads only JSON
    let pending = client.start(&slow.set("Accept", "application/json")).await;
    sleep(Duration::from_millis(300)).await;
    cancel(&client, 9).await;
    pending.response().await.expect(202).await.empty().await;
    assert!(before.elapsed() < Duration::from_secs(1));
    assert_eq!(server.stats().in_flight, 0);
    // the id is free, and so is the session
    client.call(9, "echo", json!({ "text": "x" })).await.expect(200).await;
    client.delete().await.expect(204).await;
    assert_idle(&server).await;
}

// C70
#[actix_web::test]
async fn a_priming_event_comes_from_2025_11_25_on_and_a_comment_before() {
    paused();
    let served = Served::new(&server()).await;
    for revision in REVISIONS {
        let client = Client::open(&served, revision).await;
        let slow = client.call(1, "slow", json!({ "ms": 1000, "tag": "x" })).await.expect(200).await;
        for mut stream in [slow, client.get().await.expect(200).await] {
            match stream.event().await.unwrap() {
                Event::Message(event) if revision == "2025-11-25" => {
                    assert!(event.id.is_some());
                    assert!(event.data.is_empty());
                    assert_eq!(event.retry, Some(Duration::from_secs(1)));
                }
                Event::Comment(_) if revision != "2025-11-25" => {}
                other @ (Event::Message(_) | Event::Comment(_) | Event::Retry(_)) => {
                    panic!("{revision}: {other:?}")
                }
            }
        }
        // an answer in one piece has nothing to come back to
        let initialize = crate::served::initialize(revision).set("Accept", "text/event-stream");
        let mut stream = served.send(&initialize).await.expect(200).await;
        assert!(matches!(stream.event().await.unwrap(), Event::Message(event) if !event.data.is_empty()));
    }
}

pub(crate) fn assert_stream_head(response: &Response) {
    assert_eq!(response.header("content-type"), Some("text/event-stream"));
    assert_eq!(response.header("cache-control"), Some("no-cache, no-transform"));
    assert_eq!(response.header("x-accel-buffering"), Some("no"));
    for absent in ["connection", "keep-alive", "content-length", "mcp-session-id"] {
        assert_eq!(response.header(absent), None, "{absent}");
    }
}

// C59
#[actix_web::test]
async fn the_head_of_a_stream_is_safe_for_proxies() {
    paused();
    let served = Served::new(&server()).await;
    let client = Client::open(&served, "2025-11-25").await;
    assert_stream_head(&client.get().await.expect(200).await);
    let mut stream = client.call(1, "slow", json!({ "ms": 1000, "tag": "x" })).await.expect(200).await;
    assert_stream_head(&stream);
    let Some(Event::Message(priming)) = stream.event().await else { panic!("no priming event") };
    assert_stream_head(&client.resume(&priming.id.unwrap()).await.expect(200).await);
}

// C57
#[actix_web::test]
async fn a_get_is_a_stream_of_a_session_or_refused() {
    paused();
    let served = Served::new(&server()).await;
    let client = Client::open(&served, "2025-11-25").await;
    Refusal::new(400, -32600, "`Mcp-Session-Id`")
        .check(served.send(&Request::get()).await, "no session")
        .await;
    for accept in ["application/json", "text/html", "text/event-stream;q=0"] {
        let request = client.dress(Request::get().set("Accept", accept));
        Refusal::new(406, -32600, "`Accept`").check(served.send(&request).await, accept).await;
    }
    let mut get = client.get().await.expect(200).await;
    get.event().await.unwrap();
    // a GET that is refused leaves the one that is open alone
    client.call(1, "toggle", json!({})).await.expect(200).await;
    let notice: Value = get.message().await.unwrap();
    assert_eq!(notice["method"], "notifications/tools/list_changed");
}
