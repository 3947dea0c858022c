//! The methods of the protocol that a client can call, and what each depends on.

use crate::wire::{capability::Capability, era::Feature};

/// A request a client can make.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Method {
    /// `initialize`
    Initialize,
    /// `ping`
    Ping,
    /// `logging/setLevel`
    SetLevel,
    /// `resources/subscribe`
    Subscribe,
    /// `resources/unsubscribe`
    Unsubscribe,
    /// `tools/list`
    ListTools,
    /// `tools/call`
    CallTool,
    /// `prompts/list`
    ListPrompts,
    /// `prompts/get`
    GetPrompt,
    /// `resources/list`
    ListResources,
    /// `resources/templates/list`
    ListTemplates,
    /// `resources/read`
    ReadResource,
    /// `completion/complete`
    Complete,
    /// `server/discover`
    Discover,
    /// `subscriptions/listen`
    Listen,
}

impl Method {
    /// The method of this name.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        Some(match name {
            // the session's own
            "initialize" => Self::Initialize,
            "ping" => Self::Ping,
            "logging/setLevel" => Self::SetLevel,
            "resources/subscribe" => Self::Subscribe,
            "resources/unsubscribe" => Self::Unsubscribe,
            // lists, kept encoded
            "tools/list" => Self::ListTools,
            "prompts/list" => Self::ListPrompts,
            "resources/list" => Self::ListResources,
            "resources/templates/list" => Self::ListTemplates,
            // these run a handler
            "tools/call" => Self::CallTool,
            "prompts/get" => Self::GetPrompt,
            "resources/read" => Self::ReadResource,
            "completion/complete" => Self::Complete,
            // where there is no session
            "server/discover" => Self::Discover,
            "subscriptions/listen" => Self::Listen,
            _ => return None,
        })
    }

    /// The feature that a revision must have for this method to exist; `None` if it exists in all.
    pub(crate) fn feature(self) -> Option<Feature> {
        match self {
            Self::Initialize | Self::Ping | Self::SetLevel | Self::Subscribe | Self::Unsubscribe => {
                Some(Feature::Handshake)
            }
            Self::Discover | Self::Listen => Some(Feature::Stateless),
            Self::ListTools
            | Self::CallTool
            | Self::ListPrompts
            | Self::GetPrompt
            | Self::ListResources
            | Self::ListTemplates
            | Self::ReadResource
            | Self::Complete => None,
        }
    }

    /// The capability without which this method is unknown, if any.
    pub(crate) fn needs(self) -> Option<Capability> {
        match self {
            Self::Initialize | Self::Ping | Self::Discover | Self::Listen => None,
            Self::SetLevel => Some(Capability::Logging),
            Self::ListTools | Self::CallTool => Some(Capability::Tools),
            Self::ListPrompts | Self::GetPrompt => Some(Capability::Prompts),
            Self::ListResources
            | Self::ListTemplates
            | Self::ReadResource
            | Self::Subscribe
            | Self::Unsubscribe => Some(Capability::Resources),
            Self::Complete => Some(Capability::Completions),
        }
    }
}
