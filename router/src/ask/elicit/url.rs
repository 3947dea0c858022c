//! Sending the user to a URL.

use std::{
    collections::hash_map::RandomState,
    future::Future,
    hash::{BuildHasher, Hasher},
    pin::Pin,
    sync::atomic::{AtomicU64, Ordering},
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use futures_util::FutureExt;
use serde::Serialize;

use super::Answer;
use crate::{
    ask::question::{Asker, NewQuestion},
    call::{
        lazy::{Lazy, Start},
        question_error::QuestionError,
    },
    wire::{
        era::{Feature, Revision},
        jsonrpc, names,
        peer::ClientCapability,
    },
};

/// A URL for the user: complete it, then await it. Nothing is sent before the first poll.
#[must_use = "a question is asked when it is awaited"]
#[derive(Debug)]
pub struct ElicitUrl {
    id: String,
    state: Lazy<Parts, Result<(), QuestionError>>,
}

#[derive(Debug)]
struct Parts {
    asker: Asker,
    message: String,
    url: String,
    id: String,
    timeout: Option<Duration>,
    key: Option<String>,
}

impl ElicitUrl {
    pub(crate) fn new(asker: Asker, message: String, url: String) -> Self {
        let id = fresh_id();
        let parts = Parts { asker, message, url, id: id.clone(), timeout: None, key: None };
        Self { id, state: Lazy::Idle(parts) }
    }

    /// The elicitation's id, for [`Client::elicitation_complete`](crate::ask::client::Client::elicitation_complete). It
    /// is sent to the client up to 2025-11-25.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Sets an id of your own, which must be unique among your elicitations.
    pub fn with_id(mut self, id: impl Into<String>) -> Self {
        if let Some(parts) = self.state.idle() {
            parts.id = id.into();
            self.id.clone_from(&parts.id);
        }
        self
    }

    /// Sets the key under which the client gets the question and answers it, instead of one made from its content. Has
    /// no effect before 2026-07-28.
    pub fn key(mut self, key: impl Into<String>) -> Self {
        if let Some(parts) = self.state.idle() {
            parts.key = Some(key.into());
        }
        self
    }

    /// How long to wait for the answer, 10 minutes at most; the session's limit if not set (60 s by default). Has no
    /// effect from 2026-07-28 on.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        if let Some(parts) = self.state.idle() {
            parts.timeout = Some(timeout);
        }
        self
    }
}

impl Future for ElicitUrl {
    type Output = Result<(), QuestionError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.state.poll(cx, |parts| Start::Work(parts.ask().boxed()))
    }
}

/// A unique id: two hashes of a counter, with random keys.
///
/// It only identifies an elicitation to its client and grants nothing, so it need not be secret.
pub(crate) fn fresh_id() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let word = || {
        let mut hasher = RandomState::new().build_hasher();
        hasher.write_u64(count);
        hasher.finish()
    };
    format!("{:016x}{:016x}", word(), word())
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Params<'a> {
    mode: &'static str,
    message: &'a str,
    url: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    elicitation_id: Option<&'a str>,
}

pub(crate) const NEEDS: &[ClientCapability] = &[ClientCapability::ElicitationUrl];

impl Parts {
    async fn ask(self) -> Result<(), QuestionError> {
        let Self { asker, message, url, id, timeout, key } = self;
        asker.require(NEEDS)?;
        let params = params(&message, &url, &id, asker.peer.revision)?;
        let question = NewQuestion {
            method: "elicitation/create",
            params,
            needs: NEEDS,
            timeout,
            key: key.as_deref(),
            about: &message,
        };
        let answer = asker.ask(question).await?;
        match Answer::read(&answer.json) {
            Ok(read) => read.accepted().map(drop),
            Err(misfit) => Err(asker.misfit(&answer, misfit).await),
        }
    }
}

/// The question, encoded for a revision.
pub(crate) fn params(message: &str, url: &str, id: &str, revision: Revision) -> Result<Bytes, QuestionError> {
    // MCP 2025-11-25 client/elicitation: the url parameter MUST contain a valid URL
    if !names::is_uri(url) {
        return Err(not_a_url());
    }
    let elicitation_id = revision.has(Feature::UrlElicitationId).then_some(id);
    let params = Params { mode: "url", message, url, elicitation_id };
    jsonrpc::to_json(&params).map_err(|_| not_a_url())
}

fn not_a_url() -> QuestionError {
    QuestionError::Malformed { field: "url".to_owned(), reason: "must be an absolute URI".to_owned() }
}
