//! Readers that are slow, stand still, or hear nothing for long. Cases C10, C11 and C36, whose volumes
//! are in `floods`.

#![expect(clippy::unwrap_used, reason = "in a test a panic is the failure")]

use std::time::Duration;

use actix_mcp::testing::{paused, settle};
use actix_web::rt::time::{sleep, timeout};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::{
    client::{Request, Response},
    fixture::{builder, limited, server},
    served::{Client, Served, call_with_progress, message},
};

/// What a stream says until `until`, each with its second: `:` for a comment, `id` for the priming event, else the
/// message's progress or `answer`.
async fn timetable(stream: &mut Response, until: Duration) -> Vec<(u64, String)> {
    let (start, mut heard) = (Instant::now(), Vec::new());
    while let Ok(Some(event)) = timeout(until.saturating_sub(start.elapsed()), stream.event()).await {
        let what = match event {
            russe::Event::Comment(_) => ":".to_owned(),
            russe::Event::Message(event) if event.data.is_empty() => "id".to_owned(),
            russe::Event::Message(event) => {
                let message: Value = serde_json::from_str(&event.data).unwrap();
                let progress = &message["params"]["progress"];
                if progress.is_null() { "answer".to_owned() } else { progress.to_string() }
            }
            russe::Event::Retry(_) => "retry".to_owned(),
        };
        heard.push((start.elapsed().as_secs(), what));
    }
    heard
}

fn row(at: u64, what: &str) -> (u64, String) {
    (at, what.to_owned())
}

#[actix_web::test]
async fn a_stream_has_a_first_byte_at_once() {
    paused();
    for (revision, first) in [("2025-06-18", ":"), ("2025-11-25", "id")] {
        let client = Client::open(&Served::new(&server()).await, revision).await;
        let start = Instant::now();
        let mut get = client.get().await.expect(200).await;
        assert_eq!(timetable(&mut get, Duration::from_micros(10)).await, [row(0, first)]);
        assert!(start.elapsed() < Duration::from_millis(5), "GET: {:?}", start.elapsed());
        let start = Instant::now();
        let mut post = client.call(1, "slow", json!({ "ms": 10_000, "tag": "x" })).await.expect(200).await;
        assert_eq!(timetable(&mut post, Duration::from_micros(10)).await, [row(0, first)]);
        let waited = start.elapsed();
        assert!(
            waited >= Duration::from_millis(199) && waited < Duration::from_millis(205),
            "POST: {waited:?}"
        );
    }
}

#[actix_web::test]
async fn a_silent_stream_says_that_it_lives_every_fifteen_seconds() {
    paused();
    let client = Client::open(&Served::new(&server()).await, "2025-11-25").await;
    let mut get = client.get().await.expect(200).await;
    let expected = [row(0, "id"), row(15, ":"), row(30, ":"), row(45, ":")];
    assert_eq!(timetable(&mut get, Duration::from_secs(50)).await, expected);
    let mut post = client.call(1, "slow", json!({ "ms": 40_000, "tag": "x" })).await.expect(200).await;
    let expected = [row(0, "id"), row(15, ":"), row(30, ":"), row(39, "answer")];
    assert_eq!(
        timetable(&mut post, Duration::from_secs(100)).await,
        expected,
        "or the timer outlives the stream"
    );
}

#[actix_web::test]
async fn data_resets_the_keep_alive() {
    paused();
    let client = Client::open(&Served::new(&server()).await, "2025-11-25").await;
    let request = call_with_progress(1, "progress", json!({ "n": 4, "ms": 10_000 }), 1);
    let mut post = client.post(&request).await.expect(200).await;
    let expected = [row(0, "id"), row(0, "1"), row(10, "2"), row(20, "3"), row(30, "4"), row(40, "answer")];
    assert_eq!(timetable(&mut post, Duration::from_secs(100)).await, expected);
}

#[actix_web::test]
async fn a_stream_that_is_come_back_to_is_kept_alive_too() {
    paused();
    let client = Client::open(&Served::new(&server()).await, "2025-11-25").await;
    let request = call_with_progress(1, "progress", json!({ "n": 2, "ms": 40_000 }), 1);
    let mut post = client.post(&request).await.expect(200).await;
    let (id, _) = post.message_event().await.unwrap();
    drop(post);
    sleep(Duration::from_secs(5)).await;
    let start = Instant::now();
    let mut again = client.resume(&id.unwrap()).await.expect(200).await;
    assert!(start.elapsed() < Duration::from_millis(5), "no first byte: {:?}", start.elapsed());
    let expected = [
        row(0, "id"),
        row(15, ":"),
        row(30, ":"),
        row(35, "2"),
        row(50, ":"),
        row(65, ":"),
        row(75, "answer"),
    ];
    assert_eq!(timetable(&mut again, Duration::from_secs(200)).await, expected);
}

#[actix_web::test]
async fn the_keep_alive_is_an_option() {
    paused();
    let server = builder().limits(limited(|limits| limits.http.keep_alive = Duration::from_secs(1))).build();
    let client = Client::open(&Served::new(&server).await, "2025-11-25").await;
    let mut get = client.get().await.expect(200).await;
    let expected = [row(0, "id"), row(1, ":"), row(2, ":"), row(3, ":")];
    assert_eq!(timetable(&mut get, Duration::from_millis(3500)).await, expected);
}

/// A connection that holds hardly anything, so that what is not read waits in the server.
pub(crate) async fn narrow(served: &Served, request: &Request) -> Response {
    let mut connection = served.connect_with(1024);
    connection.send(request).await;
    connection.response().await.expect(200).await
}

#[actix_web::test]
async fn a_slow_reader_gets_everything_in_order() {
    paused();
    let served = Served::new(&server()).await;
    let client = Client::open(&served, "2025-11-25").await;
    let text = "x".repeat(1000);
    let request = client.request(&call_with_progress(1, "progress", json!({ "n": 1000, "text": text }), 1));
    let mut stream = narrow(&served, &request).await;
    for step in 1..=1000 {
        // far less than 1 KiB/s, and seconds in which nothing moves
        sleep(Duration::from_secs(5)).await;
        let message = stream.message().await.expect("the stream has ended");
        assert_eq!(message["params"]["progress"], step);
    }
    assert_eq!(stream.message().await.unwrap()["result"]["content"][0]["text"], "done");
    assert_eq!(stream.message().await, None);
}

#[actix_web::test]
async fn a_reader_that_stands_still_costs_only_its_own_stream() {
    paused();
    let server = server();
    let served = Served::new(&server).await;
    let client = Client::open(&served, "2025-11-25").await;
    let mut get = client.get().await.expect(200).await;
    let text = "x".repeat(1000);
    let request = client.request(&call_with_progress(1, "progress", json!({ "n": 2000, "text": text }), 1));
    let mut still = narrow(&served, &request).await;
    let (first, _) = still.message_event().await.unwrap();
    assert_eq!(server.stats().streams, 2);

    // others are served while it stands
    let other = Client::open(&served, "2025-11-25").await;
    for id in 0..100 {
        let start = Instant::now();
        other.call(id, "echo", json!({ "text": "hi" })).await.expect(200).await.json().await;
        client.call(id + 10, "echo", json!({ "text": "hi" })).await.expect(200).await.json().await;
        assert!(start.elapsed() < Duration::from_millis(5), "{:?}", start.elapsed());
    }
    sleep(Duration::from_secs(45)).await;
    assert_eq!(server.stats().streams, 1, "the stream that stands still is open");

    // the call goes on to its end, and the session and its other stream live
    let mut waited = 0;
    while server.stats().in_flight > 0 {
        sleep(Duration::from_secs(60)).await;
        waited += 1;
        assert!(waited < 60, "the call does not end");
    }
    client.call(2, "toggle", json!({})).await.expect(200).await;
    assert_eq!(get.message().await.unwrap()["method"], "notifications/tools/list_changed");
    // the answer is not lost with the stream, whatever is of what was in between
    let rest = client.resume(&first.unwrap()).await.expect(200).await.messages().await;
    assert_eq!(rest.last().unwrap()["result"]["content"][0]["text"], "done");
}

#[actix_web::test]
async fn a_get_stream_that_stands_still_is_given_no_more_than_its_queue() {
    paused();
    let server = server();
    let served = Served::new(&server).await;
    let client = Client::open(&served, "2025-11-25").await;
    let uri = format!("mem://item/{}", "x".repeat(4000));
    client.post(&message(1, "resources/subscribe", json!({ "uri": uri }))).await.expect(200).await;
    let _still = narrow(&served, &client.dress(Request::get())).await;
    // more than the connection holds
    for id in 0..20 {
        client.call(id, "touch", json!({ "uri": uri, "count": 1000 })).await.expect(200).await.json().await;
        sleep(Duration::from_millis(60)).await;
    }
    // a client that has not closed the old one opens a new one: that one is served
    let mut get = client.get().await.expect(200).await;
    get.event().await;
    client.call(1000, "toggle", json!({})).await.expect(200).await;
    assert_eq!(get.message().await.unwrap()["method"], "notifications/tools/list_changed");
    get.silence().await;
    sleep(Duration::from_secs(120)).await;
    settle().await;
    assert_eq!(server.stats().streams, 1, "the stream that stands still is open");
}
