//! One field of a form: a string, a number, a boolean, or a choice of one or several values.

use serde_json::{Map, Value};

use super::choice::{Choice, Style, has_titles, items, merge_options, options, write_options};
use crate::{
    schema::drop_null,
    wire::era::{Feature, Revision},
};

/// Why a schema is not a form, and which property is at fault.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Unfit {
    pub(crate) property: String,
    pub(crate) reason: String,
}

impl Unfit {
    pub(crate) fn new(property: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { property: property.into(), reason: reason.into() }
    }
}

/// A field, in the newest revision's terms.
#[derive(Debug)]
pub(crate) struct Field {
    /// `title` and `description`, and the keywords of the kind that are the same in every revision.
    keywords: Map<String, Value>,
    kind: Kind,
    default: Option<Value>,
}

#[derive(Debug)]
enum Kind {
    /// `string`, `number` or `integer`: its keywords say all.
    Plain,
    Boolean,
    One {
        options: Vec<Choice>,
        style: Style,
    },
    /// `array`: from 2025-11-25 on.
    Several {
        options: Vec<Choice>,
        style: Style,
    },
}

const FORMATS: [&str; 4] = ["email", "uri", "date", "date-time"];
const TEXT: [&str; 3] = ["minLength", "maxLength", "pattern"];
const NUMBER: [&str; 2] = ["minimum", "maximum"];
const SEVERAL: [&str; 2] = ["minItems", "maxItems"];
/// Annotations in a type's schema that a form can do without.
const DROPPED: [&str; 8] =
    ["$schema", "$comment", "examples", "deprecated", "readOnly", "writeOnly", "format", "uniqueItems"];

impl Field {
    /// Reads the schema of a type's field.
    pub(crate) fn derived(name: &str, schema: Value) -> Result<Self, Unfit> {
        let mut schema = object(name, schema)?;
        // `Option<T>` allows null; a form omits the field instead
        drop_null(&mut schema);
        flatten_wrapper(&mut schema);
        if schema.get("format").is_some_and(|format| !is_format(format)) {
            schema.remove("format");
        }
        merge_options(&mut schema);
        if let Some(Value::Object(items)) = schema.get_mut("items") {
            merge_options(items);
        }
        let mut field = Self::read(name, &mut schema)?;
        if let Some(other) =
            schema.keys().find(|key| !DROPPED.contains(&key.as_str()) && !key.starts_with("x-"))
        {
            return Err(Unfit::new(name, format!("`{other}` is not supported in a form")));
        }
        if let Kind::One { style, .. } | Kind::Several { style, .. } = &mut field.kind
            && *style == Style::Named
        {
            *style = Style::Titled;
        }
        Ok(field)
    }

    /// Reads a field of a handwritten schema.
    pub(crate) fn written(name: &str, schema: Value) -> Result<Self, Unfit> {
        let mut schema = object(name, schema)?;
        if let Some(format) = schema.get("format")
            && !is_format(format)
        {
            return Err(Unfit::new(name, format!("the format {format} is not supported in a form")));
        }
        let field = Self::read(name, &mut schema)?;
        match schema.keys().next() {
            Some(other) => Err(Unfit::new(name, format!("`{other}` is not supported in a form"))),
            None => Ok(field),
        }
    }

    /// Takes the supported keywords out of the schema, and leaves the rest.
    fn read(name: &str, schema: &mut Map<String, Value>) -> Result<Self, Unfit> {
        let options = options(name, schema, "oneOf")?;
        let kind = schema.remove("type");
        let kind = match kind.as_ref().and_then(Value::as_str) {
            Some(kind) => kind,
            None if options.is_some() => "string",
            None => return Err(Unfit::new(name, "it must have a single type")),
        };
        let mut keywords = Map::new();
        keywords.insert("type".to_owned(), kind.into());
        take(schema, &mut keywords, &["title", "description"]);
        let default = schema.remove("default");
        let kind = match (kind, options) {
            ("string", Some((options, style))) => Kind::One { options, style },
            ("string", None) => {
                take(schema, &mut keywords, &TEXT);
                take(schema, &mut keywords, &["format"]);
                Kind::Plain
            }
            ("number" | "integer", None) => {
                take(schema, &mut keywords, &NUMBER);
                Kind::Plain
            }
            ("boolean", None) => Kind::Boolean,
            ("array", None) => {
                take(schema, &mut keywords, &SEVERAL);
                let (options, style) = items(name, schema.remove("items"))?;
                Kind::Several { options, style }
            }
            ("object", _) => return Err(Unfit::new(name, "it is an object; a form is flat")),
            (other, _) => return Err(Unfit::new(name, format!("a form has no field of type `{other}`"))),
        };
        Ok(Self { keywords, kind, default })
    }

    /// Whether the revision does not support the field as written.
    pub(crate) fn is_newer(&self, revision: Revision) -> bool {
        match &self.kind {
            Kind::Plain | Kind::Boolean => false,
            Kind::One { style, .. } => *style == Style::Titled && !has_titles(revision),
            Kind::Several { .. } => !revision.has(Feature::ElicitationMultiSelect),
        }
    }

    /// Whether it has a default that the revision does not support. Defaults of booleans are as old as elicitation.
    pub(crate) fn has_newer_default(&self, revision: Revision) -> bool {
        self.default.is_some()
            && !matches!(self.kind, Kind::Boolean)
            && !revision.has(Feature::ElicitationDefaults)
    }

    /// The schema for a revision; `None` if the revision cannot express it.
    pub(crate) fn encode(&self, revision: Revision) -> Option<Value> {
        let mut schema = self.keywords.clone();
        match &self.kind {
            Kind::Plain | Kind::Boolean => {}
            Kind::One { options, style } => write_options(&mut schema, options, *style, revision, "oneOf"),
            Kind::Several { .. } if self.is_newer(revision) => return None,
            Kind::Several { options, style } => {
                let mut items = Map::new();
                if *style == Style::Bare {
                    items.insert("type".to_owned(), "string".into());
                }
                write_options(&mut items, options, *style, revision, "anyOf");
                schema.insert("items".to_owned(), items.into());
            }
        }
        if let Some(default) = &self.default
            && !self.has_newer_default(revision)
        {
            schema.insert("default".to_owned(), default.clone());
        }
        Some(schema.into())
    }
}

fn object(name: &str, schema: Value) -> Result<Map<String, Value>, Unfit> {
    match schema {
        Value::Object(schema) if schema.contains_key("$ref") => {
            Err(Unfit::new(name, "it refers to another schema; a form is flat"))
        }
        Value::Object(schema) => Ok(schema),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Err(Unfit::new(name, "it may be anything; a field of a form must have a type"))
        }
    }
}

fn is_format(format: &Value) -> bool {
    format.as_str().is_some_and(|format| FORMATS.contains(&format))
}

fn take(from: &mut Map<String, Value>, to: &mut Map<String, Value>, keys: &[&str]) {
    for key in keys {
        if let Some(value) = from.remove(*key) {
            to.insert((*key).to_owned(), value);
        }
    }
}

/// Replaces an `anyOf` or `allOf` of one schema with that schema; keywords next to it take precedence.
fn flatten_wrapper(schema: &mut Map<String, Value>) {
    for key in ["anyOf", "allOf"] {
        let Some(Value::Array(parts)) = schema.get_mut(key) else { continue };
        if let [Value::Object(_)] = parts.as_slice()
            && let Some(Value::Object(inner)) = parts.pop()
        {
            schema.remove(key);
            for (key, value) in inner {
                schema.entry(key).or_insert(value);
            }
        }
    }
}
