//! A completion.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{
        self,
        value::{MapAccessDeserializer, SeqAccessDeserializer},
    },
};

use super::{SamplingContent, SamplingMessage, ToolUse};
use crate::wire::content::{MetaMap, Role};

/// A completion.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SamplingResult {
    /// Who wrote it: the assistant.
    pub role: Role,
    /// Its blocks.
    #[serde(deserialize_with = "from_one_or_many")]
    pub content: Vec<SamplingContent>,
    /// The model that wrote it.
    pub model: String,
    /// Why the model stopped, such as `endTurn`, `maxTokens` or `toolUse`.
    #[serde(default)]
    pub stop_reason: Option<String>,
    /// `_meta`.
    #[serde(default, rename = "_meta")]
    pub meta: Option<MetaMap>,
}

/// The completion as the next message of its conversation.
impl From<SamplingResult> for SamplingMessage {
    fn from(result: SamplingResult) -> Self {
        Self::new(result.role, result.content)
    }
}

impl SamplingResult {
    /// Its text: the text blocks, concatenated.
    #[must_use]
    pub fn text(&self) -> String {
        self.content.iter().filter_map(|block| block.as_text()).collect()
    }

    /// The tools the model wants to be called.
    pub fn tool_uses(&self) -> impl Iterator<Item = &ToolUse> {
        self.content.iter().filter_map(|block| block.as_tool_use())
    }
}

/// Reads a block or a list of blocks. An untagged enum would not name a bad field.
fn from_one_or_many<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<SamplingContent>, D::Error> {
    struct Visitor;

    impl<'de> de::Visitor<'de> for Visitor {
        type Value = Vec<SamplingContent>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a content block or a list of them")
        }

        fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
            SamplingContent::deserialize(MapAccessDeserializer::new(map)).map(|block| vec![block])
        }

        fn visit_seq<A: de::SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
            Vec::deserialize(SeqAccessDeserializer::new(list))
        }
    }

    deserializer.deserialize_any(Visitor)
}
