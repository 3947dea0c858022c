//! The headers of the protocol, and what HTTP says of the others.

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
/// The revision that was agreed on.
pub(super) const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// What a request without a session calls, and by which name or URI.
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
/// The last event that a client has of a stream it comes back to.
pub(super) const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// As nearly every client writes it; the rest is worth a parser.
const BOTH: [&str; 2] = ["application/json, text/event-stream", "text/event-stream, application/json"];

/// What kinds of answer the client can read.
///
/// No header is anything, and ranges match (RFC 9110, 12.5.1).
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
            Err(Refusal::not_acceptable("`Accept` takes neither application/json nor text/event-stream")
                .into())
        }
    }
}

/// Whether the client can read a stream.
pub(super) fn accepts_events(request: &HttpRequest) -> Result<(), Refused> {
    if accepts_type(request, "text", "event-stream") {
        return Ok(());
    }
    Err(Refusal::not_acceptable("`Accept` must take text/event-stream").into())
}

/// Whether the header takes a type: the most specific range that matches decides.
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

/// Refuses what is not JSON in UTF-8, and with it what a web page may send without asking first.
pub(super) fn content_type(request: &HttpRequest) -> Result<(), Refused> {
    let mut values = request.headers().get_all(CONTENT_TYPE);
    let (Some(value), None) = (values.next(), values.next()) else {
        return Err(Refusal::media_type().into());
    };
    // as nearly every client writes it; the rest is worth a parser
    let is_json = value == "application/json"
        || Media::parse(&media::text(value))
            .is_some_and(|media| media.is("application", "json") && media.is_utf_8());
    if is_json { Ok(()) } else { Err(Refusal::media_type().into()) }
}

/// Refuses a body that is labelled as compressed: nothing here decodes one.
// RFC 9110, 8.4: codings that were applied; `identity` is none
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
        return Err(Refusal::bad(format!("`{}` is there more than once", spelled(name))).into());
    }
    match value.to_str() {
        Ok(text) => Ok(Some(text)),
        Err(_) => Err(Refusal::bad(format!("`{}` is no visible ASCII", spelled(name))).into()),
    }
}

/// Refuses a revision that is not served; the one that was agreed on governs all the same.
// MCP 2025-11-25 basic/transports, Protocol Version Header: MUST respond with 400 to an invalid or unsupported version
pub(super) fn protocol_version(request: &HttpRequest) -> Result<(), Refused> {
    match single(request, &PROTOCOL_VERSION)? {
        Some(version) if Revision::parse_with(version, Feature::Handshake).is_none() => {
            Err(Refusal::bad("`MCP-Protocol-Version` names a revision that is not served here").into())
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

/// What a request has under a name, for those who compare it with its body.
pub(super) fn field<'a>(request: &'a HttpRequest, name: &str) -> Field<'a> {
    let headers = request.headers();
    let mut values = match name {
        // every request has these: their names are known, and nothing is to be read or copied to find them
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
