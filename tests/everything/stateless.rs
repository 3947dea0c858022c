//! The tools, resources, prompts and flags where there is no session.

use serde_json::{Value, json};

use crate::{
    caller::{Caller, spoken},
    client::{Connection, Request},
    peer::{Http, Peer, everything},
    program::Program,
    served::{initialize, message, modern, modern_call},
};

/// The members of `_meta` with a log level and a progress token.
fn meta(level: &str) -> Value {
    json!({ "progressToken": "p", "io.modelcontextprotocol/logLevel": level })
}

#[actix_web::test]
async fn tools_answer_as_they_are_described() {
    for mut caller in Caller::both(&["--odd-names"]) {
        for (tool, arguments, text) in [
            ("echo", json!({ "text": "hi" }), "hi"),
            ("slow", json!({ "ms": 1, "tag": "t" }), "t"),
            ("progress", json!({ "n": 2 }), "done"),
            ("none", json!({}), "ok"),
            ("typed", json!({ "n": u64::MAX }), "typed"),
            ("big", json!({ "bytes": 3 }), "xxx"),
            ("touch", json!({ "uri": "mem://a" }), "touched"),
            ("toggle", json!({ "times": 2 }), "toggled"),
            ("region", json!({ "region": "eu", "n": 42 }), "region=eu n=42"),
            ("region", json!({ "region": null }), "region=null n=null"),
            ("region", json!({ "n": 0 }), "region=null n=0"),
            ("tööl", json!({}), "odd"),
            ("=?base64?abc?=", json!({ "more": 1 }), "odd"),
            ("test_simple_text", json!({}), "This is a simple text response for testing."),
        ] {
            assert_eq!(caller.text(tool, arguments).await, text, "{tool}");
        }
        for (mode, member, value) in
            [("ok", "structuredContent", json!({ "v": 1 })), ("error", "isError", json!(true))]
        {
            let params = json!({ "name": "out", "arguments": { "mode": mode } });
            assert_eq!(caller.result("tools/call", params).await[member], value);
        }
        for mode in ["missing", "wrong"] {
            let params = json!({ "name": "out", "arguments": { "mode": mode } });
            assert_eq!(caller.result("tools/call", params).await["isError"], true);
        }
    }
}

#[actix_web::test]
async fn what_a_call_says_is_said_to_it_as_far_as_it_wants_it() {
    for mut caller in Caller::both(&[]) {
        let log =
            |arguments: Value, meta: Value| json!({ "name": "log", "arguments": arguments, "_meta": meta });
        let alerts = log(json!({ "level": "alert", "n": 2 }), meta("warning"));
        let heard = caller.exchange("tools/call", alerts).await;
        let entry = |n: u32| json!({ "level": "alert", "logger": "fixture", "data": format!("log {n}") });
        let params: Vec<_> = heard.iter().filter_map(|message| message.get("params")).cloned().collect();
        assert_eq!(params, [entry(1), entry(2)]);
        // below its level, and without one: `request` takes nothing but the answer
        caller.result("tools/call", log(json!({ "level": "info" }), meta("warning"))).await;
        caller.result("tools/call", log(json!({ "level": "emergency" }), json!({}))).await;
        caller.result("tools/call", json!({ "name": "test_logging_tool" })).await;
        let loud = log(json!({ "level": "alert" }), meta("loud"));
        assert_eq!(caller.refusal("tools/call", loud).await, -32602);
        let logging = json!({ "name": "test_logging_tool", "_meta": meta("info") });
        assert_eq!(caller.exchange("tools/call", logging).await.len(), 2);

        let progress = json!({ "name": "progress", "arguments": { "n": 2 }, "_meta": meta("error") });
        let heard = caller.exchange("tools/call", progress).await;
        let steps: Vec<_> =
            heard.iter().filter_map(|message| message["params"]["progress"].as_u64()).collect();
        assert_eq!((steps, heard.len()), (vec![1, 2], 3));

        let late = json!({ "name": "late", "_meta": meta("debug") });
        let result = caller.result("tools/call", late).await;
        assert_eq!(result["content"][0]["text"], "returned");
        // long enough for it to come
        assert_eq!(caller.text("slow", json!({ "ms": 300, "tag": "t" })).await, "t");
    }
}

#[actix_web::test]
async fn a_panic_is_one_failed_request_and_says_nothing() {
    for mut caller in Caller::both(&[]) {
        let params = json!({ "name": "panic", "arguments": { "after": 2 }, "_meta": meta("debug") });
        let heard = caller.exchange("tools/call", params).await;
        assert_eq!(heard.len(), 3, "{heard:?}");
        assert_eq!(heard[2]["error"]["code"], -32603);
        let answer = caller.request("resources/read", json!({ "uri": "mem://item/panic" })).await;
        assert_eq!(answer["error"]["code"], -32603);
        assert!(!format!("{heard:?}{answer}").contains("SECRET"));
        assert_eq!(caller.text("none", json!({})).await, "ok");
    }
}

#[actix_web::test]
async fn results_say_what_they_are_and_lists_how_long_they_may_be_kept() {
    let whole = Peer::stdio(&[]).tools().await;
    for mut caller in Caller::both(&[]) {
        for method in
            ["server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list"]
        {
            let result = caller.result(method, json!({})).await;
            assert_eq!((&result["ttlMs"], &result["cacheScope"]), (&json!(0), &json!("private")), "{method}");
            assert_eq!(result["resultType"], "complete");
            assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "everything");
        }
        let list = caller.result("tools/list", json!({})).await;
        let tools = list["tools"].as_array().expect("tools").iter();
        let names: Vec<_> = tools.map(|tool| tool["name"].as_str().expect("a name").to_owned()).collect();
        assert_eq!(names, whole, "both eras have one list");

        let result = caller.result("server/discover", json!({})).await;
        let capabilities = &result["capabilities"];
        assert_eq!(capabilities["tools"], json!({ "listChanged": true }));
        assert_eq!(capabilities["prompts"], json!({ "listChanged": true }));
        assert_eq!(capabilities["resources"]["subscribe"], true);
        assert!(capabilities["completions"].is_object() && capabilities["logging"].is_object(), "{result}");

        for uri in ["mem://a", "mem://item/7"] {
            let result = caller.result("resources/read", json!({ "uri": uri })).await;
            assert_eq!(result["contents"][0]["text"], format!("content of {uri}"));
            assert_eq!(result["cacheScope"], "private");
        }
        let answer = caller.request("resources/read", json!({ "uri": "mem://c" })).await;
        assert_eq!(answer["error"]["code"], -32602);
        assert_eq!(answer["error"]["data"], json!({ "uri": "mem://c" }));
        let greet = json!({ "name": "greet", "arguments": { "name": "Ada" } });
        let result = caller.result("prompts/get", greet).await;
        assert_eq!(result["messages"][0]["content"]["text"], "Hello Ada");
        let reference = json!({ "type": "ref/prompt", "name": "greet" });
        let params = json!({ "ref": reference, "argument": { "name": "name", "value": "name24" } });
        let completion = caller.result("completion/complete", params).await["completion"].take();
        assert_eq!(completion["values"].as_array().map(Vec::len), Some(10));
        for method in ["ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"] {
            assert_eq!(caller.refusal(method, json!({ "uri": "mem://a", "level": "info" })).await, -32601);
        }
    }
}

#[actix_web::test]
async fn headers_repeat_what_the_body_says_or_nothing_runs() {
    let server = Http::start(&["--odd-names"]);
    let region = || modern_call(1, "region", json!({ "region": "eu" }));
    let odd = |name: &str, header: &str| modern_call(1, name, json!({})).set("Mcp-Name", header);
    for request in [
        region(),
        region().header("Mcp-Param-Region", "us"),
        region().header("Mcp-Param-Region", "=?base64?ZXU?="),
        region().header("Mcp-Param-Region", "eu").header("Mcp-Param-N", "1"),
        modern_call(1, "test_custom_header", json!({ "value": "Hello" })).header("Mcp-Param-Value", "hello"),
        odd("tööl", "tööl"),
        odd("tööl", "=?base64?dMO2w7Zs"),
        // what it means is no name of a tool
        odd("=?base64?abc?=", "=?base64?abc?="),
    ] {
        let answer = server.send(&request).await.expect(400).await.json().await;
        assert_eq!(answer["error"]["code"], -32020, "{answer}");
    }
    assert_eq!(server.stats().await["calls"], 0);
    for request in [
        region().header("Mcp-Param-Region", "=?base64?ZXU=?="),
        modern_call(1, "test_custom_header", json!({ "value": "Hello" }))
            .header("mcp-param-value", "=?base64?SGVsbG8=?="),
    ] {
        let answer = server.send(&request).await.expect(200).await.answer().await;
        assert!(answer["result"]["isError"].is_null() && answer["error"].is_null(), "{answer}");
    }
    assert_eq!(server.stats().await["calls"], 2);
}

#[actix_web::test]
async fn a_client_that_goes_stops_its_call() {
    let server = Http::start(&[]);
    for stubborn in [false, true] {
        let mut connection = Connection::tcp(server.addr).await;
        let slow = json!({ "ms": 3_600_000, "tag": "t", "stubborn": stubborn });
        connection.send(&modern_call(1, "slow", slow)).await;
        server.until("in_flight", 1).await;
        drop(connection);
        server.until("in_flight", 0).await;
    }
    assert_eq!(server.stats().await["calls"], 2);

    let mut program = Program::start(everything(&["--stdio"]));
    let call = |tool: &str, arguments: Value| {
        spoken(1, "tools/call", json!({ "name": tool, "arguments": arguments }), json!({}))
    };
    program.send(&call("slow", json!({ "ms": 3_600_000, "tag": "t" })));
    let cancelled = json!({ "requestId": 1 });
    program.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled }));
    // its id is free, and its answer is not the first one
    program.send(&call("none", json!({})));
    assert_eq!(program.next()["result"]["content"][0]["text"], "ok");
    program.stdin.take();
    assert!(program.ended().well().is_empty());
}

#[actix_web::test]
async fn a_server_without_handshakes_says_which_revision_it_has() {
    let flags = ["--stateless-only"];
    let server = Http::start(&flags);
    for request in [Request::get(), Request::new("DELETE")] {
        server.send(&request).await.expect(405).await;
    }
    let supported = json!({ "supported": ["2026-07-28"], "requested": "2025-11-25" });
    let hello = initialize("2025-11-25");
    let error = server.send(&hello).await.expect(400).await.json().await["error"].take();
    assert_eq!((&error["code"], &error["data"]), (&json!(-32022), &supported));
    server.send(&modern("q1", "server/discover", json!({}))).await.expect(200).await;
    assert_eq!(server.stats().await["sessions"], 0);

    let mut program = Program::start(everything(&["--stdio", "--stateless-only"]));
    program.send(&serde_json::from_str(&hello.text()).expect("a message"));
    let error = program.next()["error"].take();
    assert_eq!((&error["code"], &error["data"]), (&json!(-32022), &supported));
    program.send(&message(1, "tools/list", json!({})));
    assert_eq!(program.next()["error"]["code"], -32602);
    program.send(&spoken(2, "tools/list", json!({}), json!({})));
    assert_eq!(program.next()["result"]["resultType"], "complete");
}
