//! `x-mcp-header`: arguments that clients repeat in HTTP headers. Read once, when the tool is registered.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::SchemaError;

pub(crate) const ANNOTATION: &str = "x-mcp-header";
/// Keywords whose values are data, where the annotation has no meaning.
const DATA: [&str; 5] = ["const", "default", "enum", "example", "examples"];

/// An argument that clients repeat in a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ParamHeader {
    /// The header's full name.
    pub(crate) header: String,
    /// The names of the members that lead to the argument.
    pub(crate) path: Vec<String>,
}

/// The arguments that a listed schema marks with the annotation.
///
/// # Errors
///
/// [`SchemaError::Header`] for the first mark for which clients would drop the tool.
// MCP 2026-07-28 basic/transports/streamable-http, Schema Extension
pub(crate) fn param_headers(schema: &str) -> Result<Vec<ParamHeader>, SchemaError> {
    // the annotation may be written with escapes; a text with neither escapes nor its name has no marks
    if !schema.contains(ANNOTATION) && !schema.contains('\\') {
        return Ok(Vec::new());
    }
    let Ok(schema) = serde_json::from_str::<Value>(schema) else { return Ok(Vec::new()) };
    let mut marks = Marks::default();
    marks.look(&schema, &mut Vec::new(), true)?;
    Ok(marks.found)
}

#[derive(Default)]
struct Marks {
    found: Vec<ParamHeader>,
    /// In lower case: header names are case-insensitive.
    names: HashSet<String>,
}

impl Marks {
    /// Searches a schema. It is `reachable` if only `properties` lead to it.
    fn look(&mut self, schema: &Value, path: &mut Vec<String>, reachable: bool) -> Result<(), SchemaError> {
        match schema {
            Value::Object(members) => {
                if let Some(name) = members.get(ANNOTATION) {
                    self.mark(name, members, path, reachable)?;
                }
                for (keyword, value) in members {
                    match (keyword.as_str(), value) {
                        ("properties", Value::Object(properties)) => {
                            self.look_at_properties(properties, path, reachable)?;
                        }
                        (keyword, _) if DATA.contains(&keyword) || keyword == ANNOTATION => {}
                        (
                            "$defs" | "definitions" | "patternProperties" | "dependentSchemas",
                            Value::Object(named),
                        ) => {
                            named.values().try_for_each(|schema| self.look(schema, path, false))?;
                        }
                        (_, value) => self.look(value, path, false)?,
                    }
                }
                Ok(())
            }
            Value::Array(schemas) => schemas.iter().try_for_each(|schema| self.look(schema, path, false)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
        }
    }

    fn look_at_properties(
        &mut self,
        properties: &Map<String, Value>,
        path: &mut Vec<String>,
        reachable: bool,
    ) -> Result<(), SchemaError> {
        properties.iter().try_for_each(|(name, schema)| {
            path.push(name.clone());
            let looked = self.look(schema, path, reachable);
            path.pop();
            looked
        })
    }

    fn mark(
        &mut self,
        name: &Value,
        schema: &Map<String, Value>,
        path: &[String],
        reachable: bool,
    ) -> Result<(), SchemaError> {
        let wrong = |why| Err(SchemaError::Header { at: path.join("."), why });
        let Value::String(name) = name else { return wrong("is not a string") };
        if name.is_empty() {
            return wrong("is empty");
        }
        if !name.bytes().all(is_token) {
            return wrong("has characters that are not allowed in a header name");
        }
        if !reachable || path.is_empty() {
            return wrong(
                "is not reachable through `properties` alone: it is inside items, alternatives, conditions or \
                 definitions (`#[schemars(inline)]` on a type and `Tool::inline_refs` replace definitions)",
            );
        }
        match schema.get("type").and_then(Value::as_str) {
            Some("string" | "integer" | "boolean") => {}
            _ if schema.contains_key("$ref") => {
                return wrong(
                    "is on a reference: clients look for the type next to it (`#[schemars(inline)]` on the type puts \
                     it there)",
                );
            }
            _ => return wrong("is on a value that is not a string, integer or boolean"),
        }
        if !self.names.insert(name.to_ascii_lowercase()) {
            return wrong("names a header that another argument already has");
        }
        self.found.push(ParamHeader { header: format!("Mcp-Param-{name}"), path: path.to_vec() });
        Ok(())
    }
}

/// Whether a byte may be in a header name (RFC 9110, 5.6.2).
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(properties: Value) -> Result<Vec<ParamHeader>, SchemaError> {
        param_headers(&json!({ "type": "object", "properties": properties }).to_string())
    }

    #[test]
    fn marks_are_found_on_strings_integers_and_booleans_however_deep() {
        let found = of(json!({
            "a": { "type": "string", "x-mcp-header": "Region" },
            "b": { "type": "object", "properties": {
                "c": { "type": "integer", "x-mcp-header": "N" },
                "x-mcp-header": { "type": "boolean", "x-mcp-header": "X-.~!" },
            } },
            "d": { "type": "number", "default": { "x-mcp-header": "Data" } },
        }));
        let found: Vec<_> =
            found.unwrap().into_iter().map(|mark| (mark.header, mark.path.join("/"))).collect();
        let expected =
            [("Mcp-Param-Region", "a"), ("Mcp-Param-N", "b/c"), ("Mcp-Param-X-.~!", "b/x-mcp-header")];
        assert_eq!(found, expected.map(|(header, path)| (header.to_owned(), path.to_owned())));
        assert_eq!(
            param_headers(
                r#"{"type":"object","properties":{"a":{"type":"string","x\u002dmcp-header":"A"}}}"#
            )
            .unwrap()
            .len(),
            1
        );
    }

    #[test]
    fn a_mark_that_clients_would_drop_the_tool_for_is_refused_with_its_reason() {
        let string = json!({ "type": "string", "x-mcp-header": "A" });
        let marked = |name: &str| json!({ "a": { "type": "string", "x-mcp-header": name } });
        let typed = |kind: Value| json!({ "a": { "type": kind, "x-mcp-header": "A" } });
        for (properties, why) in [
            (marked(""), "is empty"),
            (marked("a b"), "characters"),
            (marked("a:b"), "characters"),
            (marked("a\r\nb"), "characters"),
            (marked("\u{e4}"), "characters"),
            (json!({ "a": { "type": "string", "x-mcp-header": 7 } }), "is not a string"),
            (json!({ "a": string, "b": { "type": "string", "x-mcp-header": "a" } }), "another argument"),
            (typed(json!("number")), "not a string, integer or boolean"),
            (typed(json!("array")), "not a string, integer or boolean"),
            (typed(json!("object")), "not a string, integer or boolean"),
            (typed(json!(["string", "null"])), "not a string, integer or boolean"),
            (json!({ "a": { "x-mcp-header": "A" } }), "not a string, integer or boolean"),
            (json!({ "a": { "$ref": "#/$defs/A", "x-mcp-header": "A" } }), "reference"),
            (json!({ "a": { "type": "array", "items": string } }), "not reachable"),
            (
                json!({ "a": { "type": "array", "items": { "properties": { "b": string } } } }),
                "not reachable",
            ),
            (json!({ "a": { "oneOf": [string] } }), "not reachable"),
            (json!({ "a": { "anyOf": [{ "properties": { "b": string } }] } }), "not reachable"),
            (json!({ "a": { "allOf": [string] } }), "not reachable"),
            (json!({ "a": { "not": string } }), "not reachable"),
            (json!({ "a": { "if": string, "then": {}, "else": {} } }), "not reachable"),
            (json!({ "a": { "then": string } }), "not reachable"),
            (json!({ "a": { "else": string } }), "not reachable"),
            (json!({ "a": { "additionalProperties": string } }), "not reachable"),
            (json!({ "a": { "patternProperties": { "default": string } } }), "not reachable"),
        ] {
            let error = of(properties.clone()).unwrap_err().to_string();
            assert!(error.contains(why), "{properties}: {error}");
        }
        for whole in [
            json!({ "type": "object", "x-mcp-header": "A" }),
            json!({ "type": "object", "$defs": { "default": string } }),
        ] {
            assert!(
                param_headers(&whole.to_string()).unwrap_err().to_string().contains("not reachable"),
                "{whole}"
            );
        }
    }
}
