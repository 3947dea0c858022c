//! C120: the dialects of JSON Schema that a hand-written schema may name, and how they differ.

use actix_mcp_router::{InvalidTool, Tool};
use serde_json::json;

use crate::{result, text};

async fn ok() -> &'static str {
    "ok"
}

#[tokio::test]
async fn every_documented_dialect_is_taken_and_read_as_it_says() {
    let root = |dialect: &str, definition: serde_json::Value| {
        json!({
            "$schema": dialect, "type": "object",
            "properties": { "pair": { "type": "array", "maxItems": 2, "additionalItems": false }, "n": definition }
        })
    };
    for (dialect, definition) in [
        // a boolean next to `maximum` exists in draft 4 only
        ("http://json-schema.org/draft-04/schema#", json!({ "maximum": 3, "exclusiveMaximum": true })),
        ("http://json-schema.org/draft-06/schema#", json!({ "exclusiveMaximum": 3 })),
        ("http://json-schema.org/draft-07/schema#", json!({ "if": true, "then": { "exclusiveMaximum": 3 } })),
        ("https://json-schema.org/draft/2019-09/schema", json!({ "exclusiveMaximum": 3 })),
        ("https://json-schema.org/draft/2020-12/schema", json!({ "exclusiveMaximum": 3 })),
    ] {
        for branches in [false, true] {
            let mut schema = root(dialect, definition.clone());
            if branches {
                schema["anyOf"] = json!([{ "minProperties": 0 }]);
            }
            let tool = || Tool::new("t", ok).input_schema(schema.to_string());
            assert_eq!(tool().check(), Ok(()), "{dialect}");
            assert_eq!(result(tool(), r#"{"n":2}"#).await, text("ok"), "{dialect}");
            let refused = result(tool(), r#"{"n":3}"#).await;
            let told = refused["content"][0]["text"].as_str().unwrap();
            assert!(told.starts_with("argument `n`: "), "{dialect}: {told}");
        }
    }
}

#[test]
fn an_unknown_dialect_is_refused_when_the_tool_is_registered() {
    for dialect in ["https://example.com/dialect", "not a dialect"] {
        let schema = json!({ "$schema": dialect, "type": "object" });
        let refused = Tool::new("t", ok).input_schema(schema.to_string()).check();
        assert!(matches!(refused, Err(InvalidTool::Input { .. })), "{dialect}: {refused:?}");
    }
}
