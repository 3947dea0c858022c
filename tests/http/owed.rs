//! The ids of a batch: taken until its array was handed over. Case C111; `tests/wire/owed.rs` has the same on a pipe.

use std::time::Duration;

use actix_mcp::testing::{paused, settle};
use actix_web::rt::time::sleep;
use serde_json::{Value, json};

use crate::{
    fixture::server,
    served::{Client, Served, call, message},
};

/// Requests that are answered at once, one of each kind.
pub(crate) fn at_once(id: u32) -> Vec<Value> {
    vec![
        message(id, "ping", json!({})),
        message(id, "initialize", json!({})),
        message(id, "no/such/method", json!({})),
        message(id, "logging/setLevel", json!({ "level": "info" })),
        message(id, "logging/setLevel", json!({ "level": "loud" })),
        message(id, "resources/subscribe", json!({ "uri": "mem://a" })),
        message(id, "resources/unsubscribe", json!({ "uri": "mem://a" })),
        message(id, "tools/list", json!({})),
        message(id, "tools/call", json!([])),
        call(id, "none", json!({})),
        call(id, "no_such_tool", json!({})),
        json!({ "jsonrpc": "1.0", "id": id, "method": "ping" }),
        message(id, "ping", json!({ "_meta": { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } })),
    ]
}

/// Asserts that of all answers one has the id, and one is the refusal of a duplicate, without an id.
pub(crate) fn assert_one_refused(answers: &Value, id: u32, what: &str) {
    let answers = answers.as_array().unwrap_or_else(|| panic!("{what}: {answers}"));
    assert_eq!(answers.iter().filter(|answer| answer["id"] == id).count(), 1, "{what}: {answers:?}");
    let refused = answers.iter().filter(|answer| {
        answer["error"]["message"] == format!("request id {id} is already in flight")
            && answer["id"].is_null()
    });
    assert_eq!(refused.count(), 1, "{what}: {answers:?}");
}

// C111
#[actix_web::test]
async fn a_second_request_under_an_id_of_a_batch_is_refused_whatever_both_ask_for() {
    paused();
    let client = Client::open(&Served::new(&server()).await, "2025-03-26").await;
    for first in at_once(3) {
        for second in at_once(3) {
            // a malformed one of a live id is refused for what it is, without the id
            if second["jsonrpc"] == "1.0"
                || second["params"].is_array()
                || second["params"].get("_meta").is_some()
            {
                continue;
            }
            let slow = call(4, "slow", json!({ "ms": 50, "tag": "x" }));
            let batch = json!([first, slow, second]);
            let answers = client.post(&batch).await.expect(200).await.json().await;
            assert_eq!(answers.as_array().unwrap().len(), 3);
            assert_one_refused(&answers, 3, &batch.to_string());
        }
    }
}

// C111
#[actix_web::test]
async fn an_id_of_a_batch_is_taken_for_others_too_until_its_array_is_there() {
    paused();
    let server = server();
    let client = Client::open(&Served::new(&server).await, "2025-03-26").await;
    let batch = json!([message(3, "ping", json!({})), call(4, "slow", json!({ "ms": 1000, "tag": "x" }))]);
    let running = client.start(&client.request(&batch)).await;
    settle().await;
    for second in
        at_once(3).into_iter().filter(|second| second["jsonrpc"] == "2.0" && second["method"] == "ping")
    {
        let refused = client.post(&second).await;
        if second["params"].get("_meta").is_none() {
            let error = refused.expect(409).await.json().await;
            assert_eq!((&error["id"], &error["error"]["code"]), (&json!(3), &json!(-32600)), "{error}");
        }
    }
    client.call(3, "none", json!({})).await.expect(409).await;
    let second = json!([message(3, "ping", json!({})), message(5, "ping", json!({}))]);
    let answers = client.post(&second).await.expect(200).await.json().await;
    assert_eq!(answers[0]["error"]["code"], -32600, "{answers}");
    assert_eq!(answers[1], json!({ "jsonrpc": "2.0", "id": 5, "result": {} }));
    sleep(Duration::from_secs(2)).await;
    let answers = running.response().await.expect(200).await.json().await;
    assert_eq!(answers.as_array().unwrap().len(), 2, "{answers}");
    for id in [3, 4, 5] {
        client.call(id, "none", json!({})).await.expect(200).await;
    }
}

// C111
#[actix_web::test]
async fn a_cancelled_member_frees_its_id_before_its_batch_is_answered() {
    paused();
    let client = Client::open(&Served::new(&server()).await, "2025-03-26").await;
    let slow = |id: u32, ms: u64| call(id, "slow", json!({ "ms": ms, "tag": "x" }));
    let running = client.start(&client.request(&json!([slow(3, 3_600_000), slow(4, 1000)]))).await;
    settle().await;
    client.notify("notifications/cancelled", json!({ "requestId": 3 })).await;
    client.call(3, "none", json!({})).await.expect(200).await;
    client.call(4, "none", json!({})).await.expect(409).await;
    let answers = running.response().await.expect(200).await.json().await;
    assert_eq!(answers.as_array().unwrap().len(), 1, "{answers}");
}
