//! What a browser asks first, and pages that are not web pages: cases C101 and C102.

#![expect(clippy::unwrap_used, reason = "in a test a panic is the failure")]

use actix_mcp::testing::paused;
use actix_web::{App, dev::Service as _, error::ErrorUnauthorized, guard};
use serde_json::json;

use crate::{
    client::{Request, Response},
    fixture::{builder, server},
    refused::Refusal,
    served::{Served, initialize, modern},
};

const APP: &str = "https://app.example";

fn preflight(origin: &str, asked: &[&str]) -> Request {
    let request =
        Request::new("OPTIONS").header("Origin", origin).header("Access-Control-Request-Method", "POST");
    asked.iter().fold(request, |request, asked| request.header("Access-Control-Request-Headers", asked))
}

fn allowed(response: &Response) -> Vec<String> {
    let value = response.header("access-control-allow-headers").unwrap();
    value.split(',').map(|name| name.trim().to_owned()).collect()
}

// C102
#[actix_web::test]
async fn an_allowed_origin_may_send_the_headers_it_asks_for() {
    paused();
    let served = Served::new(&builder().allow_origin(APP).build()).await;
    let plain = allowed(&served.send(&preflight(APP, &[])).await.expect(204).await);
    for (asked, added) in [
        (&["content-type,x-api-key,traceparent"][..], &["x-api-key", "traceparent"][..]),
        (&["X-API-Key , TraceParent"], &["x-api-key", "traceparent"]),
        (&["x-api-key", "traceparent"], &["x-api-key", "traceparent"]),
        (&["x-api-key,X-Api-Key,x-api-key"], &["x-api-key"]),
        (&["mcp-param-region, x.y, !odd"], &["mcp-param-region", "x.y", "!odd"]),
        (&["", ",", " , "], &[]),
        (&["two words", "a:b", "x\"y", "(z)", "\u{e9}", "a;b=c"], &[]),
        (&["x\tz, ok"], &["ok"]),
    ] {
        let names = allowed(&served.send(&preflight(APP, asked)).await.expect(204).await);
        assert_eq!(names[..plain.len()], plain, "{asked:?}");
        assert_eq!(names[plain.len()..], *added, "{asked:?}");
    }
    // from a page of any other origin, and from what is no page
    let response = served.send(&preflight("https://evil.example", &["x-api-key"])).await;
    assert_eq!(response.header("access-control-allow-headers"), None);
    Refusal::new(403, -32600, "`Origin`").check(response, "another origin").await;
    let no_page = preflight(APP, &["x-api-key"]).without("Origin");
    assert_eq!(allowed(&served.send(&no_page).await.expect(204).await), plain);
}

// C102
#[actix_web::test]
async fn what_is_asked_for_is_echoed_within_bounds() {
    paused();
    let served = Served::new(&builder().allow_origin(APP).build()).await;
    let plain = allowed(&served.send(&preflight(APP, &[])).await.expect(204).await).len();
    let ask = async |names: Vec<String>| {
        let response = served.send(&preflight(APP, &[&names.join(",")])).await.expect(204).await;
        let length = response.header("access-control-allow-headers").unwrap().len();
        (allowed(&response).len() - plain, length)
    };
    assert_eq!(ask((0..64).map(|n| format!("x-{n}")).collect()).await.0, 64);
    assert_eq!(ask((0..1000).map(|n| format!("x-{n}")).collect()).await.0, 64);
    let (names, length) = ask((0..10).map(|n| format!("x-{n}-{}", "y".repeat(1000))).collect()).await;
    assert!(names == 4 && length < 4500, "{names} names, {length} bytes");
}

// C101
#[actix_web::test]
async fn a_page_of_an_extension_or_a_shell_is_served_where_its_origin_was_named() {
    paused();
    for origin in [
        "chrome-extension://abc",
        "moz-extension://7f5d2c3e-1111-2222-3333-444455556666",
        "vscode-webview://1q2w3e",
        "tauri://localhost",
        "app://obsidian.md",
        "capacitor://localhost",
    ] {
        let by_default = Served::new(&server()).await;
        let named = Served::new(&builder().allow_origin(origin).build()).await;
        for request in [
            initialize("2025-11-25"),
            modern("q1", "tools/list", json!({})),
            preflight("", &[]).without("Origin"),
        ] {
            let request = request.header("Origin", origin);
            let response = by_default.send(&request).await;
            assert_eq!(response.header("access-control-allow-origin"), None);
            Refusal::new(403, -32600, "`Origin`").check(response, origin).await;
            let response = named.send(&request).await;
            assert!(matches!(response.status, 200 | 204), "{origin}: {}", response.status);
            assert_eq!(response.header("access-control-allow-origin"), Some(origin));
            for other in
                [format!("{origin}x"), format!("{origin}/"), "https://abc".to_owned(), "null".to_owned()]
            {
                let response = named.send(&request.clone().set("Origin", &other)).await;
                Refusal::new(403, -32600, "`Origin`").check(response, &other).await;
            }
        }
    }
}

// C101
#[actix_web::test]
async fn any_origin_can_be_taken_and_then_its_host_still_counts() {
    paused();
    let served = Served::new(&builder().allow_any_origin().build()).await;
    for origin in ["https://evil.example", "chrome-extension://abc", "null", "file://", "%%"] {
        let request = initialize("2025-11-25").header("Origin", origin);
        let response = served.send(&request).await.expect(200).await;
        assert_eq!(response.header("access-control-allow-origin"), Some(origin));
        assert_eq!(response.header("access-control-allow-credentials"), None);
        let response = served.send(&preflight(origin, &["x-api-key"])).await.expect(204).await;
        assert!(allowed(&response).contains(&"x-api-key".to_owned()));
        let rebound = served.send(&request.clone().set("Host", "evil.example")).await;
        Refusal::new(403, -32600, "`Host`").check(rebound, origin).await;
        let two = served.send(&request.header("Origin", "https://evil.example")).await;
        Refusal::new(403, -32600, "`Origin`").check(two, "which of two is meant").await;
    }
}

// C101
#[actix_web::test]
async fn an_origin_or_a_host_that_can_never_match_is_refused_at_start_in_words() {
    for (origin, why) in [
        ("null", "any page can send it"),
        ("https://*.example", "`*`"),
        ("https://app.example/", "slash"),
        ("https://user@app.example", "user"),
        ("app.example", "scheme://host"),
        ("https://b\u{fc}cher.example", "xn--"),
    ] {
        let error = builder().try_allow_origin(origin).map(drop).unwrap_err().to_string();
        assert!(error.contains(why) && error.contains(&format!("{origin:?}")), "{error}");
    }
    for (host, why) in [("*", "`*`"), ("https://mcp.example", "scheme"), ("mcp.example/mcp", "slash")] {
        let error = builder().try_allow_host(host).map(drop).unwrap_err().to_string();
        assert!(error.contains(why) && error.contains(&format!("{host:?}")), "{error}");
    }
}

// C102
#[actix_web::test]
async fn a_scope_for_preflights_in_front_of_authentication_answers_them_and_nothing_else() {
    paused();
    let server = builder().allow_origin(APP).build();
    let scope = server.scope("/mcp").wrap_fn(|request, service| {
        let known = request.headers().contains_key("authorization");
        let served = known.then(|| service.call(request));
        async move {
            match served {
                Some(served) => served.await,
                None => Err(ErrorUnauthorized("no token")),
            }
        }
    });
    let app = App::new().service(server.scope("/mcp").guard(guard::Options())).service(scope);
    let served = Served::app(app).await;
    for path in ["/mcp", "/mcp/"] {
        let response =
            served.send(&preflight(APP, &["authorization,x-own"]).to(path)).await.expect(204).await;
        assert_eq!(response.header("access-control-allow-origin"), Some(APP));
        assert!(allowed(&response).contains(&"x-own".to_owned()));
        served.send(&preflight("https://evil.example", &[]).to(path)).await.expect(403).await;
        for request in [
            initialize("2025-11-25"),
            modern("q1", "tools/list", json!({})),
            Request::get(),
            Request::new("DELETE"),
            Request::new("PUT"),
        ] {
            served.send(&request.to(path)).await.expect(401).await;
        }
        let known = initialize("2025-11-25").to(path).header("Authorization", "Bearer x");
        served.send(&known).await.expect(200).await;
    }
}

#[actix_web::test]
async fn a_preflight_is_answered_outside_of_the_middleware_that_authenticates_and_nothing_else_is() {
    paused();
    let server = builder().allow_origin(APP).build();
    let app = App::new().configure(server.mount_with("/mcp", |scope| {
        scope.wrap_fn(|request, service| {
            let authorized = request.headers().contains_key("Authorization");
            let response = authorized.then(|| service.call(request));
            async { response.ok_or_else(|| ErrorUnauthorized("who?"))?.await }
        })
    }));
    let served = Served::app(app).await;
    let allowed = allowed(&served.send(&preflight(APP, &["authorization"])).await.expect(204).await);
    assert!(allowed.contains(&"authorization".to_owned()), "{allowed:?}");
    let refused = preflight("https://evil.example", &["authorization"]);
    served.send(&refused).await.expect(403).await;
    for request in [initialize("2025-11-25"), Request::get(), Request::new("DELETE")] {
        served.send(&request).await.expect(401).await;
    }
    served.send(&initialize("2025-11-25").header("Authorization", "Bearer x")).await.expect(200).await;
    assert_eq!(server.stats().sessions, 1);
}
