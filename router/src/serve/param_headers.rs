//! Headers that repeat what the body says: `Mcp-Method`, `Mcp-Name`, and `Mcp-Param-*` of the tool that is called.
//!
//! Proxies route and bill by them, so a request whose header says one thing and whose body says another is refused
//! before anything of it runs. Here is what must be repeated and how values are compared; a transport reads the
//! headers.
//!
//! **Invariant:** no error holds a value, of the header or of the body: it may be a secret, and errors are logged.
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

/// What a request has under one header name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field<'a> {
    /// Nothing.
    Absent,
    /// One value, as it came.
    One(&'a [u8]),
    /// Several.
    Many,
}

impl Router {
    /// Checks the headers that must repeat what a request's body says.
    ///
    /// A parameter that the body lacks although its method needs it is left to the method, unless a header names one.
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
        tool.mirrored().iter().try_for_each(|mirrored| {
            let header = &mirrored.header;
            let value = arguments.map_or(Ok(None), |arguments| at(arguments, &mirrored.path));
            let value =
                value.map_err(|NoObject| mismatch(header, "repeats a member of what is no object"))?;
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

/// A header that must be there, and takes no other form.
fn repeats(header: &str, field: Field<'_>, body: &str) -> Result<(), McpError> {
    if text(header, field)?.ok_or_else(|| mismatch(header, "is missing"))? == body {
        return Ok(());
    }
    Err(mismatch(header, "is not what the body says"))
}

/// A header that must be there exactly if the body has a value.
fn check(header: &str, field: Field<'_>, body: Option<&str>) -> Result<(), McpError> {
    let text = text(header, field)?;
    match (text, body.filter(|json| *json != "null")) {
        (None, None) => Ok(()),
        (None, Some(_)) => Err(mismatch(header, "is missing")),
        (Some(_), None) => Err(mismatch(header, "is there, and the body has no value for it")),
        (Some(text), Some(body)) => {
            let text = decoded(text).ok_or_else(|| mismatch(header, "is no Base64 of UTF-8"))?;
            let same = same(&text, body);
            same.then_some(()).ok_or_else(|| mismatch(header, "is not what the body says"))
        }
    }
}

/// The one value of a header, without the whitespace around it, which is not part of it (RFC 9110, 5.5).
fn text<'a>(header: &str, field: Field<'a>) -> Result<Option<&'a str>, McpError> {
    match field {
        Field::Absent => Ok(None),
        Field::Many => Err(mismatch(header, "is there more than once")),
        Field::One(bytes) => {
            let visible = bytes.iter().all(|byte| matches!(byte, b'\t' | b' '..=b'~'));
            let text = std::str::from_utf8(bytes).ok().filter(|_| visible);
            let text = text.ok_or_else(|| mismatch(header, "is no visible ASCII"))?;
            Ok(Some(text.trim_matches([' ', '\t'])))
        }
    }
}

/// What a value stands for: text that no header can hold travels as `=?base64?..?=`. `None` if it cannot be read.
// MCP 2026-07-28 basic/transports/streamable-http, Value Encoding: the markers are case-sensitive
fn decoded(text: &str) -> Option<Cow<'_, str>> {
    let (begin, end) = SENTINEL;
    let Some(encoded) = text.strip_prefix(begin).and_then(|rest| rest.strip_suffix(end)) else {
        return Some(Cow::Borrowed(text));
    };
    // canonical padding only: there is one way to write a value
    String::from_utf8(STANDARD.decode(encoded).ok()?).ok().map(Cow::Owned)
}

/// Whether a header has the value that is in the body: strings as they are, integers by number.
fn same(text: &str, body: &str) -> bool {
    match body.as_bytes().first() {
        Some(b'"') => params::text(body).is_some_and(|body| body == text),
        Some(b't' | b'f') => body == text,
        Some(b'-' | b'0'..=b'9') => integer(body).is_some_and(|body| integer(text) == Some(body)),
        _ => false,
    }
}

/// The integer that a JSON number is, exactly; `None` for one with a fraction, or beyond what every client can write.
fn integer(text: &str) -> Option<i64> {
    let integer = Decimal::read(text)?.integer()?.parse::<i64>().ok()?;
    (-SAFE_MAX..=SAFE_MAX).contains(&integer).then_some(integer)
}

/// There is something in the place of an object that a path leads through. A type may be read from an array as well,
/// and then has a value where the path finds none.
struct NoObject;

/// The value at a path of members; `None` where there is none. Arguments that are not an object are the tool's to
/// refuse.
fn at<'a>(arguments: &'a str, path: &[String]) -> Result<Option<&'a str>, NoObject> {
    let mut value = arguments;
    for (depth, name) in path.iter().enumerate() {
        let mut found = [None];
        match (params::find(value, &[name], &mut found), found[0]) {
            (Some(_), Some(inner)) => value = inner.get(),
            (None, _) if depth > 0 && value != "null" => return Err(NoObject),
            _ => return Ok(None),
        }
    }
    Ok(Some(value))
}

#[cfg(test)]
#[path = "param_headers_tests.rs"]
mod tests;
