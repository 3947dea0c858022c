//! Calls that a shutdown cuts: each is answered, once, and named in the log. And what the log says of a cancellation. Case C120.

use std::time::Duration;

use actix_mcp::{
    prelude::*,
    testing::{Pipe, paused, settle},
};
use actix_web::rt::time::sleep;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::{
    fixture, logs,
    served::{Client, Served, call, call_with_progress, message, modern, modern_call},
};

const MESSAGE: &str = "the server is shutting down; the call was stopped";

/// Never ends, and says why it was cancelled.
#[tool]
async fn listens(cancelled: Cancelled) {
    cancelled.wait().await;
    log::info!(target: "actix_mcp_test", "told: {:?}", cancelled.reason());
    std::future::pending().await
}

fn server() -> Server {
    builder().build()
}

fn builder() -> ServerBuilder {
    fixture::builder().tool(listens)
}

fn endless(id: &str) -> Value {
    call(id, "slow", json!({ "ms": 3_600_000, "tag": "x" }))
}

/// Asserts that this is the answer of a call that was cut.
fn assert_cut(answer: &Value, id: &str) {
    let expected = json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32603, "message": MESSAGE } });
    assert_eq!(answer, &expected);
}

/// The lines that name what was stopped.
fn stopped() -> Vec<String> {
    let mut lines = logs::take();
    lines.retain(|line| line.starts_with("WARN") && line.contains(": stopped "));
    lines
}

#[actix_web::test]
async fn every_call_of_a_session_that_the_drain_cuts_is_answered_once_and_named() {
    paused();
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        logs::install();
        let server = server();
        let client = Client::open(&Served::new(&server).await, revision).await;
        let json_only = client.request(&endless("json")).set("Accept", "application/json");
        let json_only = client.start(&json_only).await;
        let stream =
            client.start(&client.request(&endless("stream")).set("Accept", "text/event-stream")).await;
        let progress = json!({ "n": 2, "ms": 3_600_000 });
        let mut talking =
            client.post(&call_with_progress("talking", "progress", progress, "p")).await.expect(200).await;
        talking.message().await.unwrap();
        // one whose reader has gone, and comes back
        let mut lost = client
            .post(&call_with_progress("lost", "progress", json!({ "n": 2, "ms": 3_600_000 }), "q"))
            .await;
        let (last, _) = lost.message_event().await.unwrap();
        drop(lost);
        // and one that waits for its client
        let mut asking = client.call("asking", "roots", json!({})).await.expect(200).await;
        let question = asking.message().await.unwrap();
        let batch = (revision == "2025-03-26")
            .then(|| json!([endless("b1"), message("b2", "ping", json!({})), endless("b3")]));
        let batch = match batch {
            Some(batch) => Some(client.start(&client.request(&batch)).await),
            None => None,
        };
        let listening = client.start(&client.request(&call("listens", "listens", json!({})))).await;
        settle().await;
        logs::take();
        let start = Instant::now();
        let (resumed, ()) = tokio::join!(client.resume(last.as_deref().unwrap()), server.shutdown());
        assert_eq!(start.elapsed().as_secs(), 5, "{revision}");
        assert_cut(&json_only.response().await.expect(200).await.json().await, "json");
        for (stream, id) in [(stream, "stream"), (listening, "listens")] {
            let messages = stream.response().await.expect(200).await.messages().await;
            assert_eq!(messages.len(), 1, "{messages:?}");
            assert_cut(&messages[0], id);
        }
        for (stream, id) in [(talking, "talking"), (resumed, "lost")] {
            let messages = stream.messages().await;
            assert_eq!(messages.len(), 1, "{messages:?}");
            assert_cut(&messages[0], id);
        }
        let messages = asking.messages().await;
        assert_eq!(messages[0]["method"], "notifications/cancelled");
        assert_eq!(messages[0]["params"]["requestId"], question["id"]);
        assert_cut(&messages[1], "asking");
        if let Some(batch) = batch {
            let answers = batch.response().await.expect(200).await.json().await;
            let answer =
                |id: &str| answers.as_array().unwrap().iter().find(|answer| answer["id"] == id).unwrap();
            assert_cut(answer("b1"), "b1");
            assert_cut(answer("b3"), "b3");
            assert_eq!(answer("b2")["result"], json!({}));
            assert_eq!(answers.as_array().unwrap().len(), 3, "{answers}");
        }
        settle().await;
        sleep(Duration::from_secs(3)).await;
        let lines = logs::take();
        let named = |what: &str| {
            lines
                .iter()
                .filter(|line| {
                    *line == &format!("WARN the server is shutting down: stopped tools/call \"{what}\"")
                })
                .count()
        };
        let batched = if revision == "2025-03-26" { 2 } else { 0 };
        assert_eq!(
            (named("slow"), named("progress"), named("roots"), named("listens")),
            (2 + batched, 2, 1, 1),
            "{lines:?}"
        );
        assert!(lines.contains(&"INFO told: Some(\"the server is shutting down\")".to_owned()), "{lines:?}");
        assert_eq!(server.stats(), Default::default());
    }
}

#[actix_web::test]
async fn every_request_of_its_own_that_the_drain_cuts_is_answered_once_and_named() {
    paused();
    logs::install();
    // what has not become a stream by then is answered as what it is
    for sse_after in [Duration::from_millis(200), Duration::from_secs(3600)] {
        let server =
            builder().limits(fixture::limited(|limits| limits.session.sse_after = sse_after)).build();
        let served = Served::new(&server).await;
        let slow = |id: &str| modern_call(id, "slow", json!({ "ms": 3_600_000, "tag": "x" }));
        let mut exchanges = Vec::new();
        for (id, accept) in [
            ("json", "application/json"),
            ("stream", "text/event-stream"),
            ("both", "application/json, text/event-stream"),
        ] {
            let mut connection = served.connect();
            connection.send(&slow(id).set("Accept", accept)).await;
            exchanges.push((id, connection));
        }
        let params = json!({ "name": "progress", "arguments": { "n": 2, "ms": 3_600_000 }, "_meta": { "progressToken": 7 } });
        let mut talking = served.send(&modern("talking", "tools/call", params)).await.expect(200).await;
        talking.message().await.unwrap();
        let read = served
            .send(&modern("done", "resources/read", json!({ "uri": "mem://a" })))
            .await
            .expect(200)
            .await;
        assert!(read.answer().await.get("result").is_some());
        sleep(Duration::from_secs(1)).await;
        logs::take();
        server.shutdown().await;
        for (id, connection) in exchanges {
            assert_cut(&connection.response().await.expect(200).await.answer().await, id);
        }
        let messages = talking.messages().await;
        assert_eq!(messages.len(), 1, "{messages:?}");
        assert_cut(&messages[0], "talking");
        let lines = stopped();
        assert_eq!(lines.iter().filter(|line| line.ends_with("tools/call \"slow\"")).count(), 3, "{lines:?}");
        assert_eq!(
            lines.iter().filter(|line| line.ends_with("tools/call \"progress\"")).count(),
            1,
            "{lines:?}"
        );
        settle().await;
        assert_eq!(server.stats(), Default::default());
    }
}

#[actix_web::test]
async fn every_call_on_a_pipe_that_the_drain_cuts_is_answered_once_and_named() {
    paused();
    logs::install();
    let server =
        builder().limits(fixture::limited(|limits| limits.session.drain = Duration::from_secs(1))).build();
    let mut pipe = Pipe::connect(&server, "2025-03-26").await;
    pipe.send(&endless("line")).await;
    pipe.send(&json!([endless("b1"), message("b2", "ping", json!({}))])).await;
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let mut stateless = endless("stateless");
    stateless["params"]["_meta"] = meta.clone();
    pipe.send(&stateless).await;
    let filter = json!({ "notifications": { "toolsListChanged": true }, "_meta": meta });
    pipe.request("listen", "subscriptions/listen", filter).await;
    pipe.message("notifications/subscriptions/acknowledged").await;
    logs::take();
    let (rest, ended) = pipe.finish().await;
    ended.unwrap();
    let find = |id: &str| rest.iter().filter(|message| message["id"] == id).collect::<Vec<_>>();
    for id in ["line", "stateless"] {
        assert_eq!(find(id).len(), 1, "{rest:?}");
        assert_cut(find(id)[0], id);
    }
    assert_eq!(find("listen")[0]["result"]["resultType"], "complete", "it has its result");
    let arrays: Vec<_> = rest.iter().filter_map(Value::as_array).collect();
    assert_eq!(arrays.len(), 1, "{rest:?}");
    assert_eq!(arrays[0][0], json!({ "jsonrpc": "2.0", "id": "b2", "result": {} }));
    assert_cut(&arrays[0][1], "b1");
    assert_eq!(stopped().len(), 3);
}

#[actix_web::test]
async fn what_the_log_names_is_bounded_and_on_one_line() {
    paused();
    logs::install();
    let long = "n".repeat(5000);
    let tool = Tool::new(format!("odd-{long}"), async || std::future::pending::<()>().await);
    let server = Server::builder("odd", "1").tool(tool).build();
    let client = Client::open(&Served::new(&server).await, "2025-11-25").await;
    let running = client.call(1, &format!("odd-{long}"), json!({})).await.expect(200).await;
    server.shutdown().await;
    assert_eq!(running.messages().await.len(), 1);
    let lines = stopped();
    assert!(lines.len() == 1 && lines[0].len() < 200 && lines[0].contains("odd-nnn"), "{lines:?}");
}

// C120
#[actix_web::test]
async fn the_reason_of_a_cancellation_is_in_the_log_bounded_and_on_one_line() {
    paused();
    logs::install();
    let server = server();
    let client = Client::open(&Served::new(&server).await, "2025-11-25").await;
    let mut pipe = Pipe::connect(&server, "2025-11-25").await;
    let reasons = [
        (json!("user\npressed \u{1b}[31mstop"), r#""user\npressed \u{1b}[31mstop""#.to_owned()),
        (json!("x".repeat(5000)), format!("\"{}\"..", "x".repeat(100))),
        (Value::Null, "no reason given".to_owned()),
    ];
    for (reason, shown) in reasons {
        for (id, over_http) in [(1, true), (2, false)] {
            let cancelled = json!({ "requestId": id, "reason": reason });
            if over_http {
                let _running = client
                    .start(&client.request(&call(id, "slow", json!({ "ms": 60_000, "tag": "x" }))))
                    .await;
                settle().await;
                client.notify("notifications/cancelled", cancelled).await;
            } else {
                pipe.call(id, "slow", json!({ "ms": 60_000, "tag": "x" })).await;
                pipe.notify("notifications/cancelled", cancelled).await;
            }
            settle().await;
            let lines = logs::take();
            let line = format!("DEBUG the client cancelled a request: {shown}");
            assert!(lines.contains(&line), "{over_http}: {line} is not in {lines:?}");
            assert!(lines.iter().all(|line| !line.contains('\u{1b}') && !line.contains('\n')), "{lines:?}");
        }
    }
}
