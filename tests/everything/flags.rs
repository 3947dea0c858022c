//! The flags that change how the server answers.

use std::time::Duration;

use russe::Event;
use serde_json::{Value, json};

use crate::{
    client::Request,
    peer::{Http, Peer, text},
    served::{Client, call, initialize},
};

#[actix_web::test]
async fn odd_names_are_there_when_they_are_asked_for() {
    for mut peer in Peer::both(&["--odd-names"]).await {
        for name in ["tööl", "=?base64?abc?="] {
            assert!(peer.tools().await.contains(&name.to_owned()));
            assert_eq!(peer.call(name, json!({})).await, text("odd"));
            assert_eq!(peer.call(name, json!({ "more": 1 })).await, text("odd"));
        }
    }
    let tools = Peer::stdio(&[]).tools().await;
    assert!(!tools.iter().any(|name| name == "tööl" || name.starts_with("=?")), "{tools:?}");
}

#[actix_web::test]
async fn page_size_splits_every_list() {
    let whole = Peer::stdio(&[]).tools().await;
    for mut peer in Peer::both(&["--page-size", "2"]).await {
        let (mut names, mut cursor) = (Vec::new(), Value::Null);
        loop {
            let params = if cursor.is_null() { json!({}) } else { json!({ "cursor": cursor }) };
            let page = peer.request("tools/list", params).await["result"].take();
            let tools = page["tools"].as_array().expect("there is a list");
            assert!(tools.len() <= 2, "{page}");
            names.extend(tools.iter().map(|tool| tool["name"].as_str().expect("a name").to_owned()));
            cursor = page["nextCursor"].clone();
            if cursor.is_null() {
                break;
            }
        }
        assert_eq!(names, whole);
        for (method, list, more) in [
            ("prompts/list", "prompts", true),
            ("resources/list", "resources", true),
            ("resources/templates/list", "resourceTemplates", false),
        ] {
            let page = peer.request(method, json!({})).await["result"].take();
            assert_eq!(page[list].as_array().map(Vec::len), Some(2));
            assert_eq!(page.get("nextCursor").is_some(), more, "{method}");
        }
    }
}

#[actix_web::test]
async fn origins_and_hosts_are_allowed_beside_those_of_this_machine() {
    let flags = ["--allow-origin", "https://a.example", "--allow-origin", "https://b.example:444"];
    let server =
        Http::start(&[&flags[..], &["--allow-host", "mcp.example", "--allow-host", "mcp2.example"]].concat());
    for (name, value, status) in [
        ("Origin", "https://a.example", 200),
        ("Origin", "https://b.example:444", 200),
        ("Origin", "http://localhost:3000", 200),
        ("Origin", "https://b.example", 403),
        ("Host", "mcp.example", 200),
        ("Host", "mcp2.example:80", 200),
        ("Host", "localhost:1", 200),
        ("Host", "evil.example", 403),
    ] {
        server.send(&initialize("2025-11-25").set(name, value)).await.expect(status).await;
    }
}

#[actix_web::test]
async fn bearers_are_asked_for_a_token_and_keep_their_sessions_to_themselves() {
    let server = Http::start(&["--bearer", "ann=one", "--bearer", "ann=two", "--bearer", "bob=three"]);
    for wrong in [None, Some("Bearer four"), Some("Bearer ann"), Some("Basic one"), Some("one")] {
        let request = initialize("2025-11-25");
        let request = wrong.iter().fold(request, |request, wrong| request.header("Authorization", wrong));
        let response = server.send(&request).await.expect(401).await;
        assert_eq!(response.header("www-authenticate"), Some("Bearer"));
    }
    // a browser asks without a token
    let preflight = Request::new("OPTIONS")
        .header("Origin", "http://localhost:3000")
        .header("Access-Control-Request-Method", "POST")
        .header("Access-Control-Request-Headers", "authorization,content-type,x-own");
    let response = server.send(&preflight).await.expect(204).await;
    assert_eq!(response.header("access-control-allow-origin"), Some("http://localhost:3000"));
    assert!(response.header("access-control-allow-headers").is_some_and(|names| names.contains("x-own")));
    server.send(&preflight.set("Origin", "https://evil.example")).await.expect(403).await;
    let bearer = |token: &str| format!("Bearer {token}");
    let headers = [("Authorization", &*bearer("one"))];
    let ann = Client::open_with(server.addr, initialize("2025-11-25"), &headers).await;
    let echo = ann.request(&call(1, "echo", json!({ "text": "hi" })));
    for (token, status) in [("one", 200), ("two", 200), ("three", 404), ("four", 401)] {
        server.send(&echo.clone().set("Authorization", &bearer(token))).await.expect(status).await;
    }
    server.send(&Request::new("GET").to("/stats")).await.expect(200).await;
}

#[actix_web::test]
async fn the_largest_body_is_set() {
    let server = Http::start(&["--max-body", "1000"]);
    let client = server.client().await;
    let request = |length: usize| call(1, "echo", json!({ "text": "x".repeat(length) }));
    let most = 1000 - request(0).to_string().len();
    client.post(&request(most)).await.expect(200).await;
    client.post(&request(most + 1)).await.expect(413).await;
}

#[actix_web::test]
async fn the_longest_line_is_set() {
    let mut peer = Peer::stdio(&["--max-line", "1000"]);
    let answer = peer.request("tools/call", json!({ "name": "echo", "arguments": { "text": "x" } })).await;
    assert_eq!(answer["result"], text("x"));
    let answer = peer.refused_line(&call(1, "echo", json!({ "text": "x".repeat(1000) })));
    assert!(answer["error"]["message"].as_str().is_some_and(|message| message.contains("1000")), "{answer}");
    assert_eq!(peer.call("none", json!({})).await, text("ok"));
}

#[actix_web::test]
async fn plain_json_is_preferred() {
    let server = Http::start(&["--json-response"]);
    let client = server.client().await;
    let answer =
        client.call(1, "progress", json!({ "n": 3, "ms": 100 })).await.expect(200).await.json().await;
    assert_eq!(answer["result"], text("done"));
}

#[actix_web::test]
async fn streams_are_kept_alive() {
    let server = Http::start(&["--keep-alive", "0.02"]);
    let client = server.client().await;
    for mut stream in
        [client.get().await, client.call(1, "slow", json!({ "ms": 3_600_000, "tag": "t" })).await]
    {
        let comment =
            async { while !matches!(stream.event().await.expect("it goes on"), Event::Comment(_)) {} };
        // by default there is none so early
        tokio::time::timeout(Duration::from_secs(10), comment).await.expect("a comment in time");
    }
}

#[actix_web::test]
async fn idle_sessions_end() {
    let server = Http::start(&["--session-idle", "0.05"]);
    let client = server.client().await;
    server.until("sessions", 0).await;
    client.call(1, "none", json!({})).await.expect(404).await;
}

#[actix_web::test]
async fn flags_of_the_other_transport_and_of_the_other_era_are_accepted() {
    let key = "0123456789abcdefABCDEF0123456789abcdefABCDEF0123456789abcdef0123";
    for mut peer in Peer::both(&["--state-key", key, "--max-line", "100000", "--max-body", "100000"]).await {
        assert_eq!(peer.call("none", json!({})).await, text("ok"));
    }
    let http = ["--session-idle", "1", "--keep-alive", "1", "--json-response", "--bearer", "a=b"];
    assert_eq!(Peer::stdio(&http).call("none", json!({})).await, text("ok"));
}
