//! A request for a completion, in the shape of 2025-11-25; rewritten for older revisions.

use std::mem;

use serde::Serialize;
use serde_json::{Map, Value};

use super::{SamplingContent, SamplingMessage};
use crate::call::question_error::QuestionError;
use crate::wire::{
    content::Role,
    definition::ToolDefinition,
    era::{Feature, Revision},
};

/// A request for a completion.
///
/// An assistant message with a [`ToolUse`](super::ToolUse) must be followed by a user message that consists of the
/// results, one for each use. A request that violates this fails with [`QuestionError::Malformed`] and is not sent.
///
/// ```
/// # mod actix_mcp { pub use actix_mcp_router::*; pub use actix_mcp_router as question; }
/// use actix_mcp::{Client, QuestionError, question::SamplingRequest};
///
/// async fn greet(client: Client) -> Result<String, QuestionError> {
///     let answer = client.sample(SamplingRequest::text("hello").max_tokens(10)).await?;
///     Ok(answer.text())
/// }
/// ```
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SamplingRequest {
    /// The conversation so far.
    pub messages: Vec<SamplingMessage>,
    /// The maximum number of tokens in the completion; the client may use fewer. 1 000 by default.
    pub max_tokens: u32,
    /// A system prompt; the client may change or drop it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_prompt: Option<String>,
    /// The sampling temperature, a finite number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Texts that end the completion.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stop_sequences: Vec<String>,
    /// Preferences for the model; the client chooses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_preferences: Option<ModelPreferences>,
    /// Context of MCP servers that the client should add. Omitted from 2025-11-25 on unless the client declared
    /// `sampling.context`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub include_context: Option<IncludeContext>,
    /// Metadata for the model's provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
    /// Tools the model may use. Needs `sampling.tools`, from 2025-11-25 on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolDefinition>,
    /// How the model may use the tools. Needs `sampling.tools`, from 2025-11-25 on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_choice: Option<ToolChoice>,
}

/// Preferences for the model; the client may ignore all of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ModelPreferences {
    /// Names of models or parts of names, the most preferred first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<ModelHint>,
    /// How important low cost is, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_priority: Option<f64>,
    /// How important speed is, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speed_priority: Option<f64>,
    /// How important capability is, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intelligence_priority: Option<f64>,
}

impl ModelPreferences {
    /// None.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a model's name, or a part of one; the first that the client has counts.
    #[must_use]
    pub fn hint(mut self, name: impl Into<String>) -> Self {
        self.hints.push(ModelHint { name: name.into() });
        self
    }

    /// How much low cost counts, from 0 to 1.
    #[must_use]
    pub fn cost_priority(mut self, priority: f64) -> Self {
        self.cost_priority = Some(priority);
        self
    }

    /// How much speed counts, from 0 to 1.
    #[must_use]
    pub fn speed_priority(mut self, priority: f64) -> Self {
        self.speed_priority = Some(priority);
        self
    }

    /// How much ability counts, from 0 to 1.
    #[must_use]
    pub fn intelligence_priority(mut self, priority: f64) -> Self {
        self.intelligence_priority = Some(priority);
        self
    }
}

/// A model's name, or a part of one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ModelHint {
    /// The name, such as `claude-sonnet`.
    pub name: String,
}

/// Which servers' context the client adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum IncludeContext {
    /// No context.
    None,
    /// The context of this server.
    ThisServer,
    /// The context of all servers of the client.
    AllServers,
}

/// How the model may use the tools of the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "mode", rename_all = "lowercase")]
#[non_exhaustive]
pub enum ToolChoice {
    /// The model decides.
    Auto,
    /// The model must use at least one.
    Required,
    /// The model must not use any.
    None,
}

impl SamplingRequest {
    /// A request with these messages.
    #[must_use]
    pub fn new(messages: Vec<SamplingMessage>) -> Self {
        Self {
            messages,
            max_tokens: 1_000,
            system_prompt: None,
            temperature: None,
            stop_sequences: Vec::new(),
            model_preferences: None,
            include_context: None,
            metadata: None,
            tools: Vec::new(),
            tool_choice: None,
        }
    }

    /// A request with one user message.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(vec![SamplingMessage::user(text.into())])
    }

    /// Adds a message.
    #[must_use]
    pub fn message(mut self, message: SamplingMessage) -> Self {
        self.messages.push(message);
        self
    }

    /// Sets the maximum number of tokens in the completion.
    #[must_use]
    pub fn max_tokens(mut self, max_tokens: u32) -> Self {
        self.max_tokens = max_tokens;
        self
    }

    /// Sets a system prompt.
    #[must_use]
    pub fn system_prompt(mut self, prompt: impl Into<String>) -> Self {
        self.system_prompt = Some(prompt.into());
        self
    }

    /// Sets the sampling temperature, a finite number.
    #[must_use]
    pub fn temperature(mut self, temperature: f64) -> Self {
        self.temperature = Some(temperature);
        self
    }

    /// Adds a text that ends the completion.
    #[must_use]
    pub fn stop_sequence(mut self, text: impl Into<String>) -> Self {
        self.stop_sequences.push(text.into());
        self
    }

    /// Sets the preferences for the model.
    #[must_use]
    pub fn model_preferences(mut self, preferences: ModelPreferences) -> Self {
        self.model_preferences = Some(preferences);
        self
    }

    /// Adds a hint at a model: its name or a part of it.
    #[must_use]
    pub fn model_hint(mut self, name: impl Into<String>) -> Self {
        self.model_preferences = Some(self.model_preferences.unwrap_or_default().hint(name));
        self
    }

    /// Asks the client to add context of servers.
    #[must_use]
    pub fn include_context(mut self, context: IncludeContext) -> Self {
        self.include_context = Some(context);
        self
    }

    /// What the model's provider is to be told.
    #[must_use]
    pub fn metadata(mut self, metadata: Map<String, Value>) -> Self {
        self.metadata = Some(metadata);
        self
    }

    /// Adds a tool the model may use.
    #[must_use]
    pub fn tool(mut self, tool: ToolDefinition) -> Self {
        self.tools.push(tool);
        self
    }

    /// Sets how the model may use the tools.
    #[must_use]
    pub fn tool_choice(mut self, choice: ToolChoice) -> Self {
        self.tool_choice = Some(choice);
        self
    }

    fn blocks(&self) -> impl Iterator<Item = &SamplingContent> {
        self.messages.iter().flat_map(|message| &message.content)
    }

    /// Whether it needs `sampling.tools`.
    pub(crate) fn uses_tools(&self) -> bool {
        !self.tools.is_empty()
            || self.tool_choice.is_some()
            || self.blocks().any(SamplingContent::is_of_tools)
    }

    /// Refuses what every client would have to refuse.
    pub(crate) fn check(&self) -> Result<(), QuestionError> {
        if self.temperature.is_some_and(|temperature| !temperature.is_finite()) {
            return Err(malformed("temperature", "must be a finite number"));
        }
        let preferences = self.model_preferences.iter();
        let priorities =
            preferences.flat_map(|it| [it.cost_priority, it.speed_priority, it.intelligence_priority]);
        if priorities.flatten().any(|priority| !(0.0..=1.0).contains(&priority)) {
            return Err(malformed("modelPreferences", "a priority must be from 0 to 1"));
        }
        self.check_tools().map_err(|reason| malformed("messages", reason))
    }

    /// Every use of a tool has its result in the very next message, which holds nothing else.
    // MCP 2025-11-25 client/sampling, Message Content Constraints
    fn check_tools(&self) -> Result<(), &'static str> {
        // uses that still wait for their results
        let mut uses: Vec<&str> = Vec::new();
        for message in &self.messages {
            let results: Vec<_> =
                message.content.iter().filter_map(SamplingContent::as_tool_result).collect();
            if !results.is_empty() && results.len() < message.content.len() {
                return Err("a message with tool results must hold nothing else");
            }
            if !results.is_empty() && message.role != Role::User {
                return Err("tool results are in a message of the assistant, not of the user");
            }
            if results.is_empty() && !uses.is_empty() {
                return Err("a tool use of the assistant is not followed by a message of tool results");
            }
            for result in results {
                let Some(at) = uses.iter().position(|id| *id == result.tool_use_id) else {
                    return Err("a tool result does not match a tool use in the message before it");
                };
                uses.swap_remove(at);
            }
            if !uses.is_empty() {
                return Err("a tool use of the assistant has no result in the message after it");
            }
            for used in message.content.iter().filter_map(SamplingContent::as_tool_use) {
                if message.role != Role::Assistant {
                    return Err("a tool use is in a message of the user, not of the assistant");
                }
                if uses.contains(&used.id.as_str()) {
                    return Err("two tool uses of one message have the same id");
                }
                uses.push(&used.id);
            }
        }
        if uses.is_empty() { Ok(()) } else { Err("the tool uses of the last message have no results") }
    }

    /// Rewrites the request for an older revision. A request that needs tools was refused before.
    pub(crate) fn fit(&mut self, revision: Revision) {
        for block in self.messages.iter_mut().flat_map(|message| &mut message.content) {
            block.fit(revision);
        }
        if revision.has(Feature::SamplingTools) {
            return;
        }
        let messages = mem::take(&mut self.messages);
        self.messages = messages
            .into_iter()
            .flat_map(|SamplingMessage { role, content, .. }| {
                content.into_iter().map(move |block| SamplingMessage {
                    role,
                    content: vec![block],
                    meta: None,
                })
            })
            .collect();
    }
}

pub(super) fn malformed(field: &str, reason: &str) -> QuestionError {
    QuestionError::Malformed { field: field.to_owned(), reason: reason.to_owned() }
}
