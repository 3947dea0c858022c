//! The headers of the protocol, and the checks of HTTP's own headers.

use actix_mcp_router::{
    Revision,
    internal::{Feature, Field},
};
use actix_mcp_session::internal::Accepts;
use actix_web::{
    HttpRequest,
    http::header::{ACCEPT, CONTENT_ENCODING, CONTENT_TYPE, HeaderName},
};

use super::{
    media::{self, Media},
    refusal::{Refusal, Refused},
};

/// The session a request belongs to.
pub(super) const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
/// The negotiated revision.
pub(super) const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// The method of a self-contained request, and the name or URI of its target.
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
/// The last event that a client has of a stream it resumes.
pub(super) const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// The values that nearly every client sends; others go through the parser.
const BOTH: [&str; 2] = ["application/json, text/event-stream", "text/event-stream, application/json"];

/// What kinds of answer the client can read.
///
/// Without the header every type is accepted, and ranges match (RFC 9110, 12.5.1).
pub(super) fn accepts(request: &HttpRequest, prefer_json: bool) -> Result<Accepts, Refused> {
    let mut values = request.headers().get_all(ACCEPT);
    let (json, events) = match (values.next(), values.next()) {
        (Some(value), None) if BOTH.iter().any(|both| value == both) => (true, true),
        _ => (accepts_type(request, "application", "json"), accepts_type(request, "text", "event-stream")),
    };
    match (json, events) {
        (true, true) if prefer_json => Ok(Accepts::Json),
        (true, true) => Ok(Accepts::Both),
        (true, false) => Ok(Accepts::Json),
        (false, true) => Ok(Accepts::Events),
        (false, false) => {
            Err(Refusal::not_acceptable("`Accept` must include application/json or text/event-stream").into())
        }
    }
}

/// Whether the client can read a stream.
pub(super) fn accepts_events(request: &HttpRequest) -> Result<(), Refused> {
    if accepts_type(request, "text", "event-stream") {
        return Ok(());
    }
    Err(Refusal::not_acceptable("`Accept` must include text/event-stream").into())
}

/// Whether the header accepts a type: the most specific range that matches decides.
fn accepts_type(request: &HttpRequest, kind: &str, subtype: &str) -> bool {
    let lines: Vec<_> = request.headers().get_all(ACCEPT).map(media::text).collect();
    if lines.is_empty() {
        return true;
    }
    let ranges = lines.iter().flat_map(|line| media::elements(line));
    let matching = ranges.filter_map(|range| {
        let range = Media::range(range)?;
        let ranges = [("*", "*"), (kind, "*"), (kind, subtype)];
        let specific = ranges.iter().rposition(|(kind, subtype)| range.is(kind, subtype))?;
        Some((specific, range.values("q").next().is_none_or(|weight| media::is_taken(&weight))))
    });
    matching.max_by_key(|(specific, _)| *specific).is_some_and(|(_, taken)| taken)
}

/// Refuses any type but JSON in UTF-8, and so every type that a web page may send without a preflight.
pub(super) fn content_type(request: &HttpRequest) -> Result<(), Refused> {
    let mut values = request.headers().get_all(CONTENT_TYPE);
    let (Some(value), None) = (values.next(), values.next()) else {
        return Err(Refusal::media_type().into());
    };
    // the value that nearly every client sends; others go through the parser
    let is_json = value == "application/json"
        || Media::parse(&media::text(value))
            .is_some_and(|media| media.is("application", "json") && media.is_utf_8());
    if is_json { Ok(()) } else { Err(Refusal::media_type().into()) }
}

/// Refuses a body that is labelled as compressed: nothing here decodes one.
// RFC 9110, 8.4: codings that were applied; `identity` means none
pub(super) fn content_encoding(request: &HttpRequest) -> Result<(), Refused> {
    let mut codings = request.headers().get_all(CONTENT_ENCODING);
    let none = codings.all(|value| {
        let mut codings = value.as_bytes().split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
        codings.all(|coding| coding.is_empty() || coding.eq_ignore_ascii_case(b"identity"))
    });
    if none { Ok(()) } else { Err(Refusal::content_encoding().into()) }
}

/// The one value of a header, as text; `None` where it is absent.
pub(super) fn single<'a>(request: &'a HttpRequest, name: &HeaderName) -> Result<Option<&'a str>, Refused> {
    let mut values = request.headers().get_all(name);
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(Refusal::bad(format!("duplicate header `{}`", spelled(name))).into());
    }
    match value.to_str() {
        Ok(text) => Ok(Some(text)),
        Err(_) => Err(Refusal::bad(format!("`{}` must be visible ASCII", spelled(name))).into()),
    }
}

/// Refuses an unsupported revision. Any other is ignored: the negotiated one applies.
// MCP 2025-11-25 basic/transports, Protocol Version Header: MUST respond with 400 to an invalid or unsupported version
pub(super) fn protocol_version(request: &HttpRequest) -> Result<(), Refused> {
    match single(request, &PROTOCOL_VERSION)? {
        Some(version) if Revision::parse_with(version, Feature::Handshake).is_none() => {
            Err(Refusal::bad("`MCP-Protocol-Version` is not a supported revision").into())
        }
        _ => Ok(()),
    }
}

/// A header's name as the specification writes it.
fn spelled(name: &HeaderName) -> &str {
    match name.as_str() {
        "mcp-session-id" => "Mcp-Session-Id",
        "mcp-protocol-version" => "MCP-Protocol-Version",
        "last-event-id" => "Last-Event-ID",
        other => other,
    }
}

/// The value of a header, to be compared with the body.
pub(super) fn field<'a>(request: &'a HttpRequest, name: &str) -> Field<'a> {
    let headers = request.headers();
    let mut values = match name {
        // every request has these: constant names need no parsing or copying
        "MCP-Protocol-Version" => headers.get_all(&PROTOCOL_VERSION),
        "Mcp-Method" => headers.get_all(&METHOD),
        "Mcp-Name" => headers.get_all(&NAME),
        name => headers.get_all(name),
    };
    match (values.next(), values.next()) {
        (None, _) => Field::Absent,
        (Some(value), None) => Field::One(value.as_bytes()),
        (Some(_), Some(_)) => Field::Many,
    }
}
