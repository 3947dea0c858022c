//! C94: whole numbers written as floats, as arguments of tools.

use actix_mcp_router::{Args, IntoTool, Tool, tool};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::{failure, result, text};

#[derive(Deserialize, JsonSchema)]
struct CompletionRequest {
    n: u64,
    any: Value,
    real: f64,
    #[schemars(range(min = 1, max = 10))]
    ranged: Option<i8>,
    text: Option<String>,
    #[serde(default)]
    list: Vec<Part>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "kind")]
enum Part {
    Size { of: u16, note: Value },
}

async fn typed(Args(all): Args<CompletionRequest>) -> String {
    let parts: Vec<_> = all.list.iter().map(|Part::Size { of, note }| format!("{of} {note}")).collect();
    format!("{} {} {:?} {:?} {:?} {parts:?}", all.n, all.any, all.real, all.ranged, all.text)
}

#[tokio::test]
async fn a_whole_number_is_an_integer_in_the_type_that_takes_all_arguments() {
    for n in ["10.0", "1e1", "1.0E1", "100e-1"] {
        let arguments = format!(
            r#"{{"n":{n},"any":5.0,"real":-0.0,"ranged":2.0,"text":"5.0","list":[{{"kind":"Size","of":7.0,"note":7.0}}]}}"#
        );
        let told = result(Tool::new("t", typed), &arguments).await;
        assert_eq!(told, text(r#"10 5.0 -0.0 Some(2) Some("5.0") ["7 7.0"]"#), "{n}");
    }
    for (arguments, told) in [
        (r#"{"n":5.5,"any":1,"real":1}"#, "argument `n`: invalid type: floating point `5.5`, expected u64"),
        (r#"{"n":"5.0","any":1,"real":1}"#, "argument `n`: invalid type: string \"5.0\", expected u64"),
        (
            r#"{"n":1e30,"any":1,"real":1}"#,
            "argument `n`: invalid type: floating point `1e+30`, expected u64",
        ),
        (r#"{"n":1e1000000000,"any":1,"real":1}"#, "argument `n`: number out of range"),
        (
            r#"{"n":1.0,"any":1,"real":1,"ranged":11.0}"#,
            "argument `ranged`: the value is greater than the maximum of 10",
        ),
    ] {
        assert_eq!(result(Tool::new("t", typed), arguments).await, failure(told), "{arguments}");
    }
}

#[tool(crate = "actix_mcp_router")]
async fn each(n: i32, maybe: Option<u8>, list: Vec<i64>, wide: u128, any: Value) -> String {
    format!("{n} {maybe:?} {list:?} {wide} {any}")
}

#[tokio::test]
async fn a_whole_number_is_an_integer_in_a_parameter() {
    let arguments = r#"{"n":-3.0,"maybe":1e0,"list":[1.0,2],"wide":5e0,"any":5.0}"#;
    assert_eq!(result(each.into_tool(), arguments).await, text("-3 Some(1) [1, 2] 5 5.0"));
    for (arguments, told) in [
        (
            r#"{"n":-3.5,"list":[],"wide":1,"any":1}"#,
            "argument `n`: invalid type: floating point `-3.5`, expected i32",
        ),
        (
            r#"{"n":1.0,"list":[1.0,2.5],"wide":1,"any":1}"#,
            "argument `list[1]`: invalid type: floating point `2.5`, expected i64",
        ),
        (
            r#"{"n":1.0,"maybe":256.0,"list":[],"wide":1,"any":1}"#,
            "argument `maybe`: invalid value: integer `256`, expected u8",
        ),
        (r#"{"n":1,"list":[],"wide":5.5,"any":1}"#, "argument `wide`: trailing characters"),
    ] {
        assert_eq!(result(each.into_tool(), arguments).await, failure(told), "{arguments}");
    }
}
