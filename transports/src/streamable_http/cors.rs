//! Cross-origin requests: exactly the origins that pass the Origin check may read the response.
//!
//! By hand: `actix-cors` is middleware, which would be part of the type of the scope, and has its own list of origins.

use actix_web::{
    HttpRequest, HttpResponse,
    http::header::{
        ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
        ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS, HeaderName,
        HeaderValue, ORIGIN, VARY,
    },
};

use super::{media::is_token, refusal::METHODS};

/// The headers that a page may send.
const ALLOWED_HEADERS: &str = "accept, authorization, content-type, last-event-id, mcp-method, mcp-name, mcp-protocol-version, mcp-session-id";
/// The headers that a page may read.
const EXPOSED_HEADERS: &str = "Mcp-Session-Id, WWW-Authenticate";
/// How long a browser may cache the answer to a preflight.
const MAX_AGE: u32 = 600; // seconds

/// How many headers in addition to those of the protocol a page may send, and the total length of their names.
const ASKED_MAX: usize = 64;
const MAX_ASKED_BYTES: usize = 4096;

/// Answers OPTIONS. The Origin header has passed the check.
pub(super) fn preflight(request: &HttpRequest) -> HttpResponse {
    HttpResponse::NoContent()
        .insert_header((ACCESS_CONTROL_ALLOW_METHODS, METHODS))
        .insert_header((ACCESS_CONTROL_ALLOW_HEADERS, allowed_headers(request)))
        .insert_header((ACCESS_CONTROL_MAX_AGE, MAX_AGE))
        .finish()
}

/// The headers of the protocol, and those that an allowed origin asks for, such as `Mcp-Param-*` or an application's
/// own: by name, since a wildcard covers neither `Authorization` nor requests with credentials.
fn allowed_headers(request: &HttpRequest) -> String {
    let headers = request.headers();
    let mut allowed = ALLOWED_HEADERS.to_owned();
    let asked = headers.get_all(ACCESS_CONTROL_REQUEST_HEADERS).filter(|_| headers.contains_key(ORIGIN));
    let names = asked.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(','));
    // `HeaderName` converts a name to lower case, and would accept a quote as part of it
    let names = names.map(str::trim).filter(|name| is_token(name));
    let names = names.filter_map(|name| HeaderName::from_bytes(name.as_bytes()).ok());
    for name in names.take(ASKED_MAX) {
        let known = allowed.split(", ").any(|known| known == name.as_str());
        if !known && allowed.len() + name.as_str().len() <= ALLOWED_HEADERS.len() + MAX_ASKED_BYTES {
            allowed.push_str(", ");
            allowed.push_str(name.as_str());
        }
    }
    allowed
}

/// Lets the origin read a response, whatever its status.
pub(super) fn allow(mut response: HttpResponse, origin: Option<&HeaderValue>) -> HttpResponse {
    let headers = response.headers_mut();
    headers.append(VARY, HeaderValue::from_name(ORIGIN));
    if let Some(origin) = origin {
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(EXPOSED_HEADERS));
    }
    response
}
