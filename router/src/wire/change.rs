//! What the registries tell of their changes.
//!
//! A change is announced after it has taken effect: a client that is notified and asks again sees it.

use bytestring::ByteString;

use crate::wire::uri;

/// Something that clients may want to know.
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
    /// The change of a resource, by the normal form of its URI: however it is written, it is one.
    #[must_use]
    pub fn resource(uri: &ByteString) -> Self {
        Self::Resource(uri::normal_of(uri))
    }

    /// The same change, by the normal form of its URI.
    #[must_use]
    pub fn normal(&self) -> Self {
        match self {
            Self::Resource(uri) => Self::resource(uri),
            Self::Tools | Self::Prompts | Self::Resources => self.clone(),
        }
    }

    /// The notification that tells of it.
    #[must_use]
    pub fn method(&self) -> &'static str {
        match self {
            Self::Tools => "notifications/tools/list_changed",
            Self::Prompts => "notifications/prompts/list_changed",
            Self::Resources => "notifications/resources/list_changed",
            Self::Resource(_) => "notifications/resources/updated",
        }
    }

    /// The resource that has changed, where it is one.
    #[must_use]
    pub fn uri(&self) -> Option<&str> {
        match self {
            Self::Resource(uri) => Some(uri),
            Self::Tools | Self::Prompts | Self::Resources => None,
        }
    }
}

/// Who passes changes on to the clients that asked for them: the sessions' registry.
pub trait ChangeListener: Send + Sync + 'static {
    /// Takes note of a change. Never waits; may be called from any thread, many times in a row.
    fn announce(&self, change: Change);
}
