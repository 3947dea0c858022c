//! Offers to upgrade the connection: ignored, whatever they offer. Case C95.
//!
//! The bytes are those that Java 17's `HttpClient` sends with its defaults, and variations of them.

use actix_mcp::testing::paused;
use serde_json::{Value, json};

use crate::{
    client::{Request, Response},
    fixture::{builder, limited, server},
    refused::{Refusal, assert_idle},
    served::{Client, Served, call_with_progress, initialize, message, modern, modern_call},
};

/// What Java's `HttpClient` adds to a request over plain HTTP.
fn java(request: Request) -> Request {
    request
        .header("Connection", "Upgrade, HTTP2-Settings")
        .header("HTTP2-Settings", "AAEAAEAAAAIAAAAAAAMAAAAAAAQBAAAAAAUAAEAAAAYABgAA")
        .header("Upgrade", "h2c")
        .header("User-Agent", "Java-http-client/17.0.21.1")
}

/// What it is, and how it is put into a request.
type Offer = (String, Box<dyn Fn(Request) -> Request>);

/// Offers of every kind, and none.
fn offers() -> Vec<Offer> {
    let mut offers: Vec<Offer> =
        vec![("Java".to_owned(), Box::new(java)), ("none".to_owned(), Box::new(|request| request))];
    for upgrade in [
        "websocket",
        "WebSocket",
        "h2c",
        "H2C",
        "h2c, websocket",
        "websocket, h2c",
        "TLS/1.0",
        "foo/2, bar",
        "",
    ] {
        for connection in
            [None, Some("Upgrade"), Some("keep-alive, UPGRADE"), Some("close"), Some("keep-alive")]
        {
            let add = move |request: Request| {
                let request = request.header("Upgrade", upgrade);
                connection.iter().fold(request, |request, value| request.header("Connection", value))
            };
            offers.push((format!("Upgrade: {upgrade}, Connection: {connection:?}"), Box::new(add)));
        }
    }
    for connection in ["Upgrade", "close, Upgrade", "upgrade, keep-alive"] {
        let add = move |request: Request| request.header("Connection", connection);
        offers.push((format!("Connection: {connection}"), Box::new(add)));
    }
    let two = |request: Request| {
        request.header("Upgrade", "h2c").header("Upgrade", "websocket").header("Connection", "upgrade")
    };
    offers.push(("two offers".to_owned(), Box::new(two)));
    offers
}

/// Asserts that the head promises nothing that is not kept, and gives what it says of the connection.
fn connection(response: &Response, what: &str) -> Option<String> {
    assert_ne!(response.status, 101, "{what}");
    assert_eq!(response.header("upgrade"), None, "{what}");
    let connection = response.header("connection").map(str::to_ascii_lowercase);
    assert!(matches!(connection.as_deref(), None | Some("close" | "keep-alive")), "{what}: {connection:?}");
    connection
}

#[actix_web::test]
async fn a_post_that_offers_an_upgrade_is_read_by_its_length_and_answered() {
    paused();
    let server = server();
    let served = Served::new(&server).await;
    let client = Client::open(&served, "2025-11-25").await;
    for (what, offer) in offers() {
        let ping = offer(client.request(&message(1, "ping", json!({}))));
        let alone = offer(modern_call("q1", "echo", json!({ "text": "x".repeat(70_000) })));
        let opens = offer(initialize("2025-11-25"));
        for request in [ping, alone, opens] {
            let response = client.send(&request).await.expect(200).await;
            let closes = connection(&response, &what).as_deref() == Some("close");
            let mut response = response;
            let body: Value = serde_json::from_slice(&response.bytes().await).expect("an answer");
            assert!(body["result"].is_object(), "{what}: {body}");
            let mut connection = response.into_connection();
            if closes {
                assert_eq!(connection.closed().await, b"", "{what}");
            } else {
                // what is not said to be closed is kept
                connection.send(&client.request(&message(2, "ping", json!({})))).await;
                assert_eq!(connection.response().await.expect(200).await.answer().await["id"], 2, "{what}");
            }
        }
    }
}

#[actix_web::test]
async fn a_body_that_comes_in_pieces_after_its_head_is_read_to_its_length() {
    paused();
    let served = Served::new(&server()).await;
    let client = Client::open(&served, "2025-11-25").await;
    for (what, offer) in offers() {
        let text = message(1, "ping", json!({})).to_string();
        let head =
            offer(client.dress(Request::post(""))).header("Content-Length", &text.len().to_string()).head();
        let mut connection = served.connect();
        connection.write(&head).await;
        actix_mcp::testing::settle().await;
        for piece in text.as_bytes().chunks(7) {
            connection.write(piece).await;
            actix_mcp::testing::settle().await;
        }
        assert_eq!(connection.response().await.expect(200).await.answer().await["id"], 1, "{what}");
        // as chunks, it ends where they end
        let chunked = offer(client.dress(Request::post(""))).header("Transfer-Encoding", "chunked").head();
        let mut connection = served.connect();
        connection.write(&chunked).await;
        for piece in text.as_bytes().chunks(7) {
            let piece = String::from_utf8_lossy(piece);
            connection.write(format!("{:x}\r\n{piece}\r\n", piece.len())).await;
        }
        connection.write("0\r\n\r\n").await;
        let response = connection.response().await.expect(200).await;
        self::connection(&response, &what);
        assert_eq!(response.answer().await["id"], 1, "{what}");
    }
}

#[actix_web::test]
async fn a_stream_to_a_client_that_offers_an_upgrade_is_framed_as_its_head_says() {
    paused();
    let served = Served::new(&server()).await;
    let client = Client::open(&served, "2025-11-25").await;
    for (what, offer) in offers() {
        let own = json!({ "name": "progress", "arguments": { "n": 2, "ms": 500 }, "_meta": { "progressToken": "p" } });
        let session = client.request(&call_with_progress(1, "progress", json!({ "n": 2, "ms": 500 }), "p"));
        for call in [session, modern("q1", "tools/call", own)] {
            let response = client.send(&offer(call)).await.expect(200).await;
            connection(&response, &what);
            let chunked = response.header("transfer-encoding") == Some("chunked");
            assert!(chunked || response.header("connection") == Some("close"), "{what}");
            let messages = response.messages().await;
            assert_eq!(messages.len(), 3, "{what}");
        }
        let mut get = client.send(&offer(client.dress(Request::get()))).await.expect(200).await;
        connection(&get, &what);
        assert!(get.event().await.is_some(), "{what}: a first event");
        client.call(2, "toggle", json!({})).await.expect(200).await;
        let notice = get.message().await.expect("a notice");
        assert_eq!(notice["method"], "notifications/tools/list_changed", "{what}");
    }
}

#[actix_web::test]
async fn what_is_refused_is_refused_alike_with_an_offer() {
    paused();
    let server = builder().limits(limited(|limits| limits.http.body_bytes = 1000)).build();
    let served = Served::new(&server).await;
    for (what, offer) in offers() {
        let long = initialize("2025-11-25").body("x".repeat(1001));
        for (request, refusal) in [
            (initialize("2025-11-25").body("{"), Refusal::new(400, -32700, "")),
            (initialize("2025-11-25").body(""), Refusal::new(400, -32700, "")),
            (long, Refusal::new(413, -32600, "1000")),
            (initialize("2025-11-25").set("Accept", "text/html"), Refusal::new(406, -32600, "`Accept`")),
            (
                initialize("2025-11-25").set("Content-Type", "text/plain"),
                Refusal::new(415, -32600, "`Content-Type`"),
            ),
            (initialize("2025-11-25").set("Host", "evil.example"), Refusal::new(403, -32600, "`Host`")),
            (initialize("2025-11-25").header("Origin", "null"), Refusal::new(403, -32600, "`Origin`")),
            (Request::get(), Refusal::new(400, -32600, "`Mcp-Session-Id`")),
            (Request::new("DELETE"), Refusal::new(400, -32600, "`Mcp-Session-Id`")),
            (Request::new("PUT"), Refusal::new(405, -32600, "method")),
        ] {
            let response = served.send(&offer(request)).await;
            connection(&response, &what);
            refusal.check(response, &what).await;
        }
        let preflight = offer(Request::new("OPTIONS").header("Origin", "http://localhost"));
        connection(&served.send(&preflight).await.expect(204).await, &what);
    }
    assert_idle(&server).await;
}

#[actix_web::test]
async fn a_client_of_http_1_0_that_offers_an_upgrade_is_answered() {
    paused();
    let served = Served::new(&server()).await;
    let client = Client::open(&served, "2025-11-25").await;
    for (what, offer) in offers() {
        let request = offer(client.request(&message(1, "ping", json!({}))));
        let text =
            String::from_utf8(request.bytes()).expect("text").replace(" HTTP/1.1\r\n", " HTTP/1.0\r\n");
        let mut connection = served.connect();
        connection.write(text).await;
        let response = connection.response().await.expect(200).await;
        self::connection(&response, &what);
        assert_eq!(response.header("transfer-encoding"), None, "{what}");
        assert_eq!(response.answer().await["id"], 1, "{what}");
    }
}

/// A client that has sent more requests behind the offer sends them again, since it reads that the connection is closed: what
/// comes after the offer of `websocket` is not taken for a part of its body, and none is answered twice.
#[actix_web::test]
async fn requests_behind_an_offer_are_answered_once_or_not_at_all() {
    paused();
    let served = Served::new(&server()).await;
    let client = Client::open(&served, "2025-11-25").await;
    for (what, offer) in offers() {
        let first = offer(client.request(&message(1, "ping", json!({}))));
        let mut connection = served.connect();
        connection
            .write([first.bytes(), client.request(&message(2, "ping", json!({}))).bytes()].concat())
            .await;
        let mut response = connection.response().await.expect(200).await;
        let closes = self::connection(&response, &what).as_deref() == Some("close");
        let answer: Value = serde_json::from_slice(&response.bytes().await).expect("an answer");
        assert_eq!(answer["id"], 1, "{what}");
        match response.into_connection().try_response().await {
            Some(second) => assert_eq!(second.expect(200).await.answer().await["id"], 2, "{what}"),
            None => assert!(closes, "{what}: the second request was lost"),
        }
    }
}

// The request as Java 17 sent it, head and body in two writes, through a relay.
#[actix_web::test]
async fn the_bytes_that_java_sends_are_answered_and_nothing_is_lost() {
    paused();
    let served = Served::new(&server()).await;
    let body = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"java","version":"17"}}}"#;
    let head = "POST /mcp HTTP/1.1\r\n\
        Connection: Upgrade, HTTP2-Settings\r\n\
        Content-Length: 150\r\n\
        Host: 127.0.0.1:18181\r\n\
        HTTP2-Settings: AAEAAEAAAAIAAAAAAAMAAAAAAAQBAAAAAAUAAEAAAAYABgAA\r\n\
        Upgrade: h2c\r\n\
        User-Agent: Java-http-client/17.0.21.1\r\n\
        Accept: application/json, text/event-stream\r\n\
        Content-Type: application/json\r\n\
        \r\n";
    for _ in 0..3 {
        let mut connection = served.connect();
        connection.write(head).await;
        actix_mcp::testing::settle().await;
        connection.write(body).await;
        let mut response = connection.response().await.expect(200).await;
        // it keeps a connection that is not said to be closed, and would lose its next request on it
        assert_eq!(response.header("connection"), Some("close"));
        assert!(response.header("mcp-session-id").is_some());
        let answer: Value = serde_json::from_slice(&response.bytes().await).expect("an answer");
        assert_eq!(answer["result"]["protocolVersion"], "2025-11-25");
        assert_eq!(response.into_connection().closed().await, b"");
    }
}
