//! OpenQuestion the client's model for a completion.

mod message;
mod request;
mod result;

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use futures_util::FutureExt;

use crate::{
    ask::question::{self, Asker, NewQuestion},
    call::{
        lazy::{Lazy, Start},
        question_error::QuestionError,
        round::Misfit,
    },
    wire::{
        era::Feature,
        peer::{ClientCapability, Peer},
    },
};

pub use self::{
    message::{SampledToolResult, SamplingContent, SamplingMessage, ToolUse},
    request::{IncludeContext, ModelHint, ModelPreferences, SamplingRequest, ToolChoice},
    result::SamplingResult,
};

/// A sampling request on its way. Nothing is sent before it is first polled.
#[must_use = "a question is asked when it is awaited"]
#[derive(Debug)]
pub struct Sample(Lazy<Parts, Result<SamplingResult, QuestionError>>);

#[derive(Debug)]
struct Parts {
    asker: Asker,
    request: SamplingRequest,
    timeout: Option<Duration>,
    key: Option<String>,
}

impl Sample {
    pub(crate) fn new(asker: Asker, request: SamplingRequest) -> Self {
        Self(Lazy::Idle(Parts { asker, request, timeout: None, key: None }))
    }

    /// How long to wait for the answer: the session's own limit (60 s by default) otherwise, 10 minutes at most.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        if let Some(parts) = self.0.idle() {
            parts.timeout = Some(timeout);
        }
        self
    }

    /// Names the question for the client, and knows its answer by that name, where it is otherwise known by what it asks.
    /// From 2026-07-28 on; before, it does nothing.
    pub fn key(mut self, key: impl Into<String>) -> Self {
        if let Some(parts) = self.0.idle() {
            parts.key = Some(key.into());
        }
        self
    }
}

impl Future for Sample {
    type Output = Result<SamplingResult, QuestionError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.poll(cx, |parts| Start::Work(parts.ask().boxed()))
    }
}

const NEEDS: &[ClientCapability] = &[ClientCapability::Sampling];
const NEEDS_TOOLS: &[ClientCapability] = &[ClientCapability::Sampling, ClientCapability::SamplingTools];

impl Parts {
    async fn ask(self) -> Result<SamplingResult, QuestionError> {
        let Self { asker, request, timeout, key } = self;
        let needs = needs(&request);
        asker.require(needs)?;
        let params = params(request, &asker.peer)?;
        let (method, key) = ("sampling/createMessage", key.as_deref());
        let told = asker.ask(NewQuestion { method, params, needs, timeout, key, about: method }).await?;
        match read(&told.json) {
            Ok(result) => Ok(result),
            Err(misfit) => Err(asker.misfit(&told, misfit).await),
        }
    }
}

/// What a client must have declared.
// MCP 2025-11-25 client/sampling: MUST NOT send tool-enabled requests to clients without sampling.tools
pub(crate) fn needs(request: &SamplingRequest) -> &'static [ClientCapability] {
    if request.uses_tools() { NEEDS_TOOLS } else { NEEDS }
}

/// The question as a client can be asked it.
pub(crate) fn params(mut request: SamplingRequest, peer: &Peer) -> Result<Bytes, QuestionError> {
    request.check()?;
    // MCP 2025-11-25 client/sampling, Capabilities: SHOULD NOT without sampling.context, which older ones do not have
    let declares_context = peer.revision.has(Feature::SamplingContextCapability);
    if declares_context && !peer.capabilities.sampling_context {
        request.include_context = None;
    }
    request.fit(peer.revision);
    question::encode(&request).map_err(|_| request::malformed("params", "a part of it has no JSON form"))
}

/// The completion that an answer is.
pub(crate) fn read(json: &str) -> Result<SamplingResult, Misfit> {
    question::read(json, "result")
}

#[cfg(test)]
mod tests;
