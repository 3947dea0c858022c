//! The members of an object as text, each checked when it is read: of a request's parameters, and of objects in them.
//!
//! Decoded by hand rather than by derive, so that every refusal names the member at fault.

use std::{borrow::Cow, fmt};

use serde::{
    Deserializer,
    de::{DeserializeSeed, IgnoredAny, MapAccess, Visitor},
};
use serde_json::value::RawValue;

use crate::wire::error::McpError;

/// Members of an object by their names, each checked when it is read.
pub(crate) trait Members<'a> {
    /// The path to the object, such as `ref.`; empty for `params` itself.
    fn path(&self) -> &'static str;

    /// A member as it was sent, `null` included.
    fn raw(&self, name: &str) -> Option<&'a str>;

    /// A member that is present and not `null`.
    fn optional(&self, name: &str) -> Option<&'a str> {
        self.raw(name).filter(|json| *json != "null")
    }

    /// A required string of at most `most` bytes. Copied only if it has escapes.
    fn text(&self, name: &str, most: usize) -> Result<Cow<'a, str>, McpError> {
        let json = self.raw(name).ok_or_else(|| self.missing(name))?;
        let text = text(json).ok_or_else(|| self.mistyped(name, "a string"))?;
        if text.len() > most {
            let path = self.path();
            return Err(McpError::invalid_params(format!("`{path}{name}` is longer than {most} bytes")));
        }
        Ok(text)
    }

    /// Like [`text`](Self::text), as an owned string.
    fn string(&self, name: &str, most: usize) -> Result<String, McpError> {
        self.text(name, most).map(Cow::into_owned)
    }

    /// A string that may be absent or `null`.
    fn optional_text(&self, name: &str, most: usize) -> Result<Option<Cow<'a, str>>, McpError> {
        self.optional(name).map(|_| self.text(name, most)).transpose()
    }

    /// A boolean; absent or `null` means `false`.
    fn flag(&self, name: &str) -> Result<bool, McpError> {
        match self.optional(name) {
            None | Some("false") => Ok(false),
            Some("true") => Ok(true),
            Some(_) => Err(self.mistyped(name, "true or false")),
        }
    }

    /// The text of an object that may be absent or `null`.
    fn optional_object(&self, name: &str) -> Result<Option<&'a str>, McpError> {
        match self.optional(name) {
            Some(json) if !json.starts_with('{') => Err(self.mistyped(name, "an object")),
            object => Ok(object),
        }
    }

    /// The text of a required object.
    fn object(&self, name: &str) -> Result<&'a str, McpError> {
        match self.raw(name) {
            None => Err(self.missing(name)),
            Some(json) if json.starts_with('{') => Ok(json),
            Some(_) => Err(self.mistyped(name, "an object")),
        }
    }

    /// -32602: the member is missing.
    fn missing(&self, name: &str) -> McpError {
        McpError::invalid_params(format!("`{}{name}` is missing", self.path()))
    }

    /// -32602: the member has the wrong type.
    fn mistyped(&self, name: &str, wanted: &str) -> McpError {
        McpError::invalid_params(format!("`{}{name}` is not {wanted}", self.path()))
    }
}

/// The text of a JSON string. `None` if the value is not a string, or has an escape for a lone surrogate.
pub(crate) fn text(json: &str) -> Option<Cow<'_, str>> {
    match json.strip_prefix('"')?.strip_suffix('"')? {
        plain if !plain.contains('\\') => Some(Cow::Borrowed(plain)),
        _ => serde_json::from_str(json).ok().map(Cow::Owned),
    }
}

/// The requested members of one JSON object; others are ignored.
#[derive(Debug)]
pub(crate) struct Params<'a, const N: usize> {
    path: &'static str,
    names: [&'static str; N],
    found: [Option<&'a RawValue>; N],
}

impl<'a, const N: usize> Members<'a> for Params<'a, N> {
    fn path(&self) -> &'static str {
        self.path
    }

    fn raw(&self, name: &str) -> Option<&'a str> {
        let at = self.names.iter().position(|known| *known == name);
        debug_assert!(at.is_some(), "`{name}` was not requested");
        self.found[at?].map(RawValue::get)
    }
}

impl<'a, const N: usize> Params<'a, N> {
    /// Reads an object at `path`. Absent text counts as an object without members.
    ///
    /// # Errors
    ///
    /// -32602 if the text is not an object, or has a duplicate member, which is ambiguous.
    pub(crate) fn read(
        text: Option<&'a str>,
        path: &'static str,
        names: [&'static str; N],
    ) -> Result<Self, McpError> {
        let found = match text {
            None => [None; N],
            Some(text) => Self::members(text, &names).map_err(|error| match error {
                Refused::Twice(name) => McpError::invalid_params(format!("duplicate member `{path}{name}`")),
                Refused::NotAnObject => {
                    let whole = path.trim_end_matches('.');
                    McpError::invalid_params(format!("`{whole}` is not an object"))
                }
            })?,
        };
        Ok(Self { path, names, found })
    }

    fn members(text: &'a str, names: &[&'static str; N]) -> Result<[Option<&'a RawValue>; N], Refused> {
        let mut found = [None; N];
        let twice = find(text, names, &mut found).ok_or(Refused::NotAnObject)?;
        twice.map_or(Ok(found), |at| Err(Refused::Twice(names[at])))
    }
}

enum Refused {
    NotAnObject,
    Twice(&'static str),
}

/// Finds the members with these names; of duplicates, the last. Returns the index of the first name that has
/// duplicates, or `None` if the text is not an object.
pub(crate) fn find<'a>(
    json: &'a str,
    names: &[&str],
    found: &mut [Option<&'a RawValue>],
) -> Option<Option<usize>> {
    let mut deserializer = serde_json::Deserializer::from_str(json);
    let mut twice = None;
    let find = |at: usize, value| {
        if found[at].replace(value).is_some() {
            twice.get_or_insert(at);
        }
    };
    Wanted { names, find }.deserialize(&mut deserializer).ok()?;
    deserializer.end().ok()?;
    Some(twice)
}

/// Reads an object: passes each member with one of these names to `find`, with the name's index. Others are skipped.
pub(crate) struct Wanted<'m, F> {
    pub(crate) names: &'m [&'m str],
    pub(crate) find: F,
}

impl<'de, F: FnMut(usize, &'de RawValue)> DeserializeSeed<'de> for Wanted<'_, F> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, F: FnMut(usize, &'de RawValue)> Visitor<'de> for Wanted<'_, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        while let Some(at) = map.next_key_seed(Name(self.names))? {
            match at {
                Some(at) => (self.find)(at, map.next_value()?),
                None => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

/// Reads a member's name as its index in the list.
struct Name<'m>(&'m [&'m str]);

impl<'de> DeserializeSeed<'de> for Name<'_> {
    type Value = Option<usize>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl Visitor<'_> for Name<'_> {
    type Value = Option<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a member's name")
    }

    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        Ok(self.0.iter().position(|known| *known == name))
    }
}
