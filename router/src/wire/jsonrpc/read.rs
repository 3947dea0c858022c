//! Reading: first UTF-8 and depth are checked, then the envelope is read and the parameters are located; they stay
//! text.

use std::fmt;

use bytes::{Buf, Bytes};
use bytestring::ByteString;
use serde::Deserialize;
use serde::{
    Deserializer,
    de::{IgnoredAny, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

use super::{
    Incoming, Notification, Parameters, Request, Response,
    envelope::{Envelope, Params},
};
use crate::wire::{
    error::{ErrorCode, McpError},
    id::RequestId,
};

const BOM: &[u8] = "\u{feff}".as_bytes();

/// Limits on the size of a message and its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct ReadLimits {
    /// Maximum bytes of a line on a byte stream; a longer line is skipped. 16 MiB by default. Over HTTP, the size of
    /// the body is limited instead.
    pub line_bytes: usize,
    /// Maximum nesting depth of arrays and objects, including the message itself. 64 by default.
    pub depth: usize,
    /// Maximum number of messages in a batch. 100 by default.
    pub batch: usize,
    /// Maximum bytes of a request id that is a string. 8 KiB by default.
    pub id_bytes: usize,
    /// Maximum bytes of a method, of the name of a tool or prompt, or of a URI. 8 KiB by default.
    pub name_bytes: usize,
}

impl Default for ReadLimits {
    fn default() -> Self {
        Self { line_bytes: 16 * 1024 * 1024, depth: 64, batch: 100, id_bytes: 8 * 1024, name_bytes: 8 * 1024 }
    }
}

/// What a body or a line held.
#[derive(Debug)]
pub enum Payload {
    /// One message.
    One(Incoming),
    /// A non-empty array of messages, each read on its own. Whether batches are allowed is decided later, by
    /// `Revision::has(Feature::Batching)`.
    Batch(Vec<Result<Incoming, Malformed>>),
}

/// What a malformed message looks like, which decides whether its sender waits for an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Looks {
    /// Not a message: not JSON, not an object, or an object without `method`, `result` and `error`.
    Unknown,
    /// It has a `method` and an `id`, valid or not, and neither a `result` nor an `error`.
    Request,
    /// It has a `method` and no `id`.
    Notification,
    /// It has a `result` or an `error`: the answer to a server-initiated request, or meant as one.
    Response,
}

/// Text that is not a message, and the error that says why.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{error}")]
pub struct Malformed {
    /// The id for the error response, if it could be read. `None` for a message that looks like a response, whose id is
    /// not that of a client's request.
    // MCP 2025-11-25 basic/transports, Sending Messages 4: an error response that has no `id`
    pub id: Option<RequestId>,
    /// The ids of the server-initiated requests that it answers, as far as they can be read: these get no other answer.
    pub answers: Vec<RequestId>,
    /// What it looks like.
    pub looks: Looks,
    /// The error to answer with, if it is answered.
    pub error: McpError,
}

impl Malformed {
    /// Whether its sender may wait for an answer. Over HTTP, every exchange gets at least a status; on a pipe, a
    /// message that looks like a notification or a response is never answered.
    #[must_use]
    pub fn wants_answer(&self) -> bool {
        matches!(self.looks, Looks::Unknown | Looks::Request)
    }

    /// Text that is refused as a whole.
    #[must_use]
    pub fn unknown(error: McpError) -> Self {
        Self { id: None, answers: Vec::new(), looks: Looks::Unknown, error }
    }

    /// A request that is refused before its method is looked at.
    #[must_use]
    pub fn request(id: RequestId, error: McpError) -> Self {
        Self { id: Some(id), answers: Vec::new(), looks: Looks::Request, error }
    }

    /// The error for the calls that wait for the [`answers`](Self::answers).
    #[must_use]
    pub fn why_unanswered(&self) -> McpError {
        unanswered(&self.error)
    }
}

/// The error for a call whose awaited answer was refused with this error.
#[must_use]
pub fn unanswered(error: &McpError) -> McpError {
    McpError::new(error.code, format!("the client's answer was refused: {}", error.message))
}

impl Payload {
    /// The ids of the server-initiated requests that it answers.
    #[must_use]
    pub fn answers(&self) -> Vec<RequestId> {
        let of = |message: &Incoming| match message {
            Incoming::Response(response) => vec![response.id.clone()],
            Incoming::Request(_) | Incoming::Notification(_) => Vec::new(),
        };
        match self {
            Self::One(message) => of(message),
            Self::Batch(messages) => messages
                .iter()
                .flat_map(|message| match message {
                    Ok(message) => of(message),
                    Err(malformed) => malformed.answers.clone(),
                })
                .collect(),
        }
    }
}

/// Reads a body or a line. A leading BOM and white space around the message are skipped.
///
/// The result holds slices of `text`; only ids, method names with escapes and errors of the client are copied.
///
/// # Errors
///
/// [`Malformed`] with -32700 for text that is not JSON in UTF-8, -32602 for `params` that are not an object or a method
/// name over its limit, -32600 for everything else that is not a message. Its `id` is that of the request, if it
/// could be read.
pub fn read(mut text: Bytes, limits: &ReadLimits) -> Result<Payload, Malformed> {
    if text.starts_with(BOM) {
        text.advance(BOM.len());
    }
    let text = ByteString::try_from(text).map_err(|_| {
        Malformed::unknown(McpError::new(ErrorCode::PARSE_ERROR, "the message is not valid UTF-8"))
    })?;
    if u32::try_from(text.len()).is_err() {
        return Err(Malformed::unknown(McpError::invalid_request("the message is larger than 4 GiB")));
    }
    let shape = Shape::of(&text, limits.depth);
    match shape.first {
        Some(b'[') => read_batch(&text, &shape, limits),
        _ => read_one(&text, &text, shape.refusal(limits), limits).map(Payload::One),
    }
}

/// What a scan of the text shows before it is parsed.
struct Shape {
    /// The first byte that is not white space.
    first: Option<u8>,
    /// The nesting depth, or an upper bound that is within the limit. Meaningless for text that is not JSON, which the
    /// parser refuses.
    depth: usize,
    /// Whether a member has one of the names in [`RESERVED`].
    reserved: bool,
}

/// Member names that `serde_json` reserves for itself. It parses the string in such a member once more, which could
/// exceed the depth limit and give a handler data that no check of the text has seen.
const RESERVED: [&str; 2] = ["$serde_json::private::RawValue", "$serde_json::private::Number"];

impl Shape {
    fn of(text: &str, deepest: usize) -> Self {
        let first = text.bytes().find(|byte| !byte.is_ascii_whitespace());
        // the number of openers bounds the depth; most messages have few, and counting them is fast
        let openers = text.bytes().filter(|byte| matches!(byte, b'{' | b'[')).count();
        let depth = if openers <= deepest { openers } else { Self::depth(text) };
        Self { first, depth, reserved: Self::reserved(text) }
    }

    /// Why the message is refused, if its shape is the reason.
    fn refusal(&self, limits: &ReadLimits) -> Option<McpError> {
        let refuse = |text: String| Some(McpError::invalid_request(text));
        if self.depth > limits.depth {
            return refuse(format!("the message nests deeper than {} levels", limits.depth));
        }
        if self.reserved {
            return refuse(format!("no member may be named `{}`", RESERVED.join("` or `")));
        }
        None
    }

    fn reserved(text: &str) -> bool {
        // few texts contain such a name, or an escape that could hide one
        if !text.contains("$serde_json::private::") && !text.contains("\\u") {
            return false;
        }
        let mut rest = text;
        while let Some((_, string)) = rest.split_once('"') {
            let mut bytes = string.bytes();
            skip_string(&mut bytes);
            let (string, after) = string.split_at(string.len() - bytes.len());
            rest = after;
            if after.trim_start().starts_with(':') && string.strip_suffix('"').is_some_and(is_reserved) {
                return true;
            }
        }
        false
    }

    /// Counts without recursion: neither this nor `RawValue`'s reader can be made to overflow the stack.
    fn depth(text: &str) -> usize {
        let (mut now, mut depth) = (0_usize, 0_usize);
        let mut bytes = text.bytes();
        while let Some(byte) = bytes.next() {
            match byte {
                b'"' => skip_string(&mut bytes),
                b'{' | b'[' => {
                    now += 1;
                    depth = depth.max(now);
                }
                b'}' | b']' => now = now.saturating_sub(1),
                _ => {}
            }
        }
        depth
    }
}

/// Whether the text of a JSON string, without its quotes, is a name of [`RESERVED`].
fn is_reserved(name: &str) -> bool {
    let longest = RESERVED.iter().map(|name| name.len()).max().unwrap_or_default() * r"\u0000".len();
    if !name.contains('\\') || name.len() > longest {
        return RESERVED.contains(&name);
    }
    serde_json::from_str::<String>(&format!("\"{name}\"")).is_ok_and(|name| RESERVED.contains(&&*name))
}

fn skip_string(bytes: &mut std::str::Bytes<'_>) {
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => return,
            b'\\' => drop(bytes.next()),
            _ => {}
        }
    }
}

fn read_batch(text: &ByteString, shape: &Shape, limits: &ReadLimits) -> Result<Payload, Malformed> {
    let elements = match Elements::read(text, limits.batch) {
        Ok(elements) => elements,
        Err(error) => return Err(Malformed::unknown(no_json(&error))),
    };
    let read = |element: &&RawValue| read_one(text, element.get(), None, limits);
    let refuse = |error| {
        // the batch is refused as a whole, including the answers in it
        let answers = Payload::Batch(elements.kept.iter().map(read).collect()).answers();
        Err(Malformed { answers, ..Malformed::unknown(error) })
    };
    if elements.total == 0 {
        return refuse(McpError::invalid_request("a batch must hold at least one message"));
    }
    if elements.total > limits.batch {
        return refuse(McpError::invalid_request(format!(
            "a batch holds at most {} messages, this one has {}",
            limits.batch, elements.total
        )));
    }
    if let Some(error) = shape.refusal(limits) {
        return refuse(error);
    }
    Ok(Payload::Batch(elements.kept.iter().map(read).collect()))
}

/// Reads one message, which is a part of `text`; the result holds slices of `text`. `refusal` is an error that was
/// already found in the text.
fn read_one(
    text: &ByteString,
    message: &str,
    refusal: Option<McpError>,
    limits: &ReadLimits,
) -> Result<Incoming, Malformed> {
    let envelope = match Envelope::read(text, message) {
        Ok(envelope) => envelope,
        // it parses, but is not an object
        Err(error) if error.is_data() && serde_json::from_str::<IgnoredAny>(message).is_ok() => {
            return Err(Malformed::unknown(McpError::invalid_request("a message must be a JSON object")));
        }
        Err(error) => return Err(Malformed::unknown(no_json(&error))),
    };
    let looks = envelope.looks();
    let (id, bad_id) = match envelope.id(limits) {
        Ok(id) => (id, None),
        Err(error) => (None, Some(error)),
    };
    let answers = envelope.answers(limits);
    let refuse = |error| Malformed {
        id: id.clone().filter(|_| looks != Looks::Response),
        answers: answers.iter().cloned().collect(),
        looks,
        error,
    };

    if let Some(error) = refusal {
        return Err(refuse(error));
    }
    envelope.check().map_err(refuse)?;
    if let Some(error) = bad_id {
        return Err(refuse(error));
    }
    let slice = |raw: &RawValue| text.slice_ref(raw.get());
    match (looks, id.clone()) {
        (Looks::Request, Some(id)) => {
            let method = envelope.method(text, limits).map_err(refuse)?;
            let params = match envelope.params {
                Params::Absent => Parameters::default(),
                Params::NotAnObject => {
                    return Err(refuse(McpError::invalid_params("`params` is not an object")));
                }
                Params::Object(found) => Parameters::found(text.clone(), found),
            };
            Ok(Incoming::Request(Request { id, method, params }))
        }
        (Looks::Notification, _) => {
            let method = envelope.method(text, limits).map_err(refuse)?;
            let params = match envelope.params {
                Params::Absent | Params::NotAnObject => Parameters::default(),
                Params::Object(found) => Parameters::found(text.clone(), found),
            };
            Ok(Incoming::Notification(Notification { method, params }))
        }
        (Looks::Response, Some(id)) => {
            let result = match (envelope.result, envelope.error) {
                (_, Some(error)) => Err(client_error(error).map_err(refuse)?),
                (result, None) => Ok(result.map(slice).unwrap_or_default()),
            };
            Ok(Incoming::Response(Response { id, result }))
        }
        (Looks::Response | Looks::Request, None) => Err(refuse(McpError::invalid_request("`id` is missing"))),
        (Looks::Unknown, _) => {
            Err(refuse(McpError::invalid_request("a message must have a `method`, a `result` or an `error`")))
        }
    }
}

fn no_json(error: &serde_json::Error) -> McpError {
    // the position only: the parser's message may quote the text
    let (line, column) = (error.line(), error.column());
    McpError::new(ErrorCode::PARSE_ERROR, format!("invalid JSON at line {line}, column {column}"))
}

/// Reads the `error` of a client's response.
fn client_error(raw: &RawValue) -> Result<McpError, McpError> {
    // serde would take an array for a struct
    let error = raw.get().starts_with('{').then(|| serde_json::from_str(raw.get()).ok());
    error.flatten().ok_or_else(|| {
        McpError::invalid_request("`error` is not an object with an integer `code` and a string `message`")
    })
}

/// The elements of an array, as text.
struct Elements<'a> {
    kept: Vec<&'a RawValue>,
    total: usize,
}

impl<'a> Elements<'a> {
    /// Keeps at most `most` elements, so that a body of tiny elements cannot take many times its size in memory.
    fn read(text: &'a str, most: usize) -> Result<Self, serde_json::Error> {
        struct Seq(usize);

        impl<'de> Visitor<'de> for Seq {
            type Value = Elements<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Elements<'de>, A::Error> {
                let mut elements = Elements { kept: Vec::new(), total: 0 };
                while let Some(element) = seq.next_element::<&RawValue>()? {
                    elements.total += 1;
                    if elements.kept.len() < self.0 {
                        elements.kept.push(element);
                    }
                }
                Ok(elements)
            }
        }

        let mut deserializer = serde_json::Deserializer::from_str(text);
        let elements = deserializer.deserialize_seq(Seq(most))?;
        deserializer.end()?;
        Ok(elements)
    }
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;
