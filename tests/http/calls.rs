//! Calls over HTTP, for what `tests/wire` shows line by line: each has its own exchange, and nobody else's ends with it.

use std::time::Duration;

use actix_mcp::testing::{paused, settle};
use actix_web::rt::time::sleep;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::{
    client::{Connection, Request},
    fixture::{SECRET, server},
    refused::Refusal,
    served::{Client, Served, call, call_with_progress, initialize_with, message},
};

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {answer}"))
}

async fn cancel(client: &Client, id: Value) {
    client.notify("notifications/cancelled", json!({ "requestId": id })).await;
}

/// What a cancelled call without a head ends with: a stream that says nothing.
async fn assert_stopped(pending: Connection) {
    let response = pending.response().await.expect(200).await;
    assert_eq!(response.header("content-type"), Some("text/event-stream"));
    response.empty().await;
}

// C18
#[actix_web::test]
async fn nothing_follows_an_answer_or_a_cancel() {
    paused();
    let client = Client::open(&Served::new(&server()).await, "2025-11-25").await;
    let mut get = client.get().await.expect(200).await;
    get.event().await;
    let late = client.post(&call_with_progress(1, "late", json!({}), "p")).await.expect(200).await;
    assert_eq!(text(&late.answer().await), "returned");
    // the part that outlives its call reports while id and token are in use again
    let again = call_with_progress(1, "slow", json!({ "ms": 1000, "tag": "A" }), "p");
    let said = client.post(&again).await.expect(200).await.messages().await;
    assert_eq!((said.len(), text(&said[0])), (1, "A"), "{said:?}");

    let cancelled = call_with_progress(2, "progress", json!({ "n": 1000, "ms": 10 }), 2);
    let mut cancelled = client.post(&cancelled).await.expect(200).await;
    for step in [1, 2] {
        assert_eq!(cancelled.message().await.unwrap()["params"]["progress"], step);
    }
    cancel(&client, json!(2)).await;
    assert_eq!(cancelled.messages().await, [] as [Value; 0]);
    sleep(Duration::from_secs(1)).await;
    get.silence().await;
}

// C23
#[actix_web::test]
async fn one_slow_call_holds_up_neither_others_nor_its_own_cancel() {
    paused();
    let server = server();
    let client = Client::open(&Served::new(&server).await, "2025-11-25").await;
    let start = Instant::now();
    let slow = client.start(&client.request(&call(1, "slow", json!({ "ms": 5000, "tag": "A" })))).await;
    settle().await;
    for (id, method) in [(2, "ping"), (3, "tools/list")] {
        let answer = client.post(&message(id, method, json!({}))).await.expect(200).await.json().await;
        assert_eq!(answer["id"], id);
    }
    assert_eq!(server.stats().in_flight, 1);
    cancel(&client, json!(1)).await;
    assert_stopped(slow).await;
    assert_eq!(server.stats().in_flight, 0);
    assert!(start.elapsed() < Duration::from_millis(200), "{:?}", start.elapsed());
}

// C24
#[actix_web::test]
async fn a_panic_is_one_error_without_its_text_in_every_form_of_an_answer() {
    paused();
    let server = server();
    let client = Client::open(&Served::new(&server).await, "2025-11-25").await;
    let panic = |after: u32| client.request(&call_with_progress(1, "panic", json!({ "after": after }), "p"));
    let events = |request: Request| request.set("Accept", "text/event-stream");
    let reader = client.request(&message(1, "resources/read", json!({ "uri": "mem://item/panic" })));
    for (request, before) in [
        (panic(0), 0),
        (panic(2), 2),
        (events(panic(0)), 0),
        (panic(2).set("Accept", "application/json"), 0),
        (reader, 0),
    ] {
        let mut response = client.send(&request).await.expect(200).await;
        let mut said = match response.header("content-type") {
            Some("text/event-stream") => {
                let mut said = Vec::new();
                while let Some(message) = response.message().await {
                    said.push(message);
                }
                said
            }
            _ => vec![response.json().await],
        };
        let error = json!({ "code": -32603, "message": "internal error" });
        assert_eq!(said.pop().unwrap(), json!({ "jsonrpc": "2.0", "id": 1, "error": error }));
        assert_eq!(said.len(), before);
        assert!(!format!("{said:?}").contains(SECRET));
        client.post(&message(2, "tools/list", json!({}))).await.expect(200).await;
    }
    assert_eq!(server.stats().in_flight, 0);
}

// C28
#[actix_web::test]
async fn a_cancel_that_names_nothing_in_flight_does_nothing() {
    paused();
    let client = Client::open(&Served::new(&server()).await, "2025-11-25").await;
    let running = client.start(&client.request(&call(1, "slow", json!({ "ms": 100, "tag": "A" })))).await;
    settle().await;
    // unknown, another type, the handshake, none, no id of any kind; and one that is to come
    for id in [json!(2), json!("1"), json!(0), Value::Null, json!(1.5), json!([1]), json!({}), json!(3)] {
        cancel(&client, id).await;
    }
    client.notify("notifications/cancelled", json!({})).await;
    client.notify("notifications/cancelled", json!({ "reason": "none" })).await;
    assert_eq!(text(&running.response().await.expect(200).await.answer().await), "A");
    cancel(&client, json!(1)).await;
    for id in [1, 3] {
        let answer = client.call(id, "slow", json!({ "ms": 100, "tag": "B" })).await.expect(200).await;
        assert_eq!(text(&answer.answer().await), "B");
    }
}

#[actix_web::test]
async fn a_batch_without_answers_tells_a_cancellation_from_the_end_of_its_session() {
    paused();
    let client = Client::open(&Served::new(&server()).await, "2025-03-26").await;
    let batch = client.request(&json!([call(1, "slow", json!({ "ms": 60_000, "tag": "A" }))]));
    let pending = client.start(&batch).await;
    settle().await;
    cancel(&client, json!(1)).await;
    pending.response().await.expect(202).await.empty().await;
    let pending = client.start(&batch).await;
    settle().await;
    client.delete().await.expect(204).await;
    Refusal::new(404, -32600, "`Mcp-Session-Id`").check(pending.response().await, "DELETE").await;
}

// C29
#[actix_web::test]
async fn a_cancel_stops_no_call_of_another_session() {
    paused();
    let served = Served::new(&server()).await;
    let (a, b) = (Client::open(&served, "2025-11-25").await, Client::open(&served, "2025-11-25").await);
    let slow =
        |client: &Client, tag: &str| client.request(&call(1, "slow", json!({ "ms": 1500, "tag": tag })));
    let (of_a, of_b) = (a.start(&slow(&a, "A")).await, b.start(&slow(&b, "B")).await);
    settle().await;
    cancel(&b, json!(1)).await;
    assert_stopped(of_b).await;
    assert_eq!(text(&of_a.response().await.expect(200).await.answer().await), "A");
}

// C34
#[actix_web::test]
async fn a_question_ends_with_an_error_of_the_client_and_with_its_call() {
    paused();
    let server = server();
    let client = Client::open(&Served::new(&server).await, "2025-11-25").await;
    let mut asking = client.call(1, "ask", json!({})).await.expect(200).await;
    let question = asking.message().await.unwrap();
    let error = json!({ "code": -32601, "message": "Method not found" });
    let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "error": error });
    client.post(&answer).await.expect(202).await.empty().await;
    let answer = asking.message().await.unwrap();
    assert_eq!(answer["result"]["isError"], true);
    assert!(text(&answer).starts_with("ask failed: the client answered with an error"), "{answer}");

    let mut asking = client.call(2, "ask", json!({})).await.expect(200).await;
    let question = asking.message().await.unwrap();
    cancel(&client, json!(2)).await;
    let said = asking.messages().await;
    assert_eq!(said.len(), 1, "{said:?}");
    assert_eq!(said[0]["method"], "notifications/cancelled");
    assert_eq!(said[0]["params"]["requestId"], question["id"]);
    // too late: accepted and ignored
    client.answer(&question["id"], json!({ "action": "accept", "content": { "x": "1" } })).await;
    settle().await;
    assert_eq!(server.stats().in_flight, 0);
}

// C48
#[actix_web::test]
async fn a_client_is_asked_only_for_what_it_declared_itself() {
    paused();
    let served = Served::new(&server()).await;
    let a = initialize_with("2025-11-25", json!({ "elicitation": {}, "sampling": {} }));
    let a = Client::open_with(&served, a, &[]).await;
    // the last one to come does not speak for the others
    let b = Client::open_with(&served, initialize_with("2025-11-25", json!({})), &[]).await;
    for (tool, method) in [("ask", "elicitation/create"), ("sample", "sampling/createMessage")] {
        let answer = b.call(tool, tool, json!({})).await.expect(200).await.json().await;
        assert!(text(&answer).starts_with("ask failed: the client does not support"), "{answer}");
        let mut asking = a.call(tool, tool, json!({})).await.expect(200).await;
        assert_eq!(asking.message().await.unwrap()["method"], method);
    }
}

// C69
#[actix_web::test]
async fn whatever_a_message_says_it_is_one_line() {
    const BREAKS: &str = "a\u{2028}b\u{2029}c\u{85}d\r\n\re";
    paused();
    let client = Client::open(&Served::new(&server()).await, "2025-11-25").await;
    let echo = client.request(&call(1, "echo", json!({ "text": BREAKS })));
    let progress = call_with_progress(1, "progress", json!({ "n": 1, "text": BREAKS }), BREAKS);
    let own = crate::served::modern_call(1, "echo", json!({ "text": BREAKS }));
    let own_progress = json!({ "name": "progress", "arguments": { "n": 1, "text": BREAKS },
        "_meta": { "progressToken": BREAKS } });
    for (request, messages) in [
        (echo.clone(), 1),
        (echo.set("Accept", "text/event-stream"), 1),
        (client.request(&progress), 2),
        (own.clone(), 1),
        (own.set("Accept", "text/event-stream"), 1),
        (crate::served::modern(1, "tools/call", own_progress), 2),
    ] {
        let mut response = client.send(&request).await.expect(200).await;
        let body = String::from_utf8(response.bytes().await).expect("a body is UTF-8");
        assert!(!body.contains(['\u{2028}', '\u{2029}', '\u{85}', '\r']), "{body:?}");
        let lines: Vec<_> =
            body.lines().filter_map(|line| line.strip_prefix("data: ").or(Some(line))).collect();
        let read = lines.iter().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let read: Vec<_> = read.filter(Value::is_object).collect();
        assert_eq!(read.len(), messages, "{body:?}");
        let first = &read[0];
        let said = &first["params"]["message"];
        assert_eq!(if said.is_null() { text(first) } else { said.as_str().unwrap() }, BREAKS);
    }
}

// C76
#[actix_web::test]
async fn a_log_level_is_of_its_own_session() {
    paused();
    let served = Served::new(&server()).await;
    let (a, b) = (Client::open(&served, "2025-11-25").await, Client::open(&served, "2025-11-25").await);
    for (client, level) in [(&a, "debug"), (&b, "error")] {
        let set = message(1, "logging/setLevel", json!({ "level": level }));
        assert_eq!(client.post(&set).await.expect(200).await.json().await["result"], json!({}));
        let set = message(2, "logging/setLevel", json!({ "level": "WARN" }));
        Refusal::new(200, -32602, "`level`").of(2).check(client.post(&set).await, "no level").await;
    }
    let log = |level: &str| call(3, "log", json!({ "level": level }));
    let said = a.post(&log("info")).await.expect(200).await.messages().await;
    assert_eq!((said.len(), &said[0]["params"]["level"]), (2, &json!("info")), "{said:?}");
    // nothing was sent, so its answer is plain
    assert_eq!(text(&b.post(&log("info")).await.expect(200).await.json().await), "logged");
    assert_eq!(b.post(&log("critical")).await.expect(200).await.messages().await.len(), 2);
}
