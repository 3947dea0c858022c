//! JSON-RPC messages, read and written once each.
//!
//! [`read()`] turns a body or a line into a [`Payload`] whose parameters are slices of it; the `encode_*` functions
//! write one message into one buffer. Neither knows a method or a revision: `dispatch` and `era` do.
//!
//! Decoded by hand: a derived `Deserialize` fails as a whole, so an error could neither echo the id nor name the member
//! at fault.
//!
//! **Invariant:** every error for a request echoes its id if that could be read; an id is never made up.

mod envelope;
mod parameters;
mod read;
mod write;

use std::fmt;

use bytestring::ByteString;

pub(crate) use self::write::{
    encode_raw_result, in_one_line, to_json, try_encode_notification, try_encode_result,
};
pub use self::{
    parameters::Parameters,
    read::{Looks, Malformed, Payload, ReadLimits, read, unanswered},
    write::{encode_error, encode_notification, encode_request, encode_result},
};
use crate::wire::{
    error::{McpError, Shown},
    id::RequestId,
    method::Method,
    params::Members,
};

/// One message, by kind.
#[derive(Clone, Debug)]
pub enum Incoming {
    /// Expects an answer.
    Request(Request),
    /// Expects no answer.
    Notification(Notification),
    /// The answer to a server-initiated request.
    Response(Response),
}

/// A request: it will be answered exactly once, or cancelled.
#[derive(Clone, Debug)]
pub struct Request {
    /// The sender's id.
    pub id: RequestId,
    /// The method, such as `tools/call`.
    pub method: ByteString,
    /// The parameters; empty if absent.
    pub params: Parameters,
}

/// What a request asks for, in a form that is safe to log: the method, and the name of the tool or prompt.
#[derive(Clone, Debug)]
pub struct Target {
    method: ByteString,
    /// As JSON.
    name: ByteString,
}

impl Target {
    /// The target of this request. Nothing is copied.
    #[must_use]
    pub fn of(request: &Request) -> Self {
        let named = matches!(&*request.method, "tools/call" | "prompts/get");
        let name = named.then(|| (&request.params).raw("name")).flatten();
        let name = name.map(|name| request.params.slice(name)).unwrap_or_default();
        Self { method: request.method.clone(), name }
    }
}

/// Such as `tools/call "add"`. Text chosen by the client is quoted, escaped and cut at 100 characters.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match Method::of(&self.method) {
            Some(_) => f.write_str(&self.method)?,
            None => Shown(&self.method).fmt(f)?,
        }
        match serde_json::from_str::<String>(&self.name) {
            Ok(name) => write!(f, " {}", Shown(&name)),
            Err(_) => Ok(()),
        }
    }
}

/// A notification: never answered.
#[derive(Clone, Debug)]
pub struct Notification {
    /// The method, such as `notifications/cancelled`.
    pub method: ByteString,
    /// The parameters; empty if they are not an object, since a notification cannot be answered with an error.
    pub params: Parameters,
}

/// A client's answer to a server-initiated request.
#[derive(Clone, Debug)]
pub struct Response {
    /// The id that the server chose.
    pub id: RequestId,
    /// The `result` as JSON text, or the `error`.
    pub result: Result<ByteString, McpError>,
}
