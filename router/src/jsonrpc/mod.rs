//! JSON-RPC messages, read and written once each.
//!
//! [`read`] turns a body or a line into a [`Payload`] whose parameters are places in it; the `encode_*` functions write
//! one message into one buffer. Neither knows a method or a revision: `dispatch` and `era` do.
//!
//! **Invariant:** an id that could be read is echoed by whatever refusal follows; one that could not is never made up.

mod envelope;
mod parameters;
mod read;
mod write;

use bytestring::ByteString;

pub(crate) use self::write::{encode_raw_result, to_json, try_encode_notification, try_encode_result};
pub use self::{
    parameters::Parameters,
    read::{Looks, Malformed, Payload, ReadLimits, read},
    write::{ErrorId, encode_error, encode_notification, encode_request, encode_result},
};
use crate::{error::McpError, id::RequestId};

/// One message, by kind.
#[derive(Clone, Debug)]
pub enum Incoming {
    /// It waits for an answer.
    Request(Request),
    /// It does not.
    Notification(Notification),
    /// It answers a request of ours.
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

/// A notification: never answered.
#[derive(Clone, Debug)]
pub struct Notification {
    /// The method, such as `notifications/cancelled`.
    pub method: ByteString,
    /// The parameters; without members where they are no object, since there is nobody to tell.
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
