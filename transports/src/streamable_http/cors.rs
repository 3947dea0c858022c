//! Cross-origin requests: exactly the origins that pass the Origin check are told that they may read the answer.

use actix_web::{
    HttpRequest, HttpResponse,
    http::header::{
        ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
        ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS, HeaderName,
        HeaderValue, ORIGIN, VARY,
    },
};

use super::refusal::METHODS;

/// What a client may send.
const SENT: &str = "accept, authorization, content-type, last-event-id, mcp-method, mcp-name, mcp-protocol-version, mcp-session-id";
/// What a client may read.
const READ: &str = "Mcp-Session-Id, WWW-Authenticate";
/// How long a browser may remember it.
const MAX_AGE: u32 = 600; // seconds

/// Answers OPTIONS. The Origin header has passed the check.
pub(super) fn preflight(request: &HttpRequest) -> HttpResponse {
    HttpResponse::NoContent()
        .insert_header((ACCESS_CONTROL_ALLOW_METHODS, METHODS))
        .insert_header((ACCESS_CONTROL_ALLOW_HEADERS, allowed_headers(request)))
        .insert_header((ACCESS_CONTROL_MAX_AGE, MAX_AGE))
        .finish()
}

/// The headers of the protocol, and those of `Mcp-Param-*` that the request names: a wildcard does not stand for these.
fn allowed_headers(request: &HttpRequest) -> String {
    let wanted = request.headers().get(ACCESS_CONTROL_REQUEST_HEADERS).and_then(|value| value.to_str().ok());
    let params = wanted.unwrap_or_default().split(',').map(|name| name.trim().to_ascii_lowercase());
    // whatever a tool may name: any header name
    let params = params.filter(|name| {
        name.strip_prefix("mcp-param-").is_some_and(|rest| !rest.is_empty())
            && HeaderName::from_bytes(name.as_bytes()).is_ok()
    });
    params.fold(SENT.to_owned(), |all, name| all + ", " + &name)
}

/// Lets the origin read a response, whatever its status.
pub(super) fn allow(mut response: HttpResponse, origin: Option<&HeaderValue>) -> HttpResponse {
    let headers = response.headers_mut();
    headers.append(VARY, HeaderValue::from_name(ORIGIN));
    if let Some(origin) = origin {
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(READ));
    }
    response
}
