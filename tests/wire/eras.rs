//! The same requests on one pipe, in a session and speaking for themselves. Cases C07, C24, C43, C47, C63, C73, C74 and C81
//! to C83 as far as they are about those; `tests/http/eras.rs` has them over HTTP.

use actix_mcp::{
    Eras,
    client::ClientCapability,
    error::ErrorCode,
    prelude::*,
    testing::{Pipe, paused},
};
use serde_json::{Value, json};

use crate::{
    checks::assert_no_calls,
    fixture::{SECRET, builder, server},
    metadata::{CAPABILITIES, VERSION},
    modern::modern,
};

async fn answer(pipe: &mut Pipe, method: &str, params: Value) -> Value {
    pipe.request("q1", method, params).await;
    let answer = pipe.next().await;
    assert_eq!(answer["id"], "q1", "{answer}");
    answer
}

/// A tool that cannot do without a form.
#[tool]
async fn ask_first(client: Client) -> Result<&'static str, McpError> {
    client.require(ClientCapability::ElicitationForm)?;
    Ok("it can be asked")
}

// C47
#[actix_web::test]
async fn what_a_request_must_say_of_itself_is_told_from_what_its_client_cannot_do() {
    paused();
    let server = builder().tool(ask_first).build();
    let mut pipe = Pipe::open(&server);
    for (meta, names) in [
        (json!({ CAPABILITIES: {} }), VERSION),
        (json!({}), VERSION),
        (json!({ VERSION: "2026-07-28" }), CAPABILITIES),
        (json!({ VERSION: "2026-07-28", CAPABILITIES: "x" }), CAPABILITIES),
        (json!({ VERSION: "2026-07-28", CAPABILITIES: null }), CAPABILITIES),
    ] {
        let error = answer(&mut pipe, "tools/list", json!({ "_meta": meta })).await["error"].clone();
        assert_eq!(error["code"], -32602, "{error}");
        assert!(error["message"].as_str().is_some_and(|text| text.contains(names)), "{names}: {error}");
    }
    let error =
        answer(&mut pipe, "tools/call", modern(json!({ "name": "ask_first" }))).await["error"].clone();
    assert_eq!(error["code"], -32021);
    assert_eq!(error["data"], json!({ "requiredCapabilities": { "elicitation": {} } }));
    assert_no_calls(&server).await;
}

// C63
#[actix_web::test]
async fn an_array_is_no_request_that_speaks_for_itself_whatever_is_in_it() {
    paused();
    for eras in [Eras::Both, Eras::Modern] {
        let server = builder().eras(eras).build();
        let mut pipe = Pipe::open(&server);
        let message = |id: i64, method: &str, params: Value| json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        for batch in [
            json!([message(1, "ping", json!({})), message(2, "ping", json!({}))]),
            json!([message(1, "tools/list", modern(json!({}))), message(2, "tools/list", modern(json!({})))]),
            json!([]),
            json!([{ "jsonrpc": "2.0", "method": "notifications/foo" }]),
            json!([message(1, "initialize", json!({ "protocolVersion": "2025-11-25" }))]),
            json!([1, message(2, "ping", json!({}))]),
        ] {
            pipe.send(&batch).await;
            let error = pipe.next().await;
            assert_eq!(
                (error.get("id"), &error["error"]["code"]),
                (None, &json!(-32600)),
                "{batch}: {error}"
            );
            pipe.silence().await;
        }
        let list = answer(&mut pipe, "tools/list", modern(json!({}))).await;
        assert!(list["result"]["tools"].is_array(), "the pipe lives");
        assert_eq!(server.calls(), 0);
    }
}

// C24
#[actix_web::test]
async fn a_panic_is_one_error_without_its_text_and_costs_no_other_request() {
    paused();
    let server = server();
    let mut pipe = Pipe::connect(&server, "2025-11-25").await;
    for (method, params, before) in [
        ("tools/call", json!({ "name": "panic" }), 0),
        (
            "tools/call",
            json!({ "name": "panic", "arguments": { "after": 2 }, "_meta": { "progressToken": 1 } }),
            2,
        ),
        ("resources/read", json!({ "uri": "mem://item/panic" }), 0),
    ] {
        for params in [params.clone(), modern(params)] {
            pipe.request(1, method, params).await;
            let said = pipe.until_silence().await;
            let error = json!({ "code": -32603, "message": "internal error" });
            assert_eq!(said.last(), Some(&json!({ "jsonrpc": "2.0", "id": 1, "error": error })));
            assert_eq!(said.len(), before + 1);
            assert!(!format!("{said:?}").contains(SECRET));
        }
        answer(&mut pipe, "tools/list", modern(json!({}))).await["result"].as_object().expect("it is served");
        answer(&mut pipe, "ping", json!({})).await["result"].as_object().expect("it is served");
    }
}

// C43, C74
#[actix_web::test]
async fn what_is_unknown_is_an_error_or_nothing_and_the_pipe_stays() {
    paused();
    for eras in [Eras::Both, Eras::Modern] {
        let mut pipe = Pipe::open(&builder().eras(eras).build());
        let error = answer(&mut pipe, "no/such", modern(json!({}))).await["error"].clone();
        assert_eq!(error["code"], -32601, "{error}");
        for (method, params) in [
            ("notifications/foo", modern(json!({}))),
            ("notifications/cancelled", modern(json!({ "requestId": 1.5 }))),
            ("notifications/cancelled", json!({ "requestId": "none" })),
            ("notifications/cancelled", json!({})),
        ] {
            pipe.notify(method, params).await;
            pipe.silence().await;
        }
        let called = answer(&mut pipe, "tools/call", modern(json!({ "name": "none" }))).await;
        assert_eq!(called["result"]["content"][0]["text"], "ok");
    }
}

// C07
#[actix_web::test]
async fn a_handshake_with_an_empty_meta_is_a_handshake_and_what_follows_needs_nothing_more() {
    paused();
    let mut pipe = Pipe::open(&server());
    let client = json!({ "name": "mcp", "version": "0.1.0" });
    let params =
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client, "_meta": {} });
    assert_eq!(answer(&mut pipe, "initialize", params).await["result"]["protocolVersion"], "2025-11-25");
    let list = answer(&mut pipe, "tools/list", json!({ "_meta": { "progressToken": 3 } })).await;
    assert!(list["result"]["tools"].is_array() && list["result"].get("resultType").is_none(), "{list}");
}

// C81, C82
#[actix_web::test]
async fn arguments_are_judged_as_in_a_session() {
    paused();
    let mut pipe = Pipe::connect(&server(), "2025-11-25").await;
    for params in [
        json!({ "name": "none" }),
        json!({ "name": "none", "arguments": null }),
        json!({ "name": "none", "arguments": [] }),
        json!({ "name": "none", "arguments": "x" }),
        json!({ "name": "typed" }),
        json!({ "name": "typed", "arguments": { "n": "abc" } }),
        json!({ "name": "typed", "arguments": { "n": -1 } }),
        json!({ "name": "typed", "arguments": { "n": 1.5 } }),
        json!({ "name": "ghost" }),
        json!({}),
    ] {
        let session = answer(&mut pipe, "tools/call", params.clone()).await;
        let own = answer(&mut pipe, "tools/call", modern(params.clone())).await;
        assert_eq!(own["error"], session["error"], "{params}");
        for member in ["content", "isError"] {
            assert_eq!(own["result"][member], session["result"][member], "{params}");
        }
    }
}

// C83: also where the author says so
#[actix_web::test]
async fn an_error_of_an_author_has_no_code_that_belongs_to_the_other_era() {
    paused();
    let fails = |name: &str, code: ErrorCode| {
        Tool::new(name, move || async move { Err::<String, _>(McpError::new(code, "said by its author")) })
    };
    let moved = async || Err::<String, _>(McpError::new(ErrorCode::RESOURCE_NOT_FOUND, "moved"));
    let server = builder()
        .resource(Resource::new("mem://moved", "moved", moved))
        .tool(fails("not_found", ErrorCode::RESOURCE_NOT_FOUND))
        .tool(fails("url", ErrorCode::URL_ELICITATION_REQUIRED))
        .tool(fails("header", ErrorCode::HEADER_MISMATCH))
        .tool(fails("capability", ErrorCode::MISSING_CLIENT_CAPABILITY))
        .tool(fails("version", ErrorCode::UNSUPPORTED_PROTOCOL_VERSION))
        .build();
    let mut pipe = Pipe::connect(&server, "2025-11-25").await;
    for (params, session, own) in [
        (json!({ "uri": "mem://moved" }), -32002, -32602),
        (json!({ "name": "not_found" }), -32002, -32602),
        (json!({ "name": "url" }), -32042, -32603),
        // C114
        (json!({ "name": "header" }), -32603, -32603),
        (json!({ "name": "capability" }), -32600, -32021),
        (json!({ "name": "version" }), -32603, -32603),
    ] {
        let method = if params.get("uri").is_some() { "resources/read" } else { "tools/call" };
        let error = answer(&mut pipe, method, params.clone()).await["error"].clone();
        assert_eq!(error["code"], session, "{params}: {error}");
        let error = answer(&mut pipe, method, modern(params.clone())).await["error"].clone();
        assert_eq!(error["code"], own, "{params}: {error}");
    }
}

// C73
#[actix_web::test]
async fn where_nothing_ever_changes_a_listener_is_told_so_and_has_its_result_at_the_end() {
    paused();
    let server = Server::builder("fixed", "1").build();
    let mut pipe = Pipe::open(&server);
    let all = json!({ "toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true, "resourceSubscriptions": ["mem://a"] });
    pipe.request(1, "subscriptions/listen", modern(json!({ "notifications": all }))).await;
    let acknowledged = pipe.next().await;
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(acknowledged["params"]["notifications"], json!({}));
    pipe.silence().await;
    let (rest, ended) = pipe.finish().await;
    ended.expect("it ends well");
    assert_eq!((&rest[0]["id"], &rest[0]["result"]["resultType"]), (&json!(1), &json!("complete")));
}
