//! Prompts: messages that a user selects, filled in with arguments.

use std::{fmt, sync::Arc};

use bytes::Bytes;
use futures_util::future::LocalBoxFuture;
use serde::Serialize;
use serde_json::Value;

use crate::{
    ask::input_required::Outcome,
    call::{
        Call,
        erased::erase,
        extract::{FromCall, HandlerSpec, Requirements},
        failure::failed,
        handler::{Handler, Run},
    },
    catalog::{
        Entry,
        completion::{Completer, Completers},
        definition_json,
        setters::definition_setters,
    },
    schema::SchemaError,
    wire::{
        content::{Content, Role},
        definition::{PromptArgument, PromptDefinition},
        era::{self, Revision},
        error::McpError,
    },
};

/// One message of a prompt.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PromptMessage {
    /// The role of its author.
    pub role: Role,
    /// Its content.
    pub content: Content,
}

impl PromptMessage {
    /// A message with this content.
    pub fn new(role: Role, content: impl Into<Content>) -> Self {
        Self { role, content: content.into() }
    }

    /// A message from the user.
    pub fn user(content: impl Into<Content>) -> Self {
        Self::new(Role::User, content)
    }

    /// A message from the model.
    pub fn assistant(content: impl Into<Content>) -> Self {
        Self::new(Role::Assistant, content)
    }
}

/// The result of `prompts/get`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PromptResult {
    /// What the prompt is for; the definition's description if the handler gives none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The messages, in order.
    pub messages: Vec<PromptMessage>,
}

impl PromptResult {
    /// These messages, in order.
    #[must_use]
    pub fn new(messages: Vec<PromptMessage>) -> Self {
        Self { description: None, messages }
    }

    /// Describes this result, in place of the definition's description.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }
}

/// A type that a prompt's handler can return.
#[diagnostic::on_unimplemented(
    message = "a prompt cannot return `{Self}`",
    label = "not a result of a prompt",
    note = "return `String` (one message of the user), `PromptMessage`, `Vec<PromptMessage>`, `PromptResult`, or a `Result` of one of them"
)]
pub trait IntoPromptResult {
    /// Converts what the handler returned.
    ///
    /// # Errors
    ///
    /// The error for the client.
    fn into_prompt_result(self, call: &Call) -> Result<PromptResult, McpError>;
}

impl IntoPromptResult for PromptResult {
    fn into_prompt_result(self, _: &Call) -> Result<PromptResult, McpError> {
        Ok(self)
    }
}

impl IntoPromptResult for Vec<PromptMessage> {
    fn into_prompt_result(self, _: &Call) -> Result<PromptResult, McpError> {
        Ok(PromptResult::new(self))
    }
}

impl IntoPromptResult for PromptMessage {
    fn into_prompt_result(self, call: &Call) -> Result<PromptResult, McpError> {
        vec![self].into_prompt_result(call)
    }
}

/// The required input, or the result.
impl<T: IntoPromptResult> IntoPromptResult for Outcome<T> {
    fn into_prompt_result(self, call: &Call) -> Result<PromptResult, McpError> {
        match self {
            Self::Complete(value) => value.into_prompt_result(call),
            Self::InputRequired(input) => {
                input.end_round(call);
                Ok(PromptResult::default())
            }
        }
    }
}

/// One message from the user.
impl IntoPromptResult for String {
    fn into_prompt_result(self, call: &Call) -> Result<PromptResult, McpError> {
        PromptMessage::user(self).into_prompt_result(call)
    }
}

/// One message from the user.
impl IntoPromptResult for &'static str {
    fn into_prompt_result(self, call: &Call) -> Result<PromptResult, McpError> {
        PromptMessage::user(self).into_prompt_result(call)
    }
}

/// An error that is neither an [`McpError`] nor a question's (as
/// [`QuestionError`](crate::call::question_error::QuestionError)) is answered with -32603 and goes to the log.
impl<T: IntoPromptResult, E: fmt::Display + 'static> IntoPromptResult for Result<T, E> {
    fn into_prompt_result(self, call: &Call) -> Result<PromptResult, McpError> {
        match self {
            Ok(value) => value.into_prompt_result(call),
            Err(error) => Err(failed(call, &error)),
        }
    }
}

/// A handler that can be a prompt: its parameters are extractors, and it returns messages.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an async function whose parameters are all extractors",
    label = "not a handler",
    note = "a handler is an `async fn` of at most 12 parameters, or a closure that returns a future"
)]
pub trait PromptHandler<Args>: Send + Sync + 'static {
    #[doc(hidden)]
    fn into_prompt(self, name: String) -> Prompt;
}

impl<F, A> PromptHandler<A> for F
where
    F: Handler<A>,
    F::Output: IntoPromptResult,
    A: FromCall,
{
    fn into_prompt(self, name: String) -> Prompt {
        Prompt::of(name, HandlerSpec::of::<A>(), erase(self, F::Output::into_prompt_result))
    }
}

/// A prompt: an async function of extractors, with a name.
#[derive(Clone)]
pub struct Prompt {
    definition: PromptDefinition,
    /// What is wrong with the handler's arguments, reported when the prompt is registered.
    mistake: Option<SchemaError>,
    /// An argument that the handler does not take as a string, reported in the same way.
    no_string: Option<String>,
    needs: Requirements,
    completers: Completers,
    run: Arc<dyn Run<PromptResult>>,
}

impl Prompt {
    /// A prompt of this name. Its handler returns a text, a [`PromptMessage`] or a `Vec` of them, a
    /// [`PromptResult`], or a `Result` of one of these; an error is logged and answered with -32603, unless it is an
    /// `McpError` or a `QuestionError`.
    ///
    /// Its arguments are the members of `T`, if the handler takes an [`Args<T>`](crate::call::extract::Args). Clients
    /// send strings only, so the members must be strings; those without a default are required.
    #[must_use]
    pub fn new<F, A>(name: impl Into<String>, handler: F) -> Self
    where
        F: PromptHandler<A>,
        A: 'static,
    {
        F::into_prompt(handler, name.into())
    }

    fn of(name: String, spec: HandlerSpec, run: Arc<dyn Run<PromptResult>>) -> Self {
        let (schema, needs) = spec.finish();
        let (arguments, no_string, mistake) = match schema {
            Ok(schema) => (arguments(&schema), no_string(&schema), None),
            Err(mistake) => (Vec::new(), None, Some(mistake)),
        };
        let definition = PromptDefinition {
            name,
            title: None,
            description: None,
            arguments,
            icons: Vec::new(),
            meta: None,
        };
        Self { definition, mistake, no_string, needs, completers: Completers::default(), run }
    }

    definition_setters!(PromptDefinition, "prompt", "What it is for.");

    /// Adds a required argument, or describes one that is derived from the handler's types.
    #[must_use]
    pub fn argument(self, name: impl Into<String>, description: impl Into<String>) -> Self {
        self.with_argument(name.into(), description.into(), true)
    }

    /// The same for an optional argument.
    #[must_use]
    pub fn optional_argument(self, name: impl Into<String>, description: impl Into<String>) -> Self {
        self.with_argument(name.into(), description.into(), false)
    }

    fn with_argument(mut self, name: String, description: String, required: bool) -> Self {
        let argument = PromptArgument { name, title: None, description: Some(description), required };
        match self.definition.arguments.iter_mut().find(|known| known.name == argument.name) {
            Some(known) => *known = argument,
            None => self.definition.arguments.push(argument),
        }
        self
    }

    /// Completes the values of an argument.
    #[must_use]
    pub fn complete<F, A>(mut self, argument: impl Into<String>, completer: F) -> Self
    where
        F: Completer<A>,
        A: 'static,
    {
        self.completers.add(argument.into(), completer.into_completer());
        self
    }

    /// The requirements of the prompt's handler.
    pub(crate) fn needs(&self) -> &Requirements {
        &self.needs
    }

    pub(crate) fn mistake(&self) -> Option<&SchemaError> {
        self.mistake.as_ref()
    }

    pub(crate) fn no_string(&self) -> Option<&str> {
        self.no_string.as_deref()
    }

    pub(crate) fn completers(&self) -> &Completers {
        &self.completers
    }

    /// Checks that the arguments of a call are all strings and that none is missing.
    ///
    /// # Errors
    ///
    /// -32602 that names the argument.
    pub(crate) fn check(&self, arguments: &str) -> Result<(), McpError> {
        let given: serde_json::Map<String, Value> = serde_json::from_str(arguments)
            .map_err(|_| McpError::invalid_params("`arguments` is not an object"))?;
        if let Some((name, _)) = given.iter().find(|(_, value)| !value.is_string()) {
            return Err(McpError::invalid_params(format!(
                "argument {} is not a string",
                crate::wire::error::Shown(name)
            )));
        }
        let missing = |argument: &&PromptArgument| argument.required && !given.contains_key(&argument.name);
        match self.definition.arguments.iter().find(missing) {
            Some(argument) => {
                Err(McpError::invalid_params(format!("argument {:?} is missing", argument.name)))
            }
            None => Ok(()),
        }
    }

    /// Runs the handler.
    pub(crate) fn run(&self, call: Call) -> LocalBoxFuture<'static, Result<PromptResult, McpError>> {
        Arc::clone(&self.run).run(call)
    }
}

/// The arguments that a schema describes.
fn arguments(schema: &Value) -> Vec<PromptArgument> {
    let text = |value: &Value, name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
    let required = |name: &str| {
        let names = schema.get("required").and_then(Value::as_array);
        names.is_some_and(|names| names.iter().any(|required| required == name))
    };
    let properties = schema.get("properties").and_then(Value::as_object);
    let argument = |(name, property): (&String, &Value)| PromptArgument {
        name: name.clone(),
        title: text(property, "title"),
        description: text(property, "description"),
        required: required(name),
    };
    properties.into_iter().flatten().map(argument).collect()
}

/// The first argument whose schema names a type other than a string.
fn no_string(schema: &Value) -> Option<String> {
    let takes = |property: &Value| match property.get("type") {
        Some(Value::String(kind)) => kind == "string",
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "string"),
        // a reference, a choice, or anything at all
        _ => true,
    };
    let properties = schema.get("properties").and_then(Value::as_object);
    properties.into_iter().flatten().find(|(_, property)| !takes(property)).map(|(name, _)| name.clone())
}

impl Entry for Prompt {
    const LIST: &'static str = "prompts";

    fn key(&self) -> &str {
        &self.definition.name
    }

    fn definition_json(&self, revision: Revision) -> serde_json::Result<Bytes> {
        definition_json(&self.definition, era::prompt, revision)
    }
}

impl fmt::Debug for Prompt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prompt").field("name", &self.definition.name).finish_non_exhaustive()
    }
}
