//! Bodies: how large, how long, how they are announced, and how they break off.

use std::time::Duration;

use actix_mcp::testing::{paused, settle};
use actix_web::rt::{spawn, time::sleep};
use serde_json::{Value, json};

use crate::{
    client::Request,
    fixture::{builder, limited, server},
    refused::{Refusal, assert_idle},
    served::{Client, Served, call, initialize},
};

const MIB: usize = 1024 * 1024;

/// A call of `echo` whose body is exactly so long.
fn echo(client: &Client, length: usize) -> Request {
    let empty = call(1, "echo", json!({ "text": "" })).to_string().len();
    client.request(&call(1, "echo", json!({ "text": "x".repeat(length - empty) })))
}

fn assert_echoed(answer: &Value, request: &Request) {
    let sent: Value = serde_json::from_str(&request.text()).expect("the body is JSON");
    assert!(answer["result"]["content"][0]["text"] == sent["params"]["arguments"]["text"]);
}

// C61
#[actix_web::test]
async fn a_body_up_to_the_limit_is_read_and_a_larger_one_is_413() {
    paused();
    let server = builder().limits(limited(|limits| limits.http.body_bytes = 1000)).build();
    let served = Served::new(&server).await;
    let client = Client::open(&served, "2025-11-25").await;
    for length in [999, 1000] {
        let request = echo(&client, length);
        assert_echoed(&client.send(&request).await.expect(200).await.json().await, &request);
    }
    let too_large = Refusal::new(413, -32600, "1000 bytes");
    too_large.check(client.send(&echo(&client, 1001)).await, "one more").await;
    // the length alone decides, before anything of the body is there
    let mut connection =
        client.start(&Request::new("OPTIONS")).await.response().await.expect(204).await.into_connection();
    let announced = client.request(&json!(null)).header("Content-Length", "20000000").head();
    connection.write(announced).await;
    too_large.check(connection.response().await, "announced").await;
    client.call(2, "echo", json!({ "text": "alive" })).await.expect(200).await;
    assert_eq!(server.calls(), 3);
}

// C61
#[actix_web::test]
async fn by_default_eight_mebibytes_are_read() {
    paused();
    let served = Served::new(&server()).await;
    let client = Client::open(&served, "2025-11-25").await;
    for length in [MIB, 3 * MIB, 8 * MIB] {
        let request = echo(&client, length);
        assert_echoed(&client.send(&request).await.expect(200).await.json().await, &request);
    }
    let mut connection = client.start(&Request::new("OPTIONS")).await.response().await.into_connection();
    let body = echo(&client, 8 * MIB + 1).bytes();
    // the server closes before it has read all of it
    let write = async {
        connection.try_write(body).await.ok();
        connection
    };
    let response = write.await.response().await;
    Refusal::new(413, -32600, "8388608 bytes").check(response, "one more").await;
}

fn chunked(body: &str, size: usize) -> Vec<u8> {
    let chunks = body
        .as_bytes()
        .chunks(size)
        .map(|chunk| [format!("{:x}\r\n", chunk.len()).as_bytes(), chunk, b"\r\n"].concat());
    chunks.flatten().chain(*b"0\r\n\r\n").collect()
}

// C61
#[actix_web::test]
async fn a_body_without_a_length_is_read_to_the_same_limit() {
    paused();
    let server = builder().limits(limited(|limits| limits.http.body_bytes = 1000)).build();
    let served = Served::new(&server).await;
    let client = Client::open(&served, "2025-11-25").await;
    for size in [1, 7, 1000] {
        for length in [999, 1000, 1001, 5000] {
            let request = echo(&client, length);
            let mut connection = served.connect();
            connection.write(request.clone().header("Transfer-Encoding", "chunked").head()).await;
            connection.try_write(chunked(&request.text(), size)).await.ok();
            let response = connection.response().await;
            if length <= 1000 {
                assert_echoed(&response.expect(200).await.json().await, &request);
            } else {
                Refusal::new(413, -32600, "1000 bytes").check(response, "chunked").await;
            }
        }
    }
    // it does not wait for the end of what is too large
    let mut connection = served.connect();
    connection.write(echo(&client, 100).header("Transfer-Encoding", "chunked").head()).await;
    connection.write([b"3e9\r\n".as_slice(), &[b' '; 1001], b"\r\n"].concat()).await;
    Refusal::new(413, -32600, "1000 bytes").check(connection.response().await, "no end").await;
    client.call(2, "echo", json!({ "text": "alive" })).await.expect(200).await;
}

// C61
#[actix_web::test]
async fn a_length_that_lies_costs_its_own_request_only() {
    paused();
    let server = server();
    let served = Served::new(&server).await;
    let client = Client::open(&served, "2025-11-25").await;
    let body = call(1, "echo", json!({ "text": "x" })).to_string();
    // shorter than what comes: a message that breaks off, and bytes that are no request
    let mut connection = served.connect();
    let head = client.request(&json!(null)).header("Content-Length", "10").head();
    connection.write([head.as_bytes(), body.as_bytes()].concat()).await;
    Refusal::new(400, -32700, "JSON").check(connection.response().await, "shorter").await;
    // longer than what comes: nothing is run
    let mut connection = served.connect();
    let head = client.request(&json!(null)).header("Content-Length", "1000").head();
    connection.write([head.as_bytes(), body.as_bytes()].concat()).await;
    connection.finish().await;
    connection.closed().await;
    settle().await;
    assert_eq!(server.calls(), 0);
    client.call(2, "echo", json!({ "text": "alive" })).await.expect(200).await;
}

// C62
#[actix_web::test]
async fn two_hundred_clients_that_leave_while_they_send_leave_nothing_behind() {
    paused();
    let server = server();
    let served = Served::new(&server).await;
    let client = Client::open(&served, "2025-11-25").await;
    for n in 0..200 {
        let mut connection = served.connect();
        connection.write(client.request(&json!(null)).header("Content-Length", "1000").head()).await;
        connection.write([b'x'; 100]).await;
        if n % 2 == 0 {
            settle().await;
        }
        drop(connection);
    }
    settle().await;
    client.call(1, "echo", json!({ "text": "alive" })).await.expect(200).await;
    client.delete().await.expect(204).await;
    assert_idle(&server).await;
}

// C62, and the limit of design section 5: body idle 10 s
#[actix_web::test]
async fn a_body_that_makes_no_progress_for_ten_seconds_is_408() {
    paused();
    let server = server();
    let served = Served::new(&server).await;
    let client = Client::open(&served, "2025-11-25").await;
    let request = echo(&client, 200);
    let text = request.text();
    let head = request.header("Content-Length", "200").head();
    // slow, but never idle for so long
    let mut connection = served.connect();
    connection.write(&head).await;
    for piece in text.as_bytes().chunks(50) {
        sleep(Duration::from_millis(9_900)).await;
        connection.write(piece).await;
    }
    connection.response().await.expect(200).await;
    // idle
    let mut connection = served.connect();
    connection.write(&head).await;
    connection.write(&text[..100]).await;
    let start = tokio::time::Instant::now();
    Refusal::new(408, -32600, "the limit is 10s").check(connection.response().await, "idle").await;
    let waited = start.elapsed();
    assert!((Duration::from_secs(10)..Duration::from_secs(11)).contains(&waited), "{waited:?}");
    client.call(2, "echo", json!({ "text": "alive" })).await.expect(200).await;
    assert_eq!(server.calls(), 2);
}

#[actix_web::test]
async fn how_long_a_body_may_be_idle_can_be_set() {
    paused();
    let served = Served::new(
        &builder().limits(limited(|limits| limits.http.body_idle = Duration::from_secs(1))).build(),
    )
    .await;
    let mut connection = served.connect();
    connection.write(initialize("2025-11-25").header("Content-Length", "200").head()).await;
    let start = tokio::time::Instant::now();
    Refusal::new(408, -32600, "the limit is 1s").check(connection.response().await, "idle").await;
    assert!(start.elapsed() < Duration::from_secs(2));
}

// design section 5: headers 5 s
#[actix_web::test]
async fn a_head_that_takes_longer_than_five_seconds_is_dropped() {
    paused();
    let server = server();
    let served = Served::new(&server).await;
    let request = initialize("2025-11-25").bytes();
    for (wait, answered) in [(4_000, true), (6_500, false)] {
        let mut connection = served.connect();
        connection.write(&request[..30]).await;
        sleep(Duration::from_millis(wait)).await;
        let written = connection.try_write(&request[30..]).await.is_ok();
        let response = if written { connection.try_response().await } else { None };
        assert_eq!(response.is_some_and(|response| response.status == 200), answered, "{wait} ms");
    }
    assert_eq!(server.stats().sessions, 1);
}

#[actix_web::test]
async fn a_client_may_wait_to_be_asked_for_its_body() {
    paused();
    let served = Served::new(&server()).await;
    let request = initialize("2025-11-25");
    let mut connection = served.connect();
    let head = request
        .clone()
        .header("Expect", "100-continue")
        .header("Content-Length", &request.text().len().to_string());
    connection.write(head.head()).await;
    settle().await;
    let body = spawn(async move {
        connection.write(request.text()).await;
        connection.response().await
    });
    body.await.unwrap().expect(200).await;
}
