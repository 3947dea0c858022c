//! The rounds of one call: from 2026-07-28 on, a question ends a round, and the client's retry begins the next. In a
//! session, only questions that a handler returned as its result do.
//!
//! Without a session, the server keeps nothing between two rounds. No error value carries the interruption. A handler's
//! question stays pending and is recorded here. After each poll that returned `Pending`, the runner (run.rs) checks for
//! open questions; if there is one, it drops the handler and returns the questions. On the retry the handler runs again
//! from its beginning, and answered questions are ready at once.
//!
//! **Invariant:** a question is identified by its content, never by when it was asked: handlers that join their
//! questions ask them in any order.
// MCP 2026-07-28 basic/patterns/mrtr

mod memory;
mod run;

use std::{
    collections::HashMap,
    convert::Infallible,
    mem,
    sync::{Mutex, MutexGuard, PoisonError},
    task::Waker,
};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use bytes::Bytes;
use futures_util::task::AtomicWaker;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};
use tokio::sync::oneshot;

use crate::{
    call::question_error::QuestionError,
    wire::{error::McpError, peer::ClientCapability},
};

pub(crate) use self::{
    memory::Memory,
    run::{Ended, Interrupted, RunningRound},
};

/// The most rounds of questions that a call may have.
pub(crate) const MAX_ROUNDS: u32 = 16;

/// One round of one call: shared by the runner and every part of the handler that may ask.
#[derive(Debug)]
pub(crate) struct Round {
    /// Whether the call can ask its client a question.
    can_ask: bool,
    state: Mutex<State>,
    /// Wakes the runner when a part of the handler that runs elsewhere has asked.
    runner: AtomicWaker,
}

#[derive(Debug, Default)]
struct State {
    memory: Memory,
    /// How often each question was asked in this round.
    times: HashMap<String, u32>,
    /// Questions without an answer yet.
    open: Vec<Open>,
    next: u64,
    /// Askers that wait only for the end of the round.
    waiting: Vec<oneshot::Sender<Infallible>>,
    /// The error for a client that sent an invalid answer.
    refused: Option<McpError>,
    input: Option<RequiredInput>,
    /// Capabilities that the handler needed and the client did not declare.
    missing: Vec<ClientCapability>,
    /// What the client said in an error or an invalid answer; kept out of the log.
    said: Vec<String>,
    ended: bool,
}

/// A question without an answer. Nothing is ever sent to its asker: dropping the sender tells it that the round has
/// ended.
#[derive(Debug)]
struct Open {
    nth: u64,
    question: OpenQuestion,
    _asker: oneshot::Sender<Infallible>,
}

/// A question as the client gets it.
#[derive(Clone, Debug)]
pub(crate) struct OpenQuestion {
    pub(crate) key: String,
    pub(crate) method: &'static str,
    pub(crate) params: Bytes,
    /// Its name in an error, such as its message.
    pub(crate) about: String,
}

/// A question that the handler returned, encoded for its client.
#[derive(Debug)]
pub(crate) struct Written {
    pub(crate) question: OpenQuestion,
    pub(crate) needs: &'static [ClientCapability],
}

/// The questions that a handler returned instead of a result.
#[derive(Debug)]
pub(crate) struct RequiredInput {
    /// -32021 if the client did not declare what they need; -32603 for an invalid question, which is logged.
    pub(crate) questions: Result<Vec<Written>, McpError>,
    /// The handler's own state.
    pub(crate) state: Option<String>,
}

/// Where an answer does not match its question, and why.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Misfit {
    pub(crate) field: String,
    pub(crate) reason: String,
}

impl Misfit {
    pub(crate) fn new(field: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { field: field.into(), reason: reason.into() }
    }
}

impl From<Misfit> for QuestionError {
    fn from(Misfit { field, reason }: Misfit) -> Self {
        Self::Invalid { field, reason }
    }
}

/// What a round ended with.
#[derive(Debug)]
pub(crate) struct End {
    pub(crate) questions: Vec<OpenQuestion>,
    pub(crate) input: Option<RequiredInput>,
    pub(crate) memory: Memory,
}

/// An answer, and the key under which the client gave it.
#[derive(Debug)]
pub(crate) struct Answered {
    pub(crate) key: String,
    pub(crate) json: Box<RawValue>,
}

impl Round {
    /// A round of a call that can ask its client a question, or cannot.
    pub(crate) fn new(memory: Memory, can_ask: bool) -> Self {
        Self { can_ask, state: Mutex::new(State { memory, ..State::default() }), runner: AtomicWaker::new() }
    }

    /// Whether the call can ask its client a question.
    pub(crate) fn can_ask(&self) -> bool {
        self.can_ask
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the answer from an earlier round, or ends this one.
    ///
    /// # Cancellation
    ///
    /// Dropping the future withdraws the question.
    pub(crate) async fn ask(
        &self,
        name: Option<&str>,
        method: &'static str,
        params: Bytes,
        about: &str,
    ) -> Result<Answered, QuestionError> {
        let (nth, end) = {
            let mut state = self.lock();
            if state.ended {
                return Err(QuestionError::Gone);
            }
            let key = state.key(name, method, &params);
            if let Some(json) = state.memory.answer(&key) {
                return Ok(Answered { json: json.to_owned(), key });
            }
            let (asker, end) = oneshot::channel();
            let nth = state.next;
            state.next += 1;
            let question = OpenQuestion { key, method, params, about: about.to_owned() };
            state.open.push(Open { nth, question, _asker: asker });
            (nth, end)
        };
        let _open = TakeBack { round: self, nth };
        self.runner.wake();
        match end.await {
            Ok(never) => match never {},
            Err(_) => Err(QuestionError::Gone),
        }
    }

    /// Refuses an invalid answer: the client gets an error, and the handler is dropped.
    pub(crate) fn refuse(&self, key: &str, misfit: &Misfit) {
        let Misfit { field, reason } = misfit;
        let text = format!("`inputResponses`: the answer for key {key:?} is invalid: `{field}`: {reason}");
        self.lock().refused.get_or_insert_with(|| McpError::invalid_params(text));
        self.runner.wake();
    }

    /// Records a capability that the client did not declare; it is the error if the handler fails.
    pub(crate) fn note_missing(&self, capability: ClientCapability) {
        self.lock().missing.push(capability);
    }

    /// The capabilities recorded as missing.
    pub(crate) fn missing(&self) -> Vec<ClientCapability> {
        self.lock().missing.clone()
    }

    /// Records what the client said instead of a valid answer.
    pub(crate) fn note_said(&self, text: impl Into<String>) {
        self.lock().said.push(text.into());
    }

    /// What the client said instead of valid answers.
    pub(crate) fn said(&self) -> Vec<String> {
        self.lock().said.clone()
    }

    /// Waits for the end of the round.
    pub(crate) async fn ended(&self) {
        let end = {
            let mut state = self.lock();
            if state.ended {
                return;
            }
            let (waiting, end) = oneshot::channel();
            state.waiting.push(waiting);
            end
        };
        // the sender is dropped at the end
        drop(end.await);
    }

    /// Records the questions that the handler returned.
    pub(crate) fn require_input(&self, input: RequiredInput) {
        self.lock().input = Some(input);
    }

    /// Whether the handler returned questions.
    pub(crate) fn requires_input(&self) -> bool {
        self.lock().input.is_some()
    }

    pub(crate) fn answer(&self, key: &str) -> Option<Box<RawValue>> {
        self.lock().memory.answer(key).map(RawValue::to_owned)
    }

    pub(crate) fn own_state(&self) -> Option<String> {
        self.lock().memory.own.clone()
    }

    /// The result of a step that was taken before.
    pub(crate) fn step<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        self.lock().memory.step(key)
    }

    pub(crate) fn keep_step(&self, key: &str, result: &impl Serialize) {
        self.lock().memory.keep_step(key, result);
    }

    /// Whether the pending handler has a question or an invalid answer, which end the round. If not, the runner is
    /// woken later.
    fn is_over(&self, waker: &Waker) -> bool {
        // before the check: a question that is asked in between wakes the runner
        self.runner.register(waker);
        let state = self.lock();
        !state.open.is_empty() || state.refused.is_some()
    }

    /// Ends the round: open and later questions fail with `Gone`.
    ///
    /// # Errors
    ///
    /// The error for a client that sent an invalid answer.
    fn end(&self) -> Result<End, McpError> {
        let mut state = self.lock();
        state.ended = true;
        let (open, waiting) = (mem::take(&mut state.open), mem::take(&mut state.waiting));
        let (memory, input) = (mem::take(&mut state.memory), state.input.take());
        let refused = state.refused.take();
        // dropping the senders wakes the askers: outside the lock
        drop(state);
        drop(waiting);
        let questions = open.into_iter().map(|open| open.question).collect();
        refused.map_or(Ok(End { questions, input, memory }), Err)
    }
}

impl State {
    /// The key of a new question: its name or a digest of its parameters, plus an ordinal if it is repeated.
    fn key(&mut self, name: Option<&str>, method: &str, params: &[u8]) -> String {
        let base = name.map_or_else(|| digest(method, params), str::to_owned);
        let times = self.times.entry(base.clone()).or_insert(0);
        *times += 1;
        match (*times, name) {
            (1, Some(name)) if !ends_like_a_repetition(name) => base,
            (times, _) => format!("{base}.{times}"),
        }
    }
}

/// Whether a name ends like the key of a repeated question.
fn ends_like_a_repetition(name: &str) -> bool {
    name.rsplit_once('.')
        .is_some_and(|(_, end)| !end.is_empty() && end.bytes().all(|byte| byte.is_ascii_digit()))
}

/// A 128-bit digest of a question: the same on every node and in every build.
fn digest(method: &str, params: &[u8]) -> String {
    let mut hasher = Sha256::new();
    hasher.update(method);
    hasher.update(b"\0");
    hasher.update(params);
    URL_SAFE_NO_PAD.encode(&hasher.finalize()[..16])
}

/// Withdraws a question when its asker is dropped.
struct TakeBack<'a> {
    round: &'a Round,
    nth: u64,
}

impl Drop for TakeBack<'_> {
    fn drop(&mut self) {
        let mut state = self.round.lock();
        let at = state.open.iter().position(|open| open.nth == self.nth);
        let open = at.map(|at| state.open.remove(at));
        drop(state);
        drop(open);
    }
}

#[cfg(test)]
mod tests;
