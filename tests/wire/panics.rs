//! Author code that panics: one answer without its text, and everything else goes on.

use std::{fmt, time::Duration};

use actix_mcp::{
    prelude::*,
    testing::{Pipe, paused, settle},
};
use actix_web::rt::time::sleep;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};

use crate::{
    checks::{assert_idle, text},
    fixture::{SECRET, builder},
};

struct PanicInDrop;

impl Drop for PanicInDrop {
    fn drop(&mut self) {
        panic!("{SECRET}")
    }
}

#[derive(schemars::JsonSchema)]
struct PanicInDeserialize {}

impl<'de> Deserialize<'de> for PanicInDeserialize {
    fn deserialize<D: Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        panic!("{SECRET}")
    }
}

#[derive(schemars::JsonSchema)]
struct PanicInSerialize {}

impl Serialize for PanicInSerialize {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        panic!("{SECRET}")
    }
}

struct PanicInDisplay;

impl fmt::Display for PanicInDisplay {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        panic!("{SECRET}")
    }
}

struct PanicInExtractor;

impl FromCall for PanicInExtractor {
    async fn from_call(_: &actix_mcp::Call) -> Result<Self, McpError> {
        panic!("{SECRET}")
    }
}

fn panicking() -> Server {
    builder()
        .tool(Tool::new("deserialize", async |_: Args<PanicInDeserialize>| "never"))
        .tool(Tool::new("serialize", async || Json(PanicInSerialize {})))
        .tool(Tool::new("extractor", async |_: PanicInExtractor| "never"))
        .tool(Tool::new("payload", async || -> String { std::panic::panic_any(PanicInDrop) }))
        .tool(Tool::new("not_a_future_yet", || -> std::future::Ready<String> { panic!("{SECRET}") }))
        .tool(Tool::new("pending", async || {
            let _guard = PanicInDrop;
            sleep(Duration::from_secs(3600)).await;
            "never"
        }))
        .tool(Tool::new("after_await", async || -> String {
            sleep(Duration::from_millis(1)).await;
            panic!("{SECRET}")
        }))
        .prompt(Prompt::new("panics", async || -> String { panic!("{SECRET}") }))
        .resource(Resource::new("mem://display", "display", async || Err::<String, _>(PanicInDisplay)))
        .build()
}

/// Every request whose handler panics in one way or another.
fn requests() -> Vec<(&'static str, Value)> {
    let tool = |name: &str| ("tools/call", json!({ "name": name }));
    let mut requests: Vec<_> = [
        "panic",
        "panic_in_drop",
        "panic_in_display",
        "deserialize",
        "serialize",
        "extractor",
        "payload",
        "not_a_future_yet",
        "after_await",
    ]
    .map(tool)
    .to_vec();
    let reference = json!({ "type": "ref/prompt", "name": "greet" });
    requests.extend([
        (
            "tools/call",
            json!({ "name": "panic", "arguments": { "after": 2 }, "_meta": { "progressToken": "p" } }),
        ),
        ("prompts/get", json!({ "name": "panics" })),
        ("resources/read", json!({ "uri": "mem://item/panic" })),
        ("resources/read", json!({ "uri": "mem://display" })),
        (
            "completion/complete",
            json!({ "ref": reference, "argument": { "name": "name", "value": "panic" } }),
        ),
    ]);
    requests
}

/// All lines up to the answer of `id`, none of which may tell what the panic said.
async fn answer(pipe: &mut Pipe, id: &Value, what: &str) -> Value {
    loop {
        let line = pipe.next_line().await.unwrap_or_else(|| panic!("{what} ended the server"));
        for secret in ["PANIC", "SECRET", "/secret", ".rs"] {
            assert!(!line.contains(secret), "{what} told: {line}");
        }
        let message: Value =
            serde_json::from_str(&line).unwrap_or_else(|error| panic!("{what}: {error}: {line}"));
        if message["id"] == *id {
            return message;
        }
        assert_eq!(message["method"], "notifications/progress", "{what}: {line}");
    }
}

#[actix_web::test]
async fn a_panic_is_one_internal_error_without_its_text_wherever_it_happens() {
    paused();
    let server = panicking();
    let mut pipe = Pipe::connect(&server, "2025-11-25").await;
    let mut other = Pipe::connect(&server, "2025-03-26").await;
    other.call(1, "slow", json!({ "ms": 1000, "tag": "other" })).await;
    pipe.call("beside", "slow", json!({ "ms": 900, "tag": "beside" })).await;
    for (method, params) in requests() {
        let what = format!("{method} {params}");
        // twice under one id: it is free again
        for _ in 0..2 {
            pipe.request(1, method, params.clone()).await;
            let answer = answer(&mut pipe, &json!(1), &what).await;
            let expected = json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": -32603, "message": "internal error" } });
            assert_eq!(answer, expected, "{what}");
        }
        pipe.silence().await;
        pipe.request("list", "tools/list", json!({})).await;
        assert!(pipe.next().await["result"]["tools"].is_array(), "{what}");
        assert_eq!(server.stats().in_flight, 2, "{what}");
    }
    assert_eq!(text(&pipe.answer_to("beside").await), "beside");
    assert_eq!(text(&other.next().await), "other");
    for pipe in [pipe, other] {
        let (rest, ended) = pipe.finish().await;
        assert!(rest.is_empty() && ended.is_ok());
    }
    assert_idle(&server).await;
}

#[actix_web::test]
async fn progress_before_a_panic_arrives_and_nothing_after_it() {
    paused();
    let mut pipe = Pipe::connect(&panicking(), "2025-11-25").await;
    pipe.call_with_progress(1, "panic", json!({ "after": 2 }), "p").await;
    for step in [1, 2] {
        assert_eq!(pipe.next().await["params"], json!({ "progressToken": "p", "progress": step }));
    }
    assert_eq!(pipe.next().await["error"]["code"], -32603);
    pipe.silence().await;
}

#[actix_web::test]
async fn a_panic_in_what_a_cancel_drops_is_nobodys_answer() {
    paused();
    let server = panicking();
    let mut pipe = Pipe::connect(&server, "2025-11-25").await;
    for _ in 0..3 {
        pipe.call(1, "pending", json!({})).await;
        settle().await;
        assert_eq!(server.stats().in_flight, 1);
        pipe.cancel(1).await;
        pipe.silence().await;
        assert_eq!(server.stats().in_flight, 0);
    }
    // and at the end of the session, with the drain used up
    pipe.call(1, "pending", json!({})).await;
    let (rest, ended) = pipe.finish().await;
    assert!(ended.is_ok());
    assert_eq!((rest.len(), &rest[0]["error"]["code"]), (1, &json!(-32603)), "{rest:?}");
    assert_idle(&server).await;
}

#[actix_web::test]
async fn a_panic_in_a_batch_costs_its_own_answer_only() {
    paused();
    let mut pipe = Pipe::connect(&panicking(), "2025-03-26").await;
    let member = |id: i32, (method, params): (&str, Value)| json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
    let count = requests().len();
    let mut batch: Vec<_> = (0..).zip(requests()).map(|(id, request)| member(id, request)).collect();
    batch.push(member(99, ("ping", json!({}))));
    pipe.send(&batch.into()).await;
    let answers = loop {
        let message = pipe.next().await;
        assert!(!message.to_string().contains("SECRET"));
        if let Value::Array(answers) = message {
            break answers;
        }
    };
    let failed = answers.iter().filter(|answer| answer["error"]["code"] == -32603).count();
    assert_eq!((answers.len(), failed), (count + 1, count));
}
