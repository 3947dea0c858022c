//! Schemas as clients see them: exact texts, since they are in prompt caches.

use std::collections::HashMap;

use actix_mcp_router::{Args, Json, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{checked, input};

fn schema_of<T: actix_mcp_router::Arguments>() -> String {
    input(Tool::new("t", async |_: Args<T>| ()))
}

#[test]
fn no_inputs_are_a_closed_object() {
    #[derive(Deserialize, JsonSchema)]
    /// Nothing.
    struct Empty {}
    let closed = r#"{"type":"object","properties":{},"additionalProperties":false}"#;
    assert_eq!(input(Tool::new("none", async || ())), closed);
    assert_eq!(schema_of::<Empty>(), closed);
}

#[test]
fn numbers_and_options_are_plain_and_in_the_order_of_declaration() {
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct CompletionRequest {
        n: u64,
        /// May be absent.
        opt: Option<String>,
        #[serde(default)]
        any: Value,
        list: Option<Vec<u32>>,
        #[serde(default)]
        a: f32,
        b: i8,
    }
    assert_eq!(
        schema_of::<CompletionRequest>(),
        r#"{"type":"object","properties":{"n":{"type":"integer","minimum":0},"opt":{"type":"string","description":"May be absent."},"any":{},"list":{"type":"array","items":{"type":"integer","minimum":0}},"a":{"type":"number","default":0.0},"b":{"type":"integer","minimum":-128,"maximum":127}},"required":["n","b"]}"#
    );
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Shape {
    Circle { r: f64 },
    Square { a: f64 },
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Color {
    Red,
    Green,
}

#[test]
fn enums_are_enums_inside_and_references_stay_inside() {
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Drawing {
        shape: Shape,
        color: Option<Color>,
    }
    assert_eq!(
        schema_of::<Drawing>(),
        r##"{"type":"object","properties":{"shape":{"$ref":"#/$defs/Shape"},"color":{"$ref":"#/$defs/Color"}},"required":["shape"],"$defs":{"Shape":{"oneOf":[{"type":"object","properties":{"kind":{"type":"string","const":"circle"},"r":{"type":"number"}},"required":["kind","r"]},{"type":"object","properties":{"kind":{"type":"string","const":"square"},"a":{"type":"number"}},"required":["kind","a"]}]},"Color":{"type":"string","enum":["red","green"]}}}"##
    );
}

#[test]
fn nested_types_share_their_definitions_and_may_hold_themselves() {
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Tree {
        value: u8,
        children: Vec<Tree>,
        by_name: HashMap<String, u16>,
        extra: HashMap<String, Value>,
    }
    assert_eq!(
        schema_of::<Tree>(),
        r##"{"type":"object","properties":{"value":{"type":"integer","minimum":0,"maximum":255},"children":{"type":"array","items":{"$ref":"#"}},"by_name":{"type":"object","additionalProperties":{"type":"integer","minimum":0,"maximum":65535}},"extra":{"type":"object","additionalProperties":true}},"required":["value","children","by_name","extra"]}"##
    );
}

#[test]
fn references_can_be_inlined_but_not_those_to_oneself() {
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Picture {
        /// The one.
        a: Layer,
        b: Option<Layer>,
    }
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Layer {
        color: Color,
    }
    let inlined = input(Tool::new("t", async |_: Args<Picture>| ()).inline_refs());
    assert_eq!(
        inlined,
        r#"{"type":"object","properties":{"a":{"description":"The one.","type":"object","properties":{"color":{"type":"string","enum":["red","green"]}},"required":["color"]},"b":{"type":"object","properties":{"color":{"type":"string","enum":["red","green"]}},"required":["color"]}},"required":["a"]}"#
    );

    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct List {
        first: Link,
    }
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Link {
        next: Option<Box<Link>>,
    }
    let inlined = input(Tool::new("t", async |_: Args<List>| ()).inline_refs());
    assert_eq!(
        inlined,
        r##"{"type":"object","properties":{"first":{"type":"object","properties":{"next":{"$ref":"#/$defs/Link"}}}},"required":["first"],"$defs":{"Link":{"type":"object","properties":{"next":{"$ref":"#/$defs/Link"}}}}}"##
    );

    let written =
        r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"type":"string"}}}"##;
    assert_eq!(input(Tool::new("t", async |_: Args<Value>| ()).input_schema(written).inline_refs()), written);
}

#[test]
fn anything_is_an_empty_schema_rather_than_true() {
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Anything {
        one: Value,
        many: Vec<Value>,
    }
    assert_eq!(
        schema_of::<Anything>(),
        r#"{"type":"object","properties":{"one":{},"many":{"type":"array","items":{}}},"required":["one","many"]}"#
    );
}

#[test]
fn an_output_that_is_an_enum_of_objects_is_an_object() {
    let tool = Tool::new("t", async || Json(Shape::Circle { r: 1.0 }));
    let tool = checked(tool);
    let schema = tool.definition().output_schema.as_ref().unwrap().get();
    assert!(schema.starts_with(r#"{"type":"object","oneOf":[{"type":"object""#), "{schema}");
}
