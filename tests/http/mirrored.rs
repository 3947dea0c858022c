//! Headers that repeat the body and hold what no header may hold: 400 with -32020, where actix lets them through. Case C120.

#![expect(clippy::unwrap_used, reason = "in a test a panic is the failure")]

use actix_mcp::{Server, testing::paused};
use actix_web::web::Bytes;
use http::HeaderValue;
use serde_json::{Value, json};

use crate::{
    client::Request,
    h2c,
    refused::{Refusal, assert_idle},
    repeated::server,
    served::{Served, modern},
};

/// A request of each method that repeats a header, and the headers it repeats.
fn requests() -> Vec<(Request, &'static [&'static str])> {
    let region = json!({ "name": "region", "arguments": { "region": "eu", "n": 1 } });
    let region =
        modern("q1", "tools/call", region).header("Mcp-Param-Region", "eu").header("Mcp-Param-N", "1");
    vec![
        (modern("q1", "tools/list", json!({})), &["MCP-Protocol-Version", "Mcp-Method"]),
        (modern("q1", "server/discover", json!({})), &["MCP-Protocol-Version", "Mcp-Method"]),
        (
            modern("q1", "resources/read", json!({ "uri": "mem://a" })),
            &["MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"],
        ),
        (
            modern("q1", "prompts/get", json!({ "name": "greet", "arguments": { "name": "x" } })),
            &["MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"],
        ),
        (region, &["MCP-Protocol-Version", "Mcp-Method", "Mcp-Name", "Mcp-Param-Region", "Mcp-Param-N"]),
    ]
}

/// Puts bytes, which need not be text, behind the value of a header.
fn spoiled(request: &Request, header: &str, with: &[u8]) -> Vec<u8> {
    let bytes = request.bytes();
    let start = bytes.windows(header.len()).position(|window| window == header.as_bytes()).unwrap();
    let end = start + bytes[start..].iter().position(|byte| *byte == b'\r').unwrap();
    [&bytes[..end], with, &bytes[end..]].concat()
}

async fn refused(served: &Served, bytes: Vec<u8>, header: &'static str, what: &str) {
    let mut connection = served.connect();
    connection.write(bytes).await;
    Refusal::new(400, -32020, header).of("q1").check(connection.response().await, what).await;
}

async fn serve() -> (Server, Served) {
    paused();
    let server = server();
    let served = Served::new(&server).await;
    (server, served)
}

#[actix_web::test]
async fn a_header_that_is_not_visible_ascii_is_a_mismatch() {
    let (server, served) = serve().await;
    for (request, headers) in requests() {
        served.send(&request).await.expect(200).await;
        let ran = server.calls();
        for header in headers {
            for with in [&b"\xff"[..], b"\xc3\xa9", b"\xe9 x", b"\x80"] {
                refused(&served, spoiled(&request, header, with), header, "obs-text").await;
            }
        }
        assert_eq!(server.calls(), ran, "it ran");
    }
    assert_idle(&server).await;
}

#[actix_web::test]
async fn a_header_that_is_there_twice_is_a_mismatch_even_with_one_value() {
    let (server, served) = serve().await;
    for (request, headers) in requests() {
        for header in headers {
            let text = String::from_utf8(request.bytes()).unwrap();
            let line = text.lines().find(|line| line.starts_with(header)).unwrap();
            for (second, what) in [
                (line.to_owned(), "twice"),
                (format!("{header}: other"), "two values"),
                (format!("{header}:"), "one empty"),
            ] {
                let doubled = text.replacen(line, &format!("{line}\r\n{second}"), 1);
                refused(&served, doubled.into_bytes(), header, what).await;
            }
        }
    }
    assert_idle(&server).await;
}

#[actix_web::test]
async fn a_header_in_base64_that_cannot_be_read_is_a_mismatch() {
    let (server, served) = serve().await;
    for (request, headers) in requests() {
        for header in headers {
            // one is no Base64, one is not padded, one holds no UTF-8, one is in the URL's alphabet
            for value in
                ["=?base64?%%%?=", "=?base64?ZXU?=", "=?base64?/w==?=", "=?base64?_-8=?=", "=?base64?ZX U=?="]
            {
                refused(&served, request.clone().set(header, value).bytes(), header, value).await;
            }
        }
    }
    assert_idle(&server).await;
}

// httparse refuses these before anything of ours sees the request: 400, without a body
#[actix_web::test]
async fn control_characters_are_refused_by_http_itself() {
    let (server, served) = serve().await;
    for (request, headers) in requests() {
        for header in headers {
            for with in [&b"\0"[..], b"\x01", b"\x1b[31m", b"\x7f"] {
                let mut connection = served.connect();
                connection.write(spoiled(&request, header, with)).await;
                connection.response().await.expect(400).await.empty().await;
            }
        }
    }
    assert_eq!(server.calls(), 0, "it ran");
    assert_idle(&server).await;
}

#[actix_web::test]
async fn over_http_2_it_is_the_same() {
    let server = server();
    let addr = h2c::serve(&server);
    let (connection, _carrier) = h2c::connect(addr).await;
    let message = modern("q1", "resources/read", json!({ "uri": "mem://a" })).text();
    for header in ["mcp-protocol-version", "mcp-method", "mcp-name"] {
        for twice in [false, true] {
            let mut request = http::Request::post(format!("http://{addr}/mcp"))
                .header("content-type", "application/json")
                .header("accept", "application/json, text/event-stream")
                .header("mcp-protocol-version", "2026-07-28")
                .header("mcp-method", "resources/read")
                .header("mcp-name", "mem://a");
            let headers = request.headers_mut().unwrap();
            let value = headers.get(header).unwrap().clone();
            if twice {
                headers.append(header, value);
            } else {
                headers
                    .insert(header, HeaderValue::from_bytes(&[value.as_bytes(), b"\xff"].concat()).unwrap());
            }
            let body = Bytes::from(message.clone());
            let mut response = h2c::send(&connection, request.body(()).unwrap(), body).await;
            assert_eq!(response.status(), 400, "{header}");
            let error: Value = serde_json::from_str(&h2c::read_to(&mut response, "}}").await).unwrap();
            assert_eq!(
                (&error["error"]["code"], &error["id"]),
                (&json!(-32020), &json!("q1")),
                "{header}: {error}"
            );
        }
    }
}
