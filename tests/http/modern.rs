//! Requests that speak for themselves, beside sessions and without them: what each is answered with and in which order it
//! is refused. Cases C06, C07, C16, C17, C42, C43, C56, C57, C71, C74, C76, C77, C83 and C89; `eras` has those that are about both
//! eras at once.

use std::time::Duration;

use actix_mcp::{Cache, Eras, Meta, Resource, Server, Session, TraceContext, testing::paused, tool};
use serde_json::{Value, json};

use crate::{
    client::{Request, Response},
    fixture::{builder, server},
    metadata::{CAPABILITIES, VERSION},
    served::{Client, Served, call, initialize, message, modern, modern_call, modern_with},
};

const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

/// Asserts that it is an error with its id and nothing of a session, and gives its code.
async fn code(response: Response, id: &Value) -> i64 {
    assert_eq!(response.header("mcp-session-id"), None);
    let error = response.answer().await;
    assert_eq!(error.get("id"), Some(id), "{error}");
    error["error"]["code"].as_i64().unwrap_or_else(|| panic!("no error: {error}"))
}

/// The status of a request, and the code of its error.
async fn refusal(served: &Served, request: &Request) -> (u16, i64) {
    let response = served.send(request).await;
    (response.status, code(response, &json!("q1")).await)
}

async fn result(served: &Served, request: &Request) -> Value {
    let response = served.send(request).await.expect(200).await;
    assert_eq!(response.header("mcp-session-id"), None);
    let answer = response.answer().await;
    assert_eq!(answer["result"]["resultType"], "complete", "{answer}");
    answer["result"].clone()
}

/// A request with this `_meta` and no headers of its own but the version.
fn with_meta(method: &str, meta: Value) -> Request {
    Request::post(message("q1", method, json!({ "_meta": meta })))
        .header("MCP-Protocol-Version", "2026-07-28")
        .header("Mcp-Method", method)
}

// C06
#[actix_web::test]
async fn a_probe_is_answered_as_the_very_first_request_and_a_handshake_still_works() {
    paused();
    let served = Served::new(&server()).await;
    let probe = modern("d", "server/discover", json!({}));
    let found = result(&served, &probe).await;
    // C119
    let versions = json!(["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]);
    assert_eq!(found["supportedVersions"], versions);
    assert_eq!((&found["ttlMs"], &found["cacheScope"]), (&json!(0), &json!("private")));
    assert!(found["capabilities"]["tools"].is_object());
    assert!(found["capabilities"].get("extensions").is_none(), "none is there by default");
    assert_eq!(found["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "fixture");
    let client = Client::open(&served, "2025-11-25").await;
    client.call(1, "none", json!({})).await.expect(200).await;
    // in the middle of a session it is no part of it
    result(
        &served,
        &client.dress(modern("d", "server/discover", json!({}))).set("MCP-Protocol-Version", "2026-07-28"),
    )
    .await;
}

// C06
#[actix_web::test]
async fn a_server_of_handshakes_only_gives_no_error_that_a_probe_could_take_for_another_server() {
    paused();
    let served = Served::new(&builder().eras(Eras::Legacy).build()).await;
    for request in [
        modern("q1", "server/discover", json!({})),
        modern_call("q1", "none", json!({})),
        modern("q1", "tools/list", json!({})).without("Mcp-Method"),
        modern("q1", "tools/list", json!({})).set("MCP-Protocol-Version", "v999"),
        with_meta("tools/list", json!({ VERSION: "v999" })),
    ] {
        let (status, code) = refusal(&served, &request).await;
        assert_eq!((status, code), (400, -32600));
    }
    let client = Client::open(&served, "2025-11-25").await;
    let params = json!({ "_meta": { VERSION: "2026-07-28", CAPABILITIES: {} } });
    let response = client.post(&message(1, "server/discover", params.clone())).await.expect(200).await;
    assert_eq!(code(response, &json!(1)).await, -32601);
    client.post(&message(2, "tools/list", params)).await.expect(200).await;
}

// C07
#[actix_web::test]
async fn a_client_with_a_handshake_is_asked_for_no_header_of_later_ones() {
    paused();
    let served = Served::new(&server()).await;
    let client = json!({ "name": "mcp", "version": "0.1.0" });
    let params =
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client, "_meta": {} });
    let request = Request::post(message(0, "initialize", params));
    let client = Client::open_with(&served, request, &[]).await;
    let list = client.post(&message(1, "tools/list", json!({ "_meta": { "progressToken": 3 } }))).await;
    assert!(list.expect(200).await.answer().await["result"]["tools"].is_array());
    // whatever its headers say, `initialize` without a version in its `_meta` opens a session
    let request =
        initialize("2025-11-25").header("MCP-Protocol-Version", "2026-07-28").header("Mcp-Method", "x");
    assert!(served.send(&request).await.expect(200).await.header("mcp-session-id").is_some());
}

// C42, C47
#[actix_web::test]
async fn of_two_faults_the_first_in_order_is_told() {
    paused();
    let server = server();
    let served = Served::new(&server).await;
    let bare = |meta: Value| with_meta("tools/list", meta);
    let no_header = |meta: Value| bare(meta).without("MCP-Protocol-Version");
    for (request, status, code) in [
        // the version field, before its header
        (bare(json!({})).without("Mcp-Method"), 400, -32602),
        (no_header(json!({ VERSION: 7 })), 400, -32602),
        (no_header(json!({ VERSION: null })), 400, -32602),
        (bare(json!(null)), 400, -32602),
        (
            Request::post(message("q1", "tools/list", json!(null)))
                .header("MCP-Protocol-Version", "2026-07-28"),
            400,
            -32602,
        ),
        // its header, before what it names
        (no_header(json!({ VERSION: "v999.0.0" })), 400, -32020),
        (bare(json!({ VERSION: "v999.0.0" })), 400, -32020),
        (no_header(json!({ VERSION: "2026-07-28" })), 400, -32020),
        // a version that is served, before the rest of `_meta`
        (bare(json!({ VERSION: "v999.0.0" })).set("MCP-Protocol-Version", "v999.0.0"), 400, -32022),
        (bare(json!({ VERSION: "2025-11-25" })).set("MCP-Protocol-Version", "2025-11-25"), 400, -32022),
        // the rest of `_meta`, before the other headers
        (bare(json!({ VERSION: "2026-07-28" })).without("Mcp-Method"), 400, -32602),
        (bare(json!({ VERSION: "2026-07-28", CAPABILITIES: "x" })).set("Mcp-Method", "x"), 400, -32602),
        (
            bare(json!({ VERSION: "2026-07-28", CAPABILITIES: {}, LOG_LEVEL: "loud" }))
                .set("Mcp-Method", "x"),
            400,
            -32602,
        ),
        // the other headers, before the method
        (modern("q1", "no/such", json!({})).without("Mcp-Method"), 400, -32020),
        (modern("q1", "no/such", json!({})).set("Mcp-Method", "tools/list"), 400, -32020),
        // the method, before its parameters
        (modern("q1", "no/such", json!({ "cursor": 7 })), 404, -32601),
        (modern("q1", "resources/read", json!({})), 200, -32602),
        (modern("q1", "tools/call", json!({ "name": "ghost", "arguments": 7 })), 200, -32602),
    ] {
        let text = format!("{}{}", request.head(), request.text());
        assert_eq!(refusal(&served, &request).await, (status, code), "{text}");
        assert_eq!((server.calls(), server.stats()), (0, Default::default()), "{text}");
    }
    // who sends it may stay untold
    result(&served, &modern("q1", "tools/list", json!({}))).await;
}

// C42
#[actix_web::test]
async fn a_version_that_is_not_served_is_told_those_that_are() {
    paused();
    let served = Served::new(&server()).await;
    let meta = json!({ VERSION: "v999.0.0", CAPABILITIES: {} });
    let request = with_meta("server/discover", meta).set("MCP-Protocol-Version", "v999.0.0");
    let error = served.send(&request).await.expect(400).await.json().await;
    // C119
    let supported = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
    let data = json!({ "supported": supported, "requested": "v999.0.0" });
    assert_eq!((&error["id"], &error["error"]["data"]), (&json!("q1"), &data));
}

// C43, C89, and what else is gone
#[actix_web::test]
async fn a_method_that_is_gone_or_unknown_is_404() {
    paused();
    let served = Served::new(&server()).await;
    for method in [
        "ping",
        "initialize",
        "logging/setLevel",
        "resources/subscribe",
        "resources/unsubscribe",
        "no/such",
        "",
    ] {
        let request = modern("q1", method, json!({}));
        assert_eq!(refusal(&served, &request).await, (404, -32601), "{method}");
    }
    // of a server that offers nothing of the kind
    let bare = Served::new(&Server::builder("bare", "1").build()).await;
    assert_eq!(refusal(&bare, &modern("q1", "tools/list", json!({}))).await, (404, -32601));
}

// C77 but for what asks the client, C83, C87, C88, C113
#[actix_web::test]
async fn what_is_refused_has_its_status_whatever_the_client_reads() {
    paused();
    let served = Served::new(&server()).await;
    let unknown = json!({ "ref": { "type": "ref/prompt", "name": "ghost" }, "argument": { "name": "name", "value": "" } });
    for accept in ["application/json, text/event-stream", "text/event-stream", "application/json"] {
        for (request, status, code) in [
            (modern("q1", "no/such", json!({})), 404, -32601),
            (modern("q1", "resources/read", json!({})), 200, -32602),
            (modern("q1", "resources/read", json!({ "uri": "mem://none" })), 200, -32602),
            (modern("q1", "prompts/get", json!({ "name": "ghost" })), 200, -32602),
            (modern("q1", "prompts/get", json!({ "name": "greet" })), 200, -32602),
            (modern_call("q1", "ghost", json!({})), 200, -32602),
            (modern_call("q1", "refuse", json!({})), 200, -32602),
            (modern("q1", "tools/list", json!({ "cursor": "bogus" })), 200, -32602),
            (modern("q1", "completion/complete", unknown.clone()), 200, -32602),
        ] {
            let text = request.text();
            assert_eq!(
                refusal(&served, &request.set("Accept", accept)).await,
                (status, code),
                "{accept} {text}"
            );
        }
    }
    let none = modern("q1", "resources/read", json!({ "uri": "mem://none" }));
    let error = served.send(&none).await.json().await;
    assert_eq!(error["error"]["data"]["uri"], "mem://none");
    // a session has its own code for it
    let client = Client::open(&served, "2025-11-25").await;
    let none = message(1, "resources/read", json!({ "uri": "mem://none" }));
    let error = client.post(&none).await.expect(200).await.json().await["error"].clone();
    assert_eq!((&error["code"], &error["data"]["uri"]), (&json!(-32002), &json!("mem://none")));
    // a failure of the server is an answer like any other
    for (accept, kind) in
        [("application/json", "application/json"), ("text/event-stream", "text/event-stream")]
    {
        let response = served.send(&modern_call("q1", "panic", json!({})).set("Accept", accept)).await;
        let response = response.expect(200).await;
        assert_eq!(response.header("content-type"), Some(kind));
        assert_eq!(response.answer().await["error"]["code"], -32603);
    }
    result(&served, &modern_call("q1", "none", json!({}))).await;
}

// C29, C31, C43, C63, C74
#[actix_web::test]
async fn a_notification_is_accepted_without_effect_and_a_response_is_not() {
    paused();
    let server = server();
    let served = Served::new(&server).await;
    let post = |body: &str| Request::post(body).header("MCP-Protocol-Version", "2026-07-28");
    let running = served.connect();
    let mut running = running;
    running.send(&modern_call(1, "slow", json!({ "ms": 1000, "tag": "x" }))).await;
    actix_mcp::testing::settle().await;
    for body in [
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1.5}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/foo"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    ] {
        for request in [post(body), post(body).header("Mcp-Method", "x").header("Mcp-Session-Id", "none")] {
            let response = served.send(&request).await.expect(202).await;
            assert_eq!(response.header("mcp-session-id"), None);
            response.empty().await;
        }
    }
    for (body, code) in [
        (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}}"#, -32600),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]"#, -32600),
        (r#"[{"jsonrpc":"2.0","method":"notifications/foo"}]"#, -32600),
        ("[]", -32600),
        (r#"{"jsonrpc":"2.0","method":7}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":null,"method":"tools/list"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"tools/list"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":true,"method":"tools/list"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":[],"method":"tools/list"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":{},"method":"tools/list"}"#, -32600),
        ("{", -32700),
        ("", -32700),
    ] {
        let error = served.send(&post(body)).await.expect(400).await.json().await;
        assert_eq!((error.get("id"), &error["error"]["code"]), (None, &json!(code)), "{body}: {error}");
    }
    let answer = running.response().await.expect(200).await.answer().await;
    assert_eq!(answer["result"]["content"][0]["text"], "x", "the call was cancelled");
}

#[actix_web::test]
async fn headers_of_sessions_and_of_streams_mean_nothing() {
    paused();
    for eras in [Eras::Both, Eras::Modern] {
        let served = Served::new(&builder().eras(eras).build()).await;
        let request = modern_call(1, "progress", json!({ "n": 2, "ms": 1 }));
        let request = request.header("Mcp-Session-Id", "none").header("Last-Event-ID", "0-0");
        let mut response = served.send(&request).await.expect(200).await;
        assert_eq!(response.header("mcp-session-id"), None);
        let answer = String::from_utf8(response.bytes().await).unwrap_or_default();
        assert!(answer.contains("\"done\""), "{eras:?}: {answer}");
    }
}

// C71
#[actix_web::test]
async fn a_stream_has_neither_ids_nor_words_of_when_to_come_back() {
    paused();
    let served = Served::new(&server()).await;
    let params =
        json!({ "name": "progress", "arguments": { "n": 2, "ms": 10 }, "_meta": { "progressToken": 7 } });
    let mut response = served.send(&modern(1, "tools/call", params)).await.expect(200).await;
    assert_eq!(response.header("content-type"), Some("text/event-stream"));
    assert_eq!(response.header("x-accel-buffering"), Some("no"));
    assert_eq!(response.header("mcp-session-id"), None);
    let body = String::from_utf8(response.bytes().await).unwrap_or_default();
    assert_eq!(
        body.lines()
            .filter(|line| !["", "event: message"].contains(line) && !line.starts_with("data: {"))
            .count(),
        0,
        "{body}"
    );
    assert_eq!(body.lines().filter(|line| line.starts_with("data: {")).count(), 3, "{body}");
    // and one that is silent begins with a comment
    let slow = modern_call(1, "slow", json!({ "ms": 1000, "tag": "x" }));
    let body =
        String::from_utf8(served.send(&slow).await.expect(200).await.bytes().await).unwrap_or_default();
    assert!(body.starts_with(":\n\nevent: message\ndata: {") && body.matches("data").count() == 1, "{body}");
}

// C16 and C17
#[actix_web::test]
async fn progress_goes_to_its_own_stream_under_its_own_token() {
    paused();
    let served = Served::new(&server()).await;
    // those whom it is no concern of
    let mut get = Client::open(&served, "2025-11-25").await.get().await.expect(200).await;
    let all = json!({ "notifications": { "toolsListChanged": true, "resourceSubscriptions": ["mem://a"] } });
    let mut listen = served.send(&modern(1, "subscriptions/listen", all)).await.expect(200).await;
    assert!(get.event().await.is_some() && listen.message().await.is_some());
    for token in [json!(0), json!(7), json!("7"), json!(""), json!(9_007_199_254_740_993_i64), json!(-1)] {
        let params = json!({ "name": "progress", "arguments": { "n": 5, "ms": 50 }, "_meta": { "progressToken": token } });
        let other = json!({ "name": "progress", "arguments": { "n": 5, "ms": 50 }, "_meta": { "progressToken": "p" } });
        let mut connection = served.connect();
        connection.send(&modern(1, "tools/call", other)).await;
        let own = served.send(&modern(1, "tools/call", params)).await.expect(200).await.messages().await;
        let other = connection.response().await.expect(200).await.messages().await;
        for (messages, token) in [(own, &token), (other, &json!("p"))] {
            assert_eq!(messages.len(), 6, "{messages:?}");
            assert!(
                messages[..5].iter().all(|message| message["params"]["progressToken"] == *token),
                "{messages:?}"
            );
            assert_eq!(messages[5]["id"], 1);
        }
    }
    let log =
        json!({ "name": "log", "arguments": { "level": "error", "n": 2 }, "_meta": { LOG_LEVEL: "debug" } });
    let told = served.send(&modern(1, "tools/call", log)).await.expect(200).await.messages().await;
    assert_eq!(told.len(), 3);
    get.silence().await;
    listen.silence().await;
    let without = modern_call(1, "progress", json!({ "n": 5 }));
    let response = served.send(&without).await.expect(200).await;
    assert_eq!(response.header("content-type"), Some("application/json"), "progress that nobody asked for");
    for token in [json!(1.5), json!(null), json!({})] {
        let params =
            json!({ "name": "progress", "arguments": { "n": 5 }, "_meta": { "progressToken": token } });
        assert_eq!(refusal(&served, &modern("q1", "tools/call", params)).await, (400, -32602), "{token}");
    }
}

// C76
#[actix_web::test]
async fn a_request_is_told_what_is_logged_at_its_own_level_and_no_other() {
    paused();
    let served = Served::new(&server()).await;
    let client = Client::open(&served, "2025-11-25").await;
    client.post(&message(1, "logging/setLevel", json!({ "level": "debug" }))).await.expect(200).await;
    let log = |level: &str, meta: Value| {
        modern("q1", "tools/call", json!({ "name": "log", "arguments": { "level": level }, "_meta": meta }))
    };
    for (level, meta, told) in [
        ("emergency", json!({}), false),
        ("error", json!({}), false),
        ("error", json!({ LOG_LEVEL: "warning" }), true),
        ("warning", json!({ LOG_LEVEL: "warning" }), true),
        ("notice", json!({ LOG_LEVEL: "warning" }), false),
        ("debug", json!({ LOG_LEVEL: "debug" }), true),
    ] {
        let response = served.send(&log(level, meta.clone())).await.expect(200).await;
        let events = response.header("content-type") == Some("text/event-stream");
        assert_eq!(events, told, "{level} {meta}");
        if events {
            let messages = response.messages().await;
            assert_eq!((messages.len(), &messages[0]["params"]["level"]), (2, &json!(level)), "{messages:?}");
        }
    }
    for level in [json!("loud"), json!("Warning"), json!(7), json!({ "info": null })] {
        let request = log("error", json!({ LOG_LEVEL: level }));
        assert_eq!(refusal(&served, &request).await, (400, -32602), "{level}");
    }
}

// C39
#[actix_web::test]
async fn a_client_that_reads_one_kind_gets_that_kind() {
    paused();
    let served = Served::new(&server()).await;
    let params =
        json!({ "name": "progress", "arguments": { "n": 2, "ms": 300 }, "_meta": { "progressToken": 1 } });
    let json_only = modern(1, "tools/call", params.clone()).set("Accept", "application/json");
    let response = served.send(&json_only).await.expect(200).await;
    assert_eq!(response.json().await["result"]["content"][0]["text"], "done");
    for request in [modern(1, "tools/call", params), modern_call(1, "none", json!({}))] {
        let response = served.send(&request.set("Accept", "text/event-stream")).await.expect(200).await;
        assert_eq!(response.header("content-type"), Some("text/event-stream"));
        assert_eq!(response.messages().await.last().map(|last| last["id"].clone()), Some(json!(1)));
    }
    let none = modern_call(1, "none", json!({}));
    for accept in ["*/*", "application/*, text/*", "application/json;q=0.9, text/event-stream;q=0.5"] {
        served.send(&none.clone().set("Accept", accept)).await.expect(200).await.json().await;
    }
    served.send(&none.clone().without("Accept")).await.expect(200).await.json().await;
    for accept in ["text/html", "application/json;q=0", ""] {
        served.send(&none.clone().set("Accept", accept)).await.expect(406).await;
    }
}

// C57
#[actix_web::test]
async fn a_server_without_handshakes_says_so() {
    paused();
    let served = Served::new(&builder().eras(Eras::Modern).build()).await;
    let delete = || Request::get().method("DELETE");
    let of = |request: Request| request.header("Mcp-Session-Id", "x");
    for request in [Request::get(), Request::new("DELETE"), delete(), of(Request::get()), of(delete())] {
        let response = served.send(&request).await.expect(405).await;
        assert_eq!(response.header("allow"), Some("POST, OPTIONS"));
    }
    let error = served.send(&initialize("2025-11-25")).await.expect(400).await.json().await;
    assert_eq!((&error["id"], &error["error"]["code"]), (&json!(0), &json!(-32022)), "{error}");
    assert_eq!(error["error"]["data"], json!({ "supported": ["2026-07-28"], "requested": "2025-11-25" }));
    assert!(error["error"]["message"].as_str().unwrap_or_default().contains("2026-07-28"), "{error}");
    assert_eq!(refusal(&served, &Request::post(call("q1", "none", json!({})))).await, (400, -32602));
    let batch = Request::post("[1]").header("Mcp-Session-Id", "none");
    served.send(&batch).await.expect(400).await;
    result(&served, &modern_call(1, "none", json!({}))).await;
}

#[actix_web::test]
async fn what_may_be_kept_says_for_how_long_and_by_whom() {
    paused();
    let minute = Duration::from_secs(60);
    let resource = Resource::new("mem://kept", "kept", async || "kept").cache(Cache::private(minute));
    let server = builder().resource(resource).cache(Cache::public(minute)).page_size(2).build();
    let served = Served::new(&server).await;
    let hints = |result: &Value| (result["ttlMs"].clone(), result["cacheScope"].clone());
    for method in
        ["server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list"]
    {
        let mut page = result(&served, &modern(1, method, json!({}))).await;
        loop {
            assert_eq!(hints(&page), (json!(60_000), json!("public")), "{method}");
            let Some(cursor) = page.get("nextCursor") else { break };
            page = result(&served, &modern(1, method, json!({ "cursor": cursor }))).await;
        }
    }
    let read =
        async |uri: &str| hints(&result(&served, &modern(1, "resources/read", json!({ "uri": uri }))).await);
    assert_eq!(read("mem://kept").await, (json!(60_000), json!("private")));
    assert_eq!(read("mem://a").await, (json!(0), json!("private")), "no word of its author");
    assert_eq!(read("mem://item/1").await, (json!(0), json!("private")));
    for request in [
        modern_call(1, "none", json!({})),
        modern(1, "prompts/get", json!({ "name": "greet", "arguments": { "name": "x" } })),
    ] {
        let result = result(&served, &request).await;
        assert!(result.get("ttlMs").is_none() && result.get("cacheScope").is_none(), "{result}");
    }
    let client = Client::open(&served, "2025-11-25").await;
    let list = client.post(&message(1, "tools/list", json!({}))).await.expect(200).await.answer().await;
    for member in ["ttlMs", "cacheScope", "resultType", "_meta"] {
        assert!(list["result"].get(member).is_none(), "a session does not know {member}");
    }
}

#[tool]
async fn about(session: Session, meta: Meta, trace: TraceContext) -> String {
    let extension: Result<Option<Value>, _> = session.extension("com.example/x");
    let headers: Vec<_> = trace.headers().map(|(name, value)| format!("{name}: {value}")).collect();
    json!({
        "revision": session.revision().as_str(), "client": session.client().name, "id": session.id(),
        "extension": extension.ok().flatten(), "trace": headers, "token": meta.get::<Value>("progressToken").ok(),
    })
    .to_string()
}

#[actix_web::test]
async fn a_handler_reads_what_a_request_says_of_itself() {
    paused();
    let server = builder().tool(about).extension("com.example/x", json!({ "a": 1 })).build();
    let served = Served::new(&server).await;
    let parent = "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01";
    let trace = json!({ "traceparent": parent, "tracestate": "a=1", "baggage": "b\r\nc: 2" });
    let params = json!({ "name": "about", "_meta": trace });
    let capabilities = json!({ "extensions": { "com.example/x": { "b": 2 }, "com.example/y": {} } });
    let said = result(&served, &modern_with(1, "tools/call", params, capabilities)).await;
    let said: Value =
        serde_json::from_str(said["content"][0]["text"].as_str().unwrap_or_default()).unwrap_or_default();
    let expected = json!({
        "revision": "2026-07-28", "client": "", "id": null, "extension": { "b": 2 },
        "trace": [format!("traceparent: {parent}"), "tracestate: a=1"], "token": null,
    });
    assert_eq!(said, expected);
    let found = result(&served, &modern(1, "server/discover", json!({}))).await;
    assert_eq!(found["capabilities"]["extensions"], json!({ "com.example/x": { "a": 1 } }));
    // nothing of it is remembered
    let said = result(&served, &modern_call(1, "about", json!({}))).await;
    assert!(
        said["content"][0]["text"].as_str().unwrap_or_default().contains(r#""extension":null"#),
        "{said}"
    );
    // no older revision has extensions; the trace is as old as `_meta`
    let opened = served.send(&initialize("2025-11-25")).await.expect(200).await.answer().await;
    assert!(opened["result"]["capabilities"].get("extensions").is_none(), "{opened}");
    let client = Client::open(&served, "2025-11-25").await;
    let params = json!({ "name": "about", "_meta": { "traceparent": parent } });
    let said = client.post(&message(1, "tools/call", params)).await.expect(200).await.answer().await;
    assert!(said["result"]["content"][0]["text"].as_str().unwrap_or_default().contains(parent), "{said}");
}

// C56
#[actix_web::test]
async fn a_page_may_send_the_headers_that_repeat_arguments() {
    paused();
    let served = Served::new(&server()).await;
    // any header name may be a tool's or the application's, and what is none is nobody's
    let wanted = "mcp-method, mcp-name, Mcp-Param-Region, mcp-param-n, mcp-param-a.b_c|d~, x-else, mcp-param-, mcp-param-a b, mcp-param-a:b";
    let preflight = Request::new("OPTIONS")
        .header("Origin", "http://localhost:5173")
        .header("Access-Control-Request-Method", "POST")
        .header("Access-Control-Request-Headers", wanted);
    let response = served.send(&preflight).await.expect(204).await;
    let allowed = response.header("access-control-allow-headers").unwrap_or_default().to_owned();
    let is_allowed = |header: &str| allowed.split(", ").any(|known| known == header);
    for header in ["mcp-method", "mcp-name", "mcp-protocol-version", "mcp-param-region", "mcp-param-n"] {
        assert!(is_allowed(header), "{header}: {allowed}");
    }
    for header in ["mcp-param-a.b_c|d~", "x-else", "mcp-param-"] {
        assert!(is_allowed(header), "{header}: {allowed}");
    }
    for header in ["mcp-param-a b", "mcp-param-a:b"] {
        assert!(!is_allowed(header), "{header}: {allowed}");
    }
    // and may read what is refused for them
    let refused =
        modern_call("q1", "none", json!({})).without("Mcp-Name").header("Origin", "http://localhost:5173");
    let response = served.send(&refused).await.expect(400).await;
    assert_eq!(response.header("access-control-allow-origin"), Some("http://localhost:5173"));
}
