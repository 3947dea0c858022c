//! What a call remembers from one round to the next: answers, results of steps, the handler's own state.
//!
//! Without a session, it travels with the client, sealed, and the server keeps none of it.

use std::collections::BTreeMap;

use bytestring::ByteString;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::value::{RawValue, to_raw_value};

use crate::{
    call::round::MAX_ROUNDS,
    wire::{
        error::McpError,
        params,
        seal::{self, Binding, Seal, Unsealed},
    },
};

/// What earlier rounds left.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    /// The number of earlier rounds.
    pub(super) rounds: u32,
    /// By the key of their question.
    answers: BTreeMap<String, Box<RawValue>>,
    unasked: Option<Unasked>,
    /// The results of steps, by key.
    pub(super) steps: BTreeMap<String, Box<RawValue>>,
    /// The handler's own state.
    pub(super) own: Option<String>,
}

/// Answers that came without a `requestState`, so they may not have been asked for. Only an answer that a question uses
/// is remembered.
#[derive(Debug)]
struct Unasked {
    /// Searched when a question is asked.
    text: ByteString,
    /// How many more searches are allowed: the text may be long, and a handler may ask in a loop.
    looks: u32,
}

/// The sealed form.
#[derive(Default, Serialize, Deserialize)]
struct Kept {
    rounds: u32,
    /// The keys asked in the last round: only these are taken from `inputResponses`.
    open: Vec<String>,
    answers: BTreeMap<String, Box<RawValue>>,
    steps: BTreeMap<String, Box<RawValue>>,
    own: Option<String>,
}

impl Memory {
    /// Reads the memory that a request carries; `None` if it is not a retry.
    ///
    /// # Errors
    ///
    /// -32602 for an invalid `requestState`, with the same text whatever is wrong with it, and for `inputResponses`
    /// that are not an object or have a duplicate answer.
    pub(crate) fn recall(
        seal: &Seal,
        bound: impl FnOnce() -> Binding,
        state: Option<&str>,
        responses: Option<ByteString>,
    ) -> Result<Option<Self>, McpError> {
        if state.is_none() && responses.is_none() {
            return Ok(None);
        }
        let mut kept = Kept::default();
        if let Some(state) = state {
            let state: String = serde_json::from_str(state).map_err(|_| seal::refused())?;
            kept = serde_json::from_slice(&seal.open(&state, bound)?).map_err(|_| seal::refused())?;
        }
        let Kept { rounds, open, mut answers, steps, own } = kept;
        if let Some(responses) = &responses {
            // MCP 2026-07-28 basic/patterns/mrtr, Error Handling: SHOULD ignore any information it does not recognize
            let asked = open.iter().map(String::as_str).collect::<Vec<_>>();
            let mut found = vec![None; asked.len()];
            let refuse = |what: &str| Err(McpError::invalid_params(format!("`inputResponses` {what}")));
            match params::find(responses, &asked, &mut found) {
                None => return refuse("is not an object"),
                Some(Some(at)) => return refuse(&format!("has a duplicate member {:?}", asked[at])),
                Some(None) => {}
            }
            let answered = open.into_iter().zip(found);
            answers.extend(answered.filter_map(|(key, answer)| Some((key, answer?.to_owned()))));
        }
        let text = responses.filter(|_| state.is_none());
        let unasked = text.map(|text| Unasked { text, looks: MAX_ROUNDS });
        Ok(Some(Self { rounds, answers, unasked, steps, own }))
    }

    /// Seals the memory for the round in which these keys are asked.
    pub(crate) fn seal<'a>(
        self,
        seal: &Seal,
        bound: &Binding,
        open: impl Iterator<Item = &'a str>,
    ) -> Result<String, Unsealed> {
        let Self { rounds, answers, unasked: _, steps, own } = self;
        let kept = Kept { rounds: rounds + 1, open: open.map(str::to_owned).collect(), answers, steps, own };
        let kept = serde_json::to_vec(&kept).map_err(|_| Unsealed::Failed)?;
        seal.seal(&kept, bound)
    }

    /// The answer to a question that is asked now.
    pub(super) fn answer(&mut self, key: &str) -> Option<&RawValue> {
        if !self.answers.contains_key(key)
            && let Some(Unasked { text, looks }) = self.unasked.as_mut().filter(|unasked| unasked.looks > 0)
        {
            *looks -= 1;
            let mut found = [None];
            // a duplicate is ambiguous, so it is not an answer
            let twice = params::find(text, &[key], &mut found).flatten();
            if let (Some(answer), None) = (found[0], twice) {
                self.answers.insert(key.to_owned(), answer.to_owned());
            }
        }
        self.answers.get(key).map(Box::as_ref)
    }

    /// The number of earlier rounds.
    pub(crate) fn rounds(&self) -> u32 {
        self.rounds
    }

    /// Counts a round in a session, where nothing is sealed.
    pub(crate) fn count_round(&mut self) {
        self.rounds += 1;
    }

    /// Sets the handler's own state for the next round.
    pub(crate) fn set_own(&mut self, state: Option<String>) {
        self.own = state;
    }

    /// Keeps the answer to a server-initiated request.
    pub(crate) fn keep_answer(&mut self, key: String, json: &str) {
        if let Ok(json) = RawValue::from_string(json.to_owned()) {
            self.answers.insert(key, json);
        }
    }

    /// The result of a step, if it was taken and its result can be read as this type.
    pub(super) fn step<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        serde_json::from_str(self.steps.get(key)?.get()).ok()
    }

    pub(super) fn keep_step(&mut self, key: &str, result: &impl Serialize) {
        match to_raw_value(result) {
            Ok(result) => {
                self.steps.insert(key.to_owned(), result);
            }
            Err(error) => {
                log::error!("step {key:?} will run again: its result cannot be serialized as JSON: {error}")
            }
        }
    }
}
