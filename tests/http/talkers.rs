//! Handlers that say more than anybody reads: a wait for room is a wait, even where all that is said goes nowhere, and never
//! keeps a worker from its other requests.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use actix_mcp::{
    Server,
    prelude::*,
    testing::{paused, settle},
};
use serde_json::json;

use crate::served::{Client, Served, call, call_with_progress, modern, modern_call};

/// So many reports, and the handler gives up.
const MOST: u64 = 200_000;

#[derive(Default)]
struct Talk {
    enough: AtomicBool,
    reports: AtomicU64,
}

/// Reports, and does nothing else, until another call says that it is enough.
async fn talk(progress: Progress, talk: web::Data<Talk>) -> &'static str {
    for n in 0..MOST {
        if talk.enough.load(Ordering::Relaxed) {
            return "enough";
        }
        talk.reports.store(n, Ordering::Relaxed);
        progress.report(n).await.ok();
    }
    "nobody came between"
}

async fn enough(talk: web::Data<Talk>) -> &'static str {
    talk.enough.store(true, Ordering::Relaxed);
    "ok"
}

fn server() -> (Server, Arc<Talk>) {
    let shared = Arc::new(Talk::default());
    let server = Server::builder("fixture", "1").data_arc(shared.clone());
    (server.tool(Tool::new("talk", talk)).tool(Tool::new("enough", enough)).build(), shared)
}

/// Lets time pass although a handler never lets the runtime rest, which is when the paused clock moves by itself.
async fn pass(time: Duration) {
    const STEP: Duration = Duration::from_millis(50);
    for _ in 0..time.as_millis() / STEP.as_millis() {
        tokio::time::advance(STEP).await;
        tokio::task::yield_now().await;
    }
}

#[actix_web::test]
async fn a_call_that_reports_without_end_ends_with_its_reader() {
    paused();
    let (server, shared) = server();
    let served = Served::new(&server).await;
    let params = json!({ "name": "talk", "arguments": {}, "_meta": { "progressToken": 1 } });
    let mut stream = served.send(&modern(1, "tools/call", params)).await.expect(200).await;
    stream.message().await.expect("a report");
    drop(stream);
    settle().await;
    assert_eq!(server.stats().in_flight, 0);
    assert!(shared.reports.load(Ordering::Relaxed) < MOST / 2, "it ran to its end");
}

#[actix_web::test]
async fn a_call_that_reports_to_nobody_lets_other_calls_run() {
    paused();
    let (server, shared) = server();
    let served = Served::new(&server).await;
    let params = json!({ "name": "talk", "arguments": {}, "_meta": { "progressToken": 1 } });
    let talking = modern(1, "tools/call", params).set("Accept", "application/json");
    let saying = async { served.send(&talking).await.expect(200).await.answer().await };
    let enough = modern_call(2, "enough", json!({}));
    let stopping = async { served.send(&enough).await.expect(200).await };
    let (answer, _) = futures_util::future::join(saying, stopping).await;
    assert_eq!(answer["result"]["content"][0]["text"], "enough", "from 2026-07-28 on");
    shared.enough.store(false, Ordering::Relaxed);

    let client = Client::open(&served, "2025-11-25").await;
    let talking =
        client.request(&call_with_progress(1, "talk", json!({}), 1)).set("Accept", "application/json");
    let saying = async { client.send(&talking).await.expect(200).await.answer().await };
    let stopping = async { client.call(2, "enough", json!({})).await.expect(200).await };
    let (answer, _) = futures_util::future::join(saying, stopping).await;
    assert_eq!(answer["result"]["content"][0]["text"], "enough", "in a session");
}

#[actix_web::test]
async fn a_call_that_reports_to_nobody_has_its_stream_after_the_usual_silence() {
    paused();
    let (server, shared) = server();
    let served = Served::new(&server).await;
    let client = Client::open(&served, "2025-11-25").await;
    // no token: it says nothing
    let session = client.request(&call(1, "talk", json!({})));
    for request in [modern_call(1, "talk", json!({})), session] {
        shared.enough.store(false, Ordering::Relaxed);
        let mut connection = served.connect();
        connection.send(&request).await;
        pass(Duration::from_millis(300)).await;
        let stream = connection.response().await.expect(200).await;
        assert_eq!(stream.header("content-type"), Some("text/event-stream"));
        shared.enough.store(true, Ordering::Relaxed);
        let answer = stream.messages().await.pop().expect("an answer");
        assert_eq!(answer["result"]["content"][0]["text"], "enough");
    }
}

#[actix_web::test]
async fn a_call_that_reports_without_end_has_the_drain_time_and_no_more() {
    paused();
    for accept in ["application/json", "application/json, text/event-stream"] {
        let (server, shared) = server();
        let served = Served::new(&server).await;
        let mut connection = served.connect();
        connection.send(&modern_call(1, "talk", json!({})).set("Accept", accept)).await;
        pass(Duration::from_millis(300)).await;
        assert_eq!(server.stats().in_flight, 1);
        let ((), ()) = tokio::join!(server.shutdown(), pass(Duration::from_secs(6)));
        settle().await;
        assert_eq!(server.stats(), Default::default(), "{accept}");
        assert!(shared.reports.load(Ordering::Relaxed) < MOST - 1, "it ran to its end: {accept}");
        let response = connection.response().await;
        if accept == "application/json" {
            assert_eq!(response.expect(200).await.json().await["error"]["code"], -32603);
        } else {
            let last = response.expect(200).await.messages().await.pop().expect("an answer");
            assert_eq!((&last["id"], &last["error"]["code"]), (&json!(1), &json!(-32603)), "{last}");
        }
    }
}
