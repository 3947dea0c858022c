//! What each tool answers.

use serde_json::{Value, json};

use crate::{
    peer::{Peer, everything, failure, text},
    program::Program,
    served::message,
};

const SECRET: &str = "SECRET-7731";

#[actix_web::test]
async fn tools_answer_as_they_are_described() {
    for mut peer in Peer::both(&[]).await {
        for (tool, arguments, answer) in [
            ("echo", json!({ "text": "ä\n" }), "ä\n"),
            ("slow", json!({ "ms": 1, "tag": "t" }), "t"),
            ("slow", json!({ "ms": 0, "tag": "t", "stubborn": true }), "t"),
            ("progress", json!({}), "done"),
            ("log", json!({ "level": "info", "n": 0 }), "logged"),
            ("none", json!({}), "ok"),
            ("typed", json!({ "n": u64::MAX }), "typed"),
            ("typed", json!({ "n": 0, "opt": null, "any": [{}] }), "typed"),
            ("big", json!({ "bytes": 3 }), "xxx"),
            ("big", json!({ "bytes": 0 }), ""),
            ("touch", json!({ "uri": "mem://a" }), "touched"),
            ("region", json!({ "region": "eu", "n": 42 }), "region=eu n=42"),
            ("region", json!({ "region": null, "n": null }), "region=null n=null"),
            ("region", json!({}), "region=null n=null"),
        ] {
            assert_eq!(peer.call(tool, arguments).await, text(answer), "{tool}");
        }
        let answer = peer.request("tools/call", json!({ "name": "none" })).await;
        assert_eq!(answer["result"], text("ok"));
    }
}

#[actix_web::test]
async fn bad_arguments_are_named_to_the_model() {
    for mut peer in Peer::both(&[]).await {
        for (tool, arguments, named) in [
            ("echo", json!({}), "text"),
            ("echo", json!({ "text": 1 }), "text"),
            ("slow", json!({ "ms": -1, "tag": "t" }), "ms"),
            ("typed", json!({ "n": 0, "opt": 1 }), "opt"),
            ("log", json!({ "level": "loud" }), "level"),
            ("progress", json!({ "values": ["1"] }), "values[0]"),
            ("ask", json!({ "mode": "post" }), "mode"),
            ("region", json!({ "n": "x" }), "n"),
        ] {
            let result = peer.call(tool, arguments).await;
            assert!(failure(&result).contains(&format!("`{named}`")), "{tool}: {result}");
        }
    }
}

#[actix_web::test]
async fn out_keeps_to_its_schema_or_fails() {
    for mut peer in Peer::both(&[]).await {
        let good =
            json!({ "content": [{ "type": "text", "text": r#"{"v":1}"# }], "structuredContent": { "v": 1 } });
        assert_eq!(peer.call("out", json!({})).await, good);
        assert_eq!(peer.call("out", json!({ "mode": "ok" })).await, good);
        for mode in ["missing", "wrong"] {
            failure(&peer.call("out", json!({ "mode": mode })).await);
        }
        assert_eq!(failure(&peer.call("out", json!({ "mode": "error" })).await), "failed");
    }
}

/// The values, totals and messages of the progress notifications, and the answer's text.
fn reports(heard: &[Value]) -> (Vec<Value>, &Value) {
    let (answer, reports) = heard.split_last().expect("there is an answer");
    let params = reports.iter().map(|report| {
        assert_eq!(report["method"], "notifications/progress");
        report["params"].clone()
    });
    (params.collect(), &answer["result"])
}

#[actix_web::test]
async fn progress_counts_or_reports_what_it_is_given() {
    for mut peer in Peer::both(&[]).await {
        let heard = peer.watch("progress", json!({ "n": 2, "text": "step" })).await;
        let report = |n: u32| json!({ "progressToken": "p", "progress": n, "total": 2, "message": "step" });
        assert_eq!(reports(&heard), (vec![report(1), report(2)], &text("done")));
        // what does not increase is refused
        let heard = peer.watch("progress", json!({ "values": [1, 3, 2, 3, 4.5], "ms": 1 })).await;
        let (reports, _) = reports(&heard);
        let values: Vec<_> = reports.iter().map(|report| &report["progress"]).collect();
        assert_eq!(json!(values), json!([1, 3, 4.5]));
        assert!(reports.iter().all(|report| report.get("message").is_none()));
        // without a token there is nobody to report to
        assert_eq!(peer.call("progress", json!({ "n": 2 })).await, text("done"));
    }
}

#[actix_web::test]
async fn late_progress_reaches_nobody() {
    for mut peer in Peer::both(&[]).await {
        let heard = peer.watch("late", json!({})).await;
        assert_eq!(reports(&heard), (vec![], &text("returned")));
        // long enough for it to come, and `call` takes nothing but the answer
        assert_eq!(peer.call("slow", json!({ "ms": 300, "tag": "t" })).await, text("t"));
    }
}

#[actix_web::test]
async fn log_logs_at_its_level_under_its_name() {
    for mut peer in Peer::both(&[]).await {
        let heard = peer.watch("log", json!({ "level": "alert", "n": 2 })).await;
        let entry = |n: u32| json!({ "level": "alert", "logger": "fixture", "data": format!("log {n}") });
        let params: Vec<_> = heard.iter().filter_map(|message| message.get("params")).cloned().collect();
        assert_eq!(params, [entry(1), entry(2)]);
        peer.request("logging/setLevel", json!({ "level": "emergency" })).await;
        assert_eq!(peer.call("log", json!({ "level": "alert" })).await, text("logged"));
    }
}

#[actix_web::test]
async fn a_panic_is_one_failed_call_and_says_nothing() {
    for mut peer in Peer::both(&[]).await {
        let heard = peer.watch("panic", json!({ "after": 2 })).await;
        assert_eq!(heard.len(), 3, "{heard:?}");
        assert_eq!(heard[2]["error"]["code"], -32603);
        let answer = peer.request("resources/read", json!({ "uri": "mem://item/panic" })).await;
        assert_eq!(answer["error"]["code"], -32603);
        assert!(!format!("{heard:?}{answer}").contains(SECRET));
        assert_eq!(peer.call("echo", json!({ "text": "on" })).await, text("on"));
    }
}

#[actix_web::test]
async fn the_tool_list_is_in_one_order_and_toggle_changes_its_end() {
    let mut lists = Vec::new();
    for mut peer in Peer::both(&[]).await {
        let before = peer.tools().await;
        let with_extra = [before.clone(), vec!["extra".to_owned()]].concat();
        peer.call_aside("toggle", json!({})).await;
        assert_eq!(peer.tools().await, with_extra);
        assert_eq!(peer.call("extra", json!({})).await, text("ok"));
        peer.call_aside("toggle", json!({ "times": 2, "ms": 1 })).await;
        assert_eq!(peer.tools().await, with_extra);
        peer.call_aside("toggle", json!({ "times": 3 })).await;
        assert_eq!(peer.tools().await, before);
        lists.push(before);
    }
    assert_eq!(lists[0], lists[1]);
    assert_eq!(lists[0][0], "test_simple_text");
    let described = |tool: &Value| tool["description"].as_str().is_some_and(|text| !text.is_empty());
    let list = Peer::stdio(&[]).request("tools/list", json!({})).await["result"]["tools"].take();
    assert!(list.as_array().expect("there is a list").iter().all(described), "{list}");
}

#[actix_web::test]
async fn schemas_are_listed_as_they_are_meant() {
    let list = Peer::stdio(&[]).request("tools/list", json!({})).await["result"]["tools"].take();
    let tool = |name: &str| {
        let tools = list.as_array().expect("there is a list");
        tools.iter().find(|tool| tool["name"] == name).unwrap_or_else(|| panic!("no {name}"))
    };
    let region = json!({
        "type": "object",
        "properties": {
            "region": { "type": "string", "x-mcp-header": "Region" },
            "n": { "type": "integer", "x-mcp-header": "N" },
        },
    });
    assert_eq!(tool("region")["inputSchema"], region);
    let out = json!({ "type": "object", "properties": { "v": { "type": "integer" } }, "required": ["v"] });
    assert_eq!(tool("out")["outputSchema"], out);
    assert_eq!(tool("typed")["inputSchema"]["required"], json!(["n"]));
    assert_eq!(
        tool("none")["inputSchema"],
        json!({ "type": "object", "properties": {}, "additionalProperties": false })
    );
}

#[actix_web::test]
async fn touch_tells_who_subscribed() {
    for mut peer in Peer::both(&[]).await {
        let subscribe = json!({ "uri": "mem://item/any" });
        assert_eq!(peer.request("resources/subscribe", subscribe.clone()).await["result"], json!({}));
        let heard = peer.call_aside("touch", json!({ "uri": "mem://item/any", "count": 3 })).await;
        assert_eq!(heard["method"], "notifications/resources/updated");
        assert_eq!(heard["params"], subscribe);
        assert_eq!(peer.request("resources/unsubscribe", subscribe).await["result"], json!({}));
        assert_eq!(peer.call("touch", json!({ "uri": "mem://item/any" })).await, text("touched"));
    }
}

#[actix_web::test]
async fn what_is_too_big_is_refused_and_ends_nothing() {
    for mut peer in Peer::both(&[]).await {
        for bytes in [u64::MAX, 256 * 1024 * 1024 + 1] {
            let result = peer.call("big", json!({ "bytes": bytes })).await;
            assert_eq!(failure(&result), "that is too much (the limit is 268435456 bytes)");
        }
        assert_eq!(peer.call("big", json!({ "bytes": 1 })).await, text("x"));
    }
}

#[test]
fn a_call_that_says_much_keeps_no_other_waiting() {
    let mut program = Program::connect(everything(&["--stdio"]));
    program.send(&message(1, "logging/setLevel", json!({ "level": "emergency" })));
    assert_eq!(program.next()["id"], 1);
    for (id, tool, arguments) in [
        (2, "log", json!({ "level": "debug", "n": u32::MAX })),
        (3, "touch", json!({ "uri": "mem://a", "count": u32::MAX })),
    ] {
        program.call(id, tool, arguments);
        // the first may still be answered before the call runs, the second is not
        for _ in 0..2 {
            program.send(&message(4, "ping", json!({})));
            assert_eq!(program.next(), json!({ "jsonrpc": "2.0", "id": 4, "result": {} }), "{tool}");
        }
        let params = json!({ "requestId": id });
        program.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }));
    }
    program.stdin.take();
    assert!(program.ended().status.success());
}
