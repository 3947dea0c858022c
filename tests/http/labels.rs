//! How a body is labelled: `Content-Type` by the grammar, and `Content-Encoding`. Cases C99 and C100.

use actix_mcp::testing::paused;
use actix_web::{App, middleware::Compress};
use serde_json::json;

use crate::{
    client::Request,
    fixture::server,
    refused::{Refusal, assert_idle},
    served::{Client, Served, initialize, message, modern},
};

/// `{"jsonrpc":"2.0","id":1,"method":"ping"}`, by gzip.
const GZIPPED: &[u8] = &[
    0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xab, 0x56, 0xca, 0x2a, 0xce, 0xcf, 0x2b,
    0x2a, 0x48, 0x56, 0xb2, 0x52, 0x32, 0xd2, 0x33, 0x50, 0xd2, 0x51, 0xca, 0x4c, 0x51, 0xb2, 0x32, 0xd4,
    0x51, 0xca, 0x4d, 0x2d, 0xc9, 0xc8, 0x07, 0x32, 0x95, 0x0a, 0x32, 0xf3, 0xd2, 0x95, 0x6a, 0x01, 0xf4,
    0x17, 0x99, 0xac, 0x28, 0x00, 0x00, 0x00,
];

// C99
#[actix_web::test]
async fn a_body_that_is_labelled_as_compressed_is_refused_and_never_parsed() {
    paused();
    for compress in [false, true] {
        let server = server();
        let served = if compress {
            Served::app(App::new().wrap(Compress::default()).service(server.scope("/mcp"))).await
        } else {
            Served::new(&server).await
        };
        let plain = initialize("2025-11-25");
        for coding in [
            "gzip",
            "GZIP",
            "x-gzip",
            "deflate",
            "br",
            "zstd",
            "aes128gcm",
            "gzip, identity",
            "identity, gzip",
            "unknown",
            ";",
        ] {
            for request in [
                plain.clone(),
                plain.clone().body(GZIPPED),
                plain.clone().header("Mcp-Session-Id", "dead"),
                modern("q1", "tools/list", json!({})),
            ] {
                let response = served.send(&request.header("Content-Encoding", coding)).await;
                assert_eq!(response.header("accept-encoding"), Some("identity"), "{coding}");
                Refusal::new(415, -32600, "`Content-Encoding`").check(response, coding).await;
            }
        }
        let two = plain.clone().header("Content-Encoding", "identity").header("Content-Encoding", "gzip");
        Refusal::new(415, -32600, "`Content-Encoding`").check(served.send(&two).await, "two headers").await;
        // a wrong type is another reason, and comes first
        let response = served.send(&two.set("Content-Type", "text/plain")).await;
        assert_eq!(response.header("accept-encoding"), None);
        Refusal::new(415, -32600, "`Content-Type`").check(response, "a wrong type").await;
        assert_idle(&server).await;
        // not labelled, it is no JSON
        let response = served.send(&plain.clone().body(GZIPPED)).await;
        Refusal::new(400, -32700, "").check(response, "no label").await;
        for coding in ["identity", "Identity", "", "identity, identity", ", identity ,"] {
            served.send(&plain.clone().header("Content-Encoding", coding)).await.expect(200).await;
        }
        let twice = plain.header("Content-Encoding", "identity").header("Content-Encoding", "identity");
        served.send(&twice).await.expect(200).await;
    }
}

/// A header in place of the one that says `application/json`.
fn typed(request: &Request, value: &str) -> Request {
    request.clone().set("Content-Type", value)
}

// C100
#[actix_web::test]
async fn a_content_type_may_be_spelled_as_the_grammar_allows() {
    paused();
    let served = Served::new(&server()).await;
    let client = Client::open(&served, "2025-11-25").await;
    let requests = [
        initialize("2025-11-25"),
        client.request(&message(1, "ping", json!({}))),
        modern("q1", "tools/list", json!({})),
    ];
    for kind in [
        "application/json",
        "Application/JSON",
        "application/json ; charset=utf-8",
        "application/json;charset=UTF-8",
        "application/json\t;\tcharset=utf-8",
        "application/json; charset=\"utf-8\"",
        "application/json; charset=utf8",
        "application/json; charset=us-ascii",
        "application/json; profile=\"a;b=\\\"c\\\"\"; charset=utf-8",
        "application/json;",
        "application/json; x=y",
    ] {
        for request in &requests {
            client.send(&typed(request, kind)).await.expect(200).await;
        }
    }
    for kind in [
        "application/json; charset=utf-16",
        "application/json; charset=\"iso-8859-1\"",
        "application/json; charset=utf-8; charset=utf-16le",
        "application/json charset=utf-8",
        "application/json; charset=\"utf-8",
        "application/json; charset",
        "application/json, text/plain",
        "application/problem+json",
        "text/plain",
        "application/json\u{fc}",
        "",
    ] {
        for request in &requests {
            let response = client.send(&typed(request, kind)).await;
            Refusal::new(415, -32600, "`Content-Type`").check(response, kind).await;
        }
    }
    for second in ["application/json", "text/plain"] {
        for request in &requests {
            let response = client.send(&request.clone().header("Content-Type", second)).await;
            Refusal::new(415, -32600, "`Content-Type`").check(response, "two headers").await;
        }
    }
}

// C100: its kind, the other header of media types
#[actix_web::test]
async fn an_accept_header_may_be_spelled_as_the_grammar_allows() {
    paused();
    let served = Served::new(&server()).await;
    for (accept, kind) in [
        ("application/json ; q=0.5 , text/event-stream ; q=0", "application/json"),
        ("application/json;profile=\"a,text/event-stream\"", "application/json"),
        ("application/json;profile=\"a;q=0\"", "application/json"),
        ("application/json;Q=0, text/event-stream", "text/event-stream"),
        ("application/json;q=\"0\", TEXT/event-stream", "text/event-stream"),
        ("application/json; q = 0.5", "application/json"),
        ("garbage, */*;q=0.1", "application/json"),
    ] {
        let response = served.send(&initialize("2025-11-25").set("Accept", accept)).await.expect(200).await;
        assert_eq!(response.header("content-type"), Some(kind), "{accept}");
    }
    for accept in ["text/plain;x=\",application/json\"", "application", "*/json", ","] {
        let response = served.send(&initialize("2025-11-25").set("Accept", accept)).await;
        Refusal::new(406, -32600, "`Accept`").check(response, accept).await;
    }
}
