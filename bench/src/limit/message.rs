//! The members of a message that the limit reads, in one scan and without a copy, and the messages that it writes.

use std::{borrow::Cow, io::Write};

use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Deserialize)]
pub(crate) struct Message<'a> {
    #[serde(borrow)]
    pub(crate) id: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) method: Cow<'a, str>,
    #[serde(borrow)]
    params: Option<Params<'a>>,
}

#[derive(Deserialize)]
struct Params<'a> {
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    arguments: Option<Arguments<'a>>,
    #[serde(borrow, rename = "_meta")]
    meta: Option<Meta<'a>>,
}

#[derive(Deserialize)]
struct Arguments<'a> {
    #[serde(borrow)]
    text: Option<Cow<'a, str>>,
    n: Option<u64>,
}

#[derive(Deserialize)]
struct Meta<'a> {
    #[serde(borrow, rename = "progressToken")]
    token: Option<&'a RawValue>,
    #[serde(borrow, rename = "io.modelcontextprotocol/protocolVersion")]
    version: Option<Cow<'a, str>>,
}

impl Message<'_> {
    pub(crate) fn text(&self) -> &str {
        self.arguments().and_then(|arguments| arguments.text.as_deref()).unwrap_or_default()
    }

    /// The number of notifications that a call of `progress` requests, and its progress token.
    pub(crate) fn progress(&self) -> Option<(u64, &str)> {
        let params = self.params.as_ref().filter(|params| params.name.as_deref() == Some("progress"))?;
        let token = params.meta.as_ref().and_then(|meta| meta.token).map_or("null", RawValue::get);
        Some((self.arguments().and_then(|arguments| arguments.n).unwrap_or(0), token))
    }

    /// Whether it is self-contained, so that its result must be too.
    pub(crate) fn is_alone(&self) -> bool {
        let meta = self.params.as_ref().and_then(|params| params.meta.as_ref());
        meta.is_some_and(|meta| meta.version.is_some())
    }

    fn arguments(&self) -> Option<&Arguments<'_>> {
        self.params.as_ref().and_then(|params| params.arguments.as_ref())
    }
}

/// The answer to `initialize`.
pub(crate) fn opened(id: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"result":{{"protocolVersion":"2025-11-25","capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"limit","version":"0"}}}}}}"#
    )
}

/// The additional members of a result without a session.
const ALONE: &str = r#""resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"limit","version":"0"}},"#;

/// The answer to a call.
pub(crate) fn result(id: &str, text: &str) -> Vec<u8> {
    result_with("", id, text)
}

/// The answer to a self-contained call.
pub(crate) fn result_alone(id: &str, text: &str) -> Vec<u8> {
    result_with(ALONE, id, text)
}

fn result_with(head: &str, id: &str, text: &str) -> Vec<u8> {
    let mut json = Vec::with_capacity(96 + head.len() + text.len() + id.len());
    json.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    json.extend_from_slice(id.as_bytes());
    json.extend_from_slice(br#","result":{"#);
    json.extend_from_slice(head.as_bytes());
    json.extend_from_slice(br#""content":[{"type":"text","text":"#);
    // a string always serializes, and writing to a vector never fails
    serde_json::to_writer(&mut json, text).ok();
    json.extend_from_slice(b"}]}}");
    json
}

/// The first message of a subscription.
pub(crate) fn acknowledged(id: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{{"_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}},"notifications":{{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true}}}}}}"#
    )
}

/// One notification as an event.
pub(crate) fn progress_event(token: &str, step: u64, of: u64, text: &str) -> Vec<u8> {
    let mut event = Vec::with_capacity(160);
    // writing to a vector never fails
    write!(
        event,
        "data: {{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{{\"progressToken\":{token},\"progress\":{step},\"total\":{of},\"message\":\"{text}\"}}}}\n\n"
    )
    .ok();
    event
}

/// A message as an event.
pub(crate) fn event(json: &[u8]) -> Vec<u8> {
    [b"data: ", json, b"\n\n"].concat()
}
