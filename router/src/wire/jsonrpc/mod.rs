//! JSON-RPC messages, read and written once each.
//!
//! [`read()`] turns a body or a line into a [`Payload`] whose parameters are places in it; the `encode_*` functions
//! write one message into one buffer. Neither knows a method or a revision: `dispatch` and `era` do.
//!
//! By hand: a derived `Deserialize` fails as a whole, so that a refusal could not echo the id or name the member at
//! fault.
//!
//! **Invariant:** an id that could be read is echoed by whatever refusal follows; one that could not is never made up.

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
    /// It waits for an answer.
    Request(Request),
    /// It does not.
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
    /// The parameters; without members where there are none.
    pub params: Parameters,
}

/// What a request asks for, as a log may name it: the method, and the tool or the prompt.
#[derive(Clone, Debug)]
pub struct Target {
    method: ByteString,
    /// As JSON.
    name: ByteString,
}

impl Target {
    /// What this request asks for. Nothing is copied.
    #[must_use]
    pub fn of(request: &Request) -> Self {
        let named = matches!(&*request.method, "tools/call" | "prompts/get");
        let name = named.then(|| (&request.params).raw("name")).flatten();
        let name = name.map(|name| request.params.slice(name)).unwrap_or_default();
        Self { method: request.method.clone(), name }
    }
}

/// `tools/call "add"`. What a client chose is quoted, escaped and cut at 100 characters.
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
    /// The parameters; without members where they are not an object, since a notification has no answer.
    pub params: Parameters,
}

/// A client's answer to a server-to-client request.
#[derive(Clone, Debug)]
pub struct Response {
    /// The id we gave.
    pub id: RequestId,
    /// The `result` as JSON text, or the `error`.
    pub result: Result<ByteString, McpError>,
}
