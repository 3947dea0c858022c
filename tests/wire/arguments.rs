//! What is asked for with wrong words: absent and mistyped arguments, names of nothing, handlers that fail.

use actix_mcp::{
    prelude::*,
    testing::{Pipe, contains, paused, script},
};
use serde_json::{Value, json};

use crate::fixture::{REVISIONS, builder, server};

/// What comes for each `params`, at each revision: it is the same everywhere.
async fn answers(server: &Server, method: &str, rows: &[(Value, Value)]) {
    for revision in REVISIONS {
        let mut pipe = Pipe::connect(server, revision).await;
        for (params, expected) in rows {
            pipe.request(2, method, params.clone()).await;
            let answer = pipe.next().await;
            if let Err(error) = contains(&answer, expected) {
                panic!("{params} at {revision}: {error}\nin {answer}");
            }
        }
        pipe.silence().await;
    }
}

fn error(code: i32, message: &str) -> Value {
    json!({ "id": 2, "result": "$absent", "error": { "code": code, "message": message } })
}

/// A result that the model reads and can mend.
fn mended(text: &str) -> Value {
    json!({ "id": 2, "error": "$absent", "result": { "isError": true, "content": [{ "type": "text", "text": text }] } })
}

fn ok(text: &str) -> Value {
    json!({ "id": 2, "result": { "isError": "$absent", "content": [{ "text": text }] } })
}

#[actix_web::test]
async fn arguments_may_be_left_out_where_none_are_needed() {
    paused();
    let no_object = error(-32602, "arguments: not an object");
    answers(
        &server(),
        "tools/call",
        &[
            (json!({ "name": "none" }), ok("ok")),
            (json!({ "name": "none", "arguments": null }), ok("ok")),
            (json!({ "name": "none", "arguments": {} }), ok("ok")),
            (json!({ "name": "none", "arguments": [] }), no_object.clone()),
            (json!({ "name": "none", "arguments": "x" }), no_object.clone()),
            (json!({ "name": "none", "arguments": 1 }), no_object.clone()),
            (json!({ "name": "none", "arguments": false }), no_object.clone()),
            (json!({ "name": "typed" }), mended("arguments: missing field `n`")),
            (json!({ "name": "typed", "arguments": null }), mended("arguments: missing field `n`")),
            (json!({ "name": "typed", "arguments": {} }), mended("arguments: missing field `n`")),
            (json!({ "name": "typed", "arguments": [] }), no_object.clone()),
            (json!({ "name": "typed", "arguments": "x" }), no_object),
        ],
    )
    .await;
}

#[actix_web::test]
async fn a_wrong_argument_is_named_to_the_model() {
    paused();
    let server = server();
    let mut pipe = Pipe::connect(&server, "2025-11-25").await;
    for (arguments, field) in [
        (json!({ "n": "abc" }), "n"),
        (json!({ "n": -1 }), "n"),
        (json!({ "n": 1.5 }), "n"),
        (json!({ "n": null }), "n"),
        (json!({ "n": [1] }), "n"),
        (json!({ "n": u64::MAX as f64 * 2.0 }), "n"),
        (json!({}), "n"),
        (json!({ "n": 1, "opt": 5 }), "opt"),
        (json!({ "n": 1, "opt": {} }), "opt"),
    ] {
        pipe.call(2, "typed", arguments.clone()).await;
        let answer = pipe.next().await;
        assert_eq!(answer["result"]["isError"], true, "{arguments}: {answer}");
        let text = answer["result"]["content"][0]["text"].as_str().unwrap();
        assert!(text.contains(&format!("`{field}`")), "{arguments}: {text}");
    }
    for good in [
        json!({ "n": 1 }),
        json!({ "n": u64::MAX, "opt": null, "any": null }),
        json!({ "n": 0, "opt": "o", "any": [{}] }),
    ] {
        pipe.call(2, "typed", good.clone()).await;
        assert_eq!(pipe.next().await["result"]["content"][0]["text"], "typed", "{good}");
    }
}

#[actix_web::test]
async fn a_call_of_nothing_is_a_protocol_error() {
    paused();
    answers(
        &server(),
        "tools/call",
        &[
            (json!({ "name": "ghost" }), error(-32602, "unknown tool: `name` is \"ghost\"")),
            (json!({ "name": "" }), error(-32602, "unknown tool: `name` is \"\"")),
            (json!({ "arguments": {} }), error(-32602, "`name` is missing")),
            (json!({}), error(-32602, "`name` is missing")),
            (json!({ "name": null }), error(-32602, "`name` is not a string")),
            (json!({ "name": 7 }), error(-32602, "`name` is not a string")),
            (json!({ "name": "none", "_meta": 7 }), error(-32602, "`_meta` is not an object")),
            (json!({ "name": "none", "_meta": null }), ok("ok")),
            (json!({ "name": "none", "task": { "ttl": 1 } }), ok("ok")),
        ],
    )
    .await;
    let mut pipe = Pipe::connect(&server(), "2025-11-25").await;
    pipe.send(&json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call" })).await;
    contains(&pipe.next().await, &error(-32602, "`name` is missing")).unwrap();
}

#[actix_web::test]
async fn a_name_that_is_too_long_is_told_so_and_not_repeated() {
    paused();
    let long = "x".repeat(8193);
    let mut pipe = Pipe::connect(&server(), "2025-11-25").await;
    for (method, member) in [
        ("tools/call", "name"),
        ("prompts/get", "name"),
        ("resources/read", "uri"),
        ("resources/subscribe", "uri"),
    ] {
        pipe.request(2, method, json!({ member: long })).await;
        contains(&pipe.next().await, &error(-32602, &format!("`{member}` is longer than 8192 bytes")))
            .unwrap();
        // one that is just short enough names nothing, and is cut where it is shown
        pipe.request(2, method, json!({ member: &long[1..] })).await;
        let answer = pipe.next().await;
        assert!(answer["error"]["message"].as_str().unwrap().len() < 200, "{answer}");
    }
}

#[actix_web::test]
async fn a_resource_that_is_not_there_is_an_error_that_names_it() {
    async fn gone() -> Option<String> {
        None
    }
    async fn empty() -> Vec<actix_mcp::content::ResourceContents> {
        Vec::new()
    }
    async fn fail() -> Result<String, String> {
        Err("SECRET".to_owned())
    }
    paused();
    let server = builder()
        .resource(Resource::new("mem://gone", "gone", gone))
        .resource(Resource::new("mem://empty", "empty", empty))
        .resource(Resource::new("mem://fail", "fail", fail))
        .resource_template(ResourceTemplate::new("none://{id}", "none", gone))
        .build();
    let not_found = |uri: &str| json!({ "id": 2, "result": "$absent", "error": { "code": -32002, "message": "resource not found", "data": { "uri": uri } } });
    answers(
        &server,
        "resources/read",
        &[
            (json!({ "uri": "mem://none" }), not_found("mem://none")),
            (json!({ "uri": "" }), not_found("")),
            (json!({ "uri": "mem://item/" }), not_found("mem://item/")),
            (json!({ "uri": "mem://gone" }), not_found("mem://gone")),
            (json!({ "uri": "mem://empty" }), not_found("mem://empty")),
            (json!({ "uri": "none://1" }), not_found("none://1")),
            (
                json!({ "uri": "mem://item/1" }),
                json!({ "id": 2, "result": { "contents": [{ "uri": "mem://item/1" }] } }),
            ),
            (json!({}), error(-32602, "`uri` is missing")),
            (json!({ "uri": 7 }), error(-32602, "`uri` is not a string")),
            (json!({ "uri": "mem://fail" }), error(-32603, "internal error")),
            (json!({ "uri": "mem://item/panic" }), error(-32603, "internal error")),
        ],
    )
    .await;
    answers(&server, "resources/subscribe", &[(json!({ "uri": "mem://none" }), not_found("mem://none"))])
        .await;
}

#[actix_web::test]
async fn a_prompt_that_cannot_be_got_is_invalid_params() {
    async fn fail() -> Result<String, String> {
        Err("SECRET".to_owned())
    }
    paused();
    let message = json!({ "role": "user", "content": { "type": "text", "text": "Hello Ada" } });
    answers(
        &builder().prompt(Prompt::new("fail", fail)).build(),
        "prompts/get",
        &[
            (json!({ "name": "ghost" }), error(-32602, "unknown prompt: `name` is \"ghost\"")),
            (json!({}), error(-32602, "`name` is missing")),
            (json!({ "name": "greet" }), error(-32602, "argument \"name\" is missing")),
            (json!({ "name": "greet", "arguments": null }), error(-32602, "argument \"name\" is missing")),
            (json!({ "name": "greet", "arguments": {} }), error(-32602, "argument \"name\" is missing")),
            (json!({ "name": "greet", "arguments": [] }), error(-32602, "`arguments` is not an object")),
            (
                json!({ "name": "greet", "arguments": { "name": 5 } }),
                error(-32602, "argument \"name\" is not a string"),
            ),
            (
                json!({ "name": "greet", "arguments": { "name": "Ada" } }),
                json!({ "id": 2, "result": { "description": "Greets", "messages": [message] } }),
            ),
            (json!({ "name": "fail" }), error(-32603, "internal error")),
        ],
    )
    .await;
}

#[actix_web::test]
async fn a_method_that_nothing_offers_is_unknown() {
    paused();
    script(
        &Server::builder("bare", "1").build(),
        r#"
        > initialize 2025-11-25
        > tools/list {"id":1}
        < {"id":1,"error":{"code":-32601,"message":"method not found: \"tools/list\""}}
        > prompts/get {"id":1,"name":"x"}
        < {"id":1,"error":{"code":-32601}}
        > resources/read {"id":1,"uri":"a:b"}
        < {"id":1,"error":{"code":-32601}}
        > resources/subscribe {"id":1,"uri":"a:b"}
        < {"id":1,"error":{"code":-32601}}
        > completion/complete {"id":1,"ref":{"type":"ref/prompt","name":"x"},"argument":{"name":"a","value":""}}
        < {"id":1,"error":{"code":-32601}}
        > server/discover {"id":1}
        < {"id":1,"error":{"code":-32601}}
        > tasks/list {"id":1}
        < {"id":1,"error":{"code":-32601}}
        > Ping {"id":1}
        < {"id":1,"error":{"code":-32601}}
        > ping {"id":1}
        < {"id":1,"result":{}}
        "#,
    )
    .await;
}

#[actix_web::test]
async fn ping_is_answered_at_any_time_with_nothing() {
    paused();
    for revision in REVISIONS {
        let mut pipe = Pipe::open(&server());
        let bare = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
        let wanted = json!({ "jsonrpc": "2.0", "id": 1, "result": {} });
        pipe.send(&bare).await;
        assert_eq!(pipe.next().await, wanted, "before the handshake");
        let client = json!({ "name": "t", "version": "1" });
        let params = json!({ "protocolVersion": revision, "capabilities": {}, "clientInfo": client });
        pipe.request(0, "initialize", params).await;
        pipe.answer_to(0).await;
        pipe.send(&bare).await;
        assert_eq!(pipe.next().await, wanted, "before `initialized`");
        pipe.notify("notifications/initialized", json!({})).await;
        for params in [json!({}), json!({ "_meta": { "a": 1 } }), json!({ "more": 1 })] {
            pipe.request(1, "ping", params).await;
            assert_eq!(pipe.next().await, wanted);
        }
        pipe.send(&bare).await;
        assert_eq!(pipe.next().await, wanted);
        pipe.silence().await;
    }
}
