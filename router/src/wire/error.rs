//! Protocol errors: what a JSON-RPC error response carries.
//!
//! Three classes, three places: the client's fault is an [`McpError`] with one of the codes below, a tool's failure is
//! a result with `isError`, our own bug is [`McpError::internal`] and a line in the log.

use std::{borrow::Cow, fmt};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The code of a JSON-RPC error. The constants are those that the framework uses.
///
/// Choose your own codes outside -32768 to -32000. MCP reserves -32000 to -32099; of these, a handler's error may have:
///
/// - -32002 (the resource does not exist) up to 2025-11-25; from 2026-07-28 on it is sent as -32602.
/// - -32021 (the client lacks a capability, with `data.requiredCapabilities`) from 2026-07-28 on; before, it is sent as
///   -32600.
/// - -32042 (with `data.elicitations`) at 2025-11-25 only.
///
/// Any other code in that range is sent as -32603 "internal error", and the log has the original code.
// MCP 2026-07-28 basic, Error Codes
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ErrorCode(pub i64);

impl ErrorCode {
    /// The text is not JSON (JSON-RPC 2.0, 5.1).
    pub const PARSE_ERROR: Self = Self(-32700);
    /// The JSON is not a valid request, or the request cannot be served now (JSON-RPC 2.0, 5.1).
    pub const INVALID_REQUEST: Self = Self(-32600);
    /// No such method in this revision, or nothing is registered for it.
    pub const METHOD_NOT_FOUND: Self = Self(-32601);
    /// The method's parameters are wrong, or name something that does not exist.
    pub const INVALID_PARAMS: Self = Self(-32602);
    /// The server failed; the message never says why.
    pub const INTERNAL_ERROR: Self = Self(-32603);
    /// A resource that does not exist, in revisions up to 2025-11-25.
    // MCP 2025-11-25 server/resources, Error Handling
    pub const RESOURCE_NOT_FOUND: Self = Self(-32002);
    /// An HTTP header of the request is missing or does not match its body.
    // MCP 2026-07-28 basic, Error Codes
    pub const HEADER_MISMATCH: Self = Self(-32020);
    /// The client did not declare a capability that the request needs.
    pub const MISSING_CLIENT_CAPABILITY: Self = Self(-32021);
    /// The request names a version that is not served without a handshake.
    pub const UNSUPPORTED_PROTOCOL_VERSION: Self = Self(-32022);
    /// The call needs a URL elicitation first (2025-11-25 client/elicitation, URL Elicitation Required).
    pub const URL_ELICITATION_REQUIRED: Self = Self(-32042);
}

/// An error that the protocol itself reports: the request failed, rather than what it asked for.
///
/// A handler that returns one (as its error type, or inside an `anyhow::Error` or a boxed error) answers with a
/// JSON-RPC error; every other error type becomes a result the model can read.
#[derive(Clone, Debug, thiserror::Error, Serialize, Deserialize)]
#[error("{message} ({code})", code = code.0)]
#[non_exhaustive]
pub struct McpError {
    /// The kind of error.
    pub code: ErrorCode,
    /// One sentence, in lower case, that names the field at fault.
    pub message: Cow<'static, str>,
    /// Details for programs, as JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Box<RawValue>>,
}

impl McpError {
    /// An error with a code of your own choice.
    pub fn new(code: ErrorCode, message: impl Into<Cow<'static, str>>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// -32602: a parameter is missing, has the wrong type, or names something that does not exist.
    pub fn invalid_params(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorCode::INVALID_PARAMS, message)
    }

    /// -32600: the message is not a request that can be served now.
    pub fn invalid_request(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorCode::INVALID_REQUEST, message)
    }

    /// -32601: no such method.
    #[must_use]
    pub fn method_not_found(method: &str) -> Self {
        Self::new(ErrorCode::METHOD_NOT_FOUND, format!("method not found: {}", Shown(method)))
    }

    /// -32603 "internal error", the only text that clients get for a failure of the server.
    #[must_use]
    pub fn internal() -> Self {
        Self::new(ErrorCode::INTERNAL_ERROR, "internal error")
    }

    /// Adds `data` for programs. It is left out if it does not serialize.
    #[must_use]
    pub fn with_data(mut self, data: impl Serialize) -> Self {
        self.data = serde_json::value::to_raw_value(&data).ok();
        self
    }
}

/// Text from the client in a message of the server: quoted, escaped, and cut at 100 characters.
#[derive(Debug)]
pub(crate) struct Shown<'a>(pub(crate) &'a str);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.char_indices().nth(100) {
            Some((end, _)) => write!(f, "{:?}..", &self.0[..end]),
            None => write!(f, "{:?}", self.0),
        }
    }
}
