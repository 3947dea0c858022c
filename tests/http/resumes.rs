//! Streams that are come back to: only their own events, each exactly once and in order. Case C14.

use std::time::Duration;

use actix_mcp::{
    prelude::*,
    testing::{paused, settle},
};
use actix_web::rt::time::sleep;
use russe::Event;
use serde_json::{Value, json};

use crate::{
    client::Response,
    fixture,
    served::{Client, Served, call_with_progress},
};

/// Reports 1..n, a second after each; closes its own stream after `close_at`.
#[tool]
async fn steps(n: u32, close_at: Option<u32>, progress: Progress, client: actix_mcp::Client) -> &'static str {
    for step in 1..=n {
        progress.report(step).await.ok();
        if close_at == Some(step) {
            client.close_stream();
        }
        sleep(Duration::from_secs(1)).await;
    }
    "done"
}

fn server() -> Server {
    builder().build()
}

fn builder() -> ServerBuilder {
    fixture::builder().tool(steps)
}

async fn start(client: &Client, id: u32, arguments: Value) -> Response {
    client.post(&call_with_progress(id, "steps", arguments, id)).await.expect(200).await
}

/// The next event with a message: its id, and the step or the answer's text.
async fn next(stream: &mut Response) -> Option<(String, Value)> {
    let (id, message) = stream.message_event().await?;
    let step = message["params"].get("progress").unwrap_or(&message["result"]["content"][0]["text"]);
    Some((id.expect("an event without an id"), step.clone()))
}

#[actix_web::test]
async fn a_stream_that_breaks_after_each_event_gives_every_event_once_and_in_order() {
    paused();
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let client = Client::open(&Served::new(&server()).await, revision).await;
        let mut stream = start(&client, 1, json!({ "n": 10 })).await;
        let mut heard = Vec::new();
        loop {
            let (id, step) = next(&mut stream).await.expect("it ends with the answer");
            heard.push(step);
            if heard.len() == 11 {
                assert_eq!(stream.message().await, None);
                break;
            }
            drop(stream);
            // some come back at once, some when more has been said
            if heard.len() % 3 == 0 {
                sleep(Duration::from_millis(2500)).await;
            }
            stream = client.resume(&id).await.expect(200).await;
        }
        let expected: Vec<_> = (1..=10).map(|step| json!(step)).chain([json!("done")]).collect();
        assert_eq!(heard, expected, "{revision}");
    }
}

#[actix_web::test]
async fn a_resume_takes_the_stream_over_from_an_older_reader() {
    paused();
    let server = server();
    let client = Client::open(&Served::new(&server).await, "2025-11-25").await;
    let mut old = start(&client, 1, json!({ "n": 3 })).await;
    let (id, _) = next(&mut old).await.unwrap();
    // the client knows nothing of the old connection any more, the server nothing of its end
    let mut new = client.resume(&id).await.expect(200).await;
    assert_eq!(next(&mut old).await, None, "the older reader goes on");
    drop(old);
    settle().await;
    assert_eq!(server.stats().streams, 1, "the end of the old reader took the new one along");
    for expected in [json!(2), json!(3), json!("done")] {
        assert_eq!(next(&mut new).await.unwrap().1, expected);
    }
    assert_eq!(next(&mut new).await, None);
}

#[actix_web::test]
async fn a_resume_gives_no_event_of_another_stream_or_session() {
    paused();
    let served = Served::new(&server()).await;
    let (a, b) = (Client::open(&served, "2025-11-25").await, Client::open(&served, "2025-11-25").await);
    let mut streams = Vec::new();
    for (client, id) in [(&a, 1), (&a, 2), (&b, 1), (&b, 2)] {
        let mut stream = start(client, id, json!({ "n": 3 })).await;
        let (event, _) = next(&mut stream).await.unwrap();
        streams.push((client, id, event));
    }
    let mut get = a.get().await.expect(200).await;
    a.call(9, "toggle", json!({})).await.expect(200).await;
    assert_eq!(get.message().await.unwrap()["method"], "notifications/tools/list_changed");
    sleep(Duration::from_secs(60)).await;
    for (client, token, event) in streams {
        let rest = client.resume(&event).await.expect(200).await.messages().await;
        assert_eq!(rest.len(), 3, "{rest:?}");
        for message in &rest[..2] {
            assert_eq!(message["params"]["progressToken"], token, "an event of another stream: {message}");
        }
        assert_eq!(rest[2]["id"], token, "the answer to another: {}", rest[2]);
    }
    // numbers that one session has given and the other has not
    let mut third = start(&a, 3, json!({ "n": 1 })).await;
    let (event, _) = next(&mut third).await.unwrap();
    b.resume(&event).await.expect(400).await;
}

#[actix_web::test]
async fn what_cannot_be_resumed_is_400_and_never_an_empty_stream() {
    paused();
    let limits = fixture::limited(|limits| limits.session.replay.events = 4);
    let client = Client::open(&Served::new(&builder().limits(limits).build()).await, "2025-11-25").await;
    let mut stream = start(&client, 1, json!({ "n": 10 })).await;
    let (first, _) = next(&mut stream).await.unwrap();
    let mut last = first.clone();
    while let Some((id, _)) = next(&mut stream).await {
        last = id;
    }
    let unsaid = format!("{}-9999", last.split_once('-').unwrap().0);
    for id in ["no-such-event", "0", "-1-1", "99999-1", "99999999999999999999-1", &first, &last, &unsaid] {
        let refusal = client.resume(id).await.expect(400).await.json().await;
        assert_eq!(refusal["error"]["code"], -32600, "{id:?}: {refusal}");
        assert!(refusal["error"]["message"].as_str().unwrap().contains("Last-Event-ID"), "{refusal}");
    }
    // it was a refusal of the resume, not of the session
    client.call(2, "none", json!({})).await.expect(200).await;
    client.delete().await.expect(204).await;
    client.resume(&last).await.expect(404).await;
}

#[actix_web::test]
async fn an_answer_whose_stream_broke_waits_until_it_is_fetched_or_expires() {
    paused();
    let client = Client::open(&Served::new(&server()).await, "2025-11-25").await;
    for (id, wait, status) in [(1, 290, 200), (2, 310, 400)] {
        let mut stream = start(&client, id, json!({ "n": 1 })).await;
        let (event, _) = next(&mut stream).await.unwrap();
        drop(stream);
        // with the second the call itself takes
        sleep(Duration::from_secs(wait)).await;
        client.resume(&event).await.expect(status).await;
    }
}

#[actix_web::test]
async fn a_handler_may_close_its_own_stream_for_polling() {
    paused();
    let server = server();
    let client = Client::open(&Served::new(&server).await, "2025-11-25").await;
    let mut stream = start(&client, 1, json!({ "n": 3, "close_at": 2 })).await;
    // a `retry` comes with the priming event, so the client knows when to come back
    match stream.event().await {
        Some(russe::Event::Message(event)) => assert!(event.data.is_empty() && event.id.is_some()),
        other => panic!("{other:?}"),
    }
    assert!(String::from_utf8_lossy(&stream.raw).contains("retry: "), "no retry");
    assert_eq!(next(&mut stream).await.unwrap().1, 1);
    let (last, step) = next(&mut stream).await.unwrap();
    assert_eq!(step, 2);
    assert_eq!(next(&mut stream).await, None, "the stream goes on");
    assert_eq!((server.stats().streams, server.stats().in_flight), (0, 1));
    let mut rest = client.resume(&last).await.expect(200).await;
    assert_eq!(next(&mut rest).await.unwrap().1, 3);
    assert_eq!(next(&mut rest).await.unwrap().1, "done");
    assert_eq!(next(&mut rest).await, None);
}

#[actix_web::test]
async fn before_2025_11_25_a_stream_is_not_closed_for_polling() {
    paused();
    let client = Client::open(&Served::new(&server()).await, "2025-06-18").await;
    let mut stream = start(&client, 1, json!({ "n": 3, "close_at": 2 })).await;
    for expected in [json!(1), json!(2), json!(3), json!("done")] {
        assert_eq!(next(&mut stream).await.unwrap().1, expected);
    }
    assert_eq!(next(&mut stream).await, None);
    assert!(!String::from_utf8_lossy(&stream.raw).contains("retry"), "a client of that age cannot read it");
}

#[actix_web::test]
async fn a_standalone_stream_that_is_come_back_to_goes_on() {
    paused();
    let client = Client::open(&Served::new(&server()).await, "2025-11-25").await;
    let mut get = client.get().await.expect(200).await;
    client.call(1, "toggle", json!({})).await.expect(200).await;
    let (id, _) = get.message_event().await.unwrap();
    let mut again = client.resume(&id.unwrap()).await.expect(200).await;
    assert_eq!(get.message().await, None, "the older reader goes on");
    client.call(2, "toggle", json!({})).await.expect(200).await;
    assert_eq!(again.message().await.unwrap()["method"], "notifications/tools/list_changed");
    again.silence().await;
}

#[actix_web::test]
async fn a_standalone_stream_that_broke_with_nothing_missed_goes_on_and_has_what_changed_in_between() {
    paused();
    let client = Client::open(&Served::new(&server()).await, "2025-11-25").await;
    let mut get = client.get().await.expect(200).await;
    let id = loop {
        if let Event::Message(priming) = get.event().await.unwrap() {
            break priming.id.unwrap().to_string();
        }
    };
    drop(get);
    settle().await;
    client.call(1, "toggle", json!({})).await.expect(200).await;
    let mut again = client.resume(&id).await.expect(200).await;
    assert_eq!(again.message().await.unwrap()["method"], "notifications/tools/list_changed");
    again.silence().await;
}
