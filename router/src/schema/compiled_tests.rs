//! Schemas that are refused at registration, and the mismatches of values.

use proptest::prelude::*;
use serde_json::json;

use super::{super::mismatch::dotted, *};

fn mismatch(schema: &Value, value: &Value) -> (String, String) {
    let Mismatch { path, what } = Compiled::of(schema).unwrap().check(&value.to_string()).unwrap_err();
    (path, what)
}

fn told(schema: &Value, value: &Value) -> String {
    let (path, what) = mismatch(schema, value);
    if path.is_empty() { what } else { format!("{path}: {what}") }
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
    assert_eq!((path.as_str(), what.as_str()), ("sub/1.values[1]", "the value is shorter than 1 character"));
    let compiled = Compiled::of(&schema).unwrap();
    assert_eq!(compiled.check(r#"{"sub/1":null}"#), Ok(()));
}

#[test]
fn where_no_branch_was_meant_the_place_is_told() {
    let schema = json!({ "type": "object", "additionalProperties": { "anyOf": [
        { "type": "string" }, { "type": "integer", "minimum": 0 },
    ] } });
    let (path, what) = mismatch(&schema, &json!({ "a": 1, "b": true }));
    assert_eq!(
        (path.as_str(), what.as_str()),
        ("b", "the value is not of type \"string\", or the value is not of type \"integer\"")
    );
    let (path, what) = mismatch(&filters(), &json!({ "filter": { "op": "xor" } }));
    assert_eq!(
        (path.as_str(), what.as_str()),
        ("filter.op", "\"or\" was expected, or \"not\" was expected, or \"leaf\" was expected")
    );
    let (path, what) = mismatch(&filters(), &json!({ "filter": { "op": "not" } }));
    assert_eq!((path.as_str(), what.as_str()), ("filter", "`of` is missing"));
}

#[test]
fn a_reference_to_itself_ends() {
    let schema = json!({ "$ref": "#/$defs/A", "$defs": { "A": { "allOf": [{ "$ref": "#/$defs/A" }],
        "anyOf": [{ "type": "string" }] } } });
    if let Ok(Compiled::Branching { schema, parts }) = Compiled::of(&schema) {
        assert_eq!(Search::new(&schema, &parts).explain(&Value::Null).path, "");
    }
}

#[test]
fn a_path_is_written_as_serde_writes_it() {
    assert_eq!(dotted(""), "");
    assert_eq!(dotted("/a/0/b~1c/~01"), "a[0].b/c.~1");
}

/// C118: the schema of the example `everything`.
fn contact() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": { "address": { "$anchor": "addressDef", "type": "object", "properties": { "city": { "type": "string" } } } },
        "properties": {
            "name": { "type": "string" },
            "address": { "$ref": "#addressDef" },
            "contactMethod": { "type": "string", "enum": ["phone", "email"] },
            "phone": { "type": "string" },
            "email": { "type": "string" }
        },
        "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
        "if": { "properties": { "contactMethod": { "const": "phone" } }, "required": ["contactMethod"] },
        "then": { "required": ["phone"] },
        "else": { "required": ["email"] },
        "additionalProperties": false
    })
}

// C118
#[test]
fn what_does_not_fit_a_schema_with_branches_names_its_place() {
    for (value, wanted) in [
        (json!({ "phone": "555", "fax": true }), "`email` is missing; `fax` is not allowed"),
        (json!({ "email": "a", "contactMethod": "phone" }), "`phone` is missing"),
        (
            json!({ "email": "a", "address": { "city": 7 } }),
            "address.city: the value is not of type \"string\"",
        ),
        (json!({ "name": "n" }), "`phone` is missing, or `email` is missing; `email` is missing"),
    ] {
        assert_eq!(told(&contact(), &value), wanted, "{value}");
    }
}

// C118
#[test]
fn each_keyword_that_holds_schemas_names_its_place() {
    // `anyOf` beside them: without one, the validator tells it
    let with = |keyword: &str, schema: Value| json!({ "anyOf": [true], "properties": { "a": { "anyOf": [true], keyword: schema } } });
    for (keyword, schema, value, wanted) in [
        ("not", json!({ "type": "string" }), json!("x"), "a: the value is forbidden by `not`"),
        (
            "oneOf",
            json!([{ "type": "string" }, { "minLength": 1 }]),
            json!("x"),
            "a: the value matches more than one branch of `oneOf`",
        ),
        (
            "allOf",
            json!([{ "required": ["b"] }, { "required": ["c"] }]),
            json!({}),
            "a: `b` is missing; `c` is missing",
        ),
        (
            "patternProperties",
            json!({ "^x/": { "type": "string" } }),
            json!({ "x/1": 1 }),
            "a.x/1: the value is not of type \"string\"",
        ),
        (
            "propertyNames",
            json!({ "maxLength": 1 }),
            json!({ "long": 1 }),
            "a.long: no member may have this name",
        ),
        ("dependentSchemas", json!({ "b": { "required": ["c"] } }), json!({ "b": 1 }), "a: `c` is missing"),
        (
            "prefixItems",
            json!([true, { "type": "string" }]),
            json!([1, 2]),
            "a[1]: the value is not of type \"string\"",
        ),
        ("contains", json!({ "type": "string" }), json!([1, 2]), "a: no item matches `contains`"),
        ("unevaluatedProperties", json!(false), json!({ "more": 1 }), "a: `more` is not allowed"),
        ("$ref", json!("#/$defs/No"), json!(1), "a: the value does not match its schema"),
    ] {
        let mut schema = with(keyword, schema);
        schema["$defs"] = json!({ "No": { "anyOf": [false] } });
        let value = json!({ "a": value });
        let found = told(&schema, &value);
        if keyword == "$ref" {
            assert!(found.starts_with("a: "), "{found}");
        } else {
            assert_eq!(found, wanted, "{keyword}");
        }
    }
}

// C118
#[test]
fn no_value_is_quoted() {
    let value = json!({ "phone": 5_557_731, "contactMethod": "SECRET", "name": ["SECRET"] });
    let found = told(&contact(), &value);
    assert!(!found.contains("SECRET") && !found.contains("7731"), "{found}");
}

// C118
#[test]
fn what_is_wrong_in_a_recursive_type_without_tags_is_looked_for_in_so_many_steps() {
    let schema = json!({
        "$ref": "#/$defs/F",
        "$defs": { "F": { "anyOf": [
            { "type": "object", "properties": { "l": { "$ref": "#/$defs/F" } }, "required": ["l"], "additionalProperties": false },
            { "type": "object", "properties": { "r": { "$ref": "#/$defs/F" } }, "required": ["r"], "additionalProperties": false },
            { "type": "array", "items": { "$ref": "#/$defs/F" } },
            { "type": "string", "minLength": 1 },
        ] } }
    });
    let Compiled::Branching { schema, parts } = Compiled::of(&schema).unwrap() else {
        panic!("it has branches")
    };
    let mut value = json!("");
    for level in 0..40 {
        value = match level % 3 {
            0 => json!({ "l": value }),
            1 => json!([value, "x"]),
            _ => json!({ "r": value }),
        };
    }
    let mut search = Search::new(&schema, &parts);
    let found = search.explain(&value);
    assert!(search.steps <= 256, "{} steps", search.steps);
    assert_eq!(found.what, "the value is shorter than 1 character");
    assert_eq!(found.path.matches(".l").count(), 13, "{}", found.path);
    // here any branch may be meant
    let guess = json!({ "$ref": "#/$defs/F", "$defs": { "F": { "anyOf": [
        { "properties": { "l": { "$ref": "#/$defs/F" }, "r": { "$ref": "#/$defs/F" } }, "type": "object" },
        { "additionalProperties": { "$ref": "#/$defs/F" }, "type": "object" },
        { "type": "string" },
    ] } } });
    let Compiled::Branching { schema, parts } = Compiled::of(&guess).unwrap() else {
        panic!("it has branches")
    };
    let value = (0..8).fold(json!(1), |value, _| json!({ "l": value, "r": value }));
    let mut search = Search::new(&schema, &parts);
    let found = search.explain(&value);
    assert!(search.steps <= 256, "{} steps", search.steps);
    assert!(found.what.len() < 500, "{}", found.what);
}

#[test]
fn a_schema_with_a_dead_part_is_refused_wherever_branches_are() {
    let dead = [
        json!({ "$ref": "#/$defs/Missing" }),
        json!({ "$ref": "#missing" }),
        json!({ "$dynamicRef": "#missing" }),
        json!({ "pattern": "(" }),
        json!({ "patternProperties": { "(": true } }),
        json!({ "type": "no-such-type" }),
        json!({ "$ref": "https://example.com/schema" }),
        json!({ "$ref": "other.json" }),
        json!({ "minimum": "x" }),
        json!({ "$id": "https://example.com/nested/", "$ref": "#/$defs/Here" }),
    ];
    let places: [fn(Value) -> Value; 9] = [
        |dead| dead,
        |dead| json!({ "anyOf": [dead, { "type": "null" }] }),
        |dead| json!({ "anyOf": [{ "type": "null" }, { "oneOf": [dead] }] }),
        |dead| json!({ "properties": { "a": { "anyOf": [dead, { "type": "null" }] } } }),
        |dead| json!({ "anyOf": [true], "properties": { "a": dead } }),
        |dead| json!({ "oneOf": [{ "$ref": "#/$defs/A" }], "$defs": { "A": { "items": dead } } }),
        |dead| json!({ "anyOf": [{ "if": true, "then": dead }] }),
        |dead| json!({ "anyOf": [{ "not": dead }], "unevaluatedProperties": false }),
        |dead| json!({ "anyOf": [{ "dependentSchemas": { "x": dead } }] }),
    ];
    for dead in &dead {
        for (at, place) in places.iter().enumerate() {
            let schema = place(dead.clone());
            assert!(super::super::compile(&schema).is_err(), "{at}: {schema}");
        }
    }
}

/// Schemas with references, anchors and patterns, good and dead.
fn schemas() -> impl Strategy<Value = Value> {
    let target = prop::sample::select(vec![
        "#",
        "#/$defs/A",
        "#/$defs/B",
        "#/$defs/A/properties/a",
        "#a",
        "#b",
        "#/$defs/Missing",
    ]);
    let leaf = prop_oneof![
        target.clone().prop_map(|to| json!({ "$ref": to })),
        target.prop_map(|to| json!({ "$dynamicRef": to })),
        prop::sample::select(vec!["^a$", "(", "[", "\\d+", "(?<=a)b", "\\p{Nope}"])
            .prop_map(|text| json!({ "pattern": text })),
        prop::sample::select(vec!["string", "object", "nope"]).prop_map(|kind| json!({ "type": kind })),
        prop::sample::select(vec!["a", "b"]).prop_map(|name| json!({ "$anchor": name })),
        prop::sample::select(vec!["a", "b"]).prop_map(|name| json!({ "$dynamicAnchor": name })),
        Just(json!({ "$id": "https://example.com/x/", "$ref": "#/$defs/A" })),
        Just(json!({ "required": ["a"] })),
        Just(json!(true)),
        Just(json!(false)),
    ];
    let keyword = prop::sample::select(vec![
        "anyOf",
        "oneOf",
        "allOf",
        "not",
        "if",
        "then",
        "items",
        "properties",
        "patternProperties",
        "dependentSchemas",
        "contains",
        "$defs",
    ]);
    let inner = leaf.prop_recursive(3, 12, 3, move |inner| {
        (prop::collection::vec((keyword.clone(), prop::collection::vec(inner, 1..3)), 1..3)).prop_map(|all| {
            let mut node = Map::new();
            for (keyword, schemas) in all {
                let value = match keyword {
                    "anyOf" | "oneOf" | "allOf" => Value::Array(schemas),
                    "properties" | "patternProperties" | "dependentSchemas" | "$defs" => {
                        Value::Object(["a", "b"].into_iter().map(str::to_owned).zip(schemas).collect())
                    }
                    _ => schemas.into_iter().next().unwrap_or_default(),
                };
                node.insert(keyword.to_owned(), value);
            }
            Value::Object(node)
        })
    });
    (inner.clone(), inner.clone(), inner).prop_map(|(root, a, b)| {
        let mut root = root;
        if let Value::Object(members) = &mut root {
            members.insert("$defs".to_owned(), json!({ "A": a, "B": b }));
        }
        root
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn what_the_validator_builds_is_taken_and_what_it_refuses_is_refused(schema in schemas()) {
        let alone = jsonschema::options().offline().build(&schema);
        let ours = super::super::compile(&schema);
        // of ours alone is that references stay inside
        let remote = matches!(ours, Err(super::super::SchemaError::RemoteRef(_)));
        prop_assert_eq!(alone.is_ok(), ours.is_ok() || (remote && alone.is_ok()), "{}", schema);
        if let Ok(ours) = ours {
            for value in [json!({ "a": { "a": "x", "b": [1] }, "b": "a" }), json!("ab"), json!([{ "a": 1 }, null])] {
                let fits = alone.as_ref().is_ok_and(|alone| alone.is_valid(&value));
                prop_assert_eq!(ours.check(&value.to_string()).is_ok(), fits, "{} {}", schema, value);
            }
        }
    }
}
