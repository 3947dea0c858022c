//! Refusals of the transport: a status, and a JSON-RPC error that names what is wrong.

use std::time::Duration;

use actix_mcp_router::{
    ErrorCode, McpError, RequestId,
    internal::{ErrorId, encode_error},
};
use actix_mcp_session::internal::Full;
use actix_web::{
    HttpResponse,
    http::{
        StatusCode,
        header::{ACCEPT_ENCODING, ALLOW, CONTENT_TYPE, HeaderName, RETRY_AFTER},
    },
    web::Bytes,
};

/// The status of a self-contained request that is refused before it is served: something is wrong with its envelope,
/// its `_meta`, its headers or its version (400), or its method does not exist (404).
// MCP 2026-07-28 basic/transports/streamable-http, Protocol Version Header and Server Validation; basic, _meta
fn refused_status(code: ErrorCode) -> StatusCode {
    if code == ErrorCode::METHOD_NOT_FOUND { StatusCode::NOT_FOUND } else { StatusCode::BAD_REQUEST }
}

/// The status of the answer to a self-contained request that was served: 200, whatever the error. A 400 whose code is
/// not one of -32020 to -32022 tells a client that serves both eras to fall back to `initialize`, and a 404 that there
/// is no such method, so an unknown tool or a bad cursor gets neither. Only a client capability that the handler needs
/// is 400.
// MCP 2026-07-28 basic/transports/streamable-http, Backward Compatibility; basic, Per-request protocol fields
pub(super) fn answered_status(code: Option<ErrorCode>) -> StatusCode {
    match code {
        Some(ErrorCode::MISSING_CLIENT_CAPABILITY) => StatusCode::BAD_REQUEST,
        Some(_) | None => StatusCode::OK,
    }
}

/// The methods of the endpoint.
pub(super) const METHODS: &str = "GET, POST, DELETE, OPTIONS";

/// The refusal of a request before a session has it. Boxed, since it is the rare outcome of every check.
pub(super) type Refused = Box<Refusal>;

/// One refusal.
#[derive(Debug)]
pub(super) struct Refusal {
    status: StatusCode,
    error: McpError,
    /// The request's id, if it was read.
    id: Option<RequestId>,
    retry_after: Option<u32>, // seconds
    /// What is accepted instead: the allowed methods or codings.
    instead: Option<(HeaderName, &'static str)>,
}

impl Refusal {
    fn new(status: StatusCode, error: McpError) -> Self {
        Self { status, error, id: None, retry_after: None, instead: None }
    }

    fn request(status: StatusCode, message: impl Into<std::borrow::Cow<'static, str>>) -> Self {
        Self::new(status, McpError::invalid_request(message))
    }

    pub(super) fn bad(message: impl Into<std::borrow::Cow<'static, str>>) -> Self {
        Self::request(StatusCode::BAD_REQUEST, message)
    }

    /// A message that cannot be read, or cannot be served here.
    pub(super) fn malformed(error: McpError, id: Option<RequestId>) -> Self {
        Self { id, ..Self::new(StatusCode::BAD_REQUEST, error) }
    }

    pub(super) fn forbidden(message: impl Into<std::borrow::Cow<'static, str>>) -> Self {
        Self::request(StatusCode::FORBIDDEN, message)
    }

    // MCP 2025-11-25 basic/transports, Session Management 3 and 4: a client that gets 404 opens a new session
    pub(super) fn no_session() -> Self {
        Self::request(StatusCode::NOT_FOUND, "session not found: `Mcp-Session-Id` names no open session")
    }

    pub(super) fn method() -> Self {
        Self::method_of(METHODS)
    }

    /// The same for a server without sessions.
    pub(super) fn only_post() -> Self {
        Self::method_of("POST, OPTIONS")
    }

    fn method_of(allowed: &'static str) -> Self {
        let refusal = Self::request(StatusCode::METHOD_NOT_ALLOWED, "the method is not allowed here");
        Self { instead: Some((ALLOW, allowed)), ..refusal }
    }

    /// Refuses a self-contained request before it is served.
    pub(super) fn modern(error: McpError, id: &RequestId) -> Self {
        Self { id: Some(id.clone()), ..Self::new(refused_status(error.code), error) }
    }

    pub(super) fn not_acceptable(message: &'static str) -> Self {
        Self::request(StatusCode::NOT_ACCEPTABLE, message)
    }

    pub(super) fn media_type() -> Self {
        let message = "`Content-Type` must be application/json in UTF-8, given once";
        Self::request(StatusCode::UNSUPPORTED_MEDIA_TYPE, message)
    }

    // RFC 9110, 15.5.16: Accept-Encoding distinguishes a refused coding from a refused type
    pub(super) fn content_encoding() -> Self {
        let message = "`Content-Encoding` must be identity, or absent: compressed bodies are not decoded";
        let refusal = Self::request(StatusCode::UNSUPPORTED_MEDIA_TYPE, message);
        Self { instead: Some((ACCEPT_ENCODING, "identity")), ..refusal }
    }

    pub(super) fn too_large(limit: usize) -> Self {
        let message = format!("the body is too large (the limit is {limit} bytes)");
        Self::request(StatusCode::PAYLOAD_TOO_LARGE, message)
    }

    pub(super) fn body_timeout(limit: Duration) -> Self {
        let message = format!("the body stalled (the limit is {limit:?})");
        Self::request(StatusCode::REQUEST_TIMEOUT, message)
    }

    pub(super) fn too_many_streams(message: String) -> Self {
        let error = McpError::new(ErrorCode::INTERNAL_ERROR, message);
        Self { retry_after: Some(1), ..Self::new(StatusCode::TOO_MANY_REQUESTS, error) }
    }

    pub(super) fn full(full: Full) -> Self {
        let error = McpError::new(ErrorCode::INTERNAL_ERROR, full.to_string());
        Self { retry_after: Some(5), ..Self::new(StatusCode::SERVICE_UNAVAILABLE, error) }
    }

    pub(super) fn shutting_down() -> Self {
        let error = McpError::new(ErrorCode::INTERNAL_ERROR, "the server is shutting down");
        Self { retry_after: Some(5), ..Self::new(StatusCode::SERVICE_UNAVAILABLE, error) }
    }

    pub(super) fn internal() -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, McpError::internal())
    }

    /// Why it is refused.
    pub(super) fn error(&self) -> &McpError {
        &self.error
    }

    /// Sets the id of the refused request.
    pub(super) fn of(mut self, id: Option<&RequestId>) -> Self {
        self.id = id.cloned();
        self
    }

    /// The refusal as a response. `no_id` is used if the request's id was not read.
    pub(super) fn response(&self, no_id: ErrorId<'_>) -> HttpResponse {
        log::debug!(code = self.error.code.0; "refused with {}: {}", self.status.as_u16(), self.error.message);
        let mut response = HttpResponse::build(self.status);
        response.insert_header((CONTENT_TYPE, "application/json"));
        if let Some(instead) = &self.instead {
            response.insert_header(instead.clone());
        }
        if let Some(seconds) = self.retry_after {
            response.insert_header((RETRY_AFTER, seconds));
        }
        response.body(self.json(no_id))
    }

    /// The body alone.
    pub(super) fn json(&self, no_id: ErrorId<'_>) -> Bytes {
        encode_error(self.id.as_ref().map_or(no_id, ErrorId::Given), &self.error)
    }
}
