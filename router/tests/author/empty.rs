//! C110: tools without inputs, in every form, and other schemas that forbid members: the listed schema is enforced.

use std::collections::HashMap;

use actix_mcp_router::{Args, Cancelled, IntoTool, Meta, Tool, tool};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{failure, input, result, text};

#[derive(Deserialize, JsonSchema)]
struct Unit;

/// Nothing.
#[derive(Deserialize, JsonSchema)]
struct Empty {}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Denies {}

#[tool(crate = "actix_mcp_router")]
async fn plain() {}

#[tool(crate = "actix_mcp_router")]
async fn extracts(_cancelled: Cancelled, _meta: Meta) {}

#[tokio::test]
async fn a_tool_without_inputs_lists_a_closed_object_and_refuses_every_member_by_name() {
    let tools: Vec<fn() -> Tool> = vec![
        || Tool::new("t", async || ()),
        || Tool::new("t", async |_: Cancelled, _: Option<Meta>| ()),
        || Tool::new("t", async |_: Args<()>| ()),
        || Tool::new("t", async |_: Meta, _: Args<Unit>| ()),
        || Tool::new("t", async |_: Args<Empty>| ()),
        || plain.into_tool(),
        || extracts.into_tool(),
        || plain.into_tool().inline_refs(),
    ];
    let refused = failure("argument `dummy`: it is not known: the tool takes no arguments");
    for (at, tool) in tools.iter().enumerate() {
        let listed = r#"{"type":"object","properties":{},"additionalProperties":false}"#;
        assert_eq!(input(tool()), listed, "{at}");
        let none = result(tool(), "{}").await;
        assert!(none.get("isError").is_none(), "{at}: {none}");
        assert_eq!(result(tool(), " { } ").await, none, "{at}");
        for arguments in [r#"{"dummy":true}"#, r#"{"dummy":null}"#, r#"{ "dummy" : {}, "x": 1 }"#] {
            assert_eq!(result(tool(), arguments).await, refused, "{at}: {arguments}");
        }
    }
    let denied = result(Tool::new("t", async |_: Args<Denies>| ()), r#"{"dummy":1}"#).await;
    assert!(denied["content"][0]["text"].as_str().unwrap().contains("unknown field `dummy`"), "{denied}");
}

#[tokio::test]
async fn a_tool_that_takes_any_members_gets_them() {
    let any = || Tool::new("t", async |Args(map): Args<Map<String, Value>>| Value::Object(map).to_string());
    assert_eq!(result(any(), r#"{"dummy":5.0}"#).await, text(r#"{"dummy":5.0}"#));
    assert!(!input(any()).contains("false"), "{}", input(any()));
    #[derive(Deserialize, JsonSchema)]
    struct Rest {
        #[serde(flatten)]
        rest: HashMap<String, Value>,
    }
    let rest = || Tool::new("t", async |Args(all): Args<Rest>| all.rest.len().to_string());
    assert_eq!(result(rest(), r#"{"a":1,"b":2}"#).await, text("2"));
    #[derive(Deserialize, JsonSchema)]
    struct Open {
        n: u8,
    }
    let open = || Tool::new("t", async |Args(open): Args<Open>| open.n.to_string());
    assert!(!input(open()).contains("additionalProperties"));
    assert_eq!(result(open(), r#"{"n":1,"b":2}"#).await, text("1"));
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Inner {
    #[serde(default)]
    n: u8,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct OnlyListed {
    #[serde(default)]
    n: u8,
}

#[derive(Deserialize, JsonSchema)]
struct Outer<T> {
    inner: T,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Choice {
    One { n: u8 },
    Two(u8),
}

#[tokio::test]
async fn whatever_a_derived_schema_forbids_is_refused() {
    async fn listed(Args(OnlyListed { n }): Args<OnlyListed>) -> u8 {
        n
    }
    async fn inner(Args(Inner { n }): Args<Inner>) -> u8 {
        n
    }
    async fn nested(Args(Outer { inner }): Args<Outer<OnlyListed>>) -> u8 {
        inner.n
    }
    async fn choice(Args(Outer { inner }): Args<Outer<Choice>>) -> u8 {
        match inner {
            Choice::One { n } | Choice::Two(n) => n,
        }
    }
    for (tool, good, bad) in [
        (Tool::new("t", listed), r#"{"n":1}"#, r#"{"n":1,"dummy":1}"#),
        (Tool::new("t", inner), r#"{"n":1}"#, r#"{"n":1,"dummy":1}"#),
        (Tool::new("t", nested), r#"{"inner":{"n":1},"x":1}"#, r#"{"inner":{"n":1,"dummy":1}}"#),
        (Tool::new("t", choice), r#"{"inner":{"one":{"n":1}}}"#, r#"{"inner":{"two":1,"dummy":1}}"#),
    ] {
        assert!(input(tool.clone()).contains(r#""additionalProperties":false"#));
        assert_eq!(result(tool.clone(), good).await, text("1"), "{good}");
        let refused = result(tool, bad).await;
        assert_eq!(refused["isError"], true, "{bad}: {refused}");
    }
}
