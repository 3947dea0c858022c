//! What a tool returns, and what the client and the model see of it.

use std::{
    error::Error,
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
};

use actix_mcp_router::{Content, ErrorCode, IntoTool, Json, McpError, Tool, ToolResult, tool};
use anyhow::Context;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::{checked, errors_logged, failure, logged, result, run, text};

#[tokio::test]
async fn plain_values_are_text() {
    assert_eq!(result(Tool::new("t", async || "a"), "{}").await, text("a"));
    assert_eq!(result(Tool::new("t", async || String::from("b")), "{}").await, text("b"));
    assert_eq!(result(Tool::new("t", async || -1_i8), "{}").await, text("-1"));
    assert_eq!(result(Tool::new("t", async || u128::MAX), "{}").await, text(&u128::MAX.to_string()));
    assert_eq!(result(Tool::new("t", async || 1.5), "{}").await, text("1.5"));
    assert_eq!(result(Tool::new("t", async || true), "{}").await, text("true"));
    assert_eq!(result(Tool::new("t", async || ()), "{}").await, json!({"content": []}));
}

#[tokio::test]
async fn content_is_given_as_it_is() {
    let blocks = async || vec![Content::text("a"), Content::image([1, 2, 3], "image/png")];
    assert_eq!(
        result(Tool::new("t", blocks), "{}").await,
        json!({"content": [
            {"type": "text", "text": "a"},
            {"type": "image", "data": "AQID", "mimeType": "image/png"},
        ]})
    );
    let whole = async || ToolResult::text("a").content(Content::text("b")).meta("com.example/k", 1);
    assert_eq!(
        result(Tool::new("t", whole), "{}").await,
        json!({
            "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
            "_meta": {"com.example/k": 1},
        })
    );
}

#[derive(Serialize, JsonSchema)]
struct Sum {
    sum: u64,
    note: Option<String>,
}

#[tokio::test]
async fn json_is_structured_content_with_its_schema_and_its_text() {
    let sum = || Tool::new("sum", async || Json(Sum { sum: 3, note: None }));
    assert_eq!(
        checked(sum()).definition().output_schema.as_ref().unwrap().get(),
        r#"{"type":"object","properties":{"sum":{"type":"integer","minimum":0},"note":{"type":["string","null"]}},"required":["sum","note"]}"#
    );
    assert_eq!(
        result(sum(), "{}").await,
        json!({
            "content": [{"type": "text", "text": "{\"sum\":3,\"note\":null}"}],
            "structuredContent": {"sum": 3, "note": null},
        })
    );
}

const OUT: &str = r#"{"type":"object","properties":{"v":{"type":"integer"}},"required":["v"]}"#;
const UNUSABLE: &str = "the tool's result does not match its output schema";

fn out(mode: &'static str) -> Tool {
    let handler = move || async move {
        match mode {
            "ok" => ToolResult::new().structured(&json!({"v": 1})),
            "own text" => ToolResult::text("one").structured(&json!({"v": 1})),
            "missing" => Ok(ToolResult::text("fine")),
            "wrong" => ToolResult::text("SECRET").structured(&json!({"v": "SECRET"})),
            "error" => Ok(ToolResult::error("failed")),
            _ => ToolResult::error("failed").structured(&json!({"error": "x"})),
        }
    };
    Tool::new("out", handler).output_schema(OUT)
}

#[tokio::test]
async fn structured_content_conforms_or_the_result_is_an_error_of_ours() {
    assert_eq!(
        result(out("ok"), "{}").await,
        json!({"content": [{"type": "text", "text": "{\"v\":1}"}], "structuredContent": {"v": 1}})
    );
    assert_eq!(
        result(out("own text"), "{}").await,
        json!({"content": [{"type": "text", "text": "one"}], "structuredContent": {"v": 1}})
    );
    for mode in ["missing", "wrong"] {
        let mut seen = Value::Null;
        let lines = errors_logged(async { seen = result(out(mode), "{}").await }).await;
        assert_eq!(seen, failure(UNUSABLE), "{mode}");
        assert_eq!(lines.len(), 1, "{mode}");
        assert!(!lines[0].contains("SECRET"), "{lines:?}");
    }
}

#[tokio::test]
async fn an_error_result_has_no_structured_content() {
    assert_eq!(result(out("error"), "{}").await, failure("failed"));
    assert_eq!(result(out("error with content"), "{}").await, failure("failed"));
}

#[tokio::test]
async fn an_error_is_text_for_the_model() {
    #[derive(Debug, thiserror::Error)]
    #[error("the disk is full")]
    struct Full;
    async fn fails() -> Result<Json<Sum>, Full> {
        Err(Full)
    }
    assert_eq!(result(Tool::new("t", fails), "{}").await, failure("the disk is full"));
    assert_eq!(result(Tool::new("t", async || Err::<(), _>("text")), "{}").await, failure("text"));
    let chain = async || -> anyhow::Result<()> { Err(Full).context("cannot save").context("cannot quit") };
    assert_eq!(result(Tool::new("t", chain), "{}").await, failure("cannot quit"));
}

#[tokio::test]
async fn a_failed_tool_is_one_line_in_the_log_with_all_causes() {
    #[derive(Debug, thiserror::Error)]
    #[error("cannot count")]
    struct Count(#[source] Query);
    #[derive(Debug, thiserror::Error)]
    #[error("no such table:\nsecret_table")]
    struct Query;
    const LINE: &str = r#"tool "the-tool" failed: cannot count: no such table:\nsecret_table"#;
    #[tool(crate = "actix_mcp_router")]
    async fn t() -> Result<Json<Sum>, Count> {
        Err(Count(Query))
    }
    type Outcome<E> = Result<&'static str, E>;
    let anyhow = async || -> Outcome<anyhow::Error> { Err(Query).context("cannot count") };
    let boxed = async || -> Outcome<Box<dyn Error>> { Err(Count(Query).into()) };
    let send = async || -> Outcome<Box<dyn Error + Send + Sync>> { Err(Count(Query).into()) };
    for (tool, line) in [
        (t.into_tool(), LINE),
        (Tool::new("t", anyhow), LINE),
        (Tool::new("t", boxed), LINE),
        (Tool::new("t", send), LINE),
        (Tool::new("t", async || Err::<(), _>(Count(Query))), r#"tool "the-tool" failed: cannot count"#),
        (Tool::new("t", async || Err::<(), _>("a\nb")), r#"tool "the-tool" failed: a\nb"#),
    ] {
        let mut seen = Value::Null;
        let lines = logged(log::Level::Warn, async { seen = result(tool, "{}").await }).await;
        assert_eq!(lines, [line]);
        assert!(seen["isError"] == true && !seen.to_string().contains("secret_table"), "{seen}");
    }
    let refused = Tool::new("t", async || Err::<(), _>(McpError::invalid_request("not now")));
    let lines = logged(log::Level::Warn, async {
        run(refused, "{}").await.map(drop).unwrap_err();
    })
    .await;
    assert_eq!(lines, [r#"tool "the-tool" failed: not now (-32600)"#]);
    let fine = logged(log::Level::Warn, async {
        drop(result(Tool::new("t", async || ToolResult::error("no")), "{}").await)
    });
    assert!(fine.await.is_empty(), "a result is not a failure");
}

#[tokio::test]
async fn an_mcp_error_is_the_protocols_in_every_wrapping() {
    fn denied() -> McpError {
        McpError::new(ErrorCode(-32042), "denied")
    }
    async fn bare() -> Result<(), McpError> {
        Err(denied())
    }
    async fn boxed() -> Result<(), Box<dyn Error>> {
        Err(denied().into())
    }
    async fn boxed_send() -> Result<(), Box<dyn Error + Send + Sync>> {
        Err(denied().into())
    }
    async fn anyhow() -> anyhow::Result<()> {
        Err(denied()).context("while asking")
    }
    for tool in
        [Tool::new("t", bare), Tool::new("t", boxed), Tool::new("t", boxed_send), Tool::new("t", anyhow)]
    {
        let error = run(tool, "{}").await.unwrap_err();
        assert_eq!((error.code.0, error.message.as_ref()), (-32042, "denied"));
    }
}

#[tokio::test]
async fn what_the_client_answered_is_not_taken_for_our_error() {
    // an `McpError` as a source: the client refused a question
    let refused = async || -> anyhow::Result<()> {
        Err(actix_mcp_router::QuestionError::Refused(McpError::internal())).context("ask failed")
    };
    let seen = result(Tool::new("t", refused), "{}").await;
    assert_eq!(seen["isError"], true);
    assert!(seen["content"][0]["text"].as_str().unwrap().starts_with("ask failed"), "{seen}");
}

#[tokio::test]
async fn a_value_without_json_is_an_error_of_ours() {
    #[derive(JsonSchema)]
    struct Never;
    impl Serialize for Never {
        fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            Err(serde::ser::Error::custom("SECRET"))
        }
    }
    let mut seen = Value::Null;
    let tool = Tool::new("t", async || Json(Never));
    let lines = errors_logged(async { seen = result(tool, "{}").await }).await;
    assert_eq!(seen, failure(UNUSABLE));
    assert_eq!(lines.len(), 1);
}

#[tokio::test]
async fn raw_json_of_the_authors_loses_its_line_breaks() {
    let raw = async || {
        let json = serde_json::value::RawValue::from_string("{\n\"v\":\r\n1}".into()).unwrap();
        ToolResult::new().structured(&json).unwrap()
    };
    let seen = run(Tool::new("t", raw), "{}").await.unwrap();
    assert_eq!(seen.structured.unwrap().get(), "{ \"v\":  1}");
    assert_eq!(seen.content, [Content::text("{ \"v\":  1}")]);
}

#[test]
fn a_panic_in_an_errors_display_only_unwinds() {
    struct Bad;
    impl fmt::Display for Bad {
        fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
            panic!("PANIC-SECRET");
        }
    }
    let tool = Tool::new("t", async || Err::<(), _>(Bad));
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    assert!(catch_unwind(AssertUnwindSafe(|| runtime.block_on(run(tool, "{}")))).is_err());
}

// C117
#[tokio::test]
async fn a_key_of_meta_that_the_specification_forbids_is_left_out_of_a_result() {
    let odd = async || {
        ToolResult::text("a").meta("io.modelcontextprotocol/x", 1).meta("what?", 2).meta("com.example/k", 3)
    };
    let logged = errors_logged(async {
        let odd = result(Tool::new("odd", odd), "{}").await;
        assert_eq!(odd["_meta"], json!({ "com.example/k": 3 }));
    });
    let logged = logged.await;
    assert_eq!(logged.len(), 2, "{logged:?}");
    assert!(logged[0].contains("is reserved for the protocol") && logged[1].contains("what?"), "{logged:?}");
}
