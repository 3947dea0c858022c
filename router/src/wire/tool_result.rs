//! The result of a tool, as `tools/call` returns it.

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use crate::wire::content::{Content, MetaMap, meta_setter};

/// The result of a tool, in the shape of the newest revision.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolResult {
    /// The blocks the model reads, in order.
    pub content: Vec<Content>,
    /// The result for programs, as JSON: what the tool's output schema describes. From 2025-06-18 on.
    #[serde(rename = "structuredContent", skip_serializing_if = "Option::is_none")]
    pub structured: Option<Box<RawValue>>,
    /// The tool failed, and `content` says how.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
    /// `_meta`.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaMap>,
}

impl ToolResult {
    /// A result without content.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A result with one text block.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new().content(Content::text(text))
    }

    /// A failed result, with a text for the model.
    pub fn error(text: impl Into<String>) -> Self {
        Self { is_error: true, ..Self::text(text) }
    }

    /// Adds a block of content.
    #[must_use]
    pub fn content(mut self, content: impl Into<Content>) -> Self {
        self.content.push(content.into());
        self
    }

    /// Sets the structured content. If no content was added by the time the tool returns, the JSON text becomes the
    /// content, for clients that do not support structured content.
    ///
    /// # Errors
    ///
    /// If the value does not serialize to JSON, such as a map whose keys are not strings.
    // MCP 2025-11-25 server/tools, Structured Content: SHOULD also return the serialized JSON in a text block
    pub fn structured(mut self, value: &impl Serialize) -> Result<Self, serde_json::Error> {
        self.structured = Some(to_raw_value(value)?);
        Ok(self)
    }

    meta_setter!("a result");
}
