//! The same requests in either era, on one endpoint at once: each has what its own era has for it. Cases C10, C11, C24, C29,
//! C47, C59, C63, C81 and C82 as far as they are about requests that speak for themselves.

use std::time::Duration;

use actix_mcp::{
    Client as Asked, McpError,
    client::ClientCapability,
    testing::{paused, settle},
    tool,
};
use actix_web::rt::time::sleep;
use futures_util::future::join_all;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::{
    client::{Request, Response},
    fixture::{SECRET, builder, limited, server},
    metadata::{CAPABILITIES, VERSION},
    refused::{Refusal, assert_idle},
    served::{Client, Served, call, initialize_with, message, modern, modern_call},
    streams::assert_stream_head,
};

/// A tool that cannot do without a form.
#[tool]
async fn ask_first(client: Asked) -> Result<&'static str, McpError> {
    client.require(ClientCapability::ElicitationForm)?;
    Ok("it can be asked")
}

fn with_meta(meta: Value) -> Request {
    Request::post(message("q1", "tools/list", json!({ "_meta": meta })))
        .header("MCP-Protocol-Version", "2026-07-28")
        .header("Mcp-Method", "tools/list")
}

// C47
#[actix_web::test]
async fn what_a_request_must_say_of_itself_is_told_from_what_its_client_cannot_do() {
    paused();
    let server = builder().tool(ask_first).build();
    let served = Served::new(&server).await;
    for (meta, names) in [
        (json!({ CAPABILITIES: {} }), VERSION),
        (json!({}), VERSION),
        (json!({ VERSION: "2026-07-28" }), CAPABILITIES),
        (json!({ VERSION: "2026-07-28", CAPABILITIES: "x" }), CAPABILITIES),
        (json!({ VERSION: "2026-07-28", CAPABILITIES: null }), CAPABILITIES),
        (json!({ VERSION: "2026-07-28", CAPABILITIES: [] }), CAPABILITIES),
    ] {
        let what = meta.to_string();
        let refusal = Refusal::new(400, -32602, names).of("q1");
        refusal.check(served.send(&with_meta(meta)).await, &what).await;
    }
    let error = served.send(&modern_call("q1", "ask_first", json!({}))).await.expect(400).await.json().await;
    assert_eq!((&error["id"], &error["error"]["code"]), (&json!("q1"), &json!(-32021)));
    assert_eq!(error["error"]["data"], json!({ "requiredCapabilities": { "elicitation": {} } }));
    assert_idle(&server).await;
    // a session has said it once, or has not
    for (capabilities, member) in [(json!({ "elicitation": {} }), "result"), (json!({}), "error")] {
        let client = Client::open_with(&served, initialize_with("2025-11-25", capabilities), &[]).await;
        let answer = client.call(1, "ask_first", json!({})).await.expect(200).await.answer().await;
        assert!(answer.get(member).is_some(), "{answer}");
        assert_ne!(answer["error"]["code"], -32021, "a code of another era");
    }
}

// C63
#[actix_web::test]
async fn an_array_is_no_request_that_speaks_for_itself_whatever_is_in_it() {
    paused();
    let server = server();
    let served = Served::new(&server).await;
    let meta = json!({ "_meta": { VERSION: "2026-07-28", CAPABILITIES: {} } });
    let list = |id: i64| message(id, "tools/list", meta.clone());
    for batch in [
        json!([message(1, "ping", json!({})), message(2, "ping", json!({}))]),
        json!([list(1), list(2)]),
        json!([]),
        json!([{ "jsonrpc": "2.0", "method": "notifications/foo" }]),
        json!([message(1, "initialize", json!({ "protocolVersion": "2025-11-25" }))]),
        json!([1, message(2, "ping", json!({}))]),
    ] {
        let request = Request::post(&batch).header("MCP-Protocol-Version", "2026-07-28");
        for request in [request.clone(), request.header("Mcp-Method", "tools/list")] {
            let refusal = Refusal::new(400, -32600, "message");
            refusal.check(served.send(&request).await, &batch.to_string()).await;
        }
    }
    assert_eq!(server.calls(), 0);
    assert_idle(&server).await;
    // one that names its version is no part of a session's batch either
    let client = Client::open(&served, "2025-03-26").await;
    let odd = message(3, "tools/list", json!({ "_meta": { VERSION: "v999" } }));
    let batch = json!([list(1), message(2, "ping", json!({})), odd]);
    let answers = client.post(&batch).await.expect(200).await.json().await;
    for answer in answers.as_array().unwrap() {
        let expected = if answer["id"] == 2 { Value::Null } else { json!(-32600) };
        assert_eq!(answer["error"]["code"], expected, "{answers}");
    }
    assert_eq!(answers.as_array().map(Vec::len), Some(3));
}

/// All messages of a response, in whichever form it came.
async fn said(response: Response) -> Vec<Value> {
    match response.header("content-type") {
        Some("application/json") => vec![response.json().await],
        _ => response.messages().await,
    }
}

// C24; `calls` has it in a session
#[actix_web::test]
async fn a_panic_is_one_error_without_its_text_and_costs_no_other_request() {
    paused();
    let server = server();
    let served = Served::new(&server).await;
    let panic = |after: u32| {
        let meta = json!({ "progressToken": "p" });
        modern(1, "tools/call", json!({ "name": "panic", "arguments": { "after": after }, "_meta": meta }))
    };
    let events = |request: Request| request.set("Accept", "text/event-stream");
    let reader = modern(1, "resources/read", json!({ "uri": "mem://item/panic" }));
    for (request, before) in [
        (panic(0), 0),
        (panic(2), 2),
        (events(panic(0)), 0),
        (panic(2).set("Accept", "application/json"), 0),
        (reader.clone(), 0),
        (events(reader), 0),
    ] {
        let mut said = said(served.send(&request).await.expect(200).await).await;
        let error = json!({ "code": -32603, "message": "internal error" });
        assert_eq!(said.pop().unwrap(), json!({ "jsonrpc": "2.0", "id": 1, "error": error }));
        assert_eq!(said.len(), before);
        assert!(!format!("{said:?}").contains(SECRET));
        served.send(&modern(2, "tools/list", json!({}))).await.expect(200).await;
    }
    assert_idle(&server).await;
}

// C29
#[actix_web::test]
async fn a_posted_cancellation_of_one_era_stops_nothing_of_the_other_and_none_of_this_one() {
    paused();
    let server = server();
    let served = Served::new(&server).await;
    let client = Client::open(&served, "2025-11-25").await;
    let slow = |tag: &str| json!({ "ms": 1500, "tag": tag });
    let legacy = client.start(&client.request(&call(1, "slow", slow("session")))).await;
    let own = client.start(&modern_call(1, "slow", slow("own"))).await;
    settle().await;
    assert_eq!(server.stats().in_flight, 2);
    let meta = json!({ VERSION: "2026-07-28", CAPABILITIES: {} });
    for params in [json!({ "requestId": 1 }), json!({ "requestId": 1, "_meta": meta })] {
        let body = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
        let cancel = Request::post(&body)
            .header("MCP-Protocol-Version", "2026-07-28")
            .header("Mcp-Method", "notifications/cancelled");
        for request in [cancel.clone(), cancel.header("Mcp-Session-Id", &client.session)] {
            served.send(&request).await.expect(202).await.empty().await;
        }
    }
    settle().await;
    assert_eq!(server.stats().in_flight, 2, "it stopped one");
    // the session's own stops the session's own
    let other = client.start(&client.request(&call(2, "slow", slow("stopped")))).await;
    settle().await;
    client.notify("notifications/cancelled", json!({ "requestId": 2 })).await;
    other.response().await.expect(200).await.empty().await;
    for (pending, tag) in [(legacy, "session"), (own, "own")] {
        let answer = pending.response().await.expect(200).await.answer().await;
        assert_eq!((&answer["id"], &answer["result"]["content"][0]["text"]), (&json!(1), &json!(tag)));
    }
    assert_eq!(server.calls(), 3);
}

// C81, C82
#[actix_web::test]
async fn arguments_are_judged_as_in_a_session() {
    paused();
    let server = server();
    let served = Served::new(&server).await;
    let client = Client::open(&served, "2025-11-25").await;
    let missing = "arguments: missing field `n`";
    for (params, code, text) in [
        (json!({ "name": "none" }), 0, "ok"),
        (json!({ "name": "none", "arguments": null }), 0, "ok"),
        (json!({ "name": "none", "arguments": {} }), 0, "ok"),
        (json!({ "name": "none", "arguments": [] }), -32602, "arguments"),
        (json!({ "name": "none", "arguments": "x" }), -32602, "arguments"),
        (json!({ "name": "typed" }), 1, missing),
        (json!({ "name": "typed", "arguments": null }), 1, missing),
        (json!({ "name": "typed", "arguments": { "n": "abc" } }), 1, "argument `n`"),
        (json!({ "name": "typed", "arguments": { "n": -1 } }), 1, "argument `n`"),
        (json!({ "name": "typed", "arguments": { "n": 1.5 } }), 1, "argument `n`"),
        (json!({ "name": "ghost" }), -32602, "ghost"),
        (json!({ "name": 7 }), -32602, "name"),
        (json!({}), -32602, "name"),
    ] {
        // C113
        let own = served.send(&modern("q1", "tools/call", params.clone())).await.expect(200).await;
        let own = own.answer().await;
        let session = client.post(&message("q1", "tools/call", params.clone())).await.expect(200).await;
        let session = session.answer().await;
        for answer in [&own, &session] {
            assert_eq!(answer["id"], "q1");
            let said = if code < 0 {
                assert_eq!(answer["error"]["code"], code, "{params}: {answer}");
                &answer["error"]["message"]
            } else {
                assert_eq!(answer["result"]["isError"] == true, code == 1, "{params}: {answer}");
                &answer["result"]["content"][0]["text"]
            };
            assert!(said.as_str().unwrap().contains(text), "{params}: {answer}");
        }
        assert_eq!(own["result"]["content"], session["result"]["content"]);
        assert_eq!(own["error"], session["error"]);
    }
}

// C10, C11; `readers` has them in a session and `listens` for a listen
#[actix_web::test]
async fn a_call_that_says_nothing_has_a_first_byte_and_is_kept_alive() {
    paused();
    for (server, comments) in [
        (server(), &[2, 152, 302][..]),
        (
            builder().limits(limited(|limits| limits.http.keep_alive = Duration::from_secs(10))).build(),
            &[2, 102, 202, 302][..],
        ),
    ] {
        let served = Served::new(&server).await;
        let start = Instant::now();
        let slow = modern_call(1, "slow", json!({ "ms": 40_000, "tag": "x" }));
        let mut stream = served.send(&slow).await.expect(200).await;
        let mut heard = Vec::new();
        while let Some(event) = stream.event().await {
            let comment = matches!(event, russe::Event::Comment(_));
            heard.push((start.elapsed().as_millis() / 100, comment));
        }
        let (answer, before) = heard.split_last().expect("an answer");
        assert_eq!(*answer, (400, false), "tenths of a second");
        assert!(before.iter().all(|(_, comment)| *comment));
        assert_eq!(before.iter().map(|(at, _)| *at).collect::<Vec<_>>(), comments);
    }
}

// C59
#[actix_web::test]
async fn the_heads_of_streams_are_safe_for_proxies() {
    paused();
    let served = Served::new(&server()).await;
    let params = json!({ "name": "progress", "arguments": { "n": 1 }, "_meta": { "progressToken": 1 } });
    for request in [
        modern_call(1, "slow", json!({ "ms": 1000, "tag": "x" })),
        modern(1, "tools/call", params),
        modern(1, "subscriptions/listen", json!({ "notifications": {} })),
    ] {
        assert_stream_head(&served.send(&request).await.expect(200).await);
    }
}

#[actix_web::test]
async fn fifty_sessions_and_fifty_calls_without_one_use_the_same_ids_at_once_and_each_gets_its_own() {
    paused();
    let server = server();
    let served = Served::new(&server).await;
    let sessions = join_all((0..50).map(|_| Client::open(&served, "2025-11-25"))).await;
    let progress = |tag: &str| {
        json!({ "name": "progress", "arguments": { "n": 3, "ms": 100, "text": tag },
            "_meta": { "progressToken": "p" } })
    };
    let calls = sessions.iter().enumerate().flat_map(|(nth, client)| {
        let (in_session, own) = (format!("session {nth}"), format!("own {nth}"));
        let legacy = client.request(&message(1, "tools/call", progress(&in_session)));
        let modern = modern(1, "tools/call", progress(&own));
        [(legacy, in_session), (modern, own)]
    });
    let called = join_all(calls.map(async |(request, tag)| {
        let messages = said(served.send(&request).await.expect(200).await).await;
        assert_eq!(messages.len(), 4, "{tag}: {messages:?}");
        for (message, step) in messages.iter().zip(1..=3) {
            let params = &message["params"];
            assert_eq!((&params["message"], &params["progress"]), (&json!(tag), &json!(step)));
        }
        assert_eq!(
            (&messages[3]["id"], &messages[3]["result"]["content"][0]["text"]),
            (&json!(1), &json!("done"))
        );
        // nothing of one era is in the other
        let stateless = messages[3]["result"].get("resultType").is_some();
        assert_eq!(stateless, tag.starts_with("own"), "{tag}");
    }));
    let most = async {
        sleep(Duration::from_millis(50)).await;
        server.stats().in_flight
    };
    let (_, most) = tokio::join!(called, most);
    assert_eq!(most, 100, "they did not run at once");
    settle().await;
    let stats = server.stats();
    assert_eq!((stats.sessions, stats.in_flight, stats.streams), (50, 0, 0));
}
