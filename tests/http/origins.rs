//! Who may speak to the endpoint from a web page: Origin, Host and CORS.

use actix_mcp::testing::paused;
use actix_web::http::header::ORIGIN;
use serde_json::json;

use crate::{
    client::{Request, Response},
    fixture::{builder, server},
    logs,
    refused::{Refusal, assert_idle},
    served::{Client, Served, initialize, message, modern},
};

const APP: &str = "https://app.example";

/// Asserts that a page of this origin may read the response, or that none may.
fn assert_cors(response: &Response, origin: Option<&str>) {
    assert_eq!(response.header("access-control-allow-origin"), origin);
    assert_eq!(response.header("access-control-allow-credentials"), None);
    assert_eq!(response.header("vary").map(str::to_ascii_lowercase), Some(ORIGIN.to_string()));
    if origin.is_some() {
        assert_eq!(
            response.header("access-control-expose-headers"),
            Some("Mcp-Session-Id, WWW-Authenticate")
        );
    }
}

// C54
#[actix_web::test]
async fn a_page_of_an_origin_that_is_not_allowed_is_refused_with_every_method() {
    paused();
    logs::install();
    let server = builder().allow_origin(APP).build();
    let served = Served::new(&server).await;
    for origin in [
        "https://evil.example",
        "null",
        "%%",
        "https://app.example.evil.example",
        "http://app.example",
        "http://localhost.evil.example",
        "",
    ] {
        for request in [
            initialize("2025-11-25"),
            Request::get(),
            Request::new("DELETE"),
            Request::new("OPTIONS").header("Access-Control-Request-Method", "POST"),
            Request::new("PUT"),
            modern("q1", "tools/list", json!({})),
        ] {
            let response = served.send(&request.header("Origin", origin)).await;
            assert_cors(&response, None);
            Refusal::new(403, -32600, "`Origin`").check(response, origin).await;
            assert!(logs::take().iter().any(|line| line.starts_with("WARN") && line.contains("Origin")));
        }
    }
    let two = initialize("2025-11-25").header("Origin", APP).header("Origin", "https://evil.example");
    Refusal::new(403, -32600, "`Origin`").check(served.send(&two).await, "two origins").await;
    assert_idle(&server).await;
    for origin in ["http://localhost:6274", "http://127.0.0.1:9", "http://[::1]:5173", APP] {
        let response =
            served.send(&initialize("2025-11-25").header("Origin", origin)).await.expect(200).await;
        assert_cors(&response, Some(origin));
        let response = served.send(&Request::new("OPTIONS").header("Origin", origin)).await.expect(204).await;
        assert_cors(&response, Some(origin));
    }
    let response = served.send(&initialize("2025-11-25")).await.expect(200).await;
    assert_cors(&response, None);
}

// C55
#[actix_web::test]
async fn a_loopback_socket_is_reached_by_its_own_names_only() {
    paused();
    logs::install();
    let server = server();
    let served = Served::new(&server).await;
    for host in
        ["evil.example", "evil.example:8000", "localhost.evil.example", "user@localhost", "127.0.0.1:x", ""]
    {
        let response = served.send(&initialize("2025-11-25").set("Host", host)).await;
        // what is no host at all is refused by HTTP itself
        if response.status != 400 {
            Refusal::new(403, -32600, "`Host`").check(response, host).await;
            assert!(
                logs::take().iter().any(|line| line.starts_with("WARN") && line.contains("Host")),
                "{host}"
            );
        }
    }
    assert_idle(&server).await;
    for host in ["127.0.0.1:8000", "127.0.0.1", "localhost:8000", "LOCALHOST:8000", "[::1]:8000", "[::1]"] {
        served.send(&initialize("2025-11-25").set("Host", host)).await.expect(200).await;
    }
    let absolute = initialize("2025-11-25").to("http://127.0.0.1:8080/mcp");
    served.send(&absolute).await.expect(200).await;
    // both names count where there are two
    for target in ["http://evil.example/mcp", "http://user@127.0.0.1/mcp"] {
        let response = served.send(&initialize("2025-11-25").to(target).set("Host", "127.0.0.1")).await;
        Refusal::new(403, -32600, "`Host`").check(response, target).await;
    }
}

// C55
#[actix_web::test]
async fn hosts_can_be_allowed_one_by_one_or_all() {
    paused();
    let served = Served::new(&builder().allow_host("mcp.example").build()).await;
    for (host, status) in [
        ("mcp.example", 200),
        ("MCP.example:443", 200),
        ("localhost", 200),
        ("evil.example", 403),
        ("mcp.example.evil.example", 403),
    ] {
        served.send(&initialize("2025-11-25").set("Host", host)).await.expect(status).await;
    }
    let served = Served::new(&builder().allow_any_host().build()).await;
    served.send(&initialize("2025-11-25").set("Host", "evil.example")).await.expect(200).await;
}

// C56
#[actix_web::test]
async fn a_preflight_allows_what_browsers_ask_for_without_a_session() {
    paused();
    let server = builder().allow_origin(APP).build();
    let served = Served::new(&server).await;
    let asked = "content-type,accept,authorization,mcp-protocol-version,mcp-session-id,last-event-id,mcp-method,mcp-name,mcp-param-region,x-own";
    let request = Request::new("OPTIONS")
        .header("Origin", APP)
        .header("Access-Control-Request-Method", "POST")
        .header("Access-Control-Request-Headers", asked);
    let response = served.send(&request).await.expect(204).await;
    assert_cors(&response, Some(APP));
    let list = |name: &str| {
        let value = response.header(name).unwrap().to_ascii_lowercase();
        value.split(',').map(|item| item.trim().to_owned()).collect::<Vec<_>>()
    };
    let headers = list("access-control-allow-headers");
    for header in asked.split(',') {
        assert!(headers.iter().any(|allowed| allowed == header), "{header} in {headers:?}");
    }
    let methods = list("access-control-allow-methods");
    assert!(["get", "post", "delete"].iter().all(|method| methods.iter().any(|allowed| allowed == method)));
    assert!(response.header("access-control-max-age").is_some());
    response.empty().await;
    assert_idle(&server).await;
}

// C56
#[actix_web::test]
async fn a_page_can_read_every_answer_and_every_refusal() {
    paused();
    let served = Served::new(&builder().allow_origin(APP).build()).await;
    let client = Client::open_with(&served, initialize("2025-11-25"), &[("Origin", APP)]).await;
    let list = client.request(&message(1, "tools/list", json!({})));
    let slow = client.request(&crate::served::call(2, "slow", json!({ "ms": 1000, "tag": "x" })));
    let notification = client.request(&json!({ "jsonrpc": "2.0", "method": "notifications/x" }));
    for (request, status) in [
        (list.clone(), 200),
        (slow, 200),
        (notification, 202),
        (client.dress(Request::get()), 200),
        (list.clone().set("Mcp-Session-Id", "dead"), 404),
        (list.clone().without("Mcp-Session-Id"), 400),
        (list.clone().method("PUT"), 405),
        (list.clone().set("Accept", "text/html"), 406),
        (list.clone().set("Content-Type", "text/plain"), 415),
        (list.clone().body("{"), 400),
        (list.set("Host", "evil.example"), 403),
        (client.dress(Request::new("DELETE")), 204),
    ] {
        assert_cors(&served.send(&request).await.expect(status).await, Some(APP));
    }
}
