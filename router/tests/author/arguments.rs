//! Arguments as one type: which are read or refused, and who gets the error.

use actix_mcp_router::{Args, IntoTool, InvalidTool, SchemaError, Tool, tool};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::{failure, input, result, run, text};

#[derive(Deserialize, JsonSchema)]
struct CompletionRequest {
    n: u64,
    opt: Option<String>,
    #[serde(default)]
    any: Value,
}

async fn typed(Args(args): Args<CompletionRequest>) -> String {
    format!("{} {:?} {}", args.n, args.opt, args.any)
}

#[tokio::test]
async fn a_struct_takes_all_arguments() {
    let typed = || Tool::new("typed", typed);
    assert_eq!(
        result(typed(), r#"{"n":18446744073709551615}"#).await,
        text("18446744073709551615 None null")
    );
    assert_eq!(result(typed(), r#"{"n":1,"opt":null,"any":null}"#).await, text("1 None null"));
    for (arguments, told) in [
        ("{}", "arguments: missing field `n`"),
        (r#"{"n":"abc"}"#, "argument `n`: invalid type: string \"abc\", expected u64"),
        (r#"{"n":-1}"#, "argument `n`: invalid value: integer `-1`, expected u64"),
        (r#"{"n":1.5}"#, "argument `n`: invalid type: floating point `1.5`, expected u64"),
        (
            r#"{"n":18446744073709551616}"#,
            "argument `n`: invalid type: floating point `1.8446744073709552e+19`, expected u64",
        ),
    ] {
        assert_eq!(result(typed(), arguments).await, failure(told), "{arguments}");
    }
}

#[derive(Deserialize, JsonSchema)]
struct Bounded {
    #[schemars(range(min = 1, max = 10))]
    n: Option<u32>,
    #[schemars(regex(pattern = "^[a-z]+$"))]
    word: Option<String>,
}

async fn bounded(Args(Bounded { n, word }): Args<Bounded>) -> String {
    format!("{n:?} {word:?}")
}

#[tokio::test]
async fn what_the_schema_says_beyond_the_type_is_checked_too() {
    let bounded = || Tool::new("bounded", bounded);
    assert_eq!(result(bounded(), r#"{"n":10,"word":"ab"}"#).await, text("Some(10) Some(\"ab\")"));
    // listed as plain types, and null is still nothing
    assert_eq!(
        input(bounded()),
        r#"{"type":"object","properties":{"n":{"type":"integer","minimum":1,"maximum":10},"word":{"type":"string","pattern":"^[a-z]+$"}}}"#
    );
    assert_eq!(result(bounded(), r#"{"n":null,"word":null}"#).await, text("None None"));
    assert_eq!(
        result(bounded(), r#"{"n":11}"#).await,
        failure("argument `n`: the value is greater than the maximum of 10")
    );
    assert_eq!(
        result(bounded(), r#"{"word":"secret 1"}"#).await,
        failure("argument `word`: the value does not match \"^[a-z]+$\"")
    );
    // the type is checked first
    assert_eq!(
        result(bounded(), r#"{"n":"x"}"#).await,
        failure("argument `n`: invalid type: string \"x\", expected u32")
    );
}

const REGION: &str = r#"{"type":"object",  "properties":{"region":{"type":"string","enum":["eu","us"],"x-mcp-header":"Region"}}}"#;

async fn region(Args(args): Args<Value>) -> String {
    args.to_string()
}

#[tokio::test]
async fn a_schema_by_hand_is_listed_byte_for_byte_and_checked() {
    let region = || Tool::new("region", region).input_schema(REGION);
    assert_eq!(input(region()), REGION);
    assert_eq!(result(region(), r#"{"region":"eu"}"#).await, text(r#"{"region":"eu"}"#));
    assert_eq!(
        result(region(), r#"{"region":"mars"}"#).await,
        failure(r#"argument `region`: the value is not one of "eu" or "us""#)
    );
}

#[tokio::test]
async fn line_breaks_in_a_schema_by_hand_do_not_reach_the_wire() {
    let tool = Tool::new("lines", region).input_schema("{\r\n\"type\":\n\"object\"}\n");
    assert_eq!(input(tool), "{  \"type\": \"object\"}");
}

fn refused<M>(tool: impl IntoTool<M>) -> SchemaError {
    match tool.into_tool().check() {
        Err(InvalidTool::Input { why, .. } | InvalidTool::Output { why, .. }) => why,
        other => panic!("not refused for a schema: {other:?}"),
    }
}

#[tokio::test]
async fn arguments_that_are_no_struct_are_refused_at_registration() {
    #[derive(Deserialize, JsonSchema)]
    #[serde(tag = "kind")]
    #[expect(dead_code, reason = "only its schema is looked at")]
    enum Shape {
        Circle { r: f64 },
        Square { a: f64 },
    }
    async fn shape(_: Args<Shape>) {}
    async fn list(_: Args<Vec<u8>>) {}
    async fn any(_: Args<Value>) {}
    assert_eq!(refused(Tool::new("t", shape)), SchemaError::NotAnObject("an enum".into()));
    assert_eq!(refused(Tool::new("t", list)), SchemaError::NotAnObject("a value of type array".into()));
    assert_eq!(refused(Tool::new("t", any)), SchemaError::NotAnObject("a value of any type".into()));
    assert_eq!(
        Tool::new("shape", shape).check().unwrap_err().to_string(),
        "tool \"shape\", schema of its arguments: its root is not an object (`\"type\": \"object\"` is missing): the \
         arguments of a tool are a struct, not an enum"
    );
}

#[tokio::test]
async fn schemas_by_hand_that_no_client_can_use_are_refused_at_registration() {
    let tool = |schema: &str| refused(Tool::new("t", region).input_schema(schema));
    assert!(matches!(tool("{"), SchemaError::NotJson(_)));
    assert!(matches!(tool("[]"), SchemaError::Invalid(_) | SchemaError::NotAnObject(_)));
    assert!(matches!(tool("true"), SchemaError::NotAnObject(_)));
    assert!(matches!(tool(r#"{"properties":{}}"#), SchemaError::NotAnObject(_)));
    assert!(matches!(tool(r#"{"type":"object","required":1}"#), SchemaError::Invalid(_)));
    let lost = r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}}}"##;
    assert!(matches!(tool(lost), SchemaError::Invalid(_)));
    for remote in ["https://example.com/a.json", "file:///etc/passwd", "a.json"] {
        let schema = format!(r#"{{"type":"object","properties":{{"a":{{"$ref":"{remote}"}}}}}}"#);
        assert_eq!(tool(&schema), SchemaError::RemoteRef(remote.into()));
        let schema = format!(r#"{{"type":"object","dependentSchemas":{{"a":{{"$ref":"{remote}"}}}}}}"#);
        assert!(matches!(tool(&schema), SchemaError::Invalid(_) | SchemaError::RemoteRef(_)), "{schema}");
    }
    let output = |schema: &str| refused(Tool::new("t", async || "").output_schema(schema));
    assert!(matches!(output("nonsense"), SchemaError::NotJson(_)));
    assert!(matches!(output(r#"{"type":"integr"}"#), SchemaError::Invalid(_)));
}

#[tokio::test]
async fn a_struct_of_all_arguments_stands_alone() {
    #[tool(crate = "actix_mcp_router")]
    async fn beside(all: Args<CompletionRequest>, n: u8) -> u8 {
        n + u8::from(all.opt.is_some())
    }
    async fn two(_: Args<CompletionRequest>, _: Args<Bounded>) {}
    assert_eq!(refused(beside), SchemaError::SeveralArgs);
    assert_eq!(refused(Tool::new("two", two)), SchemaError::SeveralArgs);
}

#[tokio::test]
async fn names_are_only_held_to_what_a_message_can_carry() {
    let tool = |name: &str| Tool::new(name, async || ()).check();
    assert_eq!(tool(""), Err(InvalidTool::NoName));
    assert_eq!(tool(&"x".repeat(8193)), Err(InvalidTool::LongName(8193)));
    for name in ["tööl", "=?base64?abc?=", "a b", &"x".repeat(8192)] {
        assert_eq!(tool(name), Ok(()));
    }
}

#[tokio::test]
async fn unknown_members_are_ignored_unless_the_type_refuses_them() {
    #[derive(Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Strict {
        a: Option<u8>,
    }
    async fn strict(args: Args<Strict>) -> String {
        format!("{:?}", args.a)
    }
    assert_eq!(result(Tool::new("typed", typed), r#"{"n":1,"x":1}"#).await, text("1 None null"));
    assert_eq!(
        result(Tool::new("strict", strict), r#"{"x":1}"#).await,
        failure("argument `x`: unknown field `x`, expected `a`")
    );
    assert!(run(Tool::new("strict", strict), "[]").await.is_err());
}
