//! The messages that the load generator sends, and the parser of those it receives.

use std::{borrow::Cow, fmt::Write};

use serde::Deserialize;
use serde_json::value::RawValue;

pub(crate) const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}"#;
pub(crate) const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// The `_meta` of a self-contained request.
macro_rules! meta {
    () => {
        r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}"#
    };
}

/// A subscription to all lists.
pub(crate) const LISTEN: &str = concat!(
    r#"{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true},"#,
    meta!(),
    "}}"
);

/// Appends a self-contained call of `echo`.
pub(crate) fn echo_alone(to: &mut String, id: u64, text: &str) {
    // writing to a string never fails
    write!(
        to,
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"echo","arguments":{{"text":"{text}"}},{}}}}}"#,
        meta!()
    )
    .ok();
}

/// Appends a call of `echo`.
pub(crate) fn echo(to: &mut String, id: u64, text: &str) {
    // writing to a string never fails
    write!(
        to,
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"echo","arguments":{{"text":"{text}"}}}}}}"#
    )
    .ok();
}

/// A call that reports progress `steps` times, with its id as the progress token.
pub(crate) fn progress(id: u64, steps: u64, text: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"progress","arguments":{{"n":{steps},"text":"{text}"}},"_meta":{{"progressToken":{id}}}}}}}"#
    )
}

/// A message from a server.
#[derive(Debug, PartialEq)]
pub(crate) enum Message<'a> {
    /// The result of a call: its id, and the text of its first content.
    Answer { id: Option<u64>, text: Option<Cow<'a, str>> },
    /// A progress notification.
    Progress { token: Option<u64>, step: f64, text: Option<Cow<'a, str>> },
    /// An error, or anything else that a server should not send here.
    Other,
}

/// Reads one message.
pub(crate) fn read(json: &[u8]) -> Message<'_> {
    match serde_json::from_slice::<Wire<'_>>(json) {
        Ok(Wire { method: Some(method), params: Some(params), .. }) if method == "notifications/progress" => {
            Message::Progress {
                token: number(params.token),
                step: params.progress.unwrap_or(f64::NAN),
                text: params.message,
            }
        }
        Ok(Wire { method: None, error: None, result: Some(result), id, .. }) if !result.is_error => {
            let text = result.content.into_iter().next().and_then(|content| content.text);
            Message::Answer { id: number(id), text }
        }
        _ => Message::Other,
    }
}

fn number(raw: Option<&RawValue>) -> Option<u64> {
    raw.and_then(|raw| raw.get().parse().ok())
}

#[derive(Deserialize)]
struct Wire<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<Params<'a>>,
    #[serde(borrow)]
    result: Option<Outcome<'a>>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Params<'a> {
    #[serde(borrow, rename = "progressToken")]
    token: Option<&'a RawValue>,
    progress: Option<f64>,
    #[serde(borrow)]
    message: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Outcome<'a> {
    #[serde(borrow, default)]
    content: Vec<Content<'a>>,
    #[serde(default, rename = "isError")]
    is_error: bool,
}

#[derive(Deserialize)]
struct Content<'a> {
    #[serde(borrow)]
    text: Option<Cow<'a, str>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_shows_its_id_and_text() {
        let json = br#"{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"a"}]}}"#;
        assert_eq!(read(json), Message::Answer { id: Some(7), text: Some("a".into()) });
    }

    #[test]
    fn errors_and_error_results_are_no_answers() {
        for json in [
            r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32603,"message":"internal error"}}"#,
            r#"{"jsonrpc":"2.0","id":7,"result":{"content":[],"isError":true}}"#,
            r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#,
            "7",
        ] {
            assert_eq!(read(json.as_bytes()), Message::Other, "{json}");
        }
    }

    #[test]
    fn a_notification_shows_its_token_and_step() {
        let json = br#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":3,"progress":2,"message":"m"}}"#;
        assert_eq!(read(json), Message::Progress { token: Some(3), step: 2.0, text: Some("m".into()) });
    }
}
