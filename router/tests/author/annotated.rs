//! Functions with `#[tool]` on them.

use actix_mcp_router::{Args, Call, FromCall, IntoTool, McpError, Session, tool};
use actix_web::web;
use serde_json::{Value, json};

use crate::{failure, input, result, run, text};

/// Adds two integers.
///
/// Both are 64 bits wide.
#[tool(crate = "actix_mcp_router")]
async fn add(
    /// The one.
    a: i64,
    /// The other.
    b: i64,
) -> i64 {
    a + b
}

#[tokio::test]
async fn a_tool_stays_a_function() {
    assert_eq!(add(1, 2).await, 3);
    assert_eq!(futures_util::future::join(add(1, 2), add(3, 4)).await, (3, 7));
}

#[tokio::test]
async fn documentation_describes_the_tool_and_its_arguments() {
    let tool = add.into_tool();
    assert_eq!(tool.name(), "add");
    assert_eq!(
        tool.definition().description.as_deref(),
        Some("Adds two integers.\n\nBoth are 64 bits wide.")
    );
    assert_eq!(
        input(tool),
        r#"{"type":"object","properties":{"a":{"type":"integer","description":"The one."},"b":{"type":"integer","description":"The other."}},"required":["a","b"]}"#
    );
}

#[tokio::test]
async fn arguments_are_found_by_name_and_unknown_ones_are_ignored() {
    assert_eq!(result(add, r#" {"b":2,"c":[1,{}],"a":40}"#).await, text("42"));
    assert_eq!(result(add, r#"{"\u0061":1,"b":2}"#).await, text("3"));
}

#[tokio::test]
async fn a_wrong_argument_is_told_to_the_model_by_name() {
    for (arguments, told) in [
        ("{}", "argument `a`: missing"),
        (r#"{"a":1}"#, "argument `b`: missing"),
        (r#"{"a":1,"b":null}"#, "argument `b`: invalid type: null, expected i64"),
        (r#"{"a":"x","b":2}"#, "argument `a`: invalid type: string \"x\", expected i64"),
        (r#"{"a":1.5,"b":2}"#, "argument `a`: invalid type: floating point `1.5`, expected i64"),
        (r#"{"a":1,"a":2,"b":2}"#, "argument `a`: duplicate"),
        (
            r#"{"a":9223372036854775808,"b":2}"#,
            "argument `a`: invalid value: integer `9223372036854775808`, expected i64",
        ),
        (r#"{"a":1e400,"b":2}"#, "argument `a`: number out of range"),
    ] {
        assert_eq!(result(add, arguments).await, failure(told), "{arguments}");
    }
}

#[tokio::test]
async fn a_long_value_is_not_given_back_in_full() {
    let told = result(add, &format!(r#"{{"a":"{}","b":1}}"#, "x".repeat(100_000))).await;
    assert!(told.to_string().len() < 1_000, "{told}");
}

#[tokio::test]
async fn arguments_that_are_no_object_are_the_clients_error() {
    for arguments in ["[]", "\"x\"", "3", "true"] {
        let error = run(add, arguments).await.unwrap_err();
        assert_eq!(error.code.0, -32602);
        assert_eq!(error.message, "arguments: not an object");
    }
}

type Maybe<T> = Option<T>;

#[tool(crate = "actix_mcp_router")]
async fn optional(a: Option<u32>, b: Maybe<String>, any: Value) -> String {
    format!("{a:?} {b:?} {any}")
}

#[tokio::test]
async fn what_may_be_absent_is_seen_through_an_alias_and_may_be_null() {
    assert_eq!(
        input(optional),
        r#"{"type":"object","properties":{"a":{"type":"integer","minimum":0},"b":{"type":"string"},"any":{}}}"#
    );
    assert_eq!(result(optional, "{}").await, text("None None null"));
    assert_eq!(result(optional, r#"{"a":null,"b":null,"any":null}"#).await, text("None None null"));
    assert_eq!(result(optional, r#"{"a":1,"b":"x","any":[]}"#).await, text("Some(1) Some(\"x\") []"));
    assert_eq!(
        result(optional, r#"{"a":-1}"#).await,
        failure("argument `a`: invalid value: integer `-1`, expected u32")
    );
}

struct Own;

impl FromCall for Own {
    async fn from_call(_: &Call) -> Result<Self, McpError> {
        Ok(Self)
    }
}

#[tool(crate = "actix_mcp_router")]
async fn mixed(
    _own: Own,
    session: Session,
    who: Option<actix_mcp_router::Principal>,
    missing: Option<web::Data<u8>>,
    mut n: u8,
) -> String {
    n += 1;
    format!("{n} {:?} {} {}", session.revision(), who.is_none(), missing.is_none())
}

#[tokio::test]
async fn extractors_stand_among_arguments_and_are_not_listed() {
    assert_eq!(
        input(mixed),
        r#"{"type":"object","properties":{"n":{"type":"integer","minimum":0,"maximum":255}},"required":["n"]}"#
    );
    assert_eq!(result(mixed, r#"{"n":1}"#).await, text("2 V2025_11_25 true true"));
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Point {
    x: i32,
    y: i32,
}

#[tool(crate = "actix_mcp_router")]
async fn by_pattern(Args(Point { x, y }): Args<Point>, _: Session) -> i32 {
    x * y
}

#[tokio::test]
async fn a_pattern_takes_an_extractor_apart() {
    assert_eq!(result(by_pattern, r#"{"x":3,"y":4}"#).await, text("12"));
    assert_eq!(result(by_pattern, r#"{"x":3}"#).await, failure("arguments: missing field `y`"));
}

#[tool(crate = "actix_mcp_router")]
async fn nested(path: Vec<Point>, r#type: Option<String>) -> usize {
    path.len() + r#type.map_or(0, |text| text.len())
}

#[tokio::test]
async fn an_error_names_the_path_into_an_argument() {
    assert_eq!(result(nested, r#"{"path":[{"x":1,"y":2}],"type":"ab"}"#).await, text("3"));
    assert_eq!(
        result(nested, r#"{"path":[{"x":1,"y":2},{"x":1,"y":"2"}]}"#).await,
        failure("argument `path[1].y`: invalid type: string \"2\", expected i32")
    );
}

#[tool(
    crate = "actix_mcp_router",
    name = "odd name",
    title = "Title",
    description = "Instead.",
    read_only,
    destructive = false,
    idempotent,
    open_world = false
)]
/// Not this.
async fn options() {}

#[tokio::test]
async fn options_say_what_clients_see() {
    assert_eq!(
        serde_json::to_value(options.into_tool().definition()).unwrap(),
        json!({
            "name": "odd name",
            "title": "Title",
            "description": "Instead.",
            "inputSchema": {"type": "object", "properties": {}, "additionalProperties": false},
            "annotations": {
                "readOnlyHint": true,
                "destructiveHint": false,
                "idempotentHint": true,
                "openWorldHint": false,
            },
        })
    );
    assert_eq!(result(options, "{}").await, json!({"content": []}));
}

/// Attributes that are not for callers stay with the body.
#[tool(crate = "actix_mcp_router")]
#[expect(clippy::let_and_return, reason = "this is the test")]
async fn countdown(n: u32) -> Result<u32, String> {
    let left = if n == 0 { 0 } else { Box::pin(countdown(n - 1)).await? };
    let more = left.checked_add(1).ok_or_else(|| "too many".to_owned());
    more
}

#[tokio::test]
async fn a_tool_may_call_itself() {
    assert_eq!(result(countdown, r#"{"n":2}"#).await, text("3"));
}

#[tool(crate = "actix_mcp_router")]
#[expect(clippy::too_many_arguments, reason = "the most there are")]
async fn twelve(a: u8, b: u8, c: u8, d: u8, e: u8, f: u8, g: u8, h: u8, i: u8, j: u8, k: u8, l: u8) -> u32 {
    [a, b, c, d, e, f, g, h, i, j, k, l].into_iter().map(u32::from).sum()
}

#[tokio::test]
async fn twelve_parameters_are_the_most() {
    let arguments: serde_json::Map<_, _> = ('a'..='l').map(|name| (name.to_string(), json!(1))).collect();
    assert_eq!(result(twelve, &Value::Object(arguments).to_string()).await, text("12"));
}

#[tokio::test]
async fn the_future_of_a_tool_may_stay_on_its_worker() {
    #[tool(crate = "actix_mcp_router")]
    async fn local(n: u8) -> u8 {
        let n = std::rc::Rc::new(n);
        tokio::task::yield_now().await;
        *n
    }
    assert_eq!(result(local, r#"{"n":7}"#).await, text("7"));
}

#[tool(crate = "actix_mcp_router")]
async fn echo(echo: String) -> String {
    echo
}

#[tokio::test]
async fn a_parameter_may_have_the_functions_name() {
    assert_eq!(result(echo, r#"{"echo":"hi"}"#).await, text("hi"));
}

struct Calculator;

impl Calculator {
    /// Doubles an integer.
    #[tool(crate = "actix_mcp_router")]
    async fn double(n: i64) -> i64 {
        n * 2
    }
}

#[tokio::test]
async fn a_function_of_a_type_can_be_a_tool() {
    assert_eq!(Calculator::double(2).await, 4);
    assert_eq!(
        Calculator::double.into_tool().definition().description.as_deref(),
        Some("Doubles an integer.")
    );
    assert_eq!(result(Calculator::double, r#"{"n":4}"#).await, text("8"));
}

/// Before.
#[doc = include_str!("included.md")]
/// After.
#[tool(crate = "actix_mcp_router")]
async fn documented(#[doc = include_str!("included.md")] n: i64) -> i64 {
    n
}

#[tokio::test]
async fn documentation_that_is_included_describes_the_tool_and_its_arguments() {
    let tool = documented.into_tool();
    let description = tool.definition().description.clone();
    assert_eq!(description.as_deref(), Some("Before.\nWhat a file says.\n\nAfter."));
    assert!(input(tool).contains(r#""description":"What a file says.""#));
}
