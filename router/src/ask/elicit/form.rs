//! The forms an elicitation can ask for: flat objects of texts, numbers, switches and choices.
//!
//! A derived schema is read into a [`Form`] and written as the session's revision has it; an author's own schema is only
//! held against the subset and sent as it is. Both are what the answer is checked against.
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
    /// `()`: no fields, and what is parsed is `null`.
    is_unit: bool,
}

/// How far an author's own schema is one of the session's revision.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Stands {
    AsWritten,
    WithoutDefaults,
    Never,
}

impl Form {
    /// Reads a schema that a type gave: annotations without a place in a form are dropped, `Option`'s `null` too.
    pub(crate) fn derived(schema: Value) -> Result<Self, Unfit> {
        let Value::Object(mut root) = schema else { return Err(whole("it is no struct")) };
        if root.get("type").is_some_and(|kind| kind == "null") {
            return Ok(Self { fields: Vec::new(), required: Vec::new(), is_unit: true });
        }
        if root.get("type").is_none_or(|kind| kind != "object") {
            return Err(whole("it is no struct with named fields"));
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

    /// Reads a schema that an author wrote, to see that it is a form; it is sent as it is.
    pub(crate) fn written(schema: &RawValue) -> Result<Self, Unfit> {
        let schema: Value = serde_json::from_str(schema.get()).map_err(|error| whole(&error.to_string()))?;
        let Value::Object(mut root) = schema else { return Err(whole("it is no object")) };
        if root.get("type").is_none_or(|kind| kind != "object") {
            return Err(whole("its type is not `object`"));
        }
        let Some(Value::Object(properties)) = root.remove("properties") else {
            return Err(whole("it has no `properties`"));
        };
        let required = root.remove("required");
        const ROOT: [&str; 5] = ["$schema", "type", "title", "description", "additionalProperties"];
        if let Some(other) = root.keys().find(|key| !ROOT.contains(&key.as_str())) {
            return Err(whole(&format!("`{other}` is no part of a form")));
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
                serde_json::from_value(list).map_err(|_| whole("`required` is no list of names"))?
            }
            None => Vec::new(),
        };
        Ok(Self { fields, required, is_unit: false })
    }

    /// Whether a schema of an author's own may be sent as it is written; where it may not, `encode` leaves out its
    /// defaults, and the rest must not be reworded.
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

    /// The schema as the revision has it; `None` where it cannot be said.
    ///
    /// What an older revision lacks and nobody misses is left out (defaults) or said its way (titles of a choice).
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
            serde_json::from_str(content).map_err(|_| Misfit::new("content", "it cannot be read"))?;
        if !content.is_object() {
            return Err(Misfit::new("content", "it is no object"));
        }
        validate(schema, &content)
    }

    /// Parses what was checked.
    pub(crate) fn parse<T: DeserializeOwned>(&self, content: &str) -> Result<T, Misfit> {
        question::read(if self.is_unit { "null" } else { content }, "content")
    }
}

/// Holds the content against the schema, formats included.
fn validate(schema: &RawValue, content: &Value) -> Result<(), Misfit> {
    use jsonschema::error::ValidationErrorKind;

    let not_ours = |_| Misfit::new("requestedSchema", "the schema itself is not valid");
    let schema: Value = serde_json::from_str(schema.get())
        .map_err(|_| Misfit::new("requestedSchema", "the schema itself is not valid"))?;
    let validator = jsonschema::options().should_validate_formats(true).build(&schema).map_err(not_ours)?;
    let Err(error) = validator.validate(content) else { return Ok(()) };
    let path = error.instance_path().to_string();
    if let ValidationErrorKind::Required { property } = error.kind() {
        let field = property.as_str().unwrap_or("content");
        return Err(Misfit::new(field, "it is required"));
    }
    let field = path.split('/').nth(1).map_or_else(|| "content".to_owned(), unescape);
    // masked: an error travels further than an answer should
    Err(Misfit::new(field, error.masked().to_string()))
}

fn whole(reason: &str) -> Unfit {
    Unfit::new("requestedSchema", reason)
}
