//! Arguments: JSON text in, the handler's type out, or an error that names the fault.

use std::{
    borrow::Cow,
    fmt,
    future::{Future, ready},
    ops::Deref,
};

use schemars::JsonSchema;
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, MapAccess, Visitor},
};
use serde_json::value::RawValue;

use crate::{
    call::{
        Call,
        extract::{FromCall, HandlerSpec, whole},
    },
    schema,
    wire::error::McpError,
};

/// All arguments of a call as one `T`, usually a struct: those of a tool or a prompt, or the variables of a resource
/// template.
///
/// Unknown members are ignored unless `T` has `#[serde(deny_unknown_fields)]`.
///
/// An integer may be written as a float, as in JSON Schema: any integer type reads `10.0` and `1e1` as `10`. It refuses
/// `10.5`, `"10"` and numbers out of its range. An `f64`, a `serde_json::Value` and a string keep what was sent.
///
/// A tool without arguments (no `Args`, `Args<()>`, or a struct without fields) refuses every member, as its listed
/// schema says: a client that sends a dummy argument gets an error that names it. To accept and ignore such arguments,
/// take `Args<serde_json::Map<String, serde_json::Value>>`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Args<T>(pub T);

impl<T> Args<T> {
    /// The arguments.
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<T> Deref for Args<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// A type that can be the arguments of a call: `Deserialize` and `JsonSchema`. Implemented for every type that is both.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the arguments of a call: it needs both `Deserialize` and `JsonSchema`",
    label = "lacks `Deserialize` or `JsonSchema`",
    note = "add `#[derive(serde::Deserialize, schemars::JsonSchema)]` to your type: `{Self}`, or what is in it"
)]
pub trait Arguments: DeserializeOwned + JsonSchema + 'static {}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema + 'static> Arguments for T {}

impl<T: Arguments> FromCall for Args<T> {
    fn describe(spec: &mut HandlerSpec) {
        spec.whole::<T>();
    }

    fn from_call(call: &Call) -> impl Future<Output = Result<Self, McpError>> {
        let text = call.arguments();
        // `()` is read from null; it is the schema that refuses members
        let unit = |error| match of_nothing() {
            Some(unit) if text.trim_start().starts_with('{') && schema::is_unit::<T>() => Ok(unit),
            _ => Err(error),
        };
        ready(parse(text, "").or_else(unit).map(Self))
    }
}

/// Reads a value. An error names the path of the fault, below the argument `name` if there is one.
///
/// A valid value is read once. What serde refuses is read again, to accept `10.0` as an integer and to find the path.
fn parse<T: DeserializeOwned>(text: &str, name: &str) -> Result<T, McpError> {
    serde_json::from_str(text).or_else(|_| {
        let rewritten = whole::rewritten::<T>(text);
        with_path(rewritten.as_deref().unwrap_or(text), name)
    })
}

fn with_path<'de, T: Deserialize<'de>>(text: &'de str, name: &str) -> Result<T, McpError> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| refused(&error, name))?;
    // serde_json reads `5.5` as a u128 up to its point
    deserializer.end().map_err(|error| bad(name, &sentence(&error)))?;
    Ok(value)
}

fn refused(error: &serde_path_to_error::Error<serde_json::Error>, name: &str) -> McpError {
    let path = error.path().to_string();
    let path = match (name, path.as_str()) {
        (name, "." | "?") => name.to_owned(),
        ("", path) => path.to_owned(),
        (name, path) if path.starts_with('[') => format!("{name}{path}"),
        (name, path) => format!("{name}.{path}"),
    };
    bad(&path, &sentence(error.inner()))
}

/// serde_json's text, shortened, and without the line and column: the model has never seen them.
pub(crate) fn sentence(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    cut(text.strip_suffix(&place).unwrap_or(&text))
}

/// At most 500 characters: some errors quote the value.
pub(crate) fn cut(text: &str) -> String {
    match text.char_indices().nth(500) {
        Some((end, _)) => format!("{}..", &text[..end]),
        None => text.to_owned(),
    }
}

/// -32602 for the argument at this path; for all of them if it is empty.
pub(crate) fn bad(path: &str, what: &str) -> McpError {
    McpError::invalid_params(if path.is_empty() {
        format!("arguments: {what}")
    } else {
        format!("argument `{}`: {what}", cut(path))
    })
}

/// The members of the arguments, each still JSON text.
#[derive(Debug, Default)]
pub(crate) struct Fields<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> Fields<'a> {
    /// Splits the arguments in one pass.
    pub(crate) fn read(call: &'a Call) -> Result<Self, McpError> {
        let text = call.arguments();
        serde_json::from_str(text).or_else(|_| with_path(text, ""))
    }
}

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;

        impl<'de> Visitor<'de> for Members {
            type Value = Fields<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields<'de>, A::Error> {
                let mut fields = Vec::with_capacity(4);
                while let Some((Name(name), value)) = map.next_entry()? {
                    fields.push((name, value));
                }
                Ok(Fields(fields))
            }
        }

        deserializer.deserialize_map(Members)
    }
}

/// A member's name, borrowed unless it holds an escape; a plain `Cow` would always be copied.
#[derive(Deserialize)]
#[serde(transparent)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

/// One argument. An absent one is what serde makes of nothing: `None`, or JSON null.
pub(crate) fn argument<T: DeserializeOwned>(fields: &Fields<'_>, name: &str) -> Result<T, McpError> {
    let mut given = fields.0.iter().filter(|(key, _)| key == name);
    let Some((_, value)) = given.next() else {
        return of_nothing().ok_or_else(|| bad(name, "missing"));
    };
    if given.next().is_some() {
        return Err(bad(name, "duplicate"));
    }
    parse(value.get(), name)
}

/// The value of an absent member, if its type has one.
pub(crate) fn of_nothing<T: DeserializeOwned>() -> Option<T> {
    T::deserialize(serde::de::value::UnitDeserializer::<serde::de::value::Error>::new()).ok()
}
