//! What the registries tell of their changes.
//!
//! A change is announced after it has taken effect: whoever is told and asks again sees it.

use bytestring::ByteString;

/// Something that clients may want to know.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
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

/// Who passes changes on to the clients that asked for them: the sessions' registry.
pub trait Announce: Send + Sync + 'static {
    /// Takes note of a change. Never waits; may be called from any thread, many times in a row.
    fn announce(&self, change: Change);
}
