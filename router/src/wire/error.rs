//! Protocol errors: what a JSON-RPC error response carries.
//!
//! Three classes, three places: the client's fault is an [`McpError`] with one of the codes below, a tool's failure is
//! a result with `isError`, our own bug is [`McpError::internal`] and a line in the log.

use std::{borrow::Cow, fmt};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The code of a JSON-RPC error. The constants are those that the framework gives.
///
/// A code of your own is outside of -32768 to -32000. Of those in it that MCP reserves, -32000 to -32099, a handler's
/// error leaves the server with its code only where the client's revision defines it and it means that: -32002 (a
/// resource that does not exist) up to 2025-11-25, and -32602 in its place from then on; -32021 (a capability that the
/// client lacks, with `data.requiredCapabilities`) from 2026-07-28 on, and -32600 before; -32042 (with
/// `data.elicitations`) at 2025-11-25. Any other is answered with -32603 "internal error", and the log says which it
/// was.
// MCP 2026-07-28 basic, Error Codes
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ErrorCode(pub i64);

impl ErrorCode {
    /// The text is not JSON (JSON-RPC 2.0, 5.1).
    pub const PARSE_ERROR: Self = Self(-32700);
    /// The JSON is not a request, or none that may be served now (JSON-RPC 2.0, 5.1).
    pub const INVALID_REQUEST: Self = Self(-32600);
    /// No such method in this revision, or nothing registered that offers it.
    pub const METHOD_NOT_FOUND: Self = Self(-32601);
    /// The method's parameters are wrong, or name what does not exist.
    pub const INVALID_PARAMS: Self = Self(-32602);
    /// The server failed; the message never says how.
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
    /// What went wrong, by kind.
    pub code: ErrorCode,
    /// One sentence, in lower case, that names the field at fault.
    pub message: Cow<'static, str>,
    /// More for programs, as JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Box<RawValue>>,
}

impl McpError {
    /// An error with a code of your own choice.
    pub fn new(code: ErrorCode, message: impl Into<Cow<'static, str>>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// -32602: a parameter is missing, mistyped, or names nothing.
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

    /// -32603 with the one text we ever give for a failure of our own.
    #[must_use]
    pub fn internal() -> Self {
        Self::new(ErrorCode::INTERNAL_ERROR, "internal error")
    }

    /// Adds `data` for programs. What does not serialize is left out.
    #[must_use]
    pub fn with_data(mut self, data: impl Serialize) -> Self {
        self.data = serde_json::value::to_raw_value(&data).ok();
        self
    }
}

/// A client's text in one of our messages: quoted, escaped, and cut at 100 characters.
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
