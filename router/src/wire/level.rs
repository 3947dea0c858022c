//! The severity of log messages for the client.
// MCP 2025-11-25 server/utilities/logging

use schemars::JsonSchema;
use serde::{
    Deserialize, Serialize,
    de::{IntoDeserializer, value},
};

/// The severity of a log message, by RFC 5424.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "with documentation, its schema would no longer be a plain list of names")]
pub enum Level {
    Debug,
    Info,
    Notice,
    Warning,
    Error,
    Critical,
    Alert,
    Emergency,
}

impl Level {
    /// The level of this name.
    pub(crate) fn read(name: &str) -> Option<Self> {
        Self::deserialize(name.into_deserializer()).map_err(|_: value::Error| ()).ok()
    }
}
