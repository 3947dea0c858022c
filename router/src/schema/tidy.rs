//! Changes to derived schemas before clients see them, and checks of all schemas.
//!
//! Some clients drop tools or arguments because of what schemars writes for good reasons: `"format": "uint64"`, which
//! JSON Schema does not know, `["string", "null"]`, `anyOf` with null. Each change here is needed by some client.
//!
//! Of `schemars`' own transforms, only the list of formats is used: `RestrictFormats` and `ReplaceBoolSchemas` change
//! the order of keywords that clients show, the latter turns `"additionalProperties": false` into `not`, none removes
//! null, and `inline_subschemas` must be chosen before it is known how the tool is listed.

use schemars::{
    Schema,
    consts::meta_schemas,
    json_schema,
    transform::{RecursiveTransform, RestrictFormats, Transform, transform_subschemas},
};
use serde_json::{Map, Value, json};

/// Keywords that restrict a value further than its Rust type does.
const RESTRICTIONS: [&str; 26] = [
    "pattern",
    "minLength",
    "maxLength",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minItems",
    "maxItems",
    "uniqueItems",
    "contains",
    "minContains",
    "maxContains",
    "minProperties",
    "maxProperties",
    "propertyNames",
    "patternProperties",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
    "not",
    "if",
    "then",
    "else",
    "allOf",
    "unevaluatedItems",
    "unevaluatedProperties",
];

fn each(schema: &mut Value, change: impl FnMut(&mut Schema)) {
    if let Ok(schema) = schema.try_into() {
        RecursiveTransform(change).transform(schema);
    }
}

/// The first `$ref` that points outside the schema.
pub(super) fn remote_ref(schema: &Value) -> Option<String> {
    let mut remote = None;
    each(&mut schema.clone(), |schema| {
        let targets = ["$ref", "$dynamicRef"].into_iter().filter_map(|key| schema.get(key)?.as_str());
        if let Some(target) = targets.into_iter().find(|target| !target.starts_with('#')) {
            remote.get_or_insert_with(|| target.to_owned());
        }
    });
    remote
}

/// Whether a value may deserialize into its Rust type but not match this schema, which was derived from the type.
pub(super) fn says_more_than_serde(schema: &mut Value) -> bool {
    let mut more = false;
    each(schema, |schema| {
        let Some(members) = schema.as_object() else { return };
        more |= RESTRICTIONS.iter().any(|keyword| members.contains_key(*keyword)) || bounds(members);
    });
    more
}

/// Whether there are bounds other than those of the Rust integer that `format` names.
fn bounds(members: &Map<String, Value>) -> bool {
    let format = members.get("format").and_then(Value::as_str).unwrap_or_default();
    let of_type = match format {
        "uint8" => (json!(u8::MIN), json!(u8::MAX)),
        "int8" => (json!(i8::MIN), json!(i8::MAX)),
        "uint16" => (json!(u16::MIN), json!(u16::MAX)),
        "int16" => (json!(i16::MIN), json!(i16::MAX)),
        "uint" | "uint32" | "uint64" | "uint128" => (json!(0), Value::Null),
        _ => (Value::Null, Value::Null),
    };
    let more = |keyword: &str, own: &Value| members.get(keyword).is_some_and(|bound| bound != own);
    more("minimum", &of_type.0) || more("maximum", &of_type.1)
}

/// Whether a derived schema forbids further members where serde may not. Serde does in a variant that is written as the
/// only member of an object, and `is_closed` says that it does at the root.
pub(super) fn closes_more_than_serde(schema: &mut Value, is_closed: bool) -> bool {
    let closes =
        |members: &Map<String, Value>| members.get("additionalProperties") == Some(&Value::Bool(false));
    let is_variant = |branch: &Value| {
        let one = |name: &str| match branch.get(name) {
            Some(Value::Object(members)) => members.len() == 1,
            Some(Value::Array(items)) => items.len() == 1,
            _ => false,
        };
        branch.as_object().is_some_and(closes) && one("properties") && one("required")
    };
    let root = is_closed && schema.as_object().is_some_and(closes);
    let (mut closed, mut known) = (0, usize::from(root));
    each(schema, |schema| {
        let Some(members) = schema.as_object() else { return };
        closed += usize::from(closes(members));
        let branches = ["oneOf", "anyOf"].iter().filter_map(|keyword| members.get(*keyword)?.as_array());
        known += branches.flatten().filter(|branch| is_variant(branch)).count();
    });
    closed > known
}

/// Adapts a derived schema of arguments to what clients accept.
pub(super) fn for_clients(schema: &mut Value) {
    each(schema, |schema| {
        let Some(members) = schema.as_object_mut() else { return };
        drop_foreign_format(members);
        drop_null(members);
        if let Some(Value::Object(properties)) = members.get_mut("properties") {
            properties.values_mut().for_each(spell_out_any);
        }
        if let Some(items) = members.get_mut("items") {
            spell_out_any(items);
        }
    });
}

/// Adapts a derived schema of structured content to what clients accept. Null stays: `None` is serialized as null.
pub(super) fn output(schema: &mut Value) {
    each(schema, |schema| {
        if let Some(members) = schema.as_object_mut() {
            drop_foreign_format(members);
        }
    });
    // an enum of objects: up to 2025-11-25 the root must have the type "object"
    let Value::Object(members) = schema else { return };
    let all_objects = |key: &str| {
        let branches = members.get(key).and_then(Value::as_array);
        branches
            .is_some_and(|all| all.iter().all(|each| each.get("type").is_some_and(|kind| kind == "object")))
    };
    if !members.contains_key("type") && (all_objects("oneOf") || all_objects("anyOf")) {
        members.shift_insert(0, "type".to_owned(), "object".into());
    }
}

/// Replaces references by their definitions, for clients that do not follow references. A recursive type keeps its
/// reference, and the schema then keeps its definitions.
pub(super) fn inline(schema: &mut Value) {
    let Value::Object(members) = schema else { return };
    let Some(Value::Object(defs)) = members.shift_remove("$defs") else { return };
    let mut inline = Inline { defs, open: Vec::new(), recursive: false };
    if let Ok(schema) = schema.try_into() {
        inline.transform(schema);
    }
    if inline.recursive
        && let Value::Object(members) = schema
    {
        members.insert("$defs".to_owned(), Value::Object(inline.defs));
    }
}

struct Inline {
    defs: Map<String, Value>,
    /// The definitions that are being inlined.
    open: Vec<String>,
    recursive: bool,
}

impl Transform for Inline {
    fn transform(&mut self, schema: &mut Schema) {
        let name =
            schema.get("$ref").and_then(Value::as_str).and_then(|target| target.strip_prefix("#/$defs/"));
        let Some(name) = name.map(str::to_owned) else { return transform_subschemas(self, schema) };
        let (Some(Value::Object(def)), false) = (self.defs.get(&name), self.open.contains(&name)) else {
            self.recursive = true;
            return;
        };
        let def = def.clone();
        let members = schema.ensure_object();
        members.shift_remove("$ref");
        for (key, value) in def {
            members.entry(key).or_insert(value);
        }
        self.open.push(name);
        // the definition may be a reference itself
        self.transform(schema);
        self.open.pop();
    }
}

fn drop_foreign_format(members: &mut Map<String, Value>) {
    if members.get("format").is_some_and(is_foreign) {
        members.shift_remove("format");
    }
}

/// Whether JSON Schema 2020-12 does not know a format, such as the name of a Rust type.
fn is_foreign(format: &Value) -> bool {
    let mut alone = json_schema!({ "$schema": meta_schemas::DRAFT2020_12, "format": format });
    RestrictFormats::default().transform(&mut alone);
    alone.get("format").is_none()
}

/// Removes null: `Option<T>` is listed as `T`, and is optional because `required` does not name it.
pub(crate) fn drop_null(members: &mut Map<String, Value>) {
    members.shift_remove("nullable");
    if members.get("default").is_some_and(Value::is_null) {
        members.shift_remove("default");
    }
    if let Some(kind) = members.get_mut("type")
        && let Some(kinds) = kind.as_array_mut()
        && kinds.len() > 1
    {
        kinds.retain(|kind| kind != "null");
        if let [only] = kinds.as_mut_slice() {
            *kind = only.take();
        }
    }
    if let Some(Value::Array(values)) = members.get_mut("enum")
        && values.len() > 1
    {
        values.retain(|value| !value.is_null());
    }
    for key in ["anyOf", "oneOf"] {
        let Some(Value::Array(branches)) = members.get_mut(key) else { continue };
        let before = branches.len();
        branches.retain(|branch| branch.get("type").is_none_or(|kind| kind != "null"));
        if branches.len() < before
            && let [only] = branches.as_mut_slice()
        {
            let only = only.take();
            members.shift_remove(key);
            if let Value::Object(only) = only {
                for (key, value) in only {
                    members.entry(key).or_insert(value);
                }
            }
        }
    }
}

/// Some clients cannot read the schema `true`; `{}` means the same.
fn spell_out_any(schema: &mut Value) {
    if *schema == Value::Bool(true) {
        *schema = json!({});
    }
}

/// Whether this is the schema of a struct without fields.
pub(super) fn is_empty(schema: &Value) -> bool {
    let Value::Object(members) = schema else { return false };
    members.iter().all(|(key, value)| match key.as_str() {
        "type" | "description" | "title" => true,
        "additionalProperties" => *value == Value::Bool(false),
        "properties" => value.as_object().is_some_and(Map::is_empty),
        _ => false,
    })
}
