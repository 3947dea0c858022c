//! The members of a message, before its kind is known.

use std::{borrow::Cow, fmt};

use bytestring::ByteString;
use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, Visitor},
};
use serde_json::value::RawValue;

use super::{
    Looks, ReadLimits,
    parameters::{Finder, Found},
};
use crate::wire::{error::McpError, id::RequestId, params};

/// The parameters, if there are any.
#[derive(Default)]
pub(super) enum Params {
    #[default]
    Absent,
    NotAnObject,
    Object(Found),
}

/// The members of a message, as text; unknown ones are skipped.
#[derive(Default)]
pub(super) struct Envelope<'a> {
    jsonrpc: Option<&'a RawValue>,
    id: Option<&'a RawValue>,
    method: Option<&'a RawValue>,
    pub(super) params: Params,
    pub(super) result: Option<&'a RawValue>,
    pub(super) error: Option<&'a RawValue>,
    /// The first member that is duplicated.
    twice: Option<&'static str>,
    id_twice: bool,
    /// The duplicate ids differ.
    two_ids: bool,
    /// A `result` or an `error` that is null.
    null_outcome: bool,
}

impl<'a> Envelope<'a> {
    pub(super) fn looks(&self) -> Looks {
        let has_outcome = self.result.or(self.error).is_some();
        match (self.method, self.id) {
            (Some(_), None) => Looks::Notification,
            // it may have been meant as an answer, and an answer is never answered
            (Some(_), Some(_)) if has_outcome => Looks::Response,
            (Some(_), Some(_)) => Looks::Request,
            (None, _) if has_outcome || self.null_outcome => Looks::Response,
            (None, _) => Looks::Unknown,
        }
    }

    /// Treats members that are null as absent. Not `id`: null is not an id, and does not make the message a
    /// notification.
    fn without_nulls(mut self) -> Self {
        let is_null = |raw: &&RawValue| raw.get() == "null";
        self.null_outcome = self.result.or(self.error).is_some();
        for member in [&mut self.method, &mut self.result, &mut self.error] {
            if member.as_ref().is_some_and(is_null) {
                *member = None;
            }
        }
        self
    }

    /// The id of the server-initiated request that this message answers, if it can be read.
    pub(super) fn answers(&self, limits: &ReadLimits) -> Option<RequestId> {
        if self.looks() != Looks::Response || self.two_ids {
            return None;
        }
        self.read_id(limits).ok().flatten()
    }

    pub(super) fn id(&self, limits: &ReadLimits) -> Result<Option<RequestId>, McpError> {
        // of two ids, it is unclear which is meant
        if self.id_twice { Ok(None) } else { self.read_id(limits) }
    }

    fn read_id(&self, limits: &ReadLimits) -> Result<Option<RequestId>, McpError> {
        let Some(raw) = self.id else { return Ok(None) };
        // MCP 2025-11-25 basic, Requests: MUST be a string or integer and MUST NOT be null
        let id = RequestId::read(raw.get()).ok_or_else(|| {
            McpError::invalid_request("`id` is neither a string nor an integer from -2^63 to 2^64-1")
        })?;
        if id.len() > limits.id_bytes.max(MAX_NUMBER) {
            let most = limits.id_bytes;
            return Err(McpError::invalid_request(format!("`id` is longer than {most} bytes")));
        }
        Ok(Some(id))
    }

    /// Checks what every message must satisfy.
    pub(super) fn check(&self) -> Result<(), McpError> {
        if let Some(member) = self.twice {
            return Err(McpError::invalid_request(format!("duplicate member `{member}`")));
        }
        match self.jsonrpc.map(RawValue::get) {
            // as it is usually written, and with escapes
            Some(r#""2.0""#) => {}
            Some(raw) if serde_json::from_str::<String>(raw).is_ok_and(|version| version == "2.0") => {}
            Some(_) => return Err(McpError::invalid_request("`jsonrpc` is not \"2.0\"")),
            None => return Err(McpError::invalid_request("`jsonrpc` is missing")),
        }
        match (self.method, self.result, self.error) {
            (_, Some(_), Some(_)) => {
                Err(McpError::invalid_request("a response has `result` or `error`, not both"))
            }
            (Some(_), Some(_), None) => {
                Err(McpError::invalid_request("a message has `method` or `result`, not both"))
            }
            (Some(_), None, Some(_)) => {
                Err(McpError::invalid_request("a message has `method` or `error`, not both"))
            }
            (None, None, None) if self.null_outcome => {
                Err(McpError::invalid_request("a response has a `result` or an `error` that is not null"))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn method(&self, text: &ByteString, limits: &ReadLimits) -> Result<ByteString, McpError> {
        let raw = self.method.map_or("null", RawValue::get);
        let method =
            slice_str(text, raw).ok_or_else(|| McpError::invalid_request("`method` is not a string"))?;
        if method.len() > limits.name_bytes {
            let most = limits.name_bytes;
            return Err(McpError::invalid_params(format!("`method` is longer than {most} bytes")));
        }
        Ok(method)
    }
}

/// The length of the longest integer, including its sign.
const MAX_NUMBER: usize = 20;

/// A JSON string as a slice of `text` if it has no escapes, otherwise as a copy. `None` if it is not a string.
fn slice_str(text: &ByteString, raw: &str) -> Option<ByteString> {
    Some(match params::text(raw)? {
        Cow::Borrowed(inner) => text.slice_ref(inner),
        Cow::Owned(unescaped) => unescaped.into(),
    })
}

/// Reads a message that is a part of `text`.
struct Reader<'t> {
    text: &'t str,
    /// Whether to read the parameters as an object, which is tried first.
    object: bool,
}

impl<'a> Envelope<'a> {
    /// Reads `message`, which is a part of `text`.
    ///
    /// # Errors
    ///
    /// An error of the category "data" if it is not an object.
    pub(super) fn read(text: &str, message: &'a str) -> serde_json::Result<Self> {
        let read = |object| {
            let mut deserializer = serde_json::Deserializer::from_str(message);
            let envelope = deserializer.deserialize_map(Reader { text, object })?;
            deserializer.end().map(|()| envelope)
        };
        // text that cannot be read either way is not JSON, or not an object
        read(true).or_else(|_| read(false))
    }
}

impl<'de> Visitor<'de> for Reader<'_> {
    type Value = Envelope<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON-RPC message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Envelope<'de>, A::Error> {
        let mut envelope = Envelope::default();
        let mut params_seen = false;
        while let Some(member) = map.next_key::<Member>()? {
            let (name, slot) = match member {
                Member::Jsonrpc => ("jsonrpc", &mut envelope.jsonrpc),
                Member::Id => ("id", &mut envelope.id),
                Member::Method => ("method", &mut envelope.method),
                Member::Result => ("result", &mut envelope.result),
                Member::Error => ("error", &mut envelope.error),
                Member::Params => {
                    if params_seen {
                        envelope.twice.get_or_insert("params");
                    }
                    params_seen = true;
                    envelope.params = if self.object {
                        Params::Object(map.next_value_seed(Finder { text: self.text })?)
                    } else {
                        match map.next_value::<&RawValue>()?.get() {
                            "null" => Params::Absent,
                            _ => Params::NotAnObject,
                        }
                    };
                    continue;
                }
                Member::Other => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            let value: &RawValue = map.next_value()?;
            if let Some(before) = slot.replace(value) {
                envelope.twice.get_or_insert(name);
                envelope.id_twice |= name == "id";
                envelope.two_ids |= name == "id" && before.get() != value.get();
            }
        }
        Ok(envelope.without_nulls())
    }
}

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "lowercase")]
enum Member {
    Jsonrpc,
    Id,
    Method,
    Params,
    Result,
    Error,
    #[serde(other)]
    Other,
}
