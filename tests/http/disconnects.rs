//! Clients that go: each is noticed at once, and none takes more with it than its own stream. Cases C09 and C62.

use std::time::Duration;

use actix_mcp::{
    Server,
    testing::{paused, settle},
};
use actix_web::rt::time::sleep;
use serde_json::json;
use tokio::time::Instant;

use crate::{
    client::{Connection, Request, Response},
    fixture::server,
    served::{Client, Served, call, call_with_progress, message},
};

/// Closes the client's end and waits for the server to close its own: what it still sent, without any time passing.
async fn hang_up(mut connection: Connection) -> Vec<u8> {
    let start = Instant::now();
    connection.finish().await;
    let rest = connection.closed().await;
    assert!(start.elapsed() < Duration::from_millis(5), "noticed only after {:?}", start.elapsed());
    rest
}

/// Reads the first event of a stream that has a priming event: its id.
async fn primed(stream: &mut Response) -> String {
    match stream.event().await {
        Some(russe::Event::Message(event)) if event.data.is_empty() => event.id.expect("an id").to_string(),
        other => panic!("a priming event was expected, not {other:?}"),
    }
}

fn counts(server: &Server) -> (usize, usize) {
    let stats = server.stats();
    (stats.streams, stats.in_flight)
}

#[actix_web::test]
async fn a_client_that_goes_before_the_head_is_noticed_at_once_and_cancels_nothing() {
    paused();
    let server = server();
    let client = Client::open(&Served::new(&server).await, "2025-11-25").await;
    let connection = client.start(&client.request(&call(1, "slow", json!({ "ms": 1500, "tag": "x" })))).await;
    sleep(Duration::from_millis(100)).await;
    assert_eq!(counts(&server), (0, 1), "it has a head already");
    assert_eq!(hang_up(connection).await, b"", "nothing had been sent");
    settle().await;
    assert_eq!(counts(&server), (0, 1), "the call was cancelled");
    // its id is still taken, and free once it has ended
    client.call(1, "none", json!({})).await.expect(409).await;
    sleep(Duration::from_millis(1500)).await;
    assert_eq!(counts(&server), (0, 0));
    client.call(1, "none", json!({})).await.expect(200).await;
}

#[actix_web::test]
async fn a_client_that_goes_while_its_call_waits_for_its_first_poll_leaves_no_entry_behind() {
    paused();
    let server = server();
    let client = Client::open(&Served::new(&server).await, "2025-11-25").await;
    for _ in 0..50 {
        // sent and gone in one go: the server finds the end right behind the request
        let connection =
            client.start(&client.request(&call(1, "slow", json!({ "ms": 10, "tag": "x" })))).await;
        drop(connection);
        sleep(Duration::from_millis(20)).await;
        assert_eq!(counts(&server), (0, 0));
    }
    client.call(1, "none", json!({})).await.expect(200).await;
}

#[actix_web::test]
async fn the_answer_to_a_client_that_went_in_the_middle_of_its_stream_is_fetched_later() {
    paused();
    let server = server();
    let client = Client::open(&Served::new(&server).await, "2025-11-25").await;
    let mut stream = client.call(1, "slow", json!({ "ms": 1500, "tag": "x" })).await.expect(200).await;
    let last = primed(&mut stream).await;
    sleep(Duration::from_millis(100)).await;
    let start = Instant::now();
    drop(stream);
    settle().await;
    assert_eq!(counts(&server), (0, 1), "after {:?}", start.elapsed());
    sleep(Duration::from_millis(1700)).await;
    assert_eq!(counts(&server), (0, 0), "the tool has not ended");

    let answer = client.resume(&last).await.expect(200).await.messages().await;
    assert_eq!(answer.len(), 1, "{answer:?}");
    assert_eq!((&answer[0]["id"], &answer[0]["result"]["content"][0]["text"]), (&json!(1), &json!("x")));
}

#[actix_web::test]
async fn a_fin_in_the_middle_of_a_stream_is_noticed_at_once_and_the_call_goes_on() {
    paused();
    let server = server();
    let client = Client::open(&Served::new(&server).await, "2025-11-25").await;
    let request = client.request(&call_with_progress(1, "progress", json!({ "n": 3, "ms": 1000 }), 1));
    let connection = client.start(&request).await;
    settle().await;
    assert_eq!(counts(&server), (1, 1));
    let sent = String::from_utf8(hang_up(connection).await).unwrap();
    assert!(sent.contains("\"progress\":1"), "{sent}");
    let last = sent.lines().filter_map(|line| line.strip_prefix("id: ")).next_back().unwrap().to_owned();
    assert_eq!(counts(&server), (0, 1));
    // what it missed, and then what comes, to the answer
    sleep(Duration::from_millis(1500)).await;
    let rest = client.resume(&last).await.expect(200).await.messages().await;
    let progress: Vec<_> = rest.iter().map(|message| &message["params"]["progress"]).collect();
    assert_eq!(progress, [&json!(2), &json!(3), &json!(null)], "{rest:?}");
    assert_eq!(rest[2]["id"], 1);
}

#[actix_web::test]
async fn a_fin_on_an_idle_get_stream_is_noticed_at_once_and_ends_that_stream_only() {
    paused();
    let server = server();
    let client = Client::open(&Served::new(&server).await, "2025-11-25").await;
    let mut other = client.get().await.expect(200).await;
    primed(&mut other).await;
    let connection = client.start(&client.dress(Request::get())).await;
    settle().await;
    assert_eq!(counts(&server), (2, 0));
    hang_up(connection).await;
    assert_eq!(counts(&server), (1, 0));
    client.call(1, "toggle", json!({})).await.expect(200).await;
    assert_eq!(other.message().await.unwrap()["method"], "notifications/tools/list_changed");
}

#[actix_web::test]
async fn a_client_that_goes_in_the_middle_of_its_body_costs_only_that_request() {
    paused();
    let server = server();
    let served = Served::new(&server).await;
    let client = Client::open(&served, "2025-11-25").await;
    let head = client.dress(Request::post("")).header("Content-Length", "1000").head();
    for _ in 0..200 {
        let mut connection = served.connect();
        connection.write(&head).await;
        connection.write([b'['; 100]).await;
        let refusal = String::from_utf8(hang_up(connection).await).unwrap();
        assert!(
            refusal.starts_with("HTTP/1.1 400 ") && refusal.contains("the body could not be read"),
            "{refusal}"
        );
    }
    client.post(&message(1, "ping", json!({}))).await.expect(200).await;
    assert_eq!(counts(&server), (0, 0));
}

#[actix_web::test]
async fn a_body_that_stands_still_is_given_up_after_its_idle_time() {
    paused();
    let served = Served::new(&server()).await;
    let client = Client::open(&served, "2025-11-25").await;
    let mut connection = served.connect();
    connection.write(client.dress(Request::post("")).header("Content-Length", "1000").head()).await;
    // slow is not still
    for _ in 0..3 {
        connection.write([b'['; 100]).await;
        sleep(Duration::from_secs(9)).await;
    }
    let start = Instant::now();
    let response = connection.response().await.expect(408).await;
    assert!(start.elapsed() <= Duration::from_millis(1100), "{:?}", start.elapsed());
    assert_eq!(response.json().await["error"]["code"], -32600);
    client.post(&message(1, "ping", json!({}))).await.expect(200).await;
}
