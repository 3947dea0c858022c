//! Request ids and progress tokens: a string or an integer, echoed with the type and value they came with.
//!
//! **Invariant:** an id is read once, where its message enters, and written where its answer leaves. Calls and streams
//! are keyed by tokens, not by ids.

use std::{fmt, sync::Arc};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::wire::number;

/// The id of a request, as its sender chose it.
///
/// `1` and `"1"` are different ids. Integers range from -2^63 to 2^64 - 1; no other JSON value is an id. On the
/// wire an integer may be written as a float: `1.0` is the id `1`, and is answered as `1`.
// MCP 2025-11-25 basic, Requests: MUST be a string or integer and MUST NOT be null
#[derive(Clone, PartialEq, Eq, Hash)]
pub enum RequestId {
    /// An integer up to `i64::MAX`.
    Integer(i64),
    /// An integer above `i64::MAX`.
    Unsigned(u64),
    /// A string, empty ones included.
    String(Arc<str>),
}

impl RequestId {
    /// Reads an id from JSON text; `None` if it is neither a string nor an integer in range.
    // MCP 2025-11-25 schema, RequestId: a string or an integer, which `1.0` is as well (JSON Schema 2020-12 Validation
    // 6.1.1)
    pub(crate) fn read(json: &str) -> Option<Self> {
        let read = |json: &str| serde_json::from_str(json).ok();
        read(json).or_else(|| number::integer_of(json).and_then(|integer| read(&integer)))
    }

    /// The size of this id in bytes, to which the limit on id bytes applies. An integer counts as 20 bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Integer(_) | Self::Unsigned(_) => 20,
            Self::String(text) => text.len(),
        }
    }

    /// Whether this is the empty string, which is a valid id.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// As JSON: `7` or `"7"`.
impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(number) => number.fmt(f),
            Self::Unsigned(number) => number.fmt(f),
            Self::String(text) => fmt::Debug::fmt(text, f),
        }
    }
}

impl fmt::Debug for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<i64> for RequestId {
    fn from(number: i64) -> Self {
        Self::Integer(number)
    }
}

impl From<u64> for RequestId {
    fn from(number: u64) -> Self {
        i64::try_from(number).map_or(Self::Unsigned(number), Self::Integer)
    }
}

impl From<&str> for RequestId {
    fn from(text: &str) -> Self {
        Self::String(text.into())
    }
}

impl Serialize for RequestId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Integer(number) => serializer.serialize_i64(*number),
            Self::Unsigned(number) => serializer.serialize_u64(*number),
            Self::String(text) => serializer.serialize_str(text),
        }
    }
}

impl<'de> Deserialize<'de> for RequestId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;

        impl de::Visitor<'_> for Visitor {
            type Value = RequestId;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or an integer")
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<RequestId, E> {
                Ok(number.into())
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<RequestId, E> {
                Ok(number.into())
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<RequestId, E> {
                Ok(text.into())
            }
        }

        deserializer.deserialize_any(Visitor)
    }
}

/// The token with which a request asks for progress. It is read and echoed like an id: `1.0` as `1`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ProgressToken(pub RequestId);
/// The id of an error response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorId<'a> {
    /// The request's id.
    Given(&'a RequestId),
    /// No id: it could not be read, or must not be echoed.
    Absent,
    /// `null`: the same, at revisions whose schema requires the member. See `era::unreadable_id`.
    Null,
}
