//! What the log tells of requests: which Origin or Host was refused and how to allow it, and that nobody owns a session.

use actix_mcp::{Principal, testing::paused};
use actix_web::{App, HttpMessage as _, dev::Service as _};
use serde_json::json;

use crate::{
    client::Request,
    fixture::{builder, server},
    logs,
    served::{Served, initialize, message, modern},
};

fn warnings() -> Vec<String> {
    logs::take().into_iter().filter(|line| line.starts_with("WARN")).collect()
}

// the refused `Host` or `Origin` is in the log
#[actix_web::test]
async fn a_refused_origin_or_host_is_in_the_log_with_what_allows_it() {
    paused();
    logs::install();
    let served = Served::new(&server()).await;
    for (header, value, shown, method) in [
        ("Origin", "https://evil.example", "\"https://evil.example\"", "`ServerBuilder::allow_origin`"),
        ("Origin", "chrome-extension://abc", "\"chrome-extension://abc\"", "`ServerBuilder::allow_origin`"),
        ("Origin", "", "\"\"", "`ServerBuilder::allow_origin`"),
        ("Origin", "a\t\"\u{e9}", r#""a\t\"\xc3\xa9""#, "`ServerBuilder::allow_origin`"),
        ("Host", "evil.example:80", "\"evil.example:80\"", "`ServerBuilder::allow_host`"),
        ("Host", "\u{e9}", r#""\xc3\xa9""#, "`ServerBuilder::allow_host`"),
    ] {
        for request in [initialize("2025-11-25"), modern("q1", "tools/list", json!({})), Request::get()] {
            served.send(&request.set(header, value)).await.expect(403).await;
            let lines = warnings();
            assert_eq!(lines.len(), 1, "{lines:?}");
            assert!(
                lines[0].contains(header) && lines[0].contains(shown) && lines[0].contains(method),
                "{lines:?}"
            );
        }
    }
    let long = initialize("2025-11-25").header("Origin", &format!("https://{}", "x".repeat(10_000)));
    served.send(&long).await.expect(403).await;
    let lines = warnings();
    assert!(lines[0].len() < 300 && lines[0].contains(".."), "{lines:?}");
    let two = initialize("2025-11-25")
        .header("Origin", "http://localhost")
        .header("Origin", "https://evil.example");
    served.send(&two).await.expect(403).await;
    assert!(warnings()[0].contains("\"http://localhost\" and \"https://evil.example\""));
    let absolute = initialize("2025-11-25").to("http://evil.example/mcp").set("Host", "127.0.0.1");
    served.send(&absolute).await.expect(403).await;
    assert!(warnings()[0].contains("\"evil.example\" and \"127.0.0.1\""));
}

/// A request of each kind that belongs to somebody, or could.
fn requests(session: &str) -> Vec<Request> {
    vec![
        initialize("2025-11-25"),
        Request::post(message(1, "ping", json!({}))).header("Mcp-Session-Id", session),
        modern("q1", "tools/list", json!({})),
    ]
}

async fn session(served: &Served) -> String {
    let opened = served.send(&initialize("2025-11-25")).await.expect(200).await;
    opened.header("mcp-session-id").expect("a session").to_owned()
}

#[actix_web::test]
async fn requests_with_credentials_and_without_a_principal_are_warned_of_once() {
    paused();
    logs::install();
    for first in 0..3 {
        let server = server();
        // of two workers
        let (one, other) = (Served::new(&server).await, Served::new(&server).await);
        let session = session(&one).await;
        assert_eq!(warnings(), [""; 0], "none carried credentials");
        let mut requests = requests(&session);
        requests.rotate_left(first);
        for request in &requests {
            for served in [&one, &other] {
                served
                    .send(&request.clone().header("Authorization", "Bearer secret-token"))
                    .await
                    .expect(200)
                    .await;
            }
        }
        let lines = logs::take();
        assert!(!lines.iter().any(|line| line.contains("secret-token")), "{lines:?}");
        let warned: Vec<_> = lines.iter().filter(|line| line.starts_with("WARN")).collect();
        assert_eq!(warned.len(), 1, "{lines:?}");
        assert!(
            warned[0].contains("`Authorization`") && warned[0].contains("`ServerBuilder::principal`"),
            "{warned:?}"
        );
    }
}

#[actix_web::test]
async fn a_service_that_knows_its_principals_is_not_warned() {
    paused();
    logs::install();
    let known = server();
    let app = App::new().service(known.scope("/mcp")).wrap_fn(|request, service| {
        if request.headers().contains_key("authorization") {
            request.extensions_mut().insert(Principal::new("ada"));
        }
        service.call(request)
    });
    let by_middleware = Served::app(app).await;
    let by_function = Served::new(
        &builder()
            .principal(|request| {
                request
                    .headers()
                    .get("authorization")
                    .is_some_and(|value| value == "Bearer good")
                    .then(|| Principal::new("ada"))
            })
            .build(),
    )
    .await;
    for served in [by_middleware, by_function] {
        let good = |request: Request| request.header("Authorization", "Bearer good");
        served.send(&good(initialize("2025-11-25"))).await.expect(200).await;
        for request in requests("none") {
            served.send(&good(request.clone())).await;
            // some have none
            served.send(&request.clone()).await;
            served.send(&request.header("Authorization", "Bearer bad")).await;
        }
        assert_eq!(warnings(), [""; 0]);
    }
}
