//! A method's parameters: the members it knows, as text, each checked where it is taken.
//!
//! Decoded by hand rather than by derive, so that every refusal names the member at fault.

use std::fmt;

use bytestring::ByteString;
use serde::{
    Deserializer,
    de::{DeserializeSeed, IgnoredAny, MapAccess, Visitor},
};
use serde_json::value::RawValue;

use crate::error::McpError;

/// The members of one JSON object that were asked for. Others are ignored.
#[derive(Debug)]
pub(crate) struct Params<'a, const N: usize> {
    /// The path to the object, such as `ref.`; empty for `params` itself.
    path: &'static str,
    names: [&'static str; N],
    found: [Option<&'a RawValue>; N],
}

impl<'a, const N: usize> Params<'a, N> {
    /// Reads an object at `path`. Text that is absent is an object without members.
    ///
    /// # Errors
    ///
    /// -32602 for what is no object, and for a member that is there twice: it could mean either.
    pub(crate) fn read(
        text: Option<&'a str>,
        path: &'static str,
        names: [&'static str; N],
    ) -> Result<Self, McpError> {
        let found = match text {
            None => [None; N],
            Some(text) => Self::members(text, &names).map_err(|error| match error {
                Refused::Twice(name) => McpError::invalid_params(format!("`{path}{name}` is there twice")),
                Refused::NoObject => {
                    let whole = path.strip_suffix('.').unwrap_or("params");
                    McpError::invalid_params(format!("`{whole}` is no object"))
                }
            })?,
        };
        Ok(Self { path, names, found })
    }

    fn members(text: &'a str, names: &[&'static str; N]) -> Result<[Option<&'a RawValue>; N], Refused> {
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let mut found = [None; N];
        let mut twice = None;
        let members = Members { names, found: &mut found, twice: &mut twice };
        deserializer.deserialize_map(members).map_err(|_| Refused::NoObject)?;
        deserializer.end().map_err(|_| Refused::NoObject)?;
        twice.map_or(Ok(found), |name| Err(Refused::Twice(name)))
    }

    /// A member as it came, `null` included.
    pub(crate) fn raw(&self, name: &str) -> Option<&'a RawValue> {
        let at = self.names.iter().position(|known| *known == name);
        debug_assert!(at.is_some(), "{name} was not asked for");
        self.found[at?]
    }

    /// A member that is there and not `null`.
    pub(crate) fn optional(&self, name: &str) -> Option<&'a RawValue> {
        self.raw(name).filter(|raw| raw.get() != "null")
    }

    /// A string that must be there, of at most so many bytes.
    pub(crate) fn string(&self, name: &str, most: usize) -> Result<ByteString, McpError> {
        let raw = self.raw(name).ok_or_else(|| self.missing(name))?;
        let text: String = serde_json::from_str(raw.get()).map_err(|_| self.mistyped(name, "a string"))?;
        if text.len() > most {
            let path = self.path;
            return Err(McpError::invalid_params(format!("`{path}{name}` is longer than {most} bytes")));
        }
        Ok(text.into())
    }

    /// A string that may be absent or `null`.
    pub(crate) fn optional_string(&self, name: &str, most: usize) -> Result<Option<ByteString>, McpError> {
        self.optional(name).map(|_| self.string(name, most)).transpose()
    }

    /// A truth value that may be absent or `null`, which means no.
    pub(crate) fn flag(&self, name: &str) -> Result<bool, McpError> {
        match self.optional(name).map(RawValue::get) {
            None | Some("false") => Ok(false),
            Some("true") => Ok(true),
            Some(_) => Err(self.mistyped(name, "true or false")),
        }
    }

    /// The text of an object that may be absent or `null`.
    pub(crate) fn optional_object(&self, name: &str) -> Result<Option<&'a RawValue>, McpError> {
        match self.optional(name) {
            Some(raw) if !raw.get().starts_with('{') => Err(self.mistyped(name, "an object")),
            object => Ok(object),
        }
    }

    /// The text of an object that must be there.
    pub(crate) fn object(&self, name: &str) -> Result<&'a RawValue, McpError> {
        match self.raw(name) {
            None => Err(self.missing(name)),
            Some(raw) if raw.get().starts_with('{') => Ok(raw),
            Some(_) => Err(self.mistyped(name, "an object")),
        }
    }

    /// -32602: the member is missing.
    pub(crate) fn missing(&self, name: &str) -> McpError {
        McpError::invalid_params(format!("`{}{name}` is missing", self.path))
    }

    /// -32602: the member is not what it should be.
    pub(crate) fn mistyped(&self, name: &str, wanted: &str) -> McpError {
        McpError::invalid_params(format!("`{}{name}` is not {wanted}", self.path))
    }
}

enum Refused {
    NoObject,
    Twice(&'static str),
}

struct Members<'m, 'a, const N: usize> {
    names: &'m [&'static str; N],
    found: &'m mut [Option<&'a RawValue>; N],
    twice: &'m mut Option<&'static str>,
}

impl<'a, const N: usize> Visitor<'a> for Members<'_, 'a, N> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(at) = map.next_key_seed(Name(self.names))? {
            match at {
                Some(at) => {
                    if self.found[at].replace(map.next_value()?).is_some() {
                        self.twice.get_or_insert(self.names[at]);
                    }
                }
                None => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

/// Reads a member's name as its place in the list.
struct Name<'m>(&'m [&'static str]);

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
