//! The answers to questions that a handler returned.

use std::{
    fmt,
    future::{Future, ready},
};

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::{
    ask::{
        elicit::{Answer, Source},
        question::Asker,
        roots::{self, Root},
        sample::{self, SamplingResult},
    },
    call::{
        Call,
        extract::{FromCall, HandlerSpec},
        question_error::QuestionError,
        round::Misfit,
    },
    wire::error::McpError,
};

/// The answers so far to the questions of an [`InputRequired`](crate::ask::input_required::InputRequired), by key: an
/// extractor.
///
/// An answer stays until the call is done. A missing answer is `None`: ask again.
///
/// If the request carries the `requestState` of an earlier round, only answers to questions of that round are accepted.
/// Without one it is the first round, and every answer that the client sent is here: a later question may be answered
/// before an earlier one is asked. From 2026-07-28 on, an answer that does not match its question is refused with
/// -32602, whatever the handler does with the error.
pub struct InputResponses(Asker);

impl InputResponses {
    /// The form that the user filled in, validated against `T`'s schema and parsed.
    ///
    /// # Errors
    ///
    /// `Declined` and `Cancelled` are choices of the user; `Invalid` names the invalid field; `Malformed` and
    /// `Unsupported` as for [`Client::elicit`](crate::ask::client::Client::elicit).
    pub fn elicited<T: DeserializeOwned + JsonSchema>(&self, key: &str) -> Result<Option<T>, QuestionError> {
        self.read(key, &Source::derived::<T>())
    }

    /// The same for a form with this schema, which must be the one that was sent.
    ///
    /// # Errors
    ///
    /// As for [`elicited`](Self::elicited).
    pub fn elicited_with<T: DeserializeOwned>(
        &self,
        key: &str,
        schema: impl serde::Serialize,
    ) -> Result<Option<T>, QuestionError> {
        self.read(key, &Source::written(&schema))
    }

    fn read<T: DeserializeOwned>(&self, key: &str, schema: &Source) -> Result<Option<T>, QuestionError> {
        let Some(json) = self.0.round.answer(key) else { return Ok(None) };
        let form = schema.form(self.0.peer.revision)?;
        form.read(json.get()).map_err(|misfit| self.misfit(key, misfit)).and_then(|read| read.map(Some))
    }

    /// `Some` if the user agreed to open the URL.
    ///
    /// # Errors
    ///
    /// As for [`elicited`](Self::elicited).
    pub fn opened(&self, key: &str) -> Result<Option<()>, QuestionError> {
        let Some(json) = self.0.round.answer(key) else { return Ok(None) };
        match Answer::read(json.get()) {
            Ok(answer) => answer.accepted().map(|_| Some(())),
            Err(misfit) => Err(self.misfit(key, misfit)),
        }
    }

    /// A completion of the client's model.
    ///
    /// # Errors
    ///
    /// `Invalid` names the invalid member.
    pub fn sampled(&self, key: &str) -> Result<Option<SamplingResult>, QuestionError> {
        let Some(json) = self.0.round.answer(key) else { return Ok(None) };
        sample::read(json.get()).map(Some).map_err(|misfit| self.misfit(key, misfit))
    }

    /// The client's roots.
    ///
    /// # Errors
    ///
    /// `Invalid` names the invalid member.
    pub fn roots(&self, key: &str) -> Result<Option<Vec<Root>>, QuestionError> {
        let Some(json) = self.0.round.answer(key) else { return Ok(None) };
        roots::read(json.get()).map(Some).map_err(|misfit| self.misfit(key, misfit))
    }

    /// The text last given to [`InputRequired::state`](crate::ask::input_required::InputRequired::state).
    #[must_use]
    pub fn state(&self) -> Option<String> {
        self.0.round.own_state()
    }

    /// Refuses an invalid answer that came with the request. In a session, the handler decides what to do with it.
    fn misfit(&self, key: &str, misfit: Misfit) -> QuestionError {
        if self.0.in_rounds() {
            self.0.round.refuse(key, &misfit);
        }
        misfit.into()
    }
}

impl FromCall for InputResponses {
    fn describe(_: &mut HandlerSpec) {}

    fn from_call(call: &Call) -> impl Future<Output = Result<Self, McpError>> {
        ready(Ok(Self(Asker::new(call))))
    }
}

impl fmt::Debug for InputResponses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InputResponses").finish_non_exhaustive()
    }
}
