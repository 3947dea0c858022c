//! JSON-RPC messages, read and written once each.

use bytestring::ByteString;

use crate::{error::McpError, id::RequestId};

/// A request: it will be answered exactly once, or cancelled.
#[derive(Clone, Debug)]
pub struct Request {
    /// The sender's id.
    pub id: RequestId,
    /// The method, such as `tools/call`.
    pub method: ByteString,
    /// The parameters as JSON text, an object; `None` where the member is absent.
    pub params: Option<ByteString>,
}

/// A notification: never answered.
#[derive(Clone, Debug)]
pub struct Notification {
    /// The method, such as `notifications/cancelled`.
    pub method: ByteString,
    /// The parameters as JSON text; of any type, since there is nobody to tell.
    pub params: Option<ByteString>,
}

/// A client's answer to a server-to-client request.
#[derive(Clone, Debug)]
pub struct Response {
    /// The id we gave.
    pub id: RequestId,
    /// The `result` as JSON text, or the `error`.
    pub result: Result<ByteString, McpError>,
}
