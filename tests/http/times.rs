//! The limits of time and of what waits: queues, the replay ring, questions, graces, stalls, notices, idle sessions.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use actix_mcp::{
    Cancelled, Progress, Server,
    limits::ReplayLimits,
    testing::{paused, settle},
    tool,
};
use actix_web::{rt::time::sleep, web};
use russe::Event;
use serde_json::json;
use tokio::time::Instant;

use crate::{
    client::{Request, Response},
    fixture,
    refused::{Refusal, assert_idle},
    served::{Client, Served, call, call_with_progress, message},
};

/// Reports so often, with messages of so many bytes, and counts the reports that were taken.
#[tool]
async fn flood(n: usize, bytes: usize, progress: Progress, taken: web::Data<AtomicUsize>) -> &'static str {
    let text = "x".repeat(bytes);
    for step in 1..=n {
        progress.report(step as f64).message(&text).await.ok();
        taken.fetch_add(1, Ordering::Relaxed);
    }
    "done"
}

/// Cleans up for so long once it was cancelled.
#[tool]
async fn tidy(ms: u64, cancelled: Cancelled, done: web::Data<AtomicUsize>) -> &'static str {
    cancelled.wait().await;
    sleep(Duration::from_millis(ms)).await;
    done.fetch_add(1, Ordering::Relaxed);
    "tidied"
}

fn counting() -> (Server, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    (fixture::builder().tool(flood).tool(tidy).data_arc(count.clone()).build(), count)
}

// 256 messages or 256 KiB on a stream whose reader stands still; what the connection's own buffers hold comes on top
#[actix_web::test]
async fn a_handler_waits_while_its_stream_holds_as_much_as_it_may_and_loses_nothing() {
    paused();
    for (bytes, least, most) in [(10, 256, 1200), (10_000, 26, 50)] {
        let (server, taken) = counting();
        let served = Served::new(&server).await;
        let client = Client::open(&served, "2025-11-25").await;
        let call = call_with_progress(1, "flood", json!({ "n": 2000, "bytes": bytes }), "p");
        let mut connection = served.connect_with(4096);
        connection.send(&client.request(&call)).await;
        sleep(Duration::from_millis(900)).await;
        let waiting = taken.load(Ordering::Relaxed);
        assert!((least..most).contains(&waiting), "{waiting} messages of {bytes} bytes");
        // a reader that is merely late gets all of it, in order
        let messages = connection.response().await.expect(200).await.messages().await;
        assert_eq!(messages.len(), 2001);
        for (n, message) in messages[..2000].iter().enumerate() {
            assert_eq!(message["params"]["progress"].as_f64(), Some((n + 1) as f64));
        }
        assert_eq!(server.dropped(), 0);
    }
}

/// The ids of a stream's events, to its end.
async fn ids(mut stream: Response) -> Vec<String> {
    let mut ids = Vec::new();
    while let Some(event) = stream.event().await {
        if let Event::Message(event) = event {
            ids.push(event.id.expect("every event has an id").to_string());
        }
    }
    ids
}

/// How many messages there are after an event; what is gone names its limit.
async fn resumable(client: &Client, last: &str, limit: &'static str) -> Option<usize> {
    let response = client.resume(last).await;
    if response.status == 200 {
        return Some(response.messages().await.len());
    }
    Refusal::new(400, -32600, limit).check(response, last).await;
    None
}

fn replaying(set: impl FnOnce(&mut ReplayLimits)) -> Server {
    fixture::builder().limits(fixture::limited(|limits| set(&mut limits.session.replay))).build()
}

#[actix_web::test]
async fn the_replay_ring_keeps_so_many_events() {
    paused();
    let server = replaying(|replay| replay.events = 4);
    let client = Client::open(&Served::new(&server).await, "2025-11-25").await;
    let call = call_with_progress(1, "progress", json!({ "n": 6 }), "p");
    let ids = ids(client.post(&call).await.expect(200).await).await;
    assert_eq!(ids.len(), 8, "priming, six steps, the answer");
    assert_eq!(resumable(&client, &ids[7 - 4], "4 events").await, Some(4));
    assert_eq!(resumable(&client, &ids[7 - 5], "4 events").await, None);
    assert_eq!(resumable(&client, &ids[6], "4 events").await, Some(1));
    assert_eq!(resumable(&client, &ids[7], "4 events").await, None, "nothing is behind the answer");
}

#[actix_web::test]
async fn the_replay_ring_keeps_so_many_bytes() {
    paused();
    let server = replaying(|replay| replay.bytes = 10_000);
    let client = Client::open(&Served::new(&server).await, "2025-11-25").await;
    // events of about 2 100 bytes: four fit, and the answer
    let call = call_with_progress(1, "progress", json!({ "n": 8, "text": "x".repeat(2000) }), "p");
    let ids = ids(client.post(&call).await.expect(200).await).await;
    assert_eq!(resumable(&client, &ids[9 - 5], "10000 bytes").await, Some(5));
    assert_eq!(resumable(&client, &ids[9 - 6], "10000 bytes").await, None);
}

#[actix_web::test]
async fn the_replay_ring_keeps_events_for_five_minutes() {
    paused();
    let server = fixture::server();
    let client = Client::open(&Served::new(&server).await, "2025-11-25").await;
    let call = call_with_progress(1, "progress", json!({ "n": 1 }), "p");
    let ids = ids(client.post(&call).await.expect(200).await).await;
    sleep(Duration::from_secs(299)).await;
    assert_eq!(resumable(&client, &ids[0], "300s").await, Some(2));
    sleep(Duration::from_secs(2)).await;
    assert_eq!(resumable(&client, &ids[0], "300s").await, None);
}

#[actix_web::test]
async fn a_question_is_withdrawn_after_sixty_seconds_and_after_ten_minutes_at_most() {
    paused();
    for (server, seconds) in [
        (fixture::server(), 60),
        (
            fixture::builder()
                .limits(fixture::limited(|limits| {
                    limits.session.client_request_timeout = Duration::from_secs(90)
                }))
                .build(),
            90,
        ),
        (
            fixture::builder()
                .limits(fixture::limited(|limits| {
                    limits.session.client_request_timeout = Duration::from_secs(3600)
                }))
                .build(),
            600,
        ),
    ] {
        let client = Client::open(&Served::new(&server).await, "2025-11-25").await;
        let mut stream = client.call(1, "ask", json!({})).await.expect(200).await;
        let question = stream.message().await.unwrap();
        let start = Instant::now();
        let withdrawn = stream.message().await.unwrap();
        assert_eq!(start.elapsed().as_secs(), seconds);
        assert_eq!(withdrawn["method"], "notifications/cancelled");
        assert_eq!(withdrawn["params"]["requestId"], question["id"]);
        let answer = stream.message().await.unwrap();
        assert_eq!(answer["result"]["isError"], true);
        // too late: accepted and ignored
        client.answer(&question["id"], json!({ "action": "accept", "content": { "x": "1" } })).await;
        // in time, on the same session
        let mut stream = client.call(2, "ask", json!({})).await.expect(200).await;
        let question = stream.message().await.unwrap();
        sleep(Duration::from_secs(seconds - 1)).await;
        client.answer(&question["id"], json!({ "action": "accept", "content": { "x": "1" } })).await;
        assert_eq!(stream.message().await.unwrap()["result"]["content"][0]["text"], "accept:1");
    }
}

#[actix_web::test]
async fn a_cancelled_handler_that_listens_has_two_seconds() {
    paused();
    let (server, done) = counting();
    let client = Client::open(&Served::new(&server).await, "2025-11-25").await;
    for (ms, finished) in [(1_900, 1), (2_100, 1)] {
        let pending = client.start(&client.request(&call(1, "tidy", json!({ "ms": ms })))).await;
        settle().await;
        client.notify("notifications/cancelled", json!({ "requestId": 1 })).await;
        pending.response().await.expect(200).await.empty().await;
        // the grace is off the id
        client.call(1, "echo", json!({ "text": "x" })).await.expect(200).await;
        sleep(Duration::from_secs(5)).await;
        assert_eq!(done.load(Ordering::Relaxed), finished, "{ms} ms");
        assert_eq!(server.stats().in_flight, 0);
    }
}

#[actix_web::test]
async fn a_stream_that_stands_still_for_thirty_seconds_is_closed_alone() {
    paused();
    let (server, _) = counting();
    let served = Served::new(&server).await;
    let client = Client::open(&served, "2025-11-25").await;
    let get = client.get().await.expect(200).await;
    let call =
        |id: i64| client.request(&call_with_progress(id, "flood", json!({ "n": 100, "bytes": 1000 }), id));
    let mut connection = served.connect_with(1024);
    connection.send(&call(1)).await;
    sleep(Duration::from_secs(29)).await;
    assert_eq!(server.stats().streams, 2);
    sleep(Duration::from_secs(3)).await;
    assert_eq!(server.stats().streams, 1, "the GET stays");
    // one that moves, however slowly, stays
    let mut connection = served.connect_with(1024);
    connection.send(&call(2)).await;
    let mut stream = connection.response().await.expect(200).await;
    let mut messages = 0;
    while stream.message().await.is_some() {
        messages += 1;
        if messages % 10 == 0 {
            sleep(Duration::from_secs(25)).await;
        }
    }
    assert_eq!(messages, 101);
    drop(get);
}

#[actix_web::test]
async fn notices_wait_fifty_milliseconds_for_others_of_their_kind() {
    paused();
    let server = fixture::server();
    let client = Client::open(&Served::new(&server).await, "2025-11-25").await;
    let mut get = client.get().await.expect(200).await;
    get.event().await.unwrap();
    let start = Instant::now();
    // three changes in 40 ms are one notice; the one after it is another
    let toggle = client.request(&call(1, "toggle", json!({ "times": 3, "ms": 20 })));
    let toggling = client.start(&toggle).await;
    assert_eq!(get.message().await.unwrap()["method"], "notifications/tools/list_changed");
    assert!((50..=60).contains(&start.elapsed().as_millis()), "{:?}", start.elapsed());
    toggling.response().await.expect(200).await;
    sleep(Duration::from_millis(100)).await;
    get.silence().await;
    client.call(2, "toggle", json!({})).await.expect(200).await;
    let start = Instant::now();
    assert_eq!(get.message().await.unwrap()["method"], "notifications/tools/list_changed");
    assert!(start.elapsed() <= Duration::from_millis(60));
}

#[actix_web::test]
async fn a_session_expires_after_thirty_minutes_in_which_nothing_was_open() {
    paused();
    let server = fixture::server();
    let served = Served::new(&server).await;
    let client = Client::open(&served, "2025-11-25").await;
    let ping = client.request(&message(1, "tools/list", json!({})));
    sleep(Duration::from_secs(1799)).await;
    client.send(&ping).await.expect(200).await;
    // an open stream is no idleness
    let get = client.get().await.expect(200).await;
    sleep(Duration::from_secs(3600)).await;
    client.send(&ping).await.expect(200).await;
    drop(get);
    settle().await;
    sleep(Duration::from_secs(1802)).await;
    Refusal::new(404, -32600, "`Mcp-Session-Id`").of(1).check(client.send(&ping).await, "expired").await;
    assert_idle(&server).await;
    served.send(&client.dress(Request::get())).await.expect(404).await;
}
