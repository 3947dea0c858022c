//! Malformed answers and notifications: never answered as if they were requests, and no question waits for what was refused.
//! Cases C96 and C97; `tests/wire/unanswerable.rs` has the same on a pipe.

use std::time::Duration;

use actix_mcp::testing::paused;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::{
    client::{Request, Response},
    fixture::server,
    served::{Client, Served, call, message, modern},
};

#[path = "../wire/answers.rs"]
pub(crate) mod answers;
use answers::{FITTING, MALFORMED, NOTIFICATIONS, answer, asking_at};

/// Whether it makes the text that it stands in one that is refused as a whole.
fn spoils_its_batch(template: &str) -> bool {
    template.contains("DEEP") || template.contains("$serde_json")
}

/// Asserts that it is refused with 400 and an error without an id.
async fn refused(response: Response, revision: &str, what: &str) -> Value {
    assert_eq!(response.status, 400, "{what}");
    let error = response.json().await;
    // the schema of older sessions requires the member
    let id = if revision < "2025-11-25" { Some(&Value::Null) } else { None };
    assert_eq!(error.get("id"), id, "{what}: {error}");
    assert!(matches!(error["error"]["code"].as_i64(), Some(-32600 | -32700 | -32602)), "{what}: {error}");
    error
}

/// Makes a POST of the answer to the question of this id.
type Refuse<'a> = &'a dyn Fn(&Value) -> Request;

/// Starts a call that asks; its stream, and the id of its question.
async fn asking(client: &Client, tool: &str) -> (Response, Value) {
    let mut stream = client.call("asking", tool, json!({})).await.expect(200).await;
    let id = stream.message().await.expect("a question")["id"].clone();
    (stream, id)
}

// C96
#[actix_web::test]
async fn what_looks_like_an_answer_or_a_notification_is_refused_without_an_id() {
    paused();
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let client = Client::open(&Served::new(&server()).await, revision).await;
        for text in MALFORMED.iter().chain(NOTIFICATIONS) {
            let text = answer(text, "77");
            refused(client.send(&client.dress(Request::post(&text))).await, revision, &text).await;
            // nor in a batch, where nothing else is in it
            if revision == "2025-03-26" {
                let batch = format!("[{text}]");
                refused(client.send(&client.dress(Request::post(&batch))).await, revision, &batch).await;
            }
        }
        client.call(77, "none", json!({})).await.expect(200).await;
    }
}

// C96
#[actix_web::test]
async fn nor_is_it_answered_where_there_is_no_session() {
    paused();
    let served = Served::new(&server()).await;
    let modern = modern(1, "ping", json!({}));
    for text in MALFORMED.iter().chain(NOTIFICATIONS) {
        let text = answer(text, "77");
        for request in [Request::post(""), modern.clone()] {
            refused(served.send(&request.body(&*text)).await, "2026-07-28", &text).await;
        }
    }
    let text = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
    refused(served.send(&modern.body(text)).await, "2026-07-28", text).await;
}

// C96
#[actix_web::test]
async fn in_a_batch_it_costs_nothing_else() {
    paused();
    let client = Client::open(&Served::new(&server()).await, "2025-03-26").await;
    for text in MALFORMED.iter().filter(|text| !spoils_its_batch(text)) {
        let batch = format!(r#"[{},{{"jsonrpc":"2.0","id":5,"method":"ping"}}]"#, answer(text, "5"));
        let answers = client.send(&client.dress(Request::post(&batch))).await.expect(200).await.json().await;
        assert_eq!(answers, json!([{ "jsonrpc": "2.0", "id": 5, "result": {} }]), "{text}");
    }
}

// C97
#[actix_web::test]
async fn an_answer_that_is_refused_ends_its_question_at_once_and_says_why() {
    paused();
    for revision in ["2025-06-18", "2025-11-25"] {
        let client = Client::open(&Served::new(&server()).await, revision).await;
        for tool in asking_at(revision) {
            for text in MALFORMED {
                let (stream, id) = asking(&client, tool).await;
                let start = Instant::now();
                let text = answer(text, &id.to_string());
                let error =
                    refused(client.send(&client.dress(Request::post(&text))).await, revision, &text).await;
                let last = stream.messages().await.pop().unwrap();
                let said = last["result"]["content"][0]["text"].as_str().unwrap();
                assert!(said.contains(error["error"]["message"].as_str().unwrap()), "{text}: {said}");
                assert!(start.elapsed() < Duration::from_secs(1), "{text}");
            }
        }
    }
}

// C97
#[actix_web::test]
async fn whatever_an_answer_is_refused_for_ends_its_question_at_once() {
    paused();
    let client = Client::open(&Served::new(&server()).await, "2025-11-25").await;
    let fitting = |id: &Value| json!({ "jsonrpc": "2.0", "id": id, "result": { "roots": [] } });
    let refusals: [(&str, Refuse<'_>); 4] = [
        ("a batch", &|id| client.request(&json!([fitting(id), message(3, "ping", json!({}))]))),
        ("a version", &|id| client.request(&fitting(id)).set("MCP-Protocol-Version", "1999-01-01")),
        ("another era", &|id| client.request(&fitting(id)).set("MCP-Protocol-Version", "2026-07-28")),
        ("too many", &|id| {
            let mut batch = vec![fitting(id)];
            batch.extend((0..100).map(|id| message(id, "ping", json!({}))));
            client.request(&batch.into())
        }),
    ];
    for (what, request) in refusals {
        let (stream, id) = asking(&client, "roots").await;
        let start = Instant::now();
        refused(client.send(&request(&id)).await, "2025-11-25", what).await;
        let last = stream.messages().await.pop().unwrap();
        let said = last["result"]["content"][0]["text"].as_str().unwrap();
        assert!(said.contains("answer was refused"), "{what}: {said}");
        assert!(start.elapsed() < Duration::from_secs(1), "{what}");
    }
}

// C97
#[actix_web::test]
async fn no_other_session_ends_a_question() {
    paused();
    let served = Served::new(&server()).await;
    let (a, b) = (Client::open(&served, "2025-11-25").await, Client::open(&served, "2025-11-25").await);
    let (mut stream, id) = asking(&a, "roots").await;
    let text = answer(MALFORMED[0], &id.to_string());
    refused(b.send(&b.dress(Request::post(&text))).await, "2025-11-25", &text).await;
    refused(served.send(&Request::post(&text)).await, "2025-11-25", &text).await;
    stream.silence().await;
    a.answer(&id, json!({ "roots": [{ "uri": "file:///a" }] })).await;
    assert_eq!(stream.messages().await.pop().unwrap()["result"]["content"][0]["text"], "file:///a");
}

// C97
#[actix_web::test]
async fn a_member_that_is_null_is_absent() {
    paused();
    let client = Client::open(&Served::new(&server()).await, "2025-11-25").await;
    for (tool, result) in FITTING {
        for beside in [r#""error":null"#, r#""method":null,"error":null,"params":null"#] {
            let (stream, id) = asking(&client, tool).await;
            let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result},{beside}}}"#);
            client.send(&client.dress(Request::post(&text))).await.expect(202).await.empty().await;
            let last = stream.messages().await.pop().unwrap();
            assert!(last["result"].get("isError").is_none_or(|error| error == false), "{text}: {last}");
            assert!(!last.to_string().contains("ask failed"), "{text}: {last}");
        }
        let (stream, id) = asking(&client, tool).await;
        let text = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"result":null,"error":{{"code":-1,"message":"no thanks"}}}}"#
        );
        client.send(&client.dress(Request::post(&text))).await.expect(202).await.empty().await;
        let last = stream.messages().await.pop().unwrap();
        assert!(last.to_string().contains("no thanks"), "{last}");
    }
    let mut request = call(1, "none", json!({}));
    request["result"] = Value::Null;
    request["error"] = Value::Null;
    assert_eq!(
        client.post(&request).await.expect(200).await.answer().await["result"]["content"][0]["text"],
        "ok"
    );
}
