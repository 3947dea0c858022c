//! The schemas that tools are listed with: every client must be able to read them.

use std::collections::HashMap;

use actix_mcp::{
    prelude::*,
    testing::{Pipe, paused},
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    everything,
    fixture::{self, REVISIONS},
};

#[tool]
async fn none() -> &'static str {
    "ok"
}

#[derive(Deserialize, JsonSchema)]
struct CompletionRequest {
    n: u64,
    opt: Option<String>,
    any: Value,
}

async fn typed(Args(CompletionRequest { n, opt, any }): Args<CompletionRequest>) -> String {
    format!("{n} {opt:?} {any}")
}

/// What to do.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[expect(dead_code, reason = "only its shape matters")]
enum Action {
    /// Goes somewhere.
    Go {
        to: Place,
        fast: Option<bool>,
    },
    Stop,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its shape matters")]
struct Place {
    /// Degrees north
    lat: f64,
    lon: f64,
    near: Option<Box<Place>>,
}

#[tool]
async fn tagged(action: Action) -> String {
    format!("{action:?}")
}

#[tool]
async fn numbers(list: Option<Vec<u32>>, byte: Option<u8>, signed: i32, real: f32) -> String {
    format!("{list:?} {byte:?} {signed} {real}")
}

#[tool]
async fn anything(value: Value, values: Vec<Value>, maybe: Option<Value>) -> String {
    format!("{value} {values:?} {maybe:?}")
}

#[tool]
async fn nested(place: Place, places: Vec<Place>, other: Option<Place>) -> String {
    format!("{place:?} {} {}", places.len(), other.is_some())
}

#[tool]
async fn map(counts: HashMap<String, u32>, places: Option<HashMap<String, Place>>) -> String {
    format!("{} {}", counts.len(), places.is_some())
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Color {
    Red,
    Green,
}

#[tool]
async fn choice(color: Color, other: Option<Color>) -> String {
    format!("{color:?} {other:?}")
}

fn server() -> Server {
    Server::builder("shapes", "1")
        .tool(none)
        .tool(Tool::new("typed", typed))
        .tool(tagged)
        .tool(numbers)
        .tool(anything)
        .tool(nested)
        .tool(map)
        .tool(choice)
        .build()
}

async fn tools(server: &Server, revision: &str) -> Vec<Value> {
    let mut pipe = Pipe::connect(server, revision).await;
    pipe.request(1, "tools/list", json!({})).await;
    pipe.answer_to(1).await["result"]["tools"].as_array().expect("a list").clone()
}

const PLACE: &str = r##"{"type":"object","properties":{"lat":{"type":"number","description":"Degrees north"},"lon":{"type":"number"},"near":{"$ref":"#/$defs/Place"}},"required":["lat","lon"]}"##;

/// The input schemas of [`server`], with [`PLACE`] for `PLACE`.
const LISTED: [(&str, &str); 8] = [
    ("none", r#"{"type":"object","properties":{},"additionalProperties":false}"#),
    (
        "typed",
        r#"{"type":"object","properties":{"n":{"type":"integer","minimum":0},"opt":{"type":"string"},"any":{}},"required":["n","any"]}"#,
    ),
    (
        "tagged",
        r##"{"type":"object","properties":{"action":{"$ref":"#/$defs/Action"}},"required":["action"],"$defs":{"Action":{"oneOf":[{"type":"object","properties":{"kind":{"type":"string","const":"go"},"to":{"$ref":"#/$defs/Place"},"fast":{"type":"boolean"}},"required":["kind","to"],"description":"Goes somewhere."},{"type":"object","properties":{"kind":{"type":"string","const":"stop"}},"required":["kind"]}],"description":"What to do."},"Place":PLACE}}"##,
    ),
    (
        "numbers",
        r#"{"type":"object","properties":{"list":{"type":"array","items":{"type":"integer","minimum":0}},"byte":{"type":"integer","minimum":0,"maximum":255},"signed":{"type":"integer"},"real":{"type":"number"}},"required":["signed","real"]}"#,
    ),
    (
        "anything",
        r#"{"type":"object","properties":{"value":{},"values":{"type":"array","items":{}},"maybe":{}},"required":["values"]}"#,
    ),
    (
        "nested",
        r##"{"type":"object","properties":{"place":{"$ref":"#/$defs/Place"},"places":{"type":"array","items":{"$ref":"#/$defs/Place"}},"other":{"$ref":"#/$defs/Place"}},"required":["place","places"],"$defs":{"Place":PLACE}}"##,
    ),
    (
        "map",
        r##"{"type":"object","properties":{"counts":{"type":"object","additionalProperties":{"type":"integer","minimum":0}},"places":{"type":"object","additionalProperties":{"$ref":"#/$defs/Place"}}},"required":["counts"],"$defs":{"Place":PLACE}}"##,
    ),
    (
        "choice",
        r##"{"type":"object","properties":{"color":{"$ref":"#/$defs/Color"},"other":{"$ref":"#/$defs/Color"}},"required":["color"],"$defs":{"Color":{"type":"string","enum":["red","green"]}}}"##,
    ),
];

#[actix_web::test]
async fn derived_schemas_are_listed_as_these_bytes_at_every_revision() {
    paused();
    for revision in REVISIONS {
        let mut pipe = Pipe::open(&server());
        pipe.initialize(revision, json!({})).await;
        pipe.request(1, "tools/list", json!({})).await;
        let line = pipe.next_line().await.expect("an answer");
        for (name, schema) in LISTED {
            // text, not values: the order of members counts too
            let schema = schema.replace("PLACE", PLACE);
            assert!(
                line.contains(&format!("{{\"name\":\"{name}\",\"inputSchema\":{schema}}}")),
                "{name} in {line}"
            );
        }
    }
}

#[actix_web::test]
async fn whatever_is_listed_follows_the_rules_that_clients_need() {
    paused();
    for server in [server(), fixture::server(), everything::server()] {
        for revision in REVISIONS {
            for tool in tools(&server, revision).await {
                let input = &tool["inputSchema"];
                check_root(input)
                    .and_then(|()| check(input, input, true))
                    .unwrap_or_else(|error| panic!("{error} in {tool}"));
                if let Some(output) = tool.get("outputSchema") {
                    check_root(output)
                        .and_then(|()| check(output, output, false))
                        .unwrap_or_else(|error| panic!("{error} in {tool}"));
                }
            }
        }
    }
}

fn check_root(schema: &Value) -> Result<(), String> {
    jsonschema::draft202012::meta::validate(schema).map_err(|error| error.to_string())?;
    if schema["type"] != "object" {
        return Err("the root is no object".to_owned());
    }
    match ["oneOf", "anyOf", "allOf", "$ref"].into_iter().find(|keyword| schema.get(keyword).is_some()) {
        Some(keyword) => Err(format!("{keyword} at the root")),
        None => Ok(()),
    }
}

/// Looks at a schema and all below it. `Option` is listed without null where it is read (`input`); where it is written,
/// null may come.
fn check(schema: &Value, root: &Value, input: bool) -> Result<(), String> {
    // of JSON Schema 2020-12, and not those that schemars has for Rust's types
    const FORMATS: [&str; 6] = ["date-time", "date", "email", "uri", "uuid", "regex"];
    const SAYS_ITS_TYPE: [&str; 7] = ["type", "$ref", "oneOf", "anyOf", "allOf", "enum", "const"];

    let Some(members) = schema.as_object() else { return Err(format!("{schema} instead of an object")) };
    if members.contains_key("nullable") {
        return Err("nullable".to_owned());
    }
    if let Some(format) = members.get("format")
        && !FORMATS.iter().any(|known| format == known)
    {
        return Err(format!("format {format}"));
    }
    if input
        && (members.get("type").is_some_and(Value::is_array) || members.get("type") == Some(&json!("null")))
    {
        return Err(format!("type {}", members["type"]));
    }
    if let Some(target) = members.get("$ref") {
        let name = target.as_str().and_then(|target| target.strip_prefix("#/$defs/"));
        if !name.is_some_and(|name| root["$defs"][name].is_object()) {
            return Err(format!("$ref {target}"));
        }
    }
    // nothing but words about it: anything goes
    let any = members.keys().all(|keyword| matches!(keyword.as_str(), "description" | "title" | "default"));
    if !any && !SAYS_ITS_TYPE.iter().any(|keyword| members.contains_key(*keyword)) {
        return Err(format!("no type in {schema}"));
    }
    let below = members.iter().flat_map(|(keyword, value)| match (keyword.as_str(), value) {
        ("properties" | "$defs", Value::Object(schemas)) => schemas.values().collect(),
        ("oneOf" | "anyOf" | "allOf", Value::Array(schemas)) => schemas.iter().collect(),
        ("items" | "not", schema) => vec![schema],
        ("additionalProperties", schema) if !schema.is_boolean() => vec![schema],
        _ => Vec::new(),
    });
    below.into_iter().try_for_each(|schema| check(schema, root, input))
}

#[test]
fn the_rules_refuse_what_clients_do() {
    let of = |property: Value| json!({ "type": "object", "properties": { "a": property } });
    let verdict = |schema: &Value| check_root(schema).and_then(|()| check(schema, schema, true));
    verdict(&of(json!({ "type": "string", "format": "date-time" }))).unwrap();
    verdict(&of(json!({}))).unwrap();
    for bad in [
        json!({ "type": "string" }),
        json!({ "type": "object", "oneOf": [{ "type": "object" }] }),
        of(json!({ "type": "integer", "format": "uint64" })),
        of(json!({ "type": "string", "nullable": true })),
        of(json!({ "type": ["string", "null"] })),
        of(json!({ "anyOf": [{ "type": "string" }, { "type": "null" }] })),
        of(json!({ "$ref": "#/$defs/Missing" })),
        of(json!({ "$ref": "https://example.com/schema" })),
        of(json!({ "type": "array", "items": true })),
        of(json!({ "minimum": 1 })),
        of(json!(true)),
    ] {
        verdict(&bad).expect_err(&bad.to_string());
    }
}

#[actix_web::test]
async fn what_is_listed_without_null_is_still_read_from_null_and_from_nothing() {
    paused();
    let mut pipe = Pipe::connect(&server(), "2025-11-25").await;
    let place = json!({ "lat": 1.0, "lon": 2.0, "near": null });
    let near = json!({ "lat": 1, "lon": 2, "near": { "lat": 3, "lon": 4 } });
    for (tool, arguments) in [
        ("typed", json!({ "n": 1, "any": null })),
        ("typed", json!({ "n": 1, "opt": null, "any": 1 })),
        ("tagged", json!({ "action": { "kind": "go", "to": place, "fast": null } })),
        ("tagged", json!({ "action": { "kind": "go", "to": near } })),
        ("tagged", json!({ "action": { "kind": "stop" } })),
        ("numbers", json!({ "list": null, "byte": null, "signed": -1, "real": 1 })),
        ("numbers", json!({ "list": [], "signed": 0, "real": 0.5 })),
        ("anything", json!({ "value": null, "values": [null], "maybe": null })),
        ("anything", json!({ "values": [] })),
        ("nested", json!({ "place": place, "places": [near], "other": null })),
        ("map", json!({ "counts": {}, "places": null })),
        ("map", json!({ "counts": { "a": 1 }, "places": { "b": place } })),
        ("choice", json!({ "color": "red", "other": null })),
    ] {
        pipe.call(1, tool, arguments.clone()).await;
        let answer = pipe.next().await;
        assert_eq!(answer["result"].get("isError"), None, "{tool} {arguments}: {answer}");
        assert!(answer["result"].is_object(), "{answer}");
    }
}
