//! JSON schemas of tools. Derived ones are adapted to what real clients accept, hand-written ones are left alone.
//!
//! **Invariant:** a schema is processed when its tool is registered, never when the tool is called or listed: lists
//! send its text, calls use its compiled form. Nothing is ever fetched.

use std::{fmt, sync::Arc};

use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value, json, value::RawValue};

use crate::wire::jsonrpc::in_one_line;

mod compiled;
pub(crate) mod headers;
mod mismatch;
mod tidy;

pub(crate) use self::{
    compiled::Compiled,
    mismatch::{Mismatch, unescape},
    tidy::drop_null,
};

/// Why a schema is refused when its tool is registered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// The text is not valid JSON.
    #[error("it is not valid JSON: {0}")]
    NotJson(String),
    /// The root is not `"type": "object"`, which all revisions require of a schema of arguments.
    // MCP 2025-11-25 server/tools, Data Types: inputSchema MUST be a valid JSON Schema object
    #[error(
        "its root is not an object (`\"type\": \"object\"` is missing): the arguments of a tool are a struct, not {0}"
    )]
    NotAnObject(String),
    /// A `$ref` that points outside the schema; nothing is ever fetched.
    #[error("`$ref` to {0:?}: only references inside the schema (`#/$defs/..`) are followed")]
    RemoteRef(String),
    /// It is not a valid JSON schema, or a `$ref` inside it has no target.
    #[error("it is not a valid JSON schema: {0}")]
    Invalid(String),
    /// An `Args<T>` together with plain arguments, or two of them.
    #[error(
        "an `Args<T>` takes all arguments, so there can be no other `Args` and no plain argument next to it"
    )]
    SeveralArgs,
    /// An invalid `x-mcp-header`, for which clients would drop the tool.
    // MCP 2026-07-28 server/tools, x-mcp-header: clients MUST exclude the tool
    #[error("`x-mcp-header` of {at:?} {why}")]
    Header {
        /// The path to the argument, such as `a.b`; empty for the root.
        at: String,
        /// What is wrong.
        why: &'static str,
    },
}

/// A processed schema: the text for lists, and the validator for values.
#[derive(Clone)]
pub(crate) struct Checked {
    pub(crate) listed: Box<RawValue>,
    /// `None` if deserializing a value into its type checks as much.
    pub(crate) validator: Option<Arc<Compiled>>,
    /// The author wrote it: it is never changed.
    written: bool,
}

impl Checked {
    /// Replaces references by their definitions in the listed text, unless the author wrote it.
    pub(crate) fn inline(&mut self) {
        if self.written {
            return;
        }
        if let Ok(mut schema) = value(self.listed.get()) {
            tidy::inline(&mut schema);
            self.listed = raw(&schema).unwrap_or_else(|_| self.listed.clone());
        }
    }
}

impl fmt::Debug for Checked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Checked").field("listed", &self.listed).finish_non_exhaustive()
    }
}

/// A plain argument, which is one parameter of the handler.
#[derive(Clone, Debug)]
pub(crate) struct Property {
    pub(crate) name: &'static str,
    /// Its description; empty if there is none.
    pub(crate) doc: &'static str,
    pub(crate) required: bool,
    pub(crate) schema: Value,
}

/// The generator for schemas of arguments, which are deserialized.
// no `$schema`: 2020-12 is the default without it (MCP 2025-11-25 basic, JSON Schema Usage)
pub(crate) fn input_generator() -> SchemaGenerator {
    SchemaSettings::draft2020_12().with(|settings| settings.meta_schema = None).into_generator()
}

/// The schema of `T` as a root, with its `$defs`. A title that only repeats `T`'s name is removed.
pub(crate) fn root<T: JsonSchema>(generator: &mut SchemaGenerator) -> Value {
    let mut schema = generator.root_schema_for::<T>().to_value();
    if let Value::Object(members) = &mut schema
        && members.get("title").is_some_and(|title| *title == *T::schema_name())
    {
        members.shift_remove("title");
    }
    schema
}

/// The schema of an object with these properties, in this order.
pub(crate) fn object(properties: Vec<Property>, defs: Map<String, Value>) -> Value {
    if properties.is_empty() {
        return nothing();
    }
    let required: Vec<_> = properties.iter().filter(|each| each.required).map(|each| each.name).collect();
    let mut schema = Map::new();
    schema.insert("type".to_owned(), "object".into());
    let properties = properties.into_iter().map(|each| (each.name.to_owned(), described(each)));
    schema.insert("properties".to_owned(), Value::Object(properties.collect()));
    if !required.is_empty() {
        schema.insert("required".to_owned(), required.into());
    }
    if !defs.is_empty() {
        schema.insert("$defs".to_owned(), Value::Object(defs));
    }
    Value::Object(schema)
}

/// The schema of a tool without arguments.
// MCP 2025-11-25 server/tools, Data Types: the recommended form of a tool without parameters
fn nothing() -> Value {
    json!({"type": "object", "properties": {}, "additionalProperties": false})
}

/// Whether `T` deserializes only from null, as `()` and unit structs do.
pub(crate) fn is_unit<T: JsonSchema>() -> bool {
    root::<T>(&mut input_generator()).get("type").is_some_and(|kind| kind == "null")
}

/// A property's schema, with the parameter's documentation instead of its type's.
fn described(property: Property) -> Value {
    let mut schema = match property.schema {
        Value::Object(members) => members,
        // `true`: any value
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => Map::new(),
    };
    if !property.doc.is_empty() {
        schema.shift_remove("description");
        schema.insert("description".to_owned(), property.doc.into());
    }
    Value::Object(schema)
}

/// A derived schema of arguments.
///
/// The listed schema accepts less than the server does: an optional property is listed with its plain type, but null is
/// still read as `None`. So values are checked against the schema before these changes.
///
/// The listed schema is enforced: where it forbids further members and serde may not refuse them, the validator does.
/// `is_closed` says that serde refuses them at the root.
pub(crate) fn derived_input(mut schema: Value, is_closed: bool) -> Result<Checked, SchemaError> {
    if schema.get("type").is_some_and(|kind| kind == "null") {
        schema = nothing();
    }
    must_be_object(&schema)?;
    if tidy::is_empty(&schema) {
        return Ok(Checked {
            listed: raw(&nothing())?,
            validator: Some(Arc::new(Compiled::Nothing)),
            written: false,
        });
    }
    let validator = compile(&schema)?;
    let more =
        tidy::says_more_than_serde(&mut schema) || tidy::closes_more_than_serde(&mut schema, is_closed);
    let validator = more.then_some(validator);
    tidy::for_clients(&mut schema);
    Ok(Checked { listed: raw(&schema)?, validator, written: false })
}

/// A derived schema of structured content.
pub(crate) fn derived_output<T: JsonSchema>() -> Result<Checked, SchemaError> {
    let mut generator = SchemaSettings::draft2020_12()
        .for_serialize()
        .with(|settings| settings.meta_schema = None)
        .into_generator();
    let mut schema = root::<T>(&mut generator);
    let validator = compile(&schema)?;
    tidy::output(&mut schema);
    Ok(Checked { listed: raw(&schema)?, validator: Some(validator), written: false })
}

/// A schema of arguments that the author wrote: listed as [`written`] and always checked.
pub(crate) fn written_input(json: &str) -> Result<Checked, SchemaError> {
    let checked = written(json)?;
    must_be_object(&value(checked.listed.get())?)?;
    Ok(checked)
}

/// A schema that the author wrote. It is listed without surrounding white space, and its line breaks, which a line of
/// stdio cannot contain, become spaces.
pub(crate) fn written(json: &str) -> Result<Checked, SchemaError> {
    let schema = value(json)?;
    let validator = compile(&schema)?;
    let listed = RawValue::from_string(in_one_line(json.trim()).into_owned())
        .map_err(|error| SchemaError::NotJson(error.to_string()))?;
    Ok(Checked { listed, validator: Some(validator), written: true })
}

fn value(json: &str) -> Result<Value, SchemaError> {
    serde_json::from_str(json).map_err(|error| SchemaError::NotJson(error.to_string()))
}

fn raw(schema: &Value) -> Result<Box<RawValue>, SchemaError> {
    serde_json::value::to_raw_value(schema).map_err(|error| SchemaError::NotJson(error.to_string()))
}

fn must_be_object(schema: &Value) -> Result<(), SchemaError> {
    if schema.get("type").is_some_and(|kind| kind == "object") {
        return Ok(());
    }
    Err(SchemaError::NotAnObject(match (schema.get("type").and_then(Value::as_str), schema.get("oneOf")) {
        (Some(kind), _) => format!("a value of type {kind}"),
        (None, Some(_)) => "an enum".to_owned(),
        (None, None) => "a value of any type".to_owned(),
    }))
}

/// # Errors
///
/// [`SchemaError::RemoteRef`] and [`SchemaError::Invalid`].
fn compile(schema: &Value) -> Result<Arc<Compiled>, SchemaError> {
    if let Some(remote) = tidy::remote_ref(schema) {
        return Err(SchemaError::RemoteRef(remote));
    }
    Compiled::of(schema).map(Arc::new).map_err(SchemaError::Invalid)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    fn is_checked<T: JsonSchema>() -> bool {
        derived_input(root::<T>(&mut input_generator()), false).unwrap().validator.is_some()
    }

    #[test]
    fn a_type_that_serde_checks_in_full_is_not_checked_twice() {
        #[derive(JsonSchema)]
        #[expect(dead_code, reason = "only its schema is looked at")]
        struct Plain {
            byte: u8,
            signed_byte: i8,
            words: Vec<u16>,
            signed: Vec<i16>,
            wide: Vec<Option<u32>>,
            wider: HashMap<String, u64>,
            size: usize,
            other: Option<i32>,
            real: f64,
            text: String,
            /// A member that is named like a keyword.
            pattern: Option<Vec<u8>>,
            any: Value,
        }
        #[derive(JsonSchema)]
        #[expect(dead_code, reason = "only its schema is looked at")]
        struct Ranged {
            inner: Vec<Inner>,
        }
        #[derive(JsonSchema)]
        #[expect(dead_code, reason = "only its schema is looked at")]
        struct Inner {
            #[schemars(range(max = 254))]
            a: u8,
        }
        assert!(is_checked::<Ranged>());
        assert!(!is_checked::<Plain>());
    }
}
