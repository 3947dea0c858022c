//! The forms an elicitation can ask for: flat objects of strings, numbers, booleans and choices.
//!
//! A derived schema is read into a [`Form`] and written for the session's revision; a handwritten schema is only
//! checked against the supported subset and sent as written. Answers are validated against the schema that was sent.
// MCP 2025-11-25 client/elicitation, Requested Schema

use serde::de::DeserializeOwned;
use serde_json::{
    Map, Value, json,
    value::{RawValue, to_raw_value},
};

use super::field::{Field, Unfit};
use crate::{ask::question, call::round::Misfit, schema::unescape, wire::era::Revision};

/// A form: its fields in the order of the schema.
#[derive(Debug)]
pub(crate) struct Form {
    fields: Vec<(String, Field)>,
    required: Vec<String>,
    /// `()`: no fields, and the answer is parsed from `null`.
    is_unit: bool,
}

/// How a handwritten schema can be sent at the session's revision.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Stands {
    AsWritten,
    WithoutDefaults,
    Never,
}

impl Form {
    /// Reads the schema of a type. Annotations without a place in a form are dropped, and so is `Option`'s `null`.
    pub(crate) fn derived(schema: Value) -> Result<Self, Unfit> {
        let Value::Object(mut root) = schema else { return Err(whole("it is not a struct")) };
        if root.get("type").is_some_and(|kind| kind == "null") {
            return Ok(Self { fields: Vec::new(), required: Vec::new(), is_unit: true });
        }
        if root.get("type").is_none_or(|kind| kind != "object") {
            return Err(whole("it is not a struct with named fields"));
        }
        if root.contains_key("oneOf") || root.contains_key("anyOf") {
            return Err(whole("it is an enum with data; a form has one set of fields"));
        }
        if root.get("additionalProperties").is_some_and(|rest| rest != &Value::Bool(false)) {
            return Err(whole("it is a map; a form has named fields"));
        }
        let properties = match root.remove("properties") {
            Some(Value::Object(properties)) => properties,
            Some(_) | None => Map::new(),
        };
        Self::new(properties, root.remove("required"), Field::derived)
    }

    /// Reads a handwritten schema, to check that it is a form.
    pub(crate) fn written(schema: &RawValue) -> Result<Self, Unfit> {
        let schema: Value = serde_json::from_str(schema.get()).map_err(|error| whole(&error.to_string()))?;
        let Value::Object(mut root) = schema else { return Err(whole("it is not an object")) };
        if root.get("type").is_none_or(|kind| kind != "object") {
            return Err(whole("its type is not `object`"));
        }
        let Some(Value::Object(properties)) = root.remove("properties") else {
            return Err(whole("it has no `properties`"));
        };
        let required = root.remove("required");
        const ROOT: [&str; 5] = ["$schema", "type", "title", "description", "additionalProperties"];
        if let Some(other) = root.keys().find(|key| !ROOT.contains(&key.as_str())) {
            return Err(whole(&format!("`{other}` is not supported in a form")));
        }
        Self::new(properties, required, Field::written)
    }

    fn new(
        properties: Map<String, Value>,
        required: Option<Value>,
        field: fn(&str, Value) -> Result<Field, Unfit>,
    ) -> Result<Self, Unfit> {
        let fields = properties
            .into_iter()
            .map(|(name, schema)| field(&name, schema).map(|field| (name, field)))
            .collect::<Result<Vec<_>, _>>()?;
        let required = match required {
            Some(list) => {
                serde_json::from_value(list).map_err(|_| whole("`required` is not a list of names"))?
            }
            None => Vec::new(),
        };
        Ok(Self { fields, required, is_unit: false })
    }

    /// Whether a handwritten schema can be sent as written, or with `encode`, which omits unsupported defaults. Nothing
    /// else in it may change.
    pub(crate) fn stands(&self, revision: Revision) -> Stands {
        let fields = || self.fields.iter().map(|(_, field)| field);
        if fields().any(|field| field.is_newer(revision)) {
            Stands::Never
        } else if fields().any(|field| field.has_newer_default(revision)) {
            Stands::WithoutDefaults
        } else {
            Stands::AsWritten
        }
    }

    /// The schema for a revision; `None` if the revision cannot express it.
    ///
    /// Defaults that an older revision lacks are omitted, and titles of a choice are written in its way.
    pub(crate) fn encode(&self, revision: Revision) -> Result<Option<Box<RawValue>>, Unfit> {
        let mut properties = Map::new();
        for (name, field) in &self.fields {
            let Some(schema) = field.encode(revision) else { return Ok(None) };
            properties.insert(name.clone(), schema);
        }
        let mut root = json!({ "type": "object", "properties": properties });
        if !self.required.is_empty() {
            root["required"] = json!(self.required);
        }
        to_raw_value(&root).map(Some).map_err(|error| whole(&error.to_string()))
    }

    /// Checks the content of an answer against the schema that was sent.
    pub(crate) fn check(&self, schema: &RawValue, content: &str) -> Result<(), Misfit> {
        let content: Value =
            serde_json::from_str(content).map_err(|_| Misfit::new("content", "it cannot be parsed"))?;
        if !content.is_object() {
            return Err(Misfit::new("content", "it is not an object"));
        }
        validate(schema, &content)
    }

    /// Parses content that was checked.
    pub(crate) fn parse<T: DeserializeOwned>(&self, content: &str) -> Result<T, Misfit> {
        question::read(if self.is_unit { "null" } else { content }, "content")
    }
}

/// Validates the content against the schema, formats included.
fn validate(schema: &RawValue, content: &Value) -> Result<(), Misfit> {
    use jsonschema::error::ValidationErrorKind;

    let not_ours = || Misfit::new("requestedSchema", "the schema itself is not valid");
    let schema: Value = serde_json::from_str(schema.get()).map_err(|_| not_ours())?;
    let validator = jsonschema::options().should_validate_formats(true).build(&schema);
    let validator = validator.map_err(|_| not_ours())?;
    let Err(error) = validator.validate(content) else { return Ok(()) };
    let path = error.instance_path().to_string();
    if let ValidationErrorKind::Required { property } = error.kind() {
        let field = property.as_str().unwrap_or("content");
        return Err(Misfit::new(field, "it is required"));
    }
    let field = path.split('/').nth(1).map_or_else(|| "content".to_owned(), unescape);
    // without the value: an error may be logged, an answer must not
    Err(Misfit::new(field, error.masked().to_string()))
}

fn whole(reason: &str) -> Unfit {
    Unfit::new("requestedSchema", reason)
}
