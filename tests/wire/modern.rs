//! Requests that speak for themselves on a pipe, which may also have a session: cases C06, C16, C17, C42, C74, C76, C83, C85 and
//! C89 over stdio.

use actix_mcp::{
    Eras, Server,
    testing::{Pipe, paused, settle},
};
use serde_json::{Value, json};

use crate::{
    fixture::{builder, limited, server},
    metadata::{CAPABILITIES, VERSION, stateless},
};

const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

/// The parameters of a self-contained request from a client without capabilities.
pub(crate) fn modern(params: Value) -> Value {
    stateless(params, json!({}))
}

/// Sends a request and gives its answer.
async fn ask(pipe: &mut Pipe, id: impl Into<Value>, method: &str, params: Value) -> Value {
    let id: Value = id.into();
    pipe.request(id.clone(), method, params).await;
    pipe.answer_to(id).await
}

async fn refusal(pipe: &mut Pipe, method: &str, params: Value) -> (i64, String) {
    let error = ask(pipe, "q1", method, params).await["error"].clone();
    (error["code"].as_i64().unwrap_or_default(), error["message"].as_str().unwrap_or_default().to_owned())
}

// C06
#[actix_web::test]
async fn a_probe_is_answered_first_and_a_handshake_works_afterwards_and_beside_it() {
    paused();
    let mut pipe = Pipe::open(&server());
    let found = ask(&mut pipe, "d", "server/discover", modern(json!({}))).await["result"].clone();
    assert_eq!(
        (&found["resultType"], &found["supportedVersions"]),
        // C119
        (&json!("complete"), &json!(["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]))
    );
    let opened = pipe.initialize("2025-06-18", json!({})).await;
    assert_eq!(opened["protocolVersion"], "2025-06-18");
    let list = ask(&mut pipe, 1, "tools/list", json!({})).await;
    assert!(list["result"].get("resultType").is_none() && list["result"].get("_meta").is_none());
    let list = ask(&mut pipe, 2, "tools/list", modern(json!({}))).await;
    assert_eq!(list["result"]["resultType"], "complete");
    ask(&mut pipe, 3, "ping", json!({})).await["result"].as_object().expect("a session's ping");
    assert_eq!(refusal(&mut pipe, "ping", modern(json!({}))).await.0, -32601);
}

// C06
#[actix_web::test]
async fn a_server_of_handshakes_only_does_not_know_the_probe() {
    paused();
    let mut pipe = Pipe::open(&builder().eras(Eras::Legacy).build());
    assert_eq!(refusal(&mut pipe, "server/discover", modern(json!({}))).await.0, -32601);
    // what it knows is another matter
    let (code, message) = refusal(&mut pipe, "tools/list", modern(json!({}))).await;
    assert!(code == -32602 && message.contains("`initialize`") && !message.contains("_meta"), "{message}");
    pipe.initialize("2025-11-25", json!({})).await;
    assert_eq!(refusal(&mut pipe, "server/discover", modern(json!({}))).await.0, -32601);
    assert!(ask(&mut pipe, 1, "tools/list", modern(json!({}))).await["result"].get("resultType").is_none());
    let odd = json!({ "_meta": { VERSION: "v999" } });
    assert!(
        ask(&mut pipe, 2, "tools/list", odd).await["result"].is_object(),
        "it was taken for a request of another era"
    );
}

#[actix_web::test]
async fn before_a_handshake_nothing_but_a_ping_is_served_that_does_not_speak_for_itself() {
    paused();
    let mut pipe = Pipe::open(&server());
    assert_eq!(ask(&mut pipe, 1, "ping", json!({})).await["result"], json!({}));
    for method in ["tools/list", "tools/call", "server/discover", "no/such", "logging/setLevel"] {
        let (code, message) = refusal(&mut pipe, method, json!({ "name": "none" })).await;
        assert!(
            code == -32602 && message.contains("`initialize`") && message.contains(VERSION),
            "{method}: {message}"
        );
    }
    let called = ask(&mut pipe, 1, "tools/call", modern(json!({ "name": "none" }))).await;
    assert_eq!(called["result"]["content"][0]["text"], "ok");
    // and none of it has opened a session
    assert_eq!(refusal(&mut pipe, "tools/list", json!({})).await.0, -32602);
}

#[actix_web::test]
async fn a_server_without_handshakes_says_so() {
    paused();
    let mut pipe = Pipe::open(&builder().eras(Eras::Modern).build());
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    let error = ask(&mut pipe, 0, "initialize", params).await["error"].clone();
    assert_eq!(error["code"], -32022);
    assert_eq!(error["data"], json!({ "supported": ["2026-07-28"], "requested": "2025-11-25" }));
    for (method, params) in
        [("ping", json!({})), ("tools/list", json!({})), ("tools/list", json!({ "_meta": {} }))]
    {
        let (code, message) = refusal(&mut pipe, method, params).await;
        assert!(code == -32602 && message.contains(VERSION), "{method}: {message}");
    }
    pipe.notify("notifications/initialized", json!({})).await;
    assert_eq!(ask(&mut pipe, 1, "tools/list", modern(json!({}))).await["result"]["resultType"], "complete");
}

// C42, C43, C47, C76
#[actix_web::test]
async fn what_a_request_says_of_itself_is_checked_in_order() {
    paused();
    let mut pipe = Pipe::open(&server());
    for (meta, method, code) in [
        (json!({ VERSION: 7 }), "no/such", -32602),
        (json!({ VERSION: "v999" }), "no/such", -32022),
        (json!({ VERSION: "2025-11-25" }), "tools/list", -32022),
        (json!({ VERSION: "2026-07-28" }), "no/such", -32602),
        (json!({ VERSION: "2026-07-28", CAPABILITIES: "x" }), "no/such", -32602),
        (json!({ VERSION: "2026-07-28", CAPABILITIES: {}, LOG_LEVEL: "loud" }), "no/such", -32602),
        (json!({ VERSION: "2026-07-28", CAPABILITIES: {} }), "no/such", -32601),
        (json!({ VERSION: "2026-07-28", CAPABILITIES: {} }), "initialize", -32601),
        (json!({ VERSION: "2026-07-28", CAPABILITIES: {} }), "resources/subscribe", -32601),
        (json!({ VERSION: "2026-07-28", CAPABILITIES: {} }), "resources/read", -32602),
    ] {
        let params = json!({ "_meta": meta, "protocolVersion": "2025-11-25", "cursor": 7 });
        assert_eq!(refusal(&mut pipe, method, params.clone()).await.0, code, "{method} {params}");
    }
}

// C01
#[actix_web::test]
async fn an_id_in_flight_is_refused_whichever_way_its_requests_speak() {
    paused();
    for first_is_modern in [true, false] {
        let server = server();
        let mut pipe = Pipe::connect(&server, "2025-11-25").await;
        let speak = |params: Value, is_modern: bool| if is_modern { modern(params) } else { params };
        let slow = json!({ "name": "slow", "arguments": { "ms": 1000, "tag": "first" } });
        pipe.request(1, "tools/call", speak(slow, first_is_modern)).await;
        for second_is_modern in [true, false] {
            pipe.request(1, "tools/call", speak(json!({ "name": "none" }), second_is_modern)).await;
            let refused = pipe.next().await;
            assert_eq!((refused.get("id"), &refused["error"]["code"]), (None, &json!(-32600)), "{refused}");
            assert!(refused["error"]["message"].as_str().unwrap_or_default().contains("already in flight"));
        }
        // a mistake in one of them is not told under the id of the other
        pipe.request(1, "tools/call", json!({ "_meta": { VERSION: "v999" } })).await;
        let refused = pipe.next().await;
        assert_eq!((refused.get("id"), &refused["error"]["code"]), (None, &json!(-32022)), "{refused}");
        assert_eq!(pipe.answer_to(1).await["result"]["content"][0]["text"], "first");
        assert_eq!(server.calls(), 1);
        let again = ask(&mut pipe, 1, "tools/call", modern(json!({ "name": "none" }))).await;
        assert_eq!(again["result"]["content"][0]["text"], "ok");
    }
}

#[actix_web::test]
async fn a_full_pipe_says_so_before_anybody_looks_at_the_method() {
    paused();
    let limits = limited(|limits| limits.session.in_flight = 1);
    let mut pipe = Pipe::open(&builder().limits(limits).build());
    let slow = json!({ "name": "slow", "arguments": { "ms": 1000, "tag": "first" } });
    pipe.request(1, "tools/call", modern(slow)).await;
    for method in ["tools/list", "no/such", "ping"] {
        let (code, message) = refusal(&mut pipe, method, modern(json!({}))).await;
        assert!(code == -32603 && message.contains("in flight (the limit is 1)"), "{method}: {message}");
    }
    assert_eq!(pipe.answer_to(1).await["result"]["content"][0]["text"], "first");
    assert_eq!(refusal(&mut pipe, "no/such", modern(json!({}))).await.0, -32601);
}

// C74: on a pipe it is the way to cancel
#[actix_web::test]
async fn a_cancellation_stops_the_call_it_names() {
    paused();
    let server = server();
    let mut pipe = Pipe::open(&server);
    for id in [1, 2] {
        let slow = json!({ "name": "slow", "arguments": { "ms": 1000, "tag": format!("of {id}") } });
        pipe.request(id, "tools/call", modern(slow)).await;
    }
    pipe.cancel(1).await;
    settle().await;
    assert_eq!(server.stats().in_flight, 1);
    let answer = pipe.next().await;
    assert_eq!((&answer["id"], &answer["result"]["content"][0]["text"]), (&json!(2), &json!("of 2")));
    pipe.silence().await;
}

// C16 and C17
#[actix_web::test]
async fn progress_is_told_under_its_own_token() {
    paused();
    let mut pipe = Pipe::open(&server());
    for token in [json!(0), json!(7), json!("7"), json!(""), json!(9_007_199_254_740_993_i64), json!(-1)] {
        let params =
            json!({ "name": "progress", "arguments": { "n": 2 }, "_meta": { "progressToken": token } });
        pipe.request(1, "tools/call", modern(params)).await;
        let said = [pipe.next().await, pipe.next().await, pipe.next().await];
        assert_eq!(said[2]["id"], 1, "{said:?}");
        assert!(said[..2].iter().all(|message| message["params"]["progressToken"] == token), "{said:?}");
    }
    pipe.request(1, "tools/call", modern(json!({ "name": "progress", "arguments": { "n": 2 } }))).await;
    assert_eq!(pipe.next().await["id"], 1, "progress that nobody asked for");
    for token in [json!(1.5), json!(null), json!({})] {
        let params =
            json!({ "name": "progress", "arguments": { "n": 2 }, "_meta": { "progressToken": token } });
        assert_eq!(refusal(&mut pipe, "tools/call", modern(params)).await.0, -32602, "{token}");
    }
}

// C76
#[actix_web::test]
async fn a_request_is_told_what_is_logged_at_its_own_level_and_a_session_at_its() {
    paused();
    let mut pipe = Pipe::connect(&server(), "2025-11-25").await;
    ask(&mut pipe, 1, "logging/setLevel", json!({ "level": "error" })).await;
    let log =
        |level: &str, meta: Value| json!({ "name": "log", "arguments": { "level": level }, "_meta": meta });
    for (params, lines) in [
        (modern(log("emergency", json!({}))), 1),
        (modern(log("info", json!({ LOG_LEVEL: "warning" }))), 1),
        (modern(log("warning", json!({ LOG_LEVEL: "warning" }))), 2),
        (modern(log("debug", json!({ LOG_LEVEL: "debug" }))), 2),
        (log("warning", json!({})), 1),
        (log("error", json!({})), 2),
        // another era's key means nothing in a session
        (log("debug", json!({ LOG_LEVEL: "debug" })), 1),
    ] {
        pipe.request(2, "tools/call", params.clone()).await;
        assert_eq!(pipe.until_silence().await.len(), lines, "{params}");
    }
}

// C83; `arguments` has what an error of a session says
#[actix_web::test]
async fn what_is_not_there_has_the_code_of_the_requests_own_revision() {
    paused();
    let mut pipe = Pipe::connect(&server(), "2025-11-25").await;
    for (method, params, session, own) in [
        ("resources/read", json!({ "uri": "mem://none" }), -32002, -32602),
        ("prompts/get", json!({ "name": "ghost" }), -32602, -32602),
        ("prompts/get", json!({ "name": "greet" }), -32602, -32602),
        ("resources/read", json!({ "uri": "mem://item/panic" }), -32603, -32603),
    ] {
        assert_eq!(refusal(&mut pipe, method, params.clone()).await.0, session, "{method}");
        assert_eq!(refusal(&mut pipe, method, modern(params)).await.0, own, "{method}");
    }
    let error = ask(&mut pipe, 1, "resources/read", modern(json!({ "uri": "mem://none" }))).await;
    assert_eq!(error["error"]["data"]["uri"], "mem://none");
}

// C85
#[actix_web::test]
async fn a_pipe_has_no_headers_to_repeat_arguments_in() {
    paused();
    let schema = r#"{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"A"}}}"#;
    let tool = actix_mcp::Tool::new("marked", async || "ok").input_schema(schema);
    let mut pipe = Pipe::open(&Server::builder("marks", "1").tool(tool).build());
    let called =
        ask(&mut pipe, 1, "tools/call", modern(json!({ "name": "marked", "arguments": { "a": "x" } }))).await;
    assert_eq!(called["result"]["content"][0]["text"], "ok");
    let listed = ask(&mut pipe, 2, "tools/list", modern(json!({}))).await;
    assert_eq!(listed["result"]["tools"][0]["inputSchema"]["properties"]["a"]["x-mcp-header"], "A");
}
