//! C94, C110, C115 over sockets: numbers, ids and arguments as clients of both eras write them.

use actix_mcp::{Server, testing::paused, tool};
use serde_json::{Value, json};

use crate::{
    fixture::{builder, server},
    served::{Client, Served, call, call_with_progress, modern, modern_call},
};

/// Shows its argument.
#[tool]
async fn count(#[header("N")] n: u64, any: Option<Value>) -> String {
    format!("{n} {}", any.unwrap_or_default())
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_default()
}

#[actix_web::test]
async fn whole_numbers_are_integers_in_sessions_and_without() {
    paused();
    let server = builder().tool(count).build();
    let to = Served::new(&server).await;
    let client = Client::open(&to, "2025-11-25").await;
    for id in [json!(1.0), json!(1), json!(-0.0)] {
        let answer = client.call(id.clone(), "count", json!({ "n": 10.0, "any": 5.0 })).await;
        let answer = answer.expect(200).await.json().await;
        assert_eq!((&answer["id"], text(&answer)), (&json!(id.as_f64().unwrap() as i64), "10 5.0"), "{id}");
    }
    // the header is held against the body by number (2026-07-28 streamable-http, Server Validation)
    for header in ["10", "10.0", "1e1"] {
        let request =
            modern_call(1.0, "count", json!({ "n": 10.0, "any": 5.0 })).header("Mcp-Param-N", header);
        let answer = to.send(&request).await.expect(200).await.answer().await;
        assert_eq!((&answer["id"], text(&answer)), (&json!(1), "10 5.0"), "{header}");
    }
    let request = modern_call(1, "count", json!({ "n": 10.0 })).header("Mcp-Param-N", "11");
    let error = to.send(&request).await.expect(400).await.json().await;
    assert_eq!(error["error"]["code"], -32020, "{error}");
    let request = modern_call(1, "count", json!({ "n": 10.5 })).header("Mcp-Param-N", "10.5");
    to.send(&request).await.expect(400).await.json().await;
}

#[actix_web::test]
async fn an_id_written_as_a_float_is_one_with_its_integer_over_http() {
    paused();
    let server = server();
    let client = Client::open(&Served::new(&server).await, "2025-11-25").await;
    let first = call_with_progress(7.0, "progress", json!({ "n": 1000, "ms": 100 }), 5.0);
    let mut first = client.post(&first).await.expect(200).await;
    let progress = first.message().await.unwrap();
    assert_eq!(progress["params"]["progressToken"], json!(5), "{progress}");
    let refusal = client.call(7, "none", json!({})).await.expect(409).await.json().await;
    assert_eq!(refusal["id"], json!(7));
    client.notify("notifications/cancelled", json!({ "requestId": 7.0 })).await;
    assert_eq!(first.messages().await, [] as [Value; 0], "the cancelled call said more");
    let refused = client.post(&call(1.5, "none", json!({}))).await.expect(400).await.json().await;
    assert_eq!((refused.get("id"), &refused["error"]["code"]), (None, &json!(-32600)));
}

#[actix_web::test]
async fn a_dummy_argument_is_named_and_an_empty_tool_listed_as_closed_in_both_eras() {
    paused();
    let server: Server = server();
    let to = Served::new(&server).await;
    let told = "argument `dummy`: it is not known: the tool takes no arguments";
    let client = Client::open(&to, "2025-06-18").await;
    let answer = client.call(1, "none", json!({ "dummy": "x" })).await.expect(200).await.json().await;
    assert_eq!(text(&answer), told);
    let request = modern_call(1, "none", json!({ "dummy": "x" }));
    let answer = to.send(&request).await.expect(200).await.answer().await;
    assert_eq!((text(&answer), &answer["result"]["isError"]), (told, &json!(true)));
    let list = to.send(&modern(1, "tools/list", json!({}))).await.expect(200).await.answer().await;
    let tools = list["result"]["tools"].as_array().unwrap();
    let none = tools.iter().find(|tool| tool["name"] == "none").unwrap();
    assert_eq!(
        none["inputSchema"],
        json!({ "type": "object", "properties": {}, "additionalProperties": false })
    );
}
