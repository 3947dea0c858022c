//! Asking the client's model for a completion.

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
        jsonrpc,
        peer::{ClientCapability, Peer},
    },
};

pub use self::{
    message::{SampledToolResult, SamplingContent, SamplingMessage, ToolUse},
    request::{IncludeContext, ModelHint, ModelPreferences, SamplingRequest, ToolChoice},
    result::SamplingResult,
};

/// A sampling request: complete it, then await it. Nothing is sent before the first poll.
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

    /// How long to wait for the answer, 10 minutes at most; the session's limit if not set (60 s by default). Has no
    /// effect from 2026-07-28 on.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        if let Some(parts) = self.0.idle() {
            parts.timeout = Some(timeout);
        }
        self
    }

    /// Sets the key under which the client gets the question and answers it, instead of one made from its content. Has
    /// no effect before 2026-07-28.
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
        let answer = asker.ask(NewQuestion { method, params, needs, timeout, key, about: method }).await?;
        match read(&answer.json) {
            Ok(result) => Ok(result),
            Err(misfit) => Err(asker.misfit(&answer, misfit).await),
        }
    }
}

/// The capabilities that the client must have declared.
// MCP 2025-11-25 client/sampling: MUST NOT send tool-enabled requests to clients without sampling.tools
pub(crate) fn needs(request: &SamplingRequest) -> &'static [ClientCapability] {
    if request.uses_tools() { NEEDS_TOOLS } else { NEEDS }
}

/// The parameters of the question, encoded for a client.
pub(crate) fn params(mut request: SamplingRequest, peer: &Peer) -> Result<Bytes, QuestionError> {
    request.check()?;
    // MCP 2025-11-25 client/sampling, Capabilities: SHOULD NOT without sampling.context, which older revisions do not
    // have
    let declares_context = peer.revision.has(Feature::SamplingContextCapability);
    if declares_context && !peer.capabilities.sampling_context {
        request.include_context = None;
    }
    request.fit(peer.revision);
    jsonrpc::to_json(&request).map_err(|_| request::malformed("params", "cannot be serialized as JSON"))
}

/// Reads the completion from an answer.
pub(crate) fn read(json: &str) -> Result<SamplingResult, Misfit> {
    question::read(json, "result")
}

#[cfg(test)]
mod tests;
