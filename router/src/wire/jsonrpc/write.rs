//! Writing: one message, one buffer, one line.

use std::{
    borrow::Cow,
    io::{self, Write},
};

use bytes::Bytes;
use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

use crate::wire::{
    error::McpError,
    id::{ErrorId, RequestId},
};

/// A response with a result. If the result does not serialize, the response is -32603 and the log has the error.
pub fn encode_result(id: &RequestId, result: &impl Serialize) -> Bytes {
    try_encode_result(id, &[], result).unwrap_or_else(|error| {
        log::error!("a result does not serialize: {error}");
        encode_error(ErrorId::Given(id), &McpError::internal())
    })
}

/// A response with a result, or the error if it does not serialize. The result is an object, and begins with the
/// members of `head`.
pub(crate) fn try_encode_result(
    id: &RequestId,
    head: &[&[u8]],
    result: &impl Serialize,
) -> serde_json::Result<Bytes> {
    let mut out = Message::new(256);
    out.member("id", id)?;
    let join = out.open_result(head);
    result.serialize(&mut Serializer::with_formatter(&mut out.0, OneLine))?;
    out.join(join);
    Ok(out.end())
}

/// A response whose result is already JSON text, an object that begins with the members of `head`.
pub(crate) fn encode_raw_result(id: &RequestId, head: &[&[u8]], result: &[u8]) -> Bytes {
    let head_len: usize = head.iter().map(|members| members.len() + 1).sum();
    let mut out = Message::new(result.len() + head_len + 64);
    out.infallible("id", id);
    let join = out.open_result(head);
    out.0.extend_from_slice(result);
    out.join(join);
    out.end()
}

/// A response with an error.
#[must_use]
pub fn encode_error(id: ErrorId<'_>, error: &McpError) -> Bytes {
    let mut out = Message::new(192);
    match id {
        ErrorId::Given(id) => out.infallible("id", id),
        ErrorId::Absent => {}
        ErrorId::Null => out.raw_member("id", b"null"),
    }
    out.infallible("error", error);
    out.end()
}

/// A notification. Parameters that are `null` (such as `&()`) are left out, and so are those that do not serialize,
/// with an error in the log.
pub fn encode_notification(method: &str, params: &impl Serialize) -> Bytes {
    let mut out = Message::new(192);
    out.infallible("method", method);
    let start = out.0.len();
    out.infallible("params", params);
    if out.0[start..] == *br#","params":null"# {
        out.0.truncate(start);
    }
    out.end()
}

/// A notification, or the error if its parameters do not serialize.
pub(crate) fn try_encode_notification(method: &str, params: &impl Serialize) -> serde_json::Result<Bytes> {
    let mut out = Message::new(192);
    out.infallible("method", method);
    out.member("params", params)?;
    Ok(out.end())
}

/// A server-initiated request, with parameters that are already JSON text; without parameters if that is empty.
#[must_use]
pub fn encode_request(id: &RequestId, method: &str, params: &[u8]) -> Bytes {
    let mut out = Message::new(params.len() + 96);
    out.infallible("id", id);
    out.infallible("method", method);
    if !params.is_empty() {
        out.raw_member("params", params);
    }
    out.end()
}

/// A value as JSON on one line, written as messages are.
pub(crate) fn to_json(value: &(impl Serialize + ?Sized)) -> serde_json::Result<Bytes> {
    let mut out = Vec::with_capacity(128);
    value.serialize(&mut Serializer::with_formatter(&mut out, OneLine))?;
    Ok(out.into())
}

/// A message being written: `{"jsonrpc":"2.0"`, members, `}`.
struct Message(Vec<u8>);

impl Message {
    fn new(bytes: usize) -> Self {
        let mut out = Vec::with_capacity(bytes);
        out.extend_from_slice(br#"{"jsonrpc":"2.0""#);
        Self(out)
    }

    fn name(&mut self, name: &str) {
        self.0.extend_from_slice(b",\"");
        self.0.extend_from_slice(name.as_bytes());
        self.0.extend_from_slice(b"\":");
    }

    fn member(&mut self, name: &str, value: &(impl Serialize + ?Sized)) -> serde_json::Result<()> {
        self.name(name);
        value.serialize(&mut Serializer::with_formatter(&mut self.0, OneLine))
    }

    /// A member whose type always serializes.
    fn infallible(&mut self, name: &str, value: &(impl Serialize + ?Sized)) {
        let start = self.0.len();
        if let Err(error) = self.member(name, value) {
            log::error!("a member of a message does not serialize: {error}");
            self.0.truncate(start);
        }
    }

    fn raw_member(&mut self, name: &str, json: &[u8]) {
        self.name(name);
        self.0.extend_from_slice(json);
    }

    /// Begins the result with these members, some of which may be empty. The object that follows is joined to them.
    fn open_result(&mut self, head: &[&[u8]]) -> Option<usize> {
        self.name("result");
        let mut opener = b'{';
        for members in head.iter().filter(|members| !members.is_empty()) {
            self.0.push(std::mem::replace(&mut opener, b','));
            self.0.extend_from_slice(members);
        }
        (opener == b',').then_some(self.0.len())
    }

    /// Makes one object of the members before `at` and the object that was written after it.
    fn join(&mut self, at: Option<usize>) {
        let Some(at) = at else { return };
        match &self.0[at..] {
            b"{}" => self.0.truncate(at),
            _ => return self.0[at] = b',',
        }
        self.0.push(b'}');
    }

    fn end(mut self) -> Bytes {
        self.0.push(b'}');
        self.0.into()
    }
}

/// Compact, and without the characters that some readers treat as the end of a line.
///
/// serde_json escapes CR and LF in strings; U+0085, U+2028 and U+2029 are legal raw, but clients that split lines by
/// Unicode's rules hang on them. Raw values (an author's schema) may hold line ends between their tokens.
// MCP 2025-11-25 transports, stdio: messages MUST NOT contain embedded newlines
struct OneLine;

impl Formatter for OneLine {
    fn write_string_fragment<W: Write + ?Sized>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        write_one_line(writer, fragment)
    }

    fn write_raw_fragment<W: Write + ?Sized>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        write_one_line(writer, fragment)
    }
}

fn write_one_line<W: Write + ?Sized>(writer: &mut W, text: &str) -> io::Result<()> {
    // most text has none of the first bytes of a line end, and this loop checks many bytes at a time
    let plain = text.bytes().fold(true, |plain, byte| plain & !matches!(byte, b'\n' | b'\r' | 0xC2 | 0xE2));
    if plain {
        return writer.write_all(text.as_bytes());
    }
    let mut rest = text;
    while let Some((at, instead)) = next_line_end(rest) {
        let (before, after) = rest.split_at(at);
        writer.write_all(before.as_bytes())?;
        writer.write_all(instead.as_bytes())?;
        let mut chars = after.chars();
        chars.next();
        rest = chars.as_str();
    }
    writer.write_all(rest.as_bytes())
}

/// The position of the first character that may end a line, and what to write instead. A raw CR or LF is always between
/// tokens, never in a string, so a space means the same.
fn next_line_end(text: &str) -> Option<(usize, &'static str)> {
    let bytes = text.as_bytes();
    bytes.iter().enumerate().find_map(|(at, byte)| match (byte, bytes.get(at + 1), bytes.get(at + 2)) {
        (b'\n' | b'\r', _, _) => Some((at, " ")),
        (0xC2, Some(0x85), _) => Some((at, "\\u0085")),
        (0xE2, Some(0x80), Some(0xA8)) => Some((at, "\\u2028")),
        (0xE2, Some(0x80), Some(0xA9)) => Some((at, "\\u2029")),
        _ => None,
    })
}

/// JSON text without line breaks, which a line of stdio cannot hold. In JSON they can only be white space between
/// tokens.
pub(crate) fn in_one_line(json: &str) -> Cow<'_, str> {
    if json.contains(['\n', '\r']) { json.replace(['\n', '\r'], " ").into() } else { json.into() }
}

#[cfg(test)]
#[path = "write_tests.rs"]
mod tests;
