//! Headers that repeat what the body says: `Mcp-Method`, `Mcp-Name`, and `Mcp-Param-*` of the tool that is called.
//!
//! Proxies route and bill by them, so a request whose headers do not match its body is refused before its handler runs.
//! This module decides which headers are required and compares the values; a transport reads the headers.
//!
//! **Invariant:** no error contains a value from the header or the body: it may be a secret, and errors are logged.
//!
//! Read next: `schema/headers.rs`, which reads `x-mcp-header` when a tool is registered.

use std::borrow::Cow;

use base64::{Engine as _, engine::general_purpose::STANDARD};

use crate::{
    serve::router::Router,
    wire::{
        error::{ErrorCode, McpError},
        jsonrpc::Request,
        method::Method,
        number::{Decimal, SAFE_MAX},
        params::{self, Members},
    },
};

const SENTINEL: (&str, &str) = ("=?base64?", "?=");

/// The values of a request's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field<'a> {
    /// The header is missing.
    Absent,
    /// One value, as received.
    One(&'a [u8]),
    /// Several values.
    Many,
}

impl Router {
    /// Checks the headers that must repeat what a request's body says.
    ///
    /// If the body lacks a required parameter and no header names it, the method itself refuses the request.
    ///
    /// # Errors
    ///
    /// -32020 that names the header.
    // MCP 2026-07-28 basic/transports/streamable-http, Server Validation
    pub fn check_headers<'r>(
        &self,
        request: &Request,
        field: impl Fn(&str) -> Field<'r>,
    ) -> Result<(), McpError> {
        repeats("Mcp-Method", field("Mcp-Method"), &request.method)?;
        let method = Method::of(&request.method);
        let source = if matches!(method, Some(Method::CallTool | Method::GetPrompt)) {
            "name"
        } else if method == Some(Method::ReadResource) {
            "uri"
        } else {
            return Ok(());
        };
        let params = request.params.members()?;
        let named = params.raw(source);
        check("Mcp-Name", field("Mcp-Name"), named.filter(|json| json.starts_with('"')))?;
        if method != Some(Method::CallTool) {
            return Ok(());
        }
        let name = named.and_then(params::text);
        let Some(tool) = name.and_then(|name| self.tools.get(&name)) else { return Ok(()) };
        let arguments = params.raw("arguments");
        tool.param_headers().iter().try_for_each(|param| {
            let header = &param.header;
            let value = arguments.map_or(Ok(None), |arguments| at(arguments, &param.path));
            let value = value.map_err(|NotAnObject| {
                mismatch(header, "repeats a member of a value that is not an object")
            })?;
            check(header, field(header), value)
        })
    }
}

/// Checks the header of the version that a request names.
///
/// # Errors
///
/// -32020 that names the header.
// MCP 2026-07-28 basic/transports/streamable-http, Protocol Version Header
pub fn check_version(field: Field<'_>, version: &str) -> Result<(), McpError> {
    repeats("MCP-Protocol-Version", field, version)
}

fn mismatch(header: &str, what: &str) -> McpError {
    McpError::new(ErrorCode::HEADER_MISMATCH, format!("header mismatch: `{header}` {what}"))
}

/// Checks a required header, which must equal the body's text exactly.
fn repeats(header: &str, field: Field<'_>, body: &str) -> Result<(), McpError> {
    if text(header, field)?.ok_or_else(|| mismatch(header, "is missing"))? == body {
        return Ok(());
    }
    Err(mismatch(header, "does not match the body"))
}

/// Checks a header that must be present exactly if the body has a value.
fn check(header: &str, field: Field<'_>, body: Option<&str>) -> Result<(), McpError> {
    let text = text(header, field)?;
    match (text, body.filter(|json| *json != "null")) {
        (None, None) => Ok(()),
        (None, Some(_)) => Err(mismatch(header, "is missing")),
        (Some(_), None) => Err(mismatch(header, "is present but the body has no value for it")),
        (Some(text), Some(body)) => {
            let text = decoded(text).ok_or_else(|| mismatch(header, "is not valid Base64-encoded UTF-8"))?;
            let same = same(&text, body);
            same.then_some(()).ok_or_else(|| mismatch(header, "does not match the body"))
        }
    }
}

/// The one value of a header, without the whitespace around it, which is not part of it (RFC 9110, 5.5).
fn text<'a>(header: &str, field: Field<'a>) -> Result<Option<&'a str>, McpError> {
    match field {
        Field::Absent => Ok(None),
        Field::Many => Err(mismatch(header, "appears more than once")),
        Field::One(bytes) => {
            let visible = bytes.iter().all(|byte| matches!(byte, b'\t' | b' '..=b'~'));
            let text = std::str::from_utf8(bytes).ok().filter(|_| visible);
            let text = text.ok_or_else(|| mismatch(header, "must be visible ASCII"))?;
            Ok(Some(text.trim_matches([' ', '\t'])))
        }
    }
}

/// The decoded value: text that a header cannot hold is sent as `=?base64?..?=`. `None` if it cannot be decoded.
// MCP 2026-07-28 basic/transports/streamable-http, Value Encoding: the markers are case-sensitive
fn decoded(text: &str) -> Option<Cow<'_, str>> {
    let (begin, end) = SENTINEL;
    let Some(encoded) = text.strip_prefix(begin).and_then(|rest| rest.strip_suffix(end)) else {
        return Some(Cow::Borrowed(text));
    };
    // canonical padding only: every value has exactly one encoding
    String::from_utf8(STANDARD.decode(encoded).ok()?).ok().map(Cow::Owned)
}

/// Whether a header has the same value as the body: strings exactly, integers by value.
fn same(text: &str, body: &str) -> bool {
    match body.as_bytes().first() {
        Some(b'"') => params::text(body).is_some_and(|body| body == text),
        Some(b't' | b'f') => body == text,
        Some(b'-' | b'0'..=b'9') => integer(body).is_some_and(|body| integer(text) == Some(body)),
        _ => false,
    }
}

/// The exact integer of a JSON number. `None` if it has a fraction, or is outside the range that every client supports.
fn integer(text: &str) -> Option<i64> {
    let integer = Decimal::read(text)?.integer()?.parse::<i64>().ok()?;
    (-SAFE_MAX..=SAFE_MAX).contains(&integer).then_some(integer)
}

/// A value on the path is not an object. A type may also be read from an array, so a handler could see a value where
/// the path finds none.
struct NotAnObject;

/// The value at a path of members; `None` if there is none. The tool itself refuses arguments that are not an object.
fn at<'a>(arguments: &'a str, path: &[String]) -> Result<Option<&'a str>, NotAnObject> {
    let mut value = arguments;
    for (depth, name) in path.iter().enumerate() {
        let mut found = [None];
        match (params::find(value, &[name], &mut found), found[0]) {
            (Some(_), Some(inner)) => value = inner.get(),
            (None, _) if depth > 0 && value != "null" => return Err(NotAnObject),
            _ => return Ok(None),
        }
    }
    Ok(Some(value))
}

#[cfg(test)]
#[path = "param_headers_tests.rs"]
mod tests;
