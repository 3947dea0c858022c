//! A schema that values are held against, and what is wrong with one that does not fit.
//!
//! The validator tells why a value fits no branch of an `anyOf` or a `oneOf` by collecting what is wrong in each of them,
//! in each of theirs, and so on: a few hundred bytes for a recursive type would take all memory. So where a schema has
//! branches, it only says whether a value fits, and the place of the mismatch is looked for here, one step at a time.

use jsonschema::{Validator, ValidatorMap};
use serde_json::{Map, Value};

/// Keywords by which other values, or the same once more, are held against schemas, and which no step follows.
const NOT_FOLLOWED: [&str; 14] = [
    "anyOf",
    "oneOf",
    "not",
    "if",
    "contains",
    "prefixItems",
    "patternProperties",
    "propertyNames",
    "dependentSchemas",
    "dependencies",
    "unevaluatedProperties",
    "unevaluatedItems",
    "$dynamicRef",
    "$recursiveRef",
];
/// More steps than a value may nest, and references in between.
const MOST_STEPS: usize = 256;

/// A compiled schema.
pub(crate) enum Compiled {
    /// What is wrong with a value is told by the validator.
    Plain(Validator),
    /// It is looked for.
    Branching {
        schema: Value,
        /// By the pointer of each subschema; that of the whole is [`ROOT`].
        parts: ValidatorMap,
    },
}

const ROOT: &str = "#";

/// What is wrong with a value: the path to it, and a sentence.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Mismatch {
    /// Such as `a.b[0]`; empty for the whole.
    pub(crate) path: String,
    pub(crate) what: String,
}

/// A part of a value that does not fit, and where in the schema that is said.
struct Place<'v> {
    schema: String,
    value: &'v Value,
    /// The path to the value, as a JSON pointer.
    path: String,
}

impl Compiled {
    /// Compiles a schema. Nothing is fetched.
    pub(super) fn of(schema: &Value) -> Result<Self, String> {
        let options = jsonschema::options().offline();
        if !has_branches(schema) {
            return options.build(schema).map(Self::Plain).map_err(|err| err.to_string());
        }
        let parts = options.build_map(schema).map_err(|err| err.to_string())?;
        Ok(Self::Branching { schema: schema.clone(), parts })
    }

    /// Holds JSON text against it.
    ///
    /// # Errors
    ///
    /// The first mismatch; its text does not quote the value.
    pub(crate) fn check(&self, json: &str) -> Result<(), Mismatch> {
        let value: Value = serde_json::from_str(json)
            .map_err(|err| Mismatch { path: String::new(), what: err.to_string() })?;
        match self {
            Self::Plain(validator) => validate(validator, &value, ""),
            Self::Branching { schema, parts } => {
                let root = parts.get(ROOT);
                if root.is_some_and(|root| root.is_valid(&value)) {
                    return Ok(());
                }
                let place = find(schema, parts, &value);
                let members = members(schema, &place.schema);
                let told = members.is_some_and(|members| !has_any(members, &NOT_FOLLOWED));
                if let Some(validator) = parts.get(&place.schema).filter(|_| told) {
                    validate(validator, place.value, &place.path)?;
                }
                Err(Mismatch {
                    path: dotted(&place.path),
                    what: "the value does not fit its schema".to_owned(),
                })
            }
        }
    }
}

fn validate(validator: &Validator, value: &Value, path: &str) -> Result<(), Mismatch> {
    validator.validate(value).map_err(|err| Mismatch {
        path: dotted(&format!("{path}{}", err.instance_path().as_str())),
        what: err.masked_with("the value").to_string(),
    })
}

fn has_branches(schema: &Value) -> bool {
    match schema {
        Value::Object(members) => has_any(members, &["anyOf", "oneOf"]) || members.values().any(has_branches),
        Value::Array(items) => items.iter().any(has_branches),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

fn has_any(members: &Map<String, Value>, names: &[&str]) -> bool {
    names.iter().any(|name| members.contains_key(*name))
}

/// The members of the subschema at a pointer with a leading `#`.
fn members<'s>(schema: &'s Value, pointer: &str) -> Option<&'s Map<String, Value>> {
    schema.pointer(pointer.strip_prefix('#')?)?.as_object()
}

/// The innermost place that is known not to fit, of a value that does not.
fn find<'v>(schema: &Value, parts: &ValidatorMap, whole: &'v Value) -> Place<'v> {
    let mut place = Place { schema: ROOT.to_owned(), value: whole, path: String::new() };
    for _ in 0..MOST_STEPS {
        match step(schema, parts, &place) {
            Some(next) => place = next,
            None => break,
        }
    }
    place
}

/// A step further in, to a part that does not fit.
fn step<'v>(schema: &Value, parts: &ValidatorMap, place: &Place<'v>) -> Option<Place<'v>> {
    let node = members(schema, &place.schema)?;
    let misfit = |pointer: String, value: &'v Value, path: String| {
        let fits = parts.get(&pointer)?.is_valid(value);
        (!fits).then_some(Place { schema: pointer, value, path })
    };
    let here = |keyword: &str| format!("{}/{keyword}", place.schema);
    let same = |pointer: String| misfit(pointer, place.value, place.path.clone());
    if let Some(next) = node.get("$ref").and_then(Value::as_str).and_then(|target| same(target.to_owned())) {
        return Some(next);
    }
    let known = node.get("properties").and_then(Value::as_object);
    let more = node.get("additionalProperties").is_some_and(Value::is_object)
        && !node.contains_key("patternProperties");
    let member = |(name, value): (&String, &'v Value)| {
        let path = format!("{}/{}", place.path, escape(name));
        if known.is_some_and(|known| known.contains_key(name)) {
            return misfit(format!("{}/{}", here("properties"), escape(name)), value, path);
        }
        more.then(|| misfit(here("additionalProperties"), value, path)).flatten()
    };
    if let Some(next) = place.value.as_object().and_then(|members| members.iter().find_map(member)) {
        return Some(next);
    }
    if node.get("items").is_some_and(Value::is_object) && !node.contains_key("prefixItems") {
        let item = |(at, value)| misfit(here("items"), value, format!("{}/{at}", place.path));
        let items = place.value.as_array().and_then(|items| items.iter().enumerate().find_map(item));
        if items.is_some() {
            return items;
        }
    }
    let all = node.get("allOf").and_then(Value::as_array).map_or(0, Vec::len);
    (0..all)
        .find_map(|at| same(format!("{}/{at}", here("allOf"))))
        .or_else(|| branch(schema, node, place).and_then(same))
}

/// The one branch that a value was meant for: by its tag, or since the other is null.
fn branch(schema: &Value, node: &Map<String, Value>, place: &Place<'_>) -> Option<String> {
    let keyword = ["oneOf", "anyOf"].into_iter().find(|keyword| node.contains_key(*keyword))?;
    let branches = node.get(keyword)?.as_array()?;
    let pointer = |at: usize| format!("{}/{keyword}/{at}", place.schema);
    let tagged = (0..branches.len()).filter(|at| {
        let named = members(schema, &pointer(*at));
        let target = named.and_then(|named| members(schema, named.get("$ref")?.as_str()?));
        target.or(named).is_some_and(|branch| has_tag(branch, place.value))
    });
    let null = Some(&Value::from("null"));
    let no_null =
        (0..branches.len()).filter(|at| branches[*at].get("type") != null && !place.value.is_null());
    only(tagged).or_else(|| only(no_null)).map(pointer)
}

/// The one of them, if there is no other.
fn only(mut meant: impl Iterator<Item = usize>) -> Option<usize> {
    meant.next().filter(|_| meant.next().is_none())
}

/// Whether a branch asks for a constant that the value has, and for none that it has not.
fn has_tag(branch: &Map<String, Value>, value: &Value) -> bool {
    let Some(properties) = branch.get("properties").and_then(Value::as_object) else { return false };
    let mut tags =
        properties.iter().filter_map(|(name, schema)| Some((name, schema.get("const")?))).peekable();
    tags.peek().is_some() && tags.all(|(name, tag)| value.get(name) == Some(tag))
}

/// A name as a step of a JSON pointer.
fn escape(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// A JSON pointer as the path that serde would name: `/a/0/b` is `a[0].b`.
fn dotted(pointer: &str) -> String {
    let mut path = String::new();
    for step in pointer.split('/').skip(1) {
        let step = step.replace("~1", "/").replace("~0", "~");
        if !step.is_empty() && step.bytes().all(|byte| byte.is_ascii_digit()) {
            path.push_str(&format!("[{step}]"));
        } else {
            if !path.is_empty() {
                path.push('.');
            }
            path.push_str(&step);
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn mismatch(schema: &Value, value: &Value) -> (String, String) {
        let Mismatch { path, what } = Compiled::of(schema).unwrap().check(&value.to_string()).unwrap_err();
        (path, what)
    }

    /// `Or` and `Not` hold others; a leaf has a text that must not be empty.
    fn filters() -> Value {
        let node = |tag: &str, of: Value| json!({ "type": "object", "properties": { "op": { "const": tag }, "of": of }, "required": ["op", "of"] });
        json!({
            "type": "object",
            "properties": { "filter": { "$ref": "#/$defs/Filter" } },
            "$defs": { "Filter": { "oneOf": [
                node("or", json!({ "type": "array", "items": { "$ref": "#/$defs/Filter" } })),
                node("not", json!({ "$ref": "#/$defs/Filter" })),
                node("leaf", json!({ "type": "string", "minLength": 1 })),
            ] } }
        })
    }

    #[test]
    fn what_is_wrong_deep_in_a_recursive_type_is_found_without_a_look_into_every_branch() {
        let mut filter = json!({ "op": "leaf", "of": "" });
        for level in 0..25 {
            filter = match level % 2 {
                0 => json!({ "op": "not", "of": filter }),
                _ => json!({ "op": "or", "of": [{ "op": "leaf", "of": "x" }, filter] }),
            };
        }
        let path = format!("filter.of{}", ".of[1].of".repeat(12)) + ".of";
        let (found, what) = mismatch(&filters(), &json!({ "filter": filter }));
        assert_eq!((found, what.as_str()), (path, "the value is shorter than 1 character"));
    }

    #[test]
    fn what_is_wrong_in_an_option_is_found() {
        let option = json!({ "anyOf": [
            { "type": "object", "properties": { "values": { "type": "array", "items": { "type": "string", "minLength": 1 } } } },
            { "type": "null" },
        ] });
        let schema = json!({ "type": "object", "properties": { "sub/1": option } });
        let (path, what) = mismatch(&schema, &json!({ "sub/1": { "values": ["x", ""] } }));
        assert_eq!(
            (path.as_str(), what.as_str()),
            ("sub/1.values[1]", "the value is shorter than 1 character")
        );
        let compiled = Compiled::of(&schema).unwrap();
        assert_eq!(compiled.check(r#"{"sub/1":null}"#), Ok(()));
    }

    #[test]
    fn where_no_branch_was_meant_the_place_is_told() {
        let schema = json!({ "type": "object", "additionalProperties": { "anyOf": [
            { "type": "string" }, { "type": "integer", "minimum": 0 },
        ] } });
        let (path, what) = mismatch(&schema, &json!({ "a": 1, "b": true }));
        assert_eq!((path.as_str(), what.as_str()), ("b", "the value does not fit its schema"));
        let (path, what) = mismatch(&filters(), &json!({ "filter": { "op": "xor" } }));
        assert_eq!((path.as_str(), what.as_str()), ("filter", "the value does not fit its schema"));
        let (path, what) = mismatch(&filters(), &json!({ "filter": { "op": "not" } }));
        assert_eq!((path.as_str(), what.as_str()), ("filter", "\"of\" is a required property"));
    }

    #[test]
    fn a_reference_to_itself_ends() {
        let schema = json!({ "$ref": "#/$defs/A", "$defs": { "A": { "allOf": [{ "$ref": "#/$defs/A" }],
            "anyOf": [{ "type": "string" }] } } });
        if let Ok(compiled) = Compiled::of(&schema) {
            let place = |compiled: &Compiled| match compiled {
                Compiled::Branching { schema, parts } => find(schema, parts, &Value::Null).path,
                Compiled::Plain(_) => panic!("it has branches"),
            };
            assert_eq!(place(&compiled), "");
        }
    }

    #[test]
    fn a_path_is_written_as_serde_writes_it() {
        assert_eq!(dotted(""), "");
        assert_eq!(dotted("/a/0/b~1c/~01"), "a[0].b/c.~1");
    }
}
