//! What a handler can know about its client.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU8, Ordering},
    },
};

use bytestring::ByteString;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, value::RawValue};

use crate::wire::{
    era::Revision,
    error::{ErrorCode, McpError},
    level::Level,
};

/// The client of a session: fixed when the session opens, except for the log level, which the client may change. From
/// 2026-07-28 on, the client of one self-contained request, which states all of this itself.
///
/// A `Peer` belongs to one session, or to one request, and is never shared between them.
#[derive(Debug)]
pub struct Peer {
    /// The revision of the protocol that is in use.
    pub revision: Revision,
    /// The capabilities that the client declared.
    pub capabilities: ClientCapabilities,
    /// The client's name and version; empty if a request does not state them.
    pub info: Implementation,
    /// The session's id, if the transport has one (Streamable HTTP).
    pub session_id: Option<Arc<str>>,
    /// The lowest [`Level`] that is sent: set by `logging/setLevel`, [`Level::Debug`] until then.
    level: AtomicU8,
    /// `extensions` of the client's capabilities, as JSON text.
    extensions: Option<ByteString>,
}

/// Above every level: nothing is sent.
const SILENT: u8 = Level::Emergency as u8 + 1;

impl Peer {
    /// The client of a session that is opening.
    #[must_use]
    pub fn new(
        revision: Revision,
        capabilities: ClientCapabilities,
        info: Implementation,
        session_id: Option<Arc<str>>,
    ) -> Self {
        let level = AtomicU8::new(Level::Debug as u8);
        Self { revision, capabilities, info, session_id, level, extensions: None }
    }

    /// The client of one request. If the request names no level, it is sent no log messages.
    // MCP 2026-07-28 server/utilities/logging: MUST NOT emit messages for requests that did not include the field
    pub(crate) fn of_request(
        revision: Revision,
        capabilities: ClientCapabilities,
        info: Implementation,
        level: Option<Level>,
        extensions: Option<ByteString>,
    ) -> Self {
        let level = AtomicU8::new(level.map_or(SILENT, |level| level as u8));
        Self { revision, capabilities, info, session_id: None, level, extensions }
    }

    /// The client's settings for an extension, an object as JSON text; `None` if the client did not declare it.
    #[must_use]
    pub fn extension(&self, id: &str) -> Option<String> {
        let all: std::collections::HashMap<String, &RawValue> =
            serde_json::from_str(self.extensions.as_deref()?).ok()?;
        all.get(id)
            .filter(|settings| settings.get().starts_with('{'))
            .map(|settings| settings.get().to_owned())
    }

    /// Whether a log message of this level is wanted.
    #[must_use]
    pub fn wants(&self, level: Level) -> bool {
        level as u8 >= self.level.load(Ordering::Relaxed)
    }
}

/// Sets the level, for `logging/setLevel`. Not a method, since handlers must not call it: only the client sets the
/// level.
pub fn set_level(peer: &Peer, level: Level) {
    peer.level.store(level as u8, Ordering::Relaxed);
}

/// The capabilities that a client declared, in `initialize` or in a self-contained request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClientCapabilities {
    /// `elicitation`, in form mode: `{}` or `{"form":{}}`.
    pub elicitation_form: bool,
    /// `elicitation.url`.
    pub elicitation_url: bool,
    /// `sampling`.
    pub sampling: bool,
    /// `sampling.tools`.
    pub sampling_tools: bool,
    /// `sampling.context`.
    pub sampling_context: bool,
    /// `roots`.
    pub roots: bool,
}

/// A capability that a server-initiated request can need.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ClientCapability {
    /// `elicitation` in form mode.
    ElicitationForm,
    /// `elicitation.url`.
    ElicitationUrl,
    /// `sampling`.
    Sampling,
    /// `sampling.tools`.
    SamplingTools,
    /// `roots`.
    Roots,
}

impl ClientCapability {
    /// The capability's name as the specification writes it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ElicitationForm => "elicitation",
            Self::ElicitationUrl => "elicitation.url",
            Self::Sampling => "sampling",
            Self::SamplingTools => "sampling.tools",
            Self::Roots => "roots",
        }
    }
}

/// The error for a request that needs capabilities its client did not declare.
// MCP 2026-07-28 basic, Error Codes: `requiredCapabilities` has the shape of the client's capabilities
pub(crate) fn missing_capabilities(needs: &[ClientCapability]) -> McpError {
    let mut required = Map::new();
    for need in needs {
        let mut names = need.name().split('.');
        let parent = names.next().unwrap_or_default();
        let parent = required.entry(parent).or_insert_with(|| Value::Object(Map::new()));
        if let (Some(child), Value::Object(parent)) = (names.next(), parent) {
            parent.insert(child.to_owned(), Value::Object(Map::new()));
        }
    }
    let mut names = needs.iter().map(|need| need.name()).collect::<Vec<_>>();
    names.sort_unstable();
    names.dedup();
    let names = names.join(", ");
    let message = format!("the client did not declare required capabilities: {names}");
    McpError::new(ErrorCode::MISSING_CLIENT_CAPABILITY, message)
        .with_data(serde_json::json!({ "requiredCapabilities": required }))
}

impl fmt::Display for ClientCapability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl ClientCapabilities {
    /// No capabilities.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a capability, and the one it is part of: `sampling.tools` declares `sampling` too.
    #[must_use]
    pub fn with(mut self, capability: ClientCapability) -> Self {
        match capability {
            ClientCapability::ElicitationForm => self.elicitation_form = true,
            ClientCapability::ElicitationUrl => self.elicitation_url = true,
            ClientCapability::Sampling => self.sampling = true,
            ClientCapability::SamplingTools => {
                self.sampling = true;
                self.sampling_tools = true;
            }
            ClientCapability::Roots => self.roots = true,
        }
        self
    }

    /// Whether the client declared this capability.
    #[must_use]
    pub fn has(&self, capability: ClientCapability) -> bool {
        match capability {
            ClientCapability::ElicitationForm => self.elicitation_form,
            ClientCapability::ElicitationUrl => self.elicitation_url,
            ClientCapability::Sampling => self.sampling,
            ClientCapability::SamplingTools => self.sampling_tools,
            ClientCapability::Roots => self.roots,
        }
    }
}

/// A program's name and version, such as a client's `clientInfo`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Implementation {
    /// The program's name.
    pub name: String,
    /// The program's version.
    pub version: String,
    /// The name to show to people, if it differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
}

impl Implementation {
    /// A program of this name and version.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self { name: name.into(), version: version.into(), title: None }
    }

    /// The name to show to people.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_capability_that_is_added_is_declared_with_what_it_is_part_of() {
        let all = [
            ClientCapability::ElicitationForm,
            ClientCapability::ElicitationUrl,
            ClientCapability::Sampling,
            ClientCapability::SamplingTools,
            ClientCapability::Roots,
        ];
        for capability in all {
            let client = ClientCapabilities::new().with(capability);
            let declared: Vec<_> = all.into_iter().filter(|other| client.has(*other)).collect();
            let with_tools = vec![ClientCapability::Sampling, ClientCapability::SamplingTools];
            let is_of_tools = capability == ClientCapability::SamplingTools;
            let expected = if is_of_tools { with_tools } else { vec![capability] };
            assert_eq!(declared, expected);
        }
    }
}
