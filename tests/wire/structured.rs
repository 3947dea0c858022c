//! Structured content: what it must conform to, and who is sent it.

use actix_mcp::{
    prelude::*,
    testing::{Pipe, contains, paused},
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::fixture::server;

/// The revisions, and whether they have structured content.
const REVISIONS: [(&str, bool); 4] =
    [("2024-11-05", false), ("2025-03-26", false), ("2025-06-18", true), ("2025-11-25", true)];

#[derive(Serialize, JsonSchema)]
struct Point {
    x: i64,
    label: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Shape {
    Dot { at: Point },
    Line { from: Point, to: Point },
}

fn dot(x: i64) -> Point {
    Point { x, label: None }
}

async fn point() -> Json<Point> {
    Json(dot(1))
}

async fn shapes(Args(at): Args<Which>) -> Json<Shape> {
    Json(if at.line { Shape::Line { from: dot(1), to: dot(2) } } else { Shape::Dot { at: dot(1) } })
}

#[derive(serde::Deserialize, JsonSchema)]
struct Which {
    line: bool,
}

async fn list() -> Json<Vec<u32>> {
    Json(vec![1, 2])
}

async fn fails() -> Result<Json<Point>, &'static str> {
    Err("no point")
}

fn typed() -> Server {
    Server::builder("typed", "1")
        .tool(Tool::new("point", point))
        .tool(Tool::new("shapes", shapes))
        .tool(Tool::new("list", list))
        .tool(Tool::new("fails", fails))
        .build()
}

async fn call(pipe: &mut Pipe, tool: &str, arguments: Value) -> Value {
    pipe.call(1, tool, arguments).await;
    pipe.next().await["result"].clone()
}

/// The output schemas that are listed, by tool.
async fn output_schemas(pipe: &mut Pipe) -> Vec<(String, Option<Value>)> {
    pipe.request(1, "tools/list", json!({})).await;
    let answer = pipe.next().await;
    let tools = answer["result"]["tools"].as_array().expect("a list");
    let of = |tool: &Value| {
        (tool["name"].as_str().unwrap_or_default().to_owned(), tool.get("outputSchema").cloned())
    };
    tools.iter().map(of).collect()
}

#[actix_web::test]
async fn a_result_conforms_to_its_schema_or_is_an_error_of_the_servers() {
    paused();
    let unusable = "the tool's result does not match its output schema";
    for (revision, structured) in REVISIONS {
        let mut pipe = Pipe::connect(&server(), revision).await;
        let content = if structured { json!({ "v": 1 }) } else { json!("$absent") };
        for (mode, wanted) in [
            // the text copy is for those that do not know structured content
            (
                "ok",
                json!({ "isError": "$absent", "structuredContent": content, "content": [{ "type": "text", "text": "{\"v\":1}" }] }),
            ),
            (
                "missing",
                json!({ "isError": true, "structuredContent": "$absent", "content": [{ "text": unusable }] }),
            ),
            (
                "wrong",
                json!({ "isError": true, "structuredContent": "$absent", "content": [{ "text": unusable }] }),
            ),
            (
                "error",
                json!({ "isError": true, "structuredContent": "$absent", "content": [{ "text": "failed" }] }),
            ),
            (
                "error with structure",
                json!({ "isError": true, "structuredContent": "$absent", "content": [{ "text": "failed" }] }),
            ),
        ] {
            let result = call(&mut pipe, "out", json!({ "mode": mode })).await;
            contains(&result, &wanted)
                .unwrap_or_else(|error| panic!("{mode} at {revision}: {error}\nin {result}"));
        }
    }
}

#[actix_web::test]
async fn what_a_tool_returns_fits_the_schema_that_is_listed() {
    paused();
    for (revision, structured) in REVISIONS {
        let mut pipe = Pipe::connect(&typed(), revision).await;
        for (tool, schema) in output_schemas(&mut pipe).await {
            // an array: a schema of one is listed nowhere yet
            assert_eq!(schema.is_some(), structured && tool != "list", "{tool} at {revision}");
            for line in [true, false] {
                let result = call(&mut pipe, &tool, json!({ "line": line })).await;
                if result["isError"] == true {
                    assert_eq!(result.get("structuredContent"), None, "{tool}: {result}");
                    continue;
                }
                assert_eq!(
                    result.get("structuredContent").is_some(),
                    schema.is_some(),
                    "{tool} at {revision}: {result}"
                );
                let text = result["content"][0]["text"].as_str().expect("a text copy");
                let copy: Value = serde_json::from_str(text).expect("the copy is JSON");
                if let Some(schema) = &schema {
                    assert_eq!(schema["type"], "object", "{tool}");
                    assert_eq!(result["structuredContent"], copy);
                    jsonschema::validate(schema, &copy).unwrap_or_else(|error| panic!("{tool}: {error}"));
                }
            }
        }
    }
}

#[actix_web::test]
async fn a_schema_that_the_author_wrote_is_listed_byte_for_byte() {
    paused();
    const INPUT: &str = r#"{ "type":"object", "properties" : {"b":{"type":"integer"},"a":{"const":1.0}},"x-of-mine":[ 1e2 ] }"#;
    const OUTPUT: &str = r#"{"required":["v"],  "type":"object","properties":{"v":true}}"#;
    async fn any(Args(_): Args<Value>) -> Result<ToolResult, serde_json::Error> {
        ToolResult::new().structured(&json!({ "v": null }))
    }
    let server = Server::builder("written", "1")
        .tool(Tool::new("any", any).input_schema(INPUT).output_schema(OUTPUT))
        .build();
    let mut pipe = Pipe::connect(&server, "2025-11-25").await;
    pipe.request(1, "tools/list", json!({})).await;
    let line = pipe.next_line().await.expect("an answer");
    assert!(line.contains(&format!("\"inputSchema\":{INPUT},\"outputSchema\":{OUTPUT}")), "{line}");
}
