//! Arguments that clients repeat in headers, as authors mark them.

use actix_mcp_router::{Args, IntoTool, InvalidTool, Meta, SchemaError, Tool, tool};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::input;

/// What is wrong with a tool's headers: the argument, and the reason.
fn mistake(tool: Tool) -> (String, &'static str) {
    match tool.check() {
        Err(InvalidTool::Input { why: SchemaError::Header { at, why }, .. }) => (at, why),
        other => panic!("a mistake in a header was expected, not {other:?}"),
    }
}

#[tool(crate = "actix_mcp_router")]
async fn region(
    /// Where.
    #[header("Region")]
    region: String,
    #[header("N")] n: Option<i64>,
    plain: Option<bool>,
) -> String {
    format!("{region} {n:?} {plain:?}")
}

#[tokio::test]
async fn a_parameter_is_marked_by_an_attribute_and_the_function_stays_what_it_is() {
    assert_eq!(region("eu".to_owned(), Some(1), None).await, "eu Some(1) None");
    assert_eq!(
        input(region.into_tool()),
        r#"{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region","description":"Where."},"n":{"type":"integer","x-mcp-header":"N"},"plain":{"type":"boolean"}},"required":["region"]}"#
    );
}

#[test]
fn a_field_is_marked_by_an_extension_of_its_schema() {
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Marked {
        #[schemars(extend("x-mcp-header" = "Region"))]
        region: Option<String>,
    }
    assert_eq!(
        input(Tool::new("t", async |_: Args<Marked>| ())),
        r#"{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}"#
    );
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Outer {
    inner: Inner,
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Inner {
    #[schemars(extend("x-mcp-header" = "Zone"))]
    zone: String,
}

#[test]
fn a_mark_behind_a_reference_is_refused_unless_references_are_taken_out() {
    let tool = Tool::new("t", async |_: Args<Outer>| ());
    let (at, why) = mistake(tool.clone());
    assert!(at.contains("zone") && why.contains("inline_refs"), "{at} {why}");
    assert_eq!(tool.inline_refs().check(), Ok(()));
}

#[test]
fn a_mark_on_what_no_header_can_repeat_is_refused() {
    #[derive(Deserialize, JsonSchema)]
    enum Color {
        Red,
    }
    #[tool(crate = "actix_mcp_router")]
    async fn real(#[header("X")] x: f64) -> String {
        x.to_string()
    }
    #[tool(crate = "actix_mcp_router")]
    async fn named(#[header("X")] x: Color) -> String {
        let Color::Red = x;
        String::new()
    }
    #[tool(crate = "actix_mcp_router")]
    async fn extractor(#[header("X")] x: Meta) -> String {
        x.json().to_owned()
    }
    #[tool(crate = "actix_mcp_router")]
    async fn anything(#[header("X")] x: serde_json::Value) -> String {
        x.to_string()
    }
    #[tool(crate = "actix_mcp_router")]
    async fn twice(#[header("X")] x: i64, #[header("x")] y: i64) -> i64 {
        x + y
    }
    for (tool, at, what) in [
        (real.into_tool(), "x", "not a string"),
        (named.into_tool(), "x", "reference"),
        (extractor.into_tool(), "x", "not an argument"),
        (anything.into_tool(), "x", "not a string"),
        (twice.into_tool(), "y", "another argument"),
    ] {
        let (place, why) = mistake(tool);
        assert!(place == at && why.contains(what), "{place} {why}");
    }
}
