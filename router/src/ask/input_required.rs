//! Asking by the result: a handler that returns its questions instead of awaiting them.

use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    ask::{
        elicit::{self, Source},
        question::Asker,
        roots,
        sample::{self, SamplingRequest},
    },
    call::round::{OpenQuestion, RequiredInput, Written},
    call::{
        Call,
        question_error::QuestionError,
        result::{IntoToolResult, OutputSchema},
    },
    wire::{
        error::McpError,
        peer::{ClientCapability, missing_capabilities},
        tool_result::ToolResult,
    },
};

/// Questions that a handler returns in place of a result.
///
/// The handler is called again with the answers, which it takes from
/// [`InputResponses`](crate::ask::responses::InputResponses) by key. The same handler serves both eras: in a session,
/// the client is sent these questions at once, and the handler is called again when all are answered.
///
/// Most handlers are simpler with [`Client`](crate::ask::client::Client), which does this behind an `await`.
///
/// ```
/// use actix_mcp_router::{InputRequired, InputResponses, Outcome, QuestionError};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Name {
///     name: String,
/// }
///
/// async fn greet(answers: InputResponses) -> Result<Outcome<String>, QuestionError> {
///     let Some(Name { name }) = answers.elicited("user_name")? else {
///         return Ok(InputRequired::new().elicit::<Name>("user_name", "What is your name?").into());
///     };
///     Ok(Outcome::Complete(format!("Hello, {name}!")))
/// }
/// ```
// MCP 2026-07-28 basic/patterns/mrtr, InputRequiredResult
#[derive(Debug, Default)]
pub struct InputRequired {
    requests: Vec<(String, Request)>,
    state: Option<String>,
}

#[derive(Debug)]
enum Request {
    Form { message: String, schema: Source },
    Url { message: String, url: String },
    Sample(Box<SamplingRequest>),
    Roots,
}

impl InputRequired {
    /// No questions yet. If none are added, the client repeats the request at once, with only the state.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks the user to fill in a form, like [`Client::elicit`](crate::ask::client::Client::elicit). A question
    /// replaces an earlier one with the same key.
    #[must_use]
    pub fn elicit<T: JsonSchema>(self, key: impl Into<String>, message: impl Into<String>) -> Self {
        self.request(key, Request::Form { message: message.into(), schema: Source::derived::<T>() })
    }

    /// Asks the user to fill in a form with this schema, like
    /// [`Client::elicit_with`](crate::ask::client::Client::elicit_with).
    #[must_use]
    pub fn elicit_with(
        self,
        key: impl Into<String>,
        message: impl Into<String>,
        schema: impl Serialize,
    ) -> Self {
        self.request(key, Request::Form { message: message.into(), schema: Source::written(&schema) })
    }

    /// Sends the user to a URL, like [`Client::elicit_url`](crate::ask::client::Client::elicit_url).
    #[must_use]
    pub fn elicit_url(
        self,
        key: impl Into<String>,
        message: impl Into<String>,
        url: impl Into<String>,
    ) -> Self {
        self.request(key, Request::Url { message: message.into(), url: url.into() })
    }

    /// Asks the client's model for a completion, like [`Client::sample`](crate::ask::client::Client::sample).
    #[must_use]
    pub fn sample(self, key: impl Into<String>, request: SamplingRequest) -> Self {
        self.request(key, Request::Sample(Box::new(request)))
    }

    /// Asks for the client's roots.
    #[must_use]
    pub fn roots(self, key: impl Into<String>) -> Self {
        self.request(key, Request::Roots)
    }

    /// Sets a text that the handler gets when it is called again, from
    /// [`InputResponses::state`](crate::ask::responses::InputResponses::state). It is sealed: the client can neither
    /// read nor change it.
    #[must_use]
    pub fn state(mut self, state: impl Into<String>) -> Self {
        self.state = Some(state.into());
        self
    }

    fn request(mut self, key: impl Into<String>, request: Request) -> Self {
        let key = key.into();
        self.requests.retain(|(known, _)| *known != key);
        self.requests.push((key, request));
        self
    }

    /// Ends the call's round with these questions.
    pub(crate) fn end_round(self, call: &Call) {
        let Self { requests, state } = self;
        let questions = written(requests, &Asker::new(call));
        call.round().require_input(RequiredInput { questions, state });
    }
}

/// The questions, encoded for this client.
///
/// # Errors
///
/// -32021 with every capability that the client did not declare; -32603 for an invalid question, which is logged.
// MCP 2026-07-28 basic/patterns/mrtr: MUST NOT send what the client has not declared support for
fn written(requests: Vec<(String, Request)>, asker: &Asker) -> Result<Vec<Written>, McpError> {
    let mut missing: Vec<_> = requests.iter().flat_map(|(_, request)| request.needs()).collect();
    missing.retain(|need| !asker.supports(**need));
    if !missing.is_empty() {
        return Err(missing_capabilities(&missing.into_iter().copied().collect::<Vec<_>>()));
    }
    requests.into_iter().map(|(key, request)| request.written(key, asker)).collect()
}

impl Request {
    fn needs(&self) -> &'static [ClientCapability] {
        match self {
            Self::Form { .. } => elicit::NEEDS,
            Self::Url { .. } => elicit::NEEDS_URL,
            Self::Sample(request) => sample::needs(request),
            Self::Roots => roots::NEEDS,
        }
    }

    fn written(self, key: String, asker: &Asker) -> Result<Written, McpError> {
        let (peer, needs) = (&asker.peer, self.needs());
        let (method, params, about) = match self {
            Self::Form { message, schema } => {
                let params = schema.form(peer.revision).and_then(|form| form.params(&message));
                ("elicitation/create", params, message)
            }
            Self::Url { message, url } => {
                let params = elicit::url_params(&message, &url, &elicit::fresh_id(), peer.revision);
                ("elicitation/create", params, message)
            }
            Self::Sample(request) => ("sampling/createMessage", sample::params(*request, peer), key.clone()),
            Self::Roots => ("roots/list", Ok(roots::PARAMS), key.clone()),
        };
        let params = params.map_err(|error| unwritten(&key, &error))?;
        Ok(Written { question: OpenQuestion { key, method, params, about }, needs })
    }
}

fn unwritten(key: &str, error: &QuestionError) -> McpError {
    error.to_client_error().unwrap_or_else(|| {
        log::error!("question {key:?}: {error}");
        McpError::internal()
    })
}

/// The return type of a handler that may return an [`InputRequired`]: its result, or its questions.
#[derive(Debug)]
pub enum Outcome<T> {
    /// The result.
    Complete(T),
    /// The handler has questions, and is called again with their answers.
    InputRequired(InputRequired),
}

impl<T> From<InputRequired> for Outcome<T> {
    fn from(input: InputRequired) -> Self {
        Self::InputRequired(input)
    }
}

impl<T: IntoToolResult> IntoToolResult for Outcome<T> {
    fn output_schema() -> Option<OutputSchema> {
        T::output_schema()
    }

    fn into_tool_result(self, call: &Call) -> Result<ToolResult, McpError> {
        match self {
            Self::Complete(value) => value.into_tool_result(call),
            Self::InputRequired(input) => {
                input.end_round(call);
                // the round ends with the questions: the result is ignored
                Ok(ToolResult::new())
            }
        }
    }

    fn failure(&self) -> Option<String> {
        match self {
            Self::Complete(value) => value.failure(),
            Self::InputRequired(_) => None,
        }
    }
}
