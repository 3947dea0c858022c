//! The parameters of a message: the positions in its text of the members that any method reads.
//!
//! They are found while the envelope is read, so there is no second search; their values stay text.

use bytestring::ByteString;
use serde::{Deserializer, de::DeserializeSeed};
use serde_json::value::RawValue;

use crate::wire::{
    error::McpError,
    params::{Members, Wanted},
};

/// The members that are found; others are skipped.
const NAMES: [&str; 17] = [
    // of the requests that run a handler
    "_meta",
    "name",
    "arguments",
    "uri",
    "requestState",
    "inputResponses",
    // of the other requests
    "cursor",
    "ref",
    "argument",
    "context",
    "notifications",
    "level",
    "protocolVersion",
    "capabilities",
    "clientInfo",
    // of `notifications/cancelled`
    "requestId",
    "reason",
];

/// The parameters of a request or a notification: an object whose members stay JSON text, which is not copied.
#[derive(Clone, Debug, Default)]
pub struct Parameters(Option<Box<Given>>);

#[derive(Clone, Debug)]
struct Given {
    /// The text that the positions refer to.
    text: ByteString,
    found: Found,
}

impl Parameters {
    /// Reads parameters from JSON text.
    ///
    /// # Errors
    ///
    /// -32602 if the text is not a JSON object.
    pub fn read(text: impl Into<ByteString>) -> Result<Self, McpError> {
        let text = text.into();
        let mut deserializer = serde_json::Deserializer::from_str(&text);
        let found = Finder { text: &text }.deserialize(&mut deserializer);
        let found = found.and_then(|found| deserializer.end().map(|()| found));
        let found = found.map_err(|_| McpError::invalid_params("`params` is not an object"))?;
        Ok(Self::found(text, found))
    }

    /// Parameters that were found in `text`.
    pub(super) fn found(text: ByteString, found: Found) -> Self {
        Self(Some(Box::new(Given { text, found })))
    }

    /// The members, if none is duplicated.
    ///
    /// # Errors
    ///
    /// -32602 for a duplicate member, which is ambiguous.
    pub(crate) fn members(&self) -> Result<&Self, McpError> {
        match self.0.as_ref().and_then(|given| given.found.twice) {
            Some(name) => Err(McpError::invalid_params(format!("duplicate member `{name}`"))),
            None => Ok(self),
        }
    }

    /// A part of them, without a copy.
    pub(crate) fn slice(&self, part: &str) -> ByteString {
        self.0.as_ref().map(|given| given.text.slice_ref(part)).unwrap_or_default()
    }
}

impl<'a> Members<'a> for &'a Parameters {
    fn path(&self) -> &'static str {
        ""
    }

    fn raw(&self, name: &str) -> Option<&'a str> {
        let at = NAMES.iter().position(|known| *known == name);
        debug_assert!(at.is_some(), "`{name}` is missing in `NAMES`");
        let given = self.0.as_ref()?;
        let Place { start, len } = given.found.places[at?];
        let (start, len) = (usize::try_from(start).ok()?, usize::try_from(len).ok()?);
        // no value of JSON is empty
        (len > 0).then(|| given.text.get(start..start + len)).flatten()
    }
}

/// The positions of the members.
#[derive(Clone, Debug, Default)]
pub(super) struct Found {
    places: [Place; NAMES.len()],
    /// The first member that is duplicated.
    twice: Option<&'static str>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Place {
    start: u32,
    /// 0 if the member is absent.
    len: u32,
}

/// Reads an object that is a part of `text`, which has at most `u32::MAX` bytes.
pub(super) struct Finder<'t> {
    pub(super) text: &'t str,
}

impl Finder<'_> {
    fn place(&self, value: &RawValue) -> Place {
        let value = value.get();
        let start = value.as_ptr().addr().wrapping_sub(self.text.as_ptr().addr());
        // a position beyond `u32` counts as absent; messages of that size are refused earlier
        let place =
            |start, len| Some(Place { start: u32::try_from(start).ok()?, len: u32::try_from(len).ok()? });
        place(start, value.len()).unwrap_or_default()
    }
}

impl<'de> DeserializeSeed<'de> for Finder<'_> {
    type Value = Found;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Found, D::Error> {
        let mut found = Found::default();
        let find = |at: usize, value: &RawValue| {
            if found.places[at].len > 0 {
                found.twice.get_or_insert(NAMES[at]);
            }
            found.places[at] = self.place(value);
        };
        Wanted { names: &NAMES, find }.deserialize(deserializer)?;
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_found_wherever_they_stand_and_however_their_names_are_written() {
        let text =
            r#" { "x": {"name":"inner"}, "na\u006de" : "echo", "arguments":{"a":[1, 2]} , "_meta":null } "#;
        let params = Parameters::read(text).unwrap();
        let params = params.members().unwrap();
        assert_eq!(params.raw("name"), Some(r#""echo""#));
        assert_eq!(params.raw("arguments"), Some(r#"{"a":[1, 2]}"#));
        assert_eq!(params.raw("_meta"), Some("null"));
        assert_eq!(params.raw("uri"), None);
        assert_eq!(&*params.slice(params.raw("name").unwrap()), r#""echo""#);
    }

    #[test]
    fn a_member_that_is_there_twice_is_refused_by_name_and_one_that_nobody_reads_is_not() {
        let twice = Parameters::read(r#"{"uri":1,"name":1,"name":2,"uri":2}"#).unwrap();
        assert_eq!(twice.members().unwrap_err().message, "duplicate member `name`");
        let ignored = Parameters::read(r#"{"x":1,"x":2,"name":1}"#).unwrap();
        assert!(ignored.members().is_ok());
    }

    #[test]
    fn what_is_no_object_is_refused() {
        for text in ["", "7", "[]", "null", r#""name""#, "{", "{}{}", r#"{"name":}"#] {
            let error = Parameters::read(text).unwrap_err();
            assert_eq!(error.message, "`params` is not an object", "{text}");
        }
    }

    #[test]
    fn none_have_no_members() {
        let none = Parameters::default();
        assert_eq!(none.members().unwrap().raw("name"), None);
    }
}
