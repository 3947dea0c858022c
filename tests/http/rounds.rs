//! Questions to the user over HTTP, in either era, by the same handlers. Cases C47, C77, C78 and C79.

use actix_mcp::{
    Principal, Server,
    testing::{paused, settle},
};
use actix_web::{App, HttpMessage, dev::Service as _};
use serde_json::{Value, json};

use crate::{
    client::{Request, Response},
    fixture::limited,
    interview::{IN_A_ROW, builder, echo, named, one, retry, server},
    logs::{install, take},
    metadata::stateless,
    refused::assert_idle,
    served::{Client, Served, call, message},
};

/// What a client declares that can be asked.
fn all() -> Value {
    json!({ "elicitation": {} })
}

fn request(method: &str, params: Value) -> Request {
    let name = params["name"].as_str().expect("a name").to_owned();
    Request::post(message(7, method, params))
        .header("MCP-Protocol-Version", "2026-07-28")
        .header("Mcp-Method", method)
        .header("Mcp-Name", &name)
}

/// Calls a tool that has no arguments but these.
async fn send(served: &Served, params: Value) -> Response {
    served.send(&request("tools/call", stateless(params, all()))).await
}

async fn result(served: &Served, params: Value) -> Value {
    send(served, params).await.expect(200).await.answer().await["result"].clone()
}

// C02
#[actix_web::test]
async fn the_same_bodies_ask_in_either_era() {
    paused();
    let server = server([1; 32]);
    let served = Served::new(&server).await;
    let session = Client::open(&served, "2025-11-25").await;
    for tool in IN_A_ROW {
        let params = json!({ "name": tool });
        let mut turn = result(&served, params.clone()).await;
        for _ in 0..2 {
            assert_eq!(turn["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "interview");
            assert!(turn.get("ttlMs").is_none() && turn.get("cacheScope").is_none(), "{turn}");
            turn = result(&served, retry(params.clone(), &turn["requestState"], echo(&turn))).await;
        }
        assert_eq!((&turn["resultType"], &turn["content"][0]["text"]), (&json!("complete"), &json!("a? b?")));

        let mut stream = session.post(&call(1, tool, json!({}))).await.expect(200).await;
        for answer in ["1", "2"] {
            let (_, asked) = stream.message_event().await.expect("a question");
            assert_eq!(asked["method"], "elicitation/create", "{tool}");
            session.answer(&asked["id"], named(answer)).await;
        }
        let (_, answer) = stream.message_event().await.expect("an answer");
        assert_eq!(answer["result"]["content"][0]["text"], "1 2", "{tool}");
    }
    assert_eq!(server.stats().in_flight, 0);
}

#[actix_web::test]
async fn joined_questions_come_in_one_result() {
    paused();
    let served = Served::new(&server([1; 32])).await;
    let params = json!({ "name": "joined" });
    let turn = result(&served, params.clone()).await;
    assert_eq!(turn["inputRequests"].as_object().expect("questions").len(), 2);
    let turn = result(&served, retry(params, &turn["requestState"], echo(&turn))).await;
    assert_eq!(turn["content"][0]["text"], "a? b?");
}

#[actix_web::test]
async fn what_a_handler_said_before_its_question_goes_before_it() {
    paused();
    let served = Served::new(&server([1; 32])).await;
    let params = json!({ "name": "late", "_meta": { "progressToken": "p" } });
    let mut messages = send(&served, params).await.expect(200).await.messages().await;
    assert_eq!(messages.remove(0)["method"], "notifications/progress");
    assert_eq!(messages.remove(0)["result"]["resultType"], "input_required");
    assert!(messages.is_empty());
}

#[actix_web::test]
async fn another_server_with_the_same_key_serves_the_retry() {
    paused();
    let here = Served::new(&server("a secret that both have")).await;
    let there = Served::new(&server("a secret that both have")).await;
    let params = json!({ "name": "one", "arguments": { "item": "a" } });
    let turn = result(&here, params.clone()).await;
    let turn =
        result(&there, retry(params, &turn["requestState"], json!({ "user_name": named("Ada") }))).await;
    assert_eq!(turn["content"][0]["text"], "Ada");
}

#[actix_web::test]
async fn a_tool_that_has_gone_when_the_answer_comes_is_unknown_and_one_that_is_back_is_not() {
    paused();
    let server = server([1; 32]);
    let served = Served::new(&server).await;
    let params = json!({ "name": "one" });
    let turn = result(&served, params.clone()).await;
    let again = retry(params, &turn["requestState"], json!({ "user_name": named("Ada") }));
    assert!(server.handle().remove_tool("one"));
    let gone = send(&served, again.clone()).await.expect(200).await.json().await;
    assert_eq!(gone["error"], json!({ "code": -32602, "message": "unknown tool: `name` is \"one\"" }));
    assert_eq!((server.calls(), server.stats().in_flight), (1, 0));
    server.handle().add_tool(one).expect("its name is free");
    assert_eq!(result(&served, again).await["content"][0]["text"], "Ada");
}

#[actix_web::test]
async fn a_client_that_goes_after_its_question_leaves_a_call_in_a_session_only() {
    paused();
    let server = server([1; 32]);
    let served = Served::new(&server).await;
    let params = |tool: &str| json!({ "name": tool, "_meta": { "progressToken": "p" } });
    for tool in ["one", "late", "joined", "by_hand"] {
        let request = request("tools/call", stateless(params(tool), all()));
        // with its answer read, and unread
        let answer = served.send(&request).await.expect(200).await.answer().await;
        assert_eq!(answer["result"]["resultType"], "input_required");
        assert_idle(&server).await;
        let mut connection = served.connect();
        connection.send(&request).await;
        settle().await;
        drop(connection);
        assert_idle(&server).await;
    }
    // where there is a session, the question waits there, and so does the call
    let client = Client::open(&served, "2025-11-25").await;
    let mut asking = client.post(&call(1, "one", json!({}))).await.expect(200).await;
    assert_eq!(asking.message().await.expect("a question")["method"], "elicitation/create");
    drop(asking);
    settle().await;
    assert_eq!(server.stats().in_flight, 1);
    client.delete().await.expect(204).await;
    assert_idle(&server).await;
}

/// Serves it behind a middleware that knows who a request acts for.
async fn served_for(server: &Server) -> Served {
    let scope = server.scope("/mcp");
    Served::app(App::new().service(scope).wrap_fn(|request, app| {
        if let Some(user) = request.headers().get("x-user").and_then(|user| user.to_str().ok()) {
            request.extensions_mut().insert(Principal::new(user));
        }
        app.call(request)
    }))
    .await
}

// C78
#[actix_web::test]
async fn whatever_is_wrong_with_a_state_it_is_the_same_error_and_no_handler_runs() {
    paused();
    let server = server([1; 32]);
    let served = served_for(&server).await;
    let params = json!({ "name": "one", "arguments": { "item": "tea" } });
    let ann = |method: &str, params: Value| request(method, stateless(params, all())).header("X-User", "ann");
    let turn = served.send(&ann("tools/call", params.clone())).await.expect(200).await.answer().await;
    let state = turn["result"]["requestState"].clone();
    let text = state.as_str().expect("a state");
    let answers = || json!({ "user_name": named("Ada") });
    let with = |state: Value| retry(params.clone(), &state, answers());
    let flipped = |at: usize| {
        let mut bytes = text.as_bytes().to_vec();
        bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
        Value::from(String::from_utf8(bytes).expect("ASCII"))
    };
    let calls = server.calls();
    assert_eq!(calls, 1);
    let other = |name: &str, arguments: Value| {
        retry(json!({ "name": name, "arguments": arguments }), &state, answers())
    };
    for request in [
        ann("tools/call", with(flipped(text.len() / 2))),
        ann("tools/call", with(flipped(3))),
        ann("tools/call", with(text[..text.len() - 4].into())),
        ann("tools/call", with(format!("{text}-TAMPERED").into())),
        ann("tools/call", with("".into())),
        ann("tools/call", with("x".into())),
        ann("tools/call", with("A".repeat(1 << 20).into())),
        ann("tools/call", other("joined", json!({ "item": "tea" }))),
        ann("tools/call", other("one", json!({ "item": "coffee" }))),
        ann("prompts/get", other("one", json!({}))),
        ann("tools/call", with(state.clone())).set("X-User", "bob"),
        ann("tools/call", with(state.clone())).without("X-User"),
    ] {
        let refused = served.send(&request).await.expect(200).await.json().await;
        assert_eq!(
            refused,
            json!({ "jsonrpc": "2.0", "id": 7, "error": { "code": -32602,
                "message": "`requestState` is not valid for this request" } })
        );
    }
    let stranger = served_for(&crate::interview::server([2; 32])).await;
    stranger.send(&ann("tools/call", with(state.clone()))).await.expect(200).await;
    assert_eq!(server.calls(), calls);
    let turn = served.send(&ann("tools/call", with(state.clone()))).await.expect(200).await.answer().await;
    assert_eq!(turn["result"]["content"][0]["text"], "Ada");
}

// C78: integers that no machine type holds are other arguments all the same
#[actix_web::test]
async fn a_state_is_good_for_every_digit_of_its_arguments() {
    paused();
    let server = server([1; 32]);
    let served = Served::new(&server).await;
    // written by hand, since the client's own numbers are no better
    let with = |params: Value, digits: &str| {
        let request = request("tools/call", stateless(params, all()));
        let body = request.text().replace("\"DIGITS\"", digits);
        assert!(body.contains(digits), "{body}");
        request.body(body)
    };
    let params = || json!({ "name": "one", "arguments": { "item": "tea", "amount": "DIGITS" } });
    let here = "18446744073709551617";
    let turn = served.send(&with(params(), here)).await.expect(200).await.answer().await;
    let again = retry(params(), &turn["result"]["requestState"], json!({ "user_name": named("Ada") }));
    for other in ["18446744073709551619", "18446744073709551616", "1.8446744073709552e19"] {
        served.send(&with(again.clone(), other)).await.expect(200).await;
    }
    assert_eq!(server.calls(), 1);
    let same = "18446744073709551617.0";
    let turn = served.send(&with(again, same)).await.expect(200).await.answer().await;
    assert_eq!(turn["result"]["content"][0]["text"], "Ada");
}

// C78
#[actix_web::test]
async fn a_state_that_is_good_for_no_time_has_expired() {
    paused();
    let limits = limited(|limits| limits.state.life = std::time::Duration::ZERO);
    let server = builder([1; 32]).limits(limits).build();
    let served = Served::new(&server).await;
    let params = json!({ "name": "one" });
    let turn = result(&served, params.clone()).await;
    let late = send(&served, retry(params, &turn["requestState"], echo(&turn))).await.expect(200).await;
    let error = late.json().await["error"].clone();
    let refused = "`requestState` is not valid for this request";
    assert_eq!(error, json!({ "code": -32602, "message": refused }), "as whatever else is wrong with it");
    assert_eq!(server.calls(), 1);
}

// C79
#[actix_web::test]
async fn an_answer_of_the_wrong_shape_is_an_error_and_a_missing_one_is_asked_again() {
    paused();
    let served = Served::new(&server([1; 32])).await;
    let params = json!({ "name": "one" });
    let state = result(&served, params.clone()).await["requestState"].clone();
    for wrong in [json!({ "action": "accept" }), json!("yes"), json!(12345)] {
        let answers = json!({ "user_name": wrong });
        let response = send(&served, retry(params.clone(), &state, answers)).await.expect(200).await;
        let error = response.json().await["error"].clone();
        assert_eq!(error["code"], -32602);
        assert!(error["message"].as_str().expect("a message").contains("\"user_name\""), "{error}");
    }
    for missing in [json!({}), Value::Null, json!({ "extra": named("x") })] {
        let turn = result(&served, retry(params.clone(), &state, missing)).await;
        assert!(turn["inputRequests"]["user_name"].is_object(), "{turn}");
    }
    for (action, text) in [("decline", "the user declined"), ("cancel", "the user cancelled")] {
        let answers = json!({ "user_name": { "action": action }, "extra": 7 });
        let turn = result(&served, retry(params.clone(), &state, answers)).await;
        assert_eq!((&turn["isError"], &turn["content"][0]["text"]), (&json!(true), &json!(text)));
    }
}

// C47, C48, C77
#[actix_web::test]
async fn a_capability_that_is_missing_is_400_in_one_era_and_an_error_of_the_session_in_the_other() {
    paused();
    let served = Served::new(&server([1; 32])).await;
    let refused = send(&served, json!({ "name": "needs" })).await.expect(400).await.json().await;
    assert_eq!(refused["error"]["code"], -32021);
    assert_eq!(refused["error"]["data"], json!({ "requiredCapabilities": { "sampling": {} } }));
    let able = request("tools/call", stateless(json!({ "name": "needs" }), json!({ "sampling": {} })));
    served.send(&able).await.expect(200).await;
    // C112: whatever the handler makes of a question that the client cannot be asked
    let unable = request("tools/call", stateless(json!({ "name": "text" }), json!({})));
    let refused = served.send(&unable).await.expect(400).await.json().await;
    assert_eq!(refused["error"]["data"], json!({ "requiredCapabilities": { "elicitation": {} } }));

    let session = Client::open_with(&served, crate::served::initialize("2025-11-25"), &[]).await;
    let answer = session.call(1, "needs", json!({})).await.expect(200).await.answer().await;
    assert_eq!(answer["error"]["code"], -32600);
    assert_eq!(answer["error"]["data"], json!({ "requiredCapabilities": { "sampling": {} } }));
}

#[test]
fn a_secret_that_is_short_is_warned_of_by_the_name_of_the_option_and_not_shown() {
    install();
    let keys = ["a secret text that has 32 bytes.", "it has 31 bytes, one less, this"];
    assert_eq!(keys.map(str::len), [32, 31]);
    drop(Server::builder("shop", "1").state_keys([keys[0]]).state_keys([[7; 32]]));
    assert_eq!(take(), [""; 0]);
    drop(Server::builder("shop", "1").state_keys(keys));
    let lines = take();
    assert!(lines.len() == 1 && lines[0].starts_with("WARN `ServerBuilder::state_keys`: "), "{lines:?}");
    assert!(!lines[0].contains(keys[1]), "{lines:?}");
}
