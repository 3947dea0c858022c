//! Changes that clients are notified of.
//!
//! A change is announced after it has taken effect: a client that is notified and asks again sees it.

use bytestring::ByteString;

use crate::wire::uri;

/// A change that clients can ask to be notified of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Change {
    /// A tool was added or removed.
    Tools,
    /// A prompt was added or removed.
    Prompts,
    /// A resource or a template was added or removed.
    Resources,
    /// The resource of this URI has new contents.
    Resource(ByteString),
}

impl Change {
    /// The change of a resource. It has the normal form of the URI, so all spellings of a URI are the same change.
    #[must_use]
    pub fn resource(uri: &ByteString) -> Self {
        Self::Resource(uri::normal_of(uri))
    }

    /// The same change, with the normal form of its URI.
    #[must_use]
    pub fn normal(&self) -> Self {
        match self {
            Self::Resource(uri) => Self::resource(uri),
            Self::Tools | Self::Prompts | Self::Resources => self.clone(),
        }
    }

    /// The method of its notification.
    #[must_use]
    pub fn method(&self) -> &'static str {
        match self {
            Self::Tools => "notifications/tools/list_changed",
            Self::Prompts => "notifications/prompts/list_changed",
            Self::Resources => "notifications/resources/list_changed",
            Self::Resource(_) => "notifications/resources/updated",
        }
    }

    /// The URI of the resource that has changed; `None` if a list has changed.
    #[must_use]
    pub fn uri(&self) -> Option<&str> {
        match self {
            Self::Resource(uri) => Some(uri),
            Self::Tools | Self::Prompts | Self::Resources => None,
        }
    }
}

/// Passes changes on to the clients that asked for them. The registry of the sessions implements it.
pub trait ChangeListener: Send + Sync + 'static {
    /// Announces a change. Never blocks; may be called from any thread, many times in a row.
    fn announce(&self, change: Change);
}
