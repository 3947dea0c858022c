//! Completion: values for the argument that a user is typing.

use std::{collections::HashMap, fmt, future::Future, future::ready, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::{
    call::{
        Call,
        erased::erase,
        extract::{FromCall, HandlerSpec},
        failure::failed,
        handler::{Handler, Run},
    },
    wire::error::McpError,
};

/// The largest number of values in a response.
// MCP 2025-11-25 server/utilities/completion, Completion Results: maximum 100 items per response
pub(crate) const MAX_VALUES: usize = 100;

/// The request to a completer, as an extractor.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CompletionRequest {
    /// The argument, or the template's variable.
    pub argument: String,
    /// The text typed so far.
    pub value: String,
    /// The other arguments that already have values, if the client sends them (from 2025-06-18 on).
    pub context: HashMap<String, String>,
}

/// Only for completers; in other handlers it fails with -32603.
impl FromCall for CompletionRequest {
    fn describe(_: &mut HandlerSpec) {}

    fn from_call(call: &Call) -> impl Future<Output = Result<Self, McpError>> {
        ready(serde_json::from_str(call.arguments()).map_err(|_| {
            McpError::new(
                crate::wire::error::ErrorCode::INTERNAL_ERROR,
                "only a completer can take a `CompletionRequest`",
            )
        }))
    }
}

/// The values that match the typed text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Completion {
    /// The values, best first. More than 100 are cut off, and the client is informed that there are more.
    pub values: Vec<String>,
    /// The total number of matching values, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<usize>,
    /// Whether there are more than `values` holds.
    pub has_more: bool,
}

impl Completion {
    /// These values, best first. More than 100 are cut off.
    pub fn new<T: Into<String>>(values: impl IntoIterator<Item = T>) -> Self {
        Self { values: values.into_iter().map(Into::into).collect(), total: None, has_more: false }
    }

    /// How many values there are in all.
    #[must_use]
    pub fn total(mut self, total: usize) -> Self {
        self.total = Some(total);
        self
    }

    /// Whether there are more values than these.
    #[must_use]
    pub fn has_more(mut self, has_more: bool) -> Self {
        self.has_more = has_more;
        self
    }

    /// Limits the values to the number that may be sent. Without a total from the completer, it is the number of
    /// values.
    pub(crate) fn cut(mut self) -> Self {
        let given = self.values.len();
        self.total = self.total.map(|total| total.max(given)).or((!self.has_more).then_some(given));
        self.values.truncate(MAX_VALUES);
        self.has_more |= self.total.is_some_and(|total| total > self.values.len());
        self
    }
}

/// A type that a completer can return.
#[diagnostic::on_unimplemented(
    message = "a completer cannot return `{Self}`",
    label = "not completion values",
    note = "return `Vec<String>`, `Completion`, or a `Result` of one of them"
)]
pub trait IntoCompletion {
    /// Converts what the completer returned.
    ///
    /// # Errors
    ///
    /// The error for the client.
    fn into_completion(self, call: &Call) -> Result<Completion, McpError>;
}

impl IntoCompletion for Completion {
    fn into_completion(self, _: &Call) -> Result<Completion, McpError> {
        Ok(self)
    }
}

/// All matching values.
impl<T: Into<String>> IntoCompletion for Vec<T> {
    fn into_completion(self, _: &Call) -> Result<Completion, McpError> {
        Ok(Completion::new(self))
    }
}

/// An error that is neither an [`McpError`] nor a question's (as
/// [`QuestionError`](crate::call::question_error::QuestionError)) is answered with -32603 and goes to the log.
impl<T: IntoCompletion, E: fmt::Display + 'static> IntoCompletion for Result<T, E> {
    fn into_completion(self, call: &Call) -> Result<Completion, McpError> {
        match self {
            Ok(value) => value.into_completion(call),
            Err(error) => Err(failed(call, &error)),
        }
    }
}

/// A handler that can complete: an async function of extractors, [`CompletionRequest`] among them, that returns values.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an async function whose parameters are all extractors",
    label = "not a handler",
    note = "a completer is an `async fn(typed: CompletionRequest, ..) -> Vec<String>`"
)]
pub trait Completer<Args>: Send + Sync + 'static {
    #[doc(hidden)]
    fn into_completer(self) -> ErasedCompleter;
}

impl<F, A> Completer<A> for F
where
    F: Handler<A>,
    F::Output: IntoCompletion,
    A: FromCall,
{
    fn into_completer(self) -> ErasedCompleter {
        let (_, needs) = HandlerSpec::of::<A>().finish();
        ErasedCompleter { logs: needs.logging(), run: erase(self, F::Output::into_completion) }
    }
}

/// A type-erased completer.
#[derive(Clone)]
#[doc(hidden)]
pub struct ErasedCompleter {
    logs: bool,
    run: Arc<dyn Run<Completion>>,
}

impl fmt::Debug for ErasedCompleter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ErasedCompleter")
    }
}

/// The completers of one prompt or template, by argument.
#[derive(Clone, Debug, Default)]
pub(crate) struct Completers(Vec<(String, ErasedCompleter)>);

impl Completers {
    /// Adds a completer, which replaces one for the same argument.
    pub(crate) fn add(&mut self, argument: String, completer: ErasedCompleter) {
        self.0.retain(|(known, _)| *known != argument);
        self.0.push((argument, completer));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether one of them may log to the client.
    pub(crate) fn logging(&self) -> bool {
        self.0.iter().any(|(_, completer)| completer.logs)
    }

    /// The arguments that have one.
    pub(crate) fn arguments(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(argument, _)| argument.as_str())
    }

    pub(crate) fn of(&self, argument: &str) -> Option<Arc<dyn Run<Completion>>> {
        self.0.iter().find(|(known, _)| known == argument).map(|(_, completer)| Arc::clone(&completer.run))
    }
}
