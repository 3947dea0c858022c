//! Serving a request whose handler may ask questions: one round without a session; in a session, the questions that a
//! handler returned as its result.

use bytes::Bytes;
use bytestring::ByteString;
use futures_util::future::{LocalBoxFuture, join_all};
use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::value::RawValue;

use crate::{
    ask::question::{Asker, NewQuestion},
    call::{
        Call,
        round::{End, Ended, Interrupted, MAX_ROUNDS, Memory, OpenQuestion, RunningRound, Written},
    },
    serve::calls::Serving,
    wire::{
        era::Feature,
        error::{McpError, Shown},
        params::Members,
        result_meta::ResultType,
        seal::{Binding, Unsealed},
    },
};

/// The outcome of running a handler.
pub(crate) enum Served<T> {
    /// The handler has a result.
    Complete(T),
    /// The handler has questions: the whole response.
    InputRequired(Bytes),
    /// A limit was exceeded or a question failed; the message for the result.
    Failed(String),
}

impl Serving {
    /// The call of a request: one round, with the memory of earlier rounds that the request carries.
    pub(crate) fn round(
        &self,
        method: &'static str,
        target: ByteString,
        arguments: Option<ByteString>,
    ) -> Result<Call, McpError> {
        let mut memory = None;
        if self.is_stateless() {
            let params = &self.request.params;
            let state = params.optional("requestState");
            let responses = params.optional("inputResponses").map(|json| params.slice(json));
            let bound = || self.binding(method, &target, arguments.as_deref());
            memory = Memory::recall(&self.router.settings().seal, bound, state, responses)?;
        }
        Ok(self.call(target, arguments)?.in_round(memory.map(Box::new)))
    }

    /// Runs a handler until it has a result or a question. `start` calls it.
    pub(crate) async fn run_rounds<T>(
        &self,
        method: &'static str,
        call: Call,
        start: impl Fn(Call) -> LocalBoxFuture<'static, Result<T, McpError>>,
    ) -> Result<Served<T>, McpError> {
        match RunningRound::new(method, call.clone(), start(call)).await? {
            Ended::Complete(value) => Ok(Served::Complete(value)),
            // boxed: the usual case should not pay for its size
            Ended::Interrupted(interrupted) => Box::pin(self.interrupted(method, *interrupted, &start)).await,
        }
    }

    /// Answers with the questions of a handler. In a session, if the handler returned them as its result, sends them to
    /// the client and calls the handler again.
    pub(crate) async fn interrupted<T>(
        &self,
        method: &'static str,
        mut interrupted: Interrupted,
        start: &impl Fn(Call) -> LocalBoxFuture<'static, Result<T, McpError>>,
    ) -> Result<Served<T>, McpError> {
        loop {
            let Interrupted { call, end: End { mut questions, input, mut memory } } = interrupted;
            if let Some(input) = input {
                memory.set_own(input.state);
                let written = input.questions?;
                if !self.is_stateless() {
                    let memory = match ask_all(&Asker::new(&call), written, memory).await {
                        Ok(memory) => memory,
                        Err(failed) => return Ok(Served::Failed(failed)),
                    };
                    let again = call.again(memory);
                    interrupted = match RunningRound::new(method, again.clone(), start(again)).await? {
                        Ended::Complete(value) => return Ok(Served::Complete(value)),
                        Ended::Interrupted(interrupted) => *interrupted,
                    };
                    continue;
                }
                questions = written.into_iter().map(|written| written.question).collect();
            }
            let bound = self.binding(method, call.target(), Some(call.arguments()));
            return self.input_required(&questions, memory, &bound);
        }
    }

    fn is_stateless(&self) -> bool {
        self.context.peer.revision.has(Feature::Stateless)
    }

    fn binding(&self, method: &str, target: &str, arguments: Option<&str>) -> Binding {
        Binding::new(self.router.audience(), self.context.principal.as_ref(), method, target, arguments)
    }

    /// The result that carries the questions.
    // MCP 2026-07-28 basic/patterns/mrtr, InputRequiredResult
    fn input_required<T>(
        &self,
        questions: &[OpenQuestion],
        memory: Memory,
        bound: &Binding,
    ) -> Result<Served<T>, McpError> {
        if let Some(failed) = too_many(&memory, questions.first()) {
            return Ok(Served::Failed(failed));
        }
        let most = self.router.settings().seal.limits.sent;
        let keys = questions.iter().map(|question| question.key.as_str());
        let request_state = match memory.seal(&self.router.settings().seal, bound, keys) {
            Ok(state) => state,
            Err(Unsealed::TooLarge(bytes)) => {
                return Ok(Served::Failed(format!(
                    "the state is too large for another round of questions: `requestState` would have {bytes} \
                     bytes (the limit is {most})"
                )));
            }
            Err(Unsealed::Failed) => return Err(McpError::internal()),
        };
        let result = InputRequiredResult {
            input_requests: (!questions.is_empty()).then_some(InputRequests(questions)),
            request_state,
        };
        let head =
            self.router.result_meta().prefix(ResultType::InputRequired, None, self.context.peer.revision);
        self.encode(&head, &result).map(Served::InputRequired)
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct InputRequiredResult<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    input_requests: Option<InputRequests<'a>>,
    request_state: String,
}

/// The questions by key.
struct InputRequests<'a>(&'a [OpenQuestion]);

impl Serialize for InputRequests<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Request<'a> {
            method: &'a str,
            params: &'a RawValue,
        }
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for question in self.0 {
            // we encoded them ourselves
            let params = serde_json::from_slice(&question.params).map_err(serde::ser::Error::custom)?;
            map.serialize_entry(&question.key, &Request { method: question.method, params })?;
        }
        map.end()
    }
}

/// The error if the limit of rounds is reached.
fn too_many(memory: &Memory, question: Option<&OpenQuestion>) -> Option<String> {
    let last =
        || question.map_or_else(|| "nothing".to_owned(), |question| Shown(&question.about).to_string());
    (memory.rounds() >= MAX_ROUNDS)
        .then(|| format!("too many rounds of questions (the limit is {MAX_ROUNDS}): {} is not asked", last()))
}

/// In a session, asks the questions that a handler returned instead of a result, and keeps the answers.
///
/// # Errors
///
/// The message for the result: too many rounds, or no answer.
async fn ask_all(asker: &Asker, questions: Vec<Written>, mut memory: Memory) -> Result<Memory, String> {
    if let Some(failed) = too_many(&memory, questions.first().map(|written| &written.question)) {
        return Err(failed);
    }
    let answers = join_all(questions.into_iter().map(|written| async move {
        let OpenQuestion { key, method, params, about } = written.question;
        let question =
            NewQuestion { method, params, needs: written.needs, timeout: None, key: None, about: &about };
        let answer = asker.ask(question).await;
        (key, answer)
    }));
    for (key, answer) in answers.await {
        match answer {
            Ok(answer) => memory.keep_answer(key, &answer.json),
            Err(error) => return Err(format!("could not get an answer for {key:?}: {error}")),
        }
    }
    memory.count_round();
    Ok(memory)
}
