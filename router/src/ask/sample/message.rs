//! The messages of a conversation and their content blocks.

use std::mem;

use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::wire::{
    content::{Content, MediaContent, MetaMap, Role, TextContent, meta_setter},
    era::{self, Revision},
};

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SamplingMessage {
    /// Who wrote it.
    pub role: Role,
    /// Its blocks. Before 2025-11-25, each is sent as a separate message.
    #[serde(serialize_with = "one_or_many")]
    pub content: Vec<SamplingContent>,
    /// `_meta`. From 2025-11-25 on.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaMap>,
}

/// One block of a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum SamplingContent {
    /// Text.
    Text(TextContent),
    /// An image.
    Image(MediaContent),
    /// Audio. From 2025-03-26 on; before, a text block is sent instead.
    Audio(MediaContent),
    /// The model wants a tool to be called. From 2025-11-25 on.
    ToolUse(ToolUse),
    /// The result of that tool. From 2025-11-25 on; a message with a tool result holds only tool results.
    ToolResult(SampledToolResult),
}

/// A model's call of a tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolUse {
    /// The id that the result refers to.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// Its arguments.
    pub input: Map<String, Value>,
    /// `_meta`.
    #[serde(default, rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaMap>,
}

impl ToolUse {
    /// The call of this tool with these arguments; the result names it by `id`.
    pub fn new(id: impl Into<String>, name: impl Into<String>, input: Map<String, Value>) -> Self {
        Self { id: id.into(), name: name.into(), input, meta: None }
    }

    meta_setter!("a tool use");
}

/// What a tool gave that a model called.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SampledToolResult {
    /// The [`ToolUse::id`].
    pub tool_use_id: String,
    /// The content of the result.
    pub content: Vec<Content>,
    /// The same as JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured_content: Option<Map<String, Value>>,
    /// Whether it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_error: Option<bool>,
    /// `_meta`.
    #[serde(default, rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<MetaMap>,
}

impl SampledToolResult {
    /// The result of the tool use of this id, without content.
    pub fn new(tool_use_id: impl Into<String>) -> Self {
        Self { tool_use_id: tool_use_id.into(), ..Self::default() }
    }

    /// Adds a block of content.
    #[must_use]
    pub fn content(mut self, content: impl Into<Content>) -> Self {
        self.content.push(content.into());
        self
    }

    /// What it gave as JSON.
    #[must_use]
    pub fn structured_content(mut self, content: Map<String, Value>) -> Self {
        self.structured_content = Some(content);
        self
    }

    /// Whether it failed.
    #[must_use]
    pub fn is_error(mut self, is_error: bool) -> Self {
        self.is_error = Some(is_error);
        self
    }

    meta_setter!("a tool's result");
}

impl SamplingMessage {
    /// A message of these blocks.
    #[must_use]
    pub fn new(role: Role, content: Vec<SamplingContent>) -> Self {
        Self { role, content, meta: None }
    }

    /// A message of one block by the user.
    pub fn user(content: impl Into<SamplingContent>) -> Self {
        Self::new(Role::User, vec![content.into()])
    }

    /// A message of one block by the model.
    pub fn assistant(content: impl Into<SamplingContent>) -> Self {
        Self::new(Role::Assistant, vec![content.into()])
    }

    meta_setter!("a message");
}

impl SamplingContent {
    pub(super) fn is_of_tools(&self) -> bool {
        matches!(self, Self::ToolUse(_) | Self::ToolResult(_))
    }

    /// Rewrites the block for the session's revision, by the rules for the blocks of a result.
    pub(super) fn fit(&mut self, revision: Revision) {
        let mut block = match self {
            Self::Text(text) => Content::Text(mem::take(text)),
            Self::Image(media) => Content::Image(mem::take(media)),
            Self::Audio(media) => Content::Audio(mem::take(media)),
            // only sent at revisions that have them
            Self::ToolUse(_) | Self::ToolResult(_) => return,
        };
        era::content(&mut block, revision);
        *self = match block {
            Content::Text(text) => Self::Text(text),
            Content::Image(media) => Self::Image(media),
            Content::Audio(media) => Self::Audio(media),
            // no block becomes one of these
            Content::ResourceLink(_) | Content::Resource(_) => return,
        };
    }
}

impl From<String> for SamplingContent {
    fn from(text: String) -> Self {
        Self::Text(TextContent::new(text))
    }
}

impl From<&str> for SamplingContent {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<TextContent> for SamplingContent {
    fn from(block: TextContent) -> Self {
        Self::Text(block)
    }
}

impl From<ToolUse> for SamplingContent {
    fn from(used: ToolUse) -> Self {
        Self::ToolUse(used)
    }
}

impl From<SampledToolResult> for SamplingContent {
    fn from(result: SampledToolResult) -> Self {
        Self::ToolResult(result)
    }
}

impl SamplingContent {
    pub(super) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(block) => Some(&block.text),
            Self::Image(_) | Self::Audio(_) | Self::ToolUse(_) | Self::ToolResult(_) => None,
        }
    }

    pub(super) fn as_tool_result(&self) -> Option<&SampledToolResult> {
        match self {
            Self::ToolResult(result) => Some(result),
            Self::Text(_) | Self::Image(_) | Self::Audio(_) | Self::ToolUse(_) => None,
        }
    }

    pub(super) fn as_tool_use(&self) -> Option<&ToolUse> {
        match self {
            Self::ToolUse(call) => Some(call),
            Self::Text(_) | Self::Image(_) | Self::Audio(_) | Self::ToolResult(_) => None,
        }
    }
}

/// A single block is written alone, which every revision reads; several are a list.
fn one_or_many<S: Serializer>(blocks: &[SamplingContent], serializer: S) -> Result<S::Ok, S::Error> {
    match blocks {
        [block] => block.serialize(serializer),
        blocks => blocks.serialize(serializer),
    }
}
