//! One question to the client, from room on the stream to the answer.
//!
//! **Invariant:** a question whose asker is dropped is withdrawn.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use bytestring::ByteString;
use serde::de::DeserializeOwned;

use crate::{
    call::{
        Call, extract,
        link::{Link, Question},
        question_error::QuestionError,
        round::{Misfit, Round},
    },
    wire::{
        era::Feature,
        peer::{ClientCapability, Peer},
    },
};

/// The longest that a question may wait, whatever timeout the handler sets.
pub const MAX_CLIENT_REQUEST_TIMEOUT: Duration = Duration::from_secs(600);

/// What every kind of question starts from.
#[derive(Clone, Debug)]
pub(crate) struct Asker {
    pub(crate) link: Arc<dyn Link>,
    pub(crate) peer: Arc<Peer>,
    pub(crate) round: Arc<Round>,
}

/// A question to be asked.
#[derive(Debug)]
pub(crate) struct NewQuestion<'a> {
    pub(crate) method: &'static str,
    pub(crate) params: Bytes,
    pub(crate) needs: &'static [ClientCapability],
    /// Set by the handler. Only used in a session.
    pub(crate) timeout: Option<Duration>,
    /// Set by the handler. Only used without a session.
    pub(crate) key: Option<&'a str>,
    /// Its name in an error.
    pub(crate) about: &'a str,
}

/// The client's `result`.
#[derive(Debug)]
pub(crate) struct ClientAnswer {
    pub(crate) json: ByteString,
    /// The key under which it came, if it came with a request.
    key: Option<String>,
}

impl Asker {
    pub(crate) fn new(call: &Call) -> Self {
        Self { link: call.link().clone(), peer: call.peer().clone(), round: call.round().clone() }
    }

    /// Whether questions travel in a result instead of in server-initiated requests.
    pub(crate) fn in_rounds(&self) -> bool {
        self.peer.revision.has(Feature::Stateless)
    }

    /// Whether the client declared it, the session's revision has it, and this call may ask.
    pub(crate) fn supports(&self, capability: ClientCapability) -> bool {
        let has = |feature| self.peer.revision.has(feature);
        self.peer.capabilities.has(capability) && capability.feature().is_none_or(has) && self.round.can_ask()
    }

    /// Refuses early what the session would refuse, so that such a question does not wait for room first. Without a
    /// session, the round records what the client did not declare: that is the answer if the handler fails.
    pub(crate) fn require(&self, needs: &[ClientCapability]) -> Result<(), QuestionError> {
        let Some(first) = needs.iter().copied().find(|need| !self.supports(*need)) else { return Ok(()) };
        if self.in_rounds() {
            let missing = needs.iter().filter(|need| !self.peer.capabilities.has(**need));
            missing.for_each(|need| self.round.note_missing(*need));
        }
        Err(QuestionError::Unsupported(first))
    }

    /// Asks, and waits for the `result`. Without a session, that is in a later round, or at once if it came with the
    /// request.
    ///
    /// # Cancellation
    ///
    /// If dropped while it waits for room, nothing was sent; if dropped later, the question is withdrawn.
    pub(crate) async fn ask(&self, question: NewQuestion<'_>) -> Result<ClientAnswer, QuestionError> {
        let NewQuestion { method, params, needs, timeout, key, about } = question;
        self.require(needs)?;
        if self.in_rounds() {
            let answered = self.round.ask(key, method, params, about).await?;
            return Ok(ClientAnswer { json: answered.json.get().into(), key: Some(answered.key) });
        }
        let room = self.link.reserve(params.len()).await;
        if !self.link.is_live() {
            return Err(QuestionError::Gone);
        }
        let timeout = timeout.map(|wait| wait.min(MAX_CLIENT_REQUEST_TIMEOUT));
        let asked = self.link.ask(Question { method, params, needs, timeout }, room);
        let mut open = Open(Some(asked.withdraw));
        // the session drops the sender when the call ends
        let answer = asked.answer.await.unwrap_or(Err(QuestionError::Gone));
        open.0 = None;
        if let Err(QuestionError::Refused(error)) = &answer {
            self.round.note_said(&*error.message);
        }
        answer.map(|json| ClientAnswer { json, key: None })
    }

    /// Handles an invalid answer. In a session, the asker gets the error. Without one, the client gets it and the asker
    /// is dropped.
    pub(crate) async fn misfit(&self, answer: &ClientAnswer, misfit: Misfit) -> QuestionError {
        let Some(key) = &answer.key else {
            self.round.note_said(&*misfit.reason);
            return misfit.into();
        };
        self.round.refuse(key, &misfit);
        self.round.ended().await;
        QuestionError::Gone
    }
}

/// Withdraws the question if dropped before the answer.
struct Open(Option<Box<dyn FnOnce() + Send>>);

impl Drop for Open {
    fn drop(&mut self) {
        if let Some(withdraw) = self.0.take() {
            withdraw();
        }
    }
}

/// Reads an answer; `whole` names it in errors that are not about one field. An integer may be written as `2.0`.
pub(crate) fn read<T: DeserializeOwned>(json: &str, whole: &str) -> Result<T, Misfit> {
    serde_json::from_str(json).or_else(|_| {
        let rewritten = extract::rewritten::<T>(json);
        with_field(rewritten.as_deref().unwrap_or(json), whole)
    })
}

fn with_field<T: DeserializeOwned>(json: &str, whole: &str) -> Result<T, Misfit> {
    let mut json = serde_json::Deserializer::from_str(json);
    let value = serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let path = error.path().to_string();
        let reason = extract::sentence(&error.into_inner());
        // serde's path ends at the object that lacks the field
        let missing = reason.strip_prefix("missing field `").and_then(|rest| rest.strip_suffix('`'));
        let field = match (path.as_str(), missing) {
            (".", Some(missing)) => missing.to_owned(),
            (".", None) => whole.to_owned(),
            (_, Some(missing)) => format!("{path}.{missing}"),
            (_, None) => path,
        };
        Misfit::new(field, reason)
    })?;
    json.end().map_err(|error| Misfit::new(whole, extract::sentence(&error)))?;
    Ok(value)
}
