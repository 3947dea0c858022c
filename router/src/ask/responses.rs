//! The answers to what a handler asked by hand.

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

/// The answers so far to the questions of an [`InputRequired`](super::InputRequired), by their keys: an extractor.
///
/// An answer stays until the call is done. One that is not there is `None`: ask again. Keys that were not asked are not here,
/// whatever the client sent, if its request carries the `requestState` of a round before. Without one it is the first round,
/// and whatever the client sent is here: a later question may be answered before an earlier one was asked. From 2026-07-28 on an answer that does not fit what was asked is refused with -32602,
/// whatever the handler makes of the error.
pub struct InputResponses(Asker);

impl InputResponses {
    /// The form that the user filled in, read as `T` and held against its schema.
    ///
    /// # Errors
    ///
    /// `Declined` and `Cancelled` are what the user did; `Invalid` names the field that does not fit; `Schema` and
    /// `Unsupported` as for [`Client::elicit`](crate::ask::client::Client::elicit).
    pub fn elicited<T: DeserializeOwned + JsonSchema>(&self, key: &str) -> Result<Option<T>, QuestionError> {
        self.read(key, &Source::derived::<T>())
    }

    /// The same for a form with a schema of its own, which has to be that which was sent.
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
        let form = schema.ready("", self.0.peer.revision)?;
        form.read(json.get()).map_err(|misfit| self.misfit(key, misfit)).and_then(|read| read.map(Some))
    }

    /// Whether the user agreed to open a URL.
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
    /// `Invalid` names the member that does not fit.
    pub fn sampled(&self, key: &str) -> Result<Option<SamplingResult>, QuestionError> {
        let Some(json) = self.0.round.answer(key) else { return Ok(None) };
        sample::read(json.get()).map(Some).map_err(|misfit| self.misfit(key, misfit))
    }

    /// The client's roots.
    ///
    /// # Errors
    ///
    /// `Invalid` names the member that does not fit.
    pub fn roots(&self, key: &str) -> Result<Option<Vec<Root>>, QuestionError> {
        let Some(json) = self.0.round.answer(key) else { return Ok(None) };
        roots::read(json.get()).map(Some).map_err(|misfit| self.misfit(key, misfit))
    }

    /// What was given to [`InputRequired::state`](super::InputRequired::state) last.
    #[must_use]
    pub fn state(&self) -> Option<String> {
        self.0.round.own_state()
    }

    /// What came with the request is refused; the answer to a request of ours is the handler's to judge.
    fn misfit<E: From<Misfit>>(&self, key: &str, misfit: Misfit) -> E {
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
