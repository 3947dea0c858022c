//! HTTP/1.0, which knows no chunks: a body without a length ends with the connection. Case C98.

use actix_mcp::testing::paused;
use actix_web::{App, middleware::Compress};
use serde_json::json;

use crate::{
    client::{Request, Response},
    fixture::server,
    served::{Client, Served, call_with_progress, initialize, message, modern, modern_call},
};

/// Sends a request as a client of HTTP/1.0 does.
async fn send(served: &Served, request: &Request) -> Response {
    let text =
        String::from_utf8(request.bytes()).expect("text").replacen(" HTTP/1.1\r\n", " HTTP/1.0\r\n", 1);
    let mut connection = served.connect();
    connection.write(text).await;
    connection.response().await
}

/// Asserts that a client of HTTP/1.0 can read where the body ends.
fn assert_framed(response: &Response, what: &str) {
    assert_eq!(response.header("transfer-encoding"), None, "{what}");
    let kept = response.header("connection").is_some_and(|value| value.contains("keep-alive"));
    assert!(!kept || response.header("content-length").is_some(), "{what}: it never ends");
}

/// Requests of every kind that is answered by a stream.
fn streams(client: &Client) -> Vec<(&'static str, Request)> {
    let own =
        json!({ "name": "progress", "arguments": { "n": 2, "ms": 500 }, "_meta": { "progressToken": "p" } });
    let call = client.request(&call_with_progress(1, "progress", json!({ "n": 2, "ms": 500 }), "p"));
    let slow = client.request(&crate::served::call(2, "slow", json!({ "ms": 1000, "tag": "x" })));
    vec![
        ("a call in a session", call),
        ("a slow call in a session", slow),
        ("a call of its own", modern("q1", "tools/call", own)),
        ("a slow call of its own", modern_call("q2", "slow", json!({ "ms": 1000, "tag": "x" }))),
        (
            "a single answer as an event",
            modern("q3", "tools/list", json!({})).set("Accept", "text/event-stream"),
        ),
    ]
}

#[actix_web::test]
async fn a_stream_has_no_chunks_and_ends_with_the_connection() {
    paused();
    for compress in [false, true] {
        let server = server();
        let served = if compress {
            Served::app(App::new().wrap(Compress::default()).service(server.scope("/mcp"))).await
        } else {
            Served::new(&server).await
        };
        let client = Client::open(&served, "2025-11-25").await;
        for connection in [None, Some("keep-alive"), Some("close"), Some("upgrade")] {
            for (what, request) in streams(&client) {
                let request =
                    connection.iter().fold(request, |request, value| request.header("Connection", value));
                let response =
                    send(&served, &request.header("Accept-Encoding", "gzip")).await.expect(200).await;
                assert_framed(&response, what);
                assert_eq!(response.header("content-type"), Some("text/event-stream"), "{what}");
                // read to the end of the connection
                let last = response.messages().await.pop().expect("an answer");
                assert!(last["result"].is_object(), "{what}: {last}");
            }
            let get = client.dress(Request::get());
            let get = connection.iter().fold(get, |get, value| get.header("Connection", value));
            let mut get = send(&served, &get).await.expect(200).await;
            assert_framed(&get, "a standalone stream");
            assert!(get.event().await.is_some());
            client.call(2, "toggle", json!({})).await.expect(200).await;
            let notice = get.message().await.expect("a notice");
            assert_eq!(notice["method"], "notifications/tools/list_changed");
        }
    }
}

#[actix_web::test]
async fn a_single_answer_has_a_length_behind_an_encoder_too() {
    paused();
    let server = server();
    let served = Served::app(App::new().wrap(Compress::default()).service(server.scope("/mcp"))).await;
    let client = Client::open(&served, "2025-11-25").await;
    for (what, request) in [
        ("initialize", initialize("2025-11-25")),
        ("a list", client.request(&message(1, "tools/list", json!({})))),
        ("a list of its own", modern("q1", "tools/list", json!({}))),
        ("a refusal", initialize("2025-11-25").body("{")),
        ("a refused method", Request::new("PUT")),
    ] {
        for coding in [None, Some("gzip"), Some("identity")] {
            let request = request.clone();
            let request =
                coding.iter().fold(request, |request, value| request.header("Accept-Encoding", value));
            let mut response = send(&served, &request).await;
            assert_framed(&response, what);
            let length =
                response.header("content-length").expect("a length").parse::<usize>().expect("a number");
            let body = response.bytes().await;
            assert_eq!(body.len(), length, "{what}");
            assert_eq!(body.first(), Some(&b'{'), "{what}");
        }
    }
    // with a length, the connection can be kept
    let mut kept = served.connect();
    for id in 1..=3 {
        let ping = client.request(&message(id, "ping", json!({}))).header("Connection", "keep-alive");
        kept.write(String::from_utf8(ping.bytes()).expect("text").replacen(
            " HTTP/1.1\r\n",
            " HTTP/1.0\r\n",
            1,
        ))
        .await;
        let mut response = kept.response().await.expect(200).await;
        assert_eq!(response.header("connection"), Some("keep-alive"));
        response.bytes().await;
        kept = response.into_connection();
    }
}
