//! The capabilities of a server.

/// A capability of a server that depends on what is registered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Capability {
    /// `tools`
    Tools,
    /// `prompts`
    Prompts,
    /// `resources`
    Resources,
    /// `completions`
    Completions,
    /// `logging`: declared if a handler takes a [`Log`](crate::call::log::Log), or an extractor that may contain one.
    Logging,
}
