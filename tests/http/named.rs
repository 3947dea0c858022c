//! How events are framed: those with a message are named `message`, and a resumed stream begins with an id. Cases C93 and
//! C109.

#![expect(clippy::unwrap_used, reason = "in a test a panic is the failure")]

use std::time::Duration;

use actix_mcp::testing::{paused, settle};
use actix_web::rt::time::sleep;
use russe::Event;
use serde_json::{Value, json};

use crate::{
    client::{Request, Response},
    fixture::{REVISIONS, server},
    served::{Client, Served, call, call_with_progress, message, modern, modern_call},
};

/// Asserts that each event with a message begins with its name, and that there are so many of them.
fn assert_named(raw: &[u8], messages: usize) {
    let raw = String::from_utf8_lossy(raw);
    let with_message: Vec<_> =
        raw.split("\n\n").filter(|event| event.contains("data: {") || event.contains("data: [")).collect();
    assert_eq!(with_message.len(), messages, "{raw}");
    for event in with_message {
        assert!(event.starts_with("event: message\n"), "{raw}");
        assert_eq!(event.matches("event:").count(), 1, "{raw}");
    }
    for event in raw.split("\n\n").filter(|event| event.starts_with(':')) {
        assert_eq!(event, ":", "what an idle stream costs: {raw}");
    }
}

async fn whole(mut response: Response, messages: usize) {
    assert_eq!(response.header("content-type"), Some("text/event-stream"));
    assert_named(&response.bytes().await, messages);
}

// C93
#[actix_web::test]
async fn every_event_with_a_message_is_named_in_sessions() {
    paused();
    for revision in REVISIONS {
        let client = Client::open(&Served::new(&server()).await, revision).await;
        whole(client.call(1, "slow", json!({ "ms": 500, "tag": "x" })).await, 1).await;
        whole(client.post(&call_with_progress(2, "progress", json!({ "n": 3 }), 2)).await, 4).await;
        let events_only = |message: Value| client.request(&message).set("Accept", "text/event-stream");
        whole(client.send(&events_only(call(3, "none", json!({})))).await, 1).await;
        whole(client.send(&events_only(message(4, "no/such/method", json!({})))).await, 1).await;
        if revision == "2025-03-26" {
            let batch = json!([message(5, "ping", json!({})), call(6, "none", json!({}))]);
            whole(client.send(&events_only(batch)).await, 1).await;
        }
        let mut get = client.get().await.expect(200).await;
        client.call(7, "toggle", json!({})).await.expect(200).await;
        let (last, _) = get.message_event().await.unwrap();
        assert_named(&get.raw, 1);
        client.call(8, "toggle", json!({})).await.expect(200).await;
        get.message().await.unwrap();
        drop(get);
        settle().await;
        let mut again = client.resume(&last.unwrap()).await.expect(200).await;
        again.message().await.unwrap();
        assert_named(&again.raw, 1);
    }
}

// C93
#[actix_web::test]
async fn every_event_with_a_message_is_named_in_requests_of_their_own() {
    paused();
    let server = server();
    let served = Served::new(&server).await;
    whole(served.send(&modern_call(1, "slow", json!({ "ms": 500, "tag": "x" }))).await, 1).await;
    let params = json!({ "name": "progress", "arguments": { "n": 3 }, "_meta": { "progressToken": 7 } });
    whole(served.send(&modern(2, "tools/call", params)).await, 4).await;
    whole(served.send(&modern_call(3, "none", json!({})).set("Accept", "text/event-stream")).await, 1).await;
    let filter = json!({ "notifications": { "toolsListChanged": true } });
    let listen = served.send(&modern(4, "subscriptions/listen", filter)).await.expect(200).await;
    assert!(server.handle().remove_tool("none"));
    sleep(Duration::from_secs(1)).await;
    server.shutdown().await;
    whole(listen, 3).await;
}

/// The first event of a stream.
async fn first(stream: &mut Response) -> Event {
    stream.event().await.expect("a first event")
}

/// The id of a priming event.
fn primed(event: &Event) -> Option<String> {
    match event {
        Event::Message(event) if event.data.is_empty() => event.id.as_ref().map(ToString::to_string),
        Event::Message(_) | Event::Comment(_) | Event::Retry(_) => None,
    }
}

/// What can be resumed: a session, and an event on a stream of each kind after which something follows.
async fn resumable(revision: &str) -> (Client, Vec<(&'static str, String)>) {
    let client = Client::open(&Served::new(&server()).await, revision).await;
    let mut ids = Vec::new();
    for (kind, id, ms) in [("ended", 1, 10), ("live", 2, 60_000)] {
        let request = call_with_progress(id, "progress", json!({ "n": 3, "ms": ms }), id);
        let mut stream = client.post(&request).await.expect(200).await;
        ids.push((kind, stream.message_event().await.unwrap().0.unwrap()));
        drop(stream);
    }
    let mut get = client.get().await.expect(200).await;
    client.call(3, "toggle", json!({})).await.expect(200).await;
    ids.push(("standalone", get.message_event().await.unwrap().0.unwrap()));
    drop(get);
    sleep(Duration::from_secs(1)).await;
    (client, ids)
}

// C109
#[actix_web::test]
async fn a_resumed_stream_begins_with_the_id_that_it_was_resumed_from() {
    paused();
    let (client, ids) = resumable("2025-11-25").await;
    for (kind, id) in &ids {
        let mut stream = client.resume(id).await.expect(200).await;
        assert_eq!(primed(&first(&mut stream).await).as_ref(), Some(id), "{kind}");
        // what follows is what follows that event, and no second priming event
        if *kind != "standalone" {
            let (next, _) = stream.message_event().await.unwrap();
            let place =
                |id: &str| id.split_once('-').and_then(|(_, place)| place.parse::<u64>().ok()).unwrap();
            assert_eq!(place(&next.unwrap()), place(id) + 1, "{kind}");
        }
    }
    // one that breaks before anything came is come back to with what it began with
    let (_, live) = &ids[1];
    let mut stream = client.resume(live).await.expect(200).await;
    let again = primed(&first(&mut stream).await).unwrap();
    drop(stream);
    settle().await;
    let mut stream = client.resume(&again).await.expect(200).await;
    assert_eq!(primed(&first(&mut stream).await), Some(again));
}

// C109, C70
#[actix_web::test]
async fn below_2025_11_25_a_resumed_stream_has_no_event_without_a_message() {
    paused();
    for revision in &REVISIONS[..3] {
        let (client, ids) = resumable(revision).await;
        for (kind, id) in ids {
            let mut stream = client.resume(&id).await.expect(200).await;
            assert!(matches!(first(&mut stream).await, Event::Comment(_)), "{kind} at {revision}");
        }
    }
}

// C93
#[actix_web::test]
async fn an_idle_stream_costs_as_many_bytes_as_before() {
    paused();
    let served = Served::new(&server()).await;
    for (revision, begin) in [("2025-06-18", ":\n\n"), ("2025-11-25", "id: 1-0\nretry: 1000\ndata: \n\n")] {
        let client = Client::open(&served, revision).await;
        let mut get = client.send(&client.dress(Request::get())).await.expect(200).await;
        for _ in 0..3 {
            get.event().await.unwrap();
        }
        assert_eq!(String::from_utf8_lossy(&get.raw), format!("{begin}:\n\n:\n\n"));
    }
}
