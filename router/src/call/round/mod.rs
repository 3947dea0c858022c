//! The rounds of one call, from 2026-07-28 on: a handler that asks ends a round, and the client's retry begins the next.
//!
//! Nothing is kept between two rounds and no error value carries the interruption. What a handler asks stays pending and is
//! noted here; the runner (run.rs) looks after each poll that returned `Pending`, and if a question is open drops the handler
//! and gives back what was asked. On the retry the handler runs again from its beginning, and what was answered is ready.
//!
//! **Invariant:** a question is known by what it asks, never by when: handlers that join their questions ask them in any
//! order.
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
    run::{Asked, Ended, Rounds},
};

/// The rounds of questions that a call may have.
pub(crate) const MOST_ROUNDS: u32 = 16;

/// One round of one call: shared by the runner and whatever part of the handler may ask.
#[derive(Debug)]
pub(crate) struct Round {
    /// Whether there is a runner that can end it.
    asks: bool,
    state: Mutex<State>,
    /// Wakes the runner when a part of the handler that runs elsewhere has asked.
    runner: AtomicWaker,
}

#[derive(Debug, Default)]
struct State {
    memory: Memory,
    /// How often each question was asked in this round.
    times: HashMap<String, u32>,
    /// Without an answer yet.
    open: Vec<Open>,
    next: u64,
    /// Askers that wait for the end alone.
    waiting: Vec<oneshot::Sender<Infallible>>,
    /// What the client did wrong.
    refused: Option<McpError>,
    input: Option<RequiredInput>,
    /// What the handler needed and the client did not declare.
    missing: Vec<ClientCapability>,
    /// What the client said in an error or in an answer that does not fit: nothing for a log.
    said: Vec<String>,
    ended: bool,
}

/// A question without an answer, and its asker, who is never sent anything: it learns of the end from the sender's.
#[derive(Debug)]
struct Open {
    nth: u64,
    asking: OpenQuestion,
    _asker: oneshot::Sender<Infallible>,
}

/// A question as the client gets it.
#[derive(Clone, Debug)]
pub(crate) struct OpenQuestion {
    pub(crate) key: String,
    pub(crate) method: &'static str,
    pub(crate) params: Bytes,
    /// What to call it in an error: its message.
    pub(crate) about: String,
}

/// A question by hand, ready for a client.
#[derive(Debug)]
pub(crate) struct Written {
    pub(crate) asking: OpenQuestion,
    pub(crate) needs: &'static [ClientCapability],
}

/// What a handler gave back that asks by hand.
#[derive(Debug)]
pub(crate) struct RequiredInput {
    /// -32021 if the client did not declare what they need; -32603 for a mistake of the author, which is in the log.
    pub(crate) questions: Result<Vec<Written>, McpError>,
    /// The author's own state.
    pub(crate) state: Option<String>,
}

/// An answer that is not what was asked for: where, and why.
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

/// An answer, and under which key the client gave it.
#[derive(Debug)]
pub(crate) struct Answered {
    pub(crate) key: String,
    pub(crate) json: Box<RawValue>,
}

impl Round {
    /// A round that can be ended by a question if it `asks`.
    pub(crate) fn new(memory: Memory, asks: bool) -> Self {
        Self { asks, state: Mutex::new(State { memory, ..State::default() }), runner: AtomicWaker::new() }
    }

    /// Whether a question can end it.
    pub(crate) fn asks(&self) -> bool {
        self.asks
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives the answer of an earlier round, or ends this one.
    ///
    /// # Cancellation
    ///
    /// Dropping the future takes the question back.
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
            let asking = OpenQuestion { key, method, params, about: about.to_owned() };
            state.open.push(Open { nth, asking, _asker: asker });
            (nth, end)
        };
        let _open = TakeBack { round: self, nth };
        self.runner.wake();
        match end.await {
            Ok(never) => match never {},
            Err(_) => Err(QuestionError::Gone),
        }
    }

    /// The answers so far are wrong: the client is told, and the handler ends here.
    pub(crate) fn refuse(&self, key: &str, misfit: &Misfit) {
        let Misfit { field, reason } = misfit;
        let text = format!(
            "`inputResponses`: the answer to what was asked as {key:?} does not fit: `{field}`: {reason}"
        );
        self.lock().refused.get_or_insert_with(|| McpError::invalid_params(text));
        self.runner.wake();
    }

    /// Notes what the client did not declare and the handler cannot do without, should it fail.
    pub(crate) fn note_missing(&self, capability: ClientCapability) {
        self.lock().missing.push(capability);
    }

    /// What was noted as missing.
    pub(crate) fn missing(&self) -> Vec<ClientCapability> {
        self.lock().missing.clone()
    }

    /// Notes what the client said where it gave no answer that fits.
    pub(crate) fn note_said(&self, text: impl Into<String>) {
        self.lock().said.push(text.into());
    }

    /// What was noted that the client said.
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

    /// The handler gave back what it wants to know.
    pub(crate) fn require_input(&self, input: RequiredInput) {
        self.lock().input = Some(input);
    }

    /// Whether the handler gave back what it wants to know.
    pub(crate) fn requires_input(&self) -> bool {
        self.lock().input.is_some()
    }

    pub(crate) fn answer(&self, key: &str) -> Option<Box<RawValue>> {
        self.lock().memory.answer(key).map(RawValue::to_owned)
    }

    pub(crate) fn own_state(&self) -> Option<String> {
        self.lock().memory.own.clone()
    }

    /// What a step resulted in that was taken before.
    pub(crate) fn step<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        self.lock().memory.step(key)
    }

    pub(crate) fn keep_step(&self, key: &str, result: &impl Serialize) {
        self.lock().memory.keep_step(key, result);
    }

    /// Whether the handler, which is pending, has something that ends the round. If not, the runner will be woken.
    fn is_over(&self, waker: &Waker) -> bool {
        // before it looks: what is asked in between wakes it
        self.runner.register(waker);
        let state = self.lock();
        !state.open.is_empty() || state.refused.is_some()
    }

    /// Ends the round: whoever still asks, or will, learns that the call has gone.
    ///
    /// # Errors
    ///
    /// What the client did wrong.
    fn end(&self) -> Result<End, McpError> {
        let mut state = self.lock();
        state.ended = true;
        let (open, waiting) = (mem::take(&mut state.open), mem::take(&mut state.waiting));
        let (memory, input) = (mem::take(&mut state.memory), state.input.take());
        let refused = state.refused.take();
        // wakes the askers: outside the lock
        drop(state);
        drop(waiting);
        let questions = open.into_iter().map(|open| open.asking).collect();
        refused.map_or(Ok(End { questions, input, memory }), Err)
    }
}

impl State {
    /// The key of a question that is asked now: its name or a digest of what it asks, and the how manieth of its kind it is.
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

/// Whether a name could be taken for that of a question's repetition.
fn ends_like_a_repetition(name: &str) -> bool {
    name.rsplit_once('.')
        .is_some_and(|(_, end)| !end.is_empty() && end.bytes().all(|byte| byte.is_ascii_digit()))
}

/// 128 bits of what is asked: the same on every node and in every build.
fn digest(method: &str, params: &[u8]) -> String {
    let mut hasher = Sha256::new();
    hasher.update(method);
    hasher.update(b"\0");
    hasher.update(params);
    URL_SAFE_NO_PAD.encode(&hasher.finalize()[..16])
}

/// Takes a question back when its asker goes away.
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
