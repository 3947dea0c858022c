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
    ask::question::{self, Asker, Asks, Misfit},
    call::{
        lazy::{Lazy, Start},
        link::AskError,
    },
    wire::{
        era::Feature,
        error::McpError,
        peer::{ClientCapability, Peer, missing_capabilities},
    },
};

pub use self::{
    message::{SampledToolResult, SamplingContent, SamplingMessage, ToolUse},
    request::{IncludeContext, ModelHint, ModelPreferences, SamplingRequest, ToolChoice},
    result::SamplingResult,
};

/// Why there is no completion. Returned from a prompt or a reader, it is what an
/// [`ElicitError`](crate::ask::elicit::ElicitError) is there.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SampleError {
    /// The client did not declare the capability, or the session's revision lacks what the request uses. Nothing was sent.
    #[error("the client does not support {0}")]
    Unsupported(ClientCapability),
    /// The request is against the rules. Nothing was sent: a mistake of the server's author.
    #[error("the sampling request cannot be sent: {0}")]
    Malformed(&'static str),
    /// The client's answer is no completion.
    #[error("the completion does not fit: `{field}`: {reason}")]
    Invalid {
        /// The member at fault.
        field: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Nobody answered in time.
    #[error("the client did not answer in time")]
    TimedOut,
    /// The client answered with an error; a user who says no is code -1.
    // MCP 2025-11-25 client/sampling, Error Handling
    #[error("the client answered with an error: {0}")]
    Refused(#[source] McpError),
    /// The session has as many open requests to its client as its limit allows. Nothing was sent.
    #[error("too many requests to the client are open (the limit is {limit})")]
    TooMany {
        /// The limit.
        limit: usize,
    },
    /// The call that asked has ended.
    #[error("the call has ended")]
    Gone,
}

impl SampleError {
    /// What the client is told where it has to be an error of the protocol: what it lacks, or in words what it or its user
    /// did; `None` for a mistake of the author.
    pub(crate) fn told(&self) -> Option<McpError> {
        match self {
            Self::Unsupported(capability) => Some(missing_capabilities(&[*capability])),
            Self::Malformed(_) => None,
            Self::Invalid { .. } | Self::TimedOut | Self::Refused(_) | Self::TooMany { .. } | Self::Gone => {
                Some(McpError::invalid_request(self.to_string()))
            }
        }
    }
}

impl From<AskError> for SampleError {
    fn from(err: AskError) -> Self {
        match err {
            AskError::Unsupported(capability) => Self::Unsupported(capability),
            AskError::TimedOut => Self::TimedOut,
            AskError::Refused(err) => Self::Refused(err),
            AskError::TooMany { limit } => Self::TooMany { limit },
            AskError::Gone => Self::Gone,
        }
    }
}

impl From<Misfit> for SampleError {
    fn from(Misfit { field, reason }: Misfit) -> Self {
        Self::Invalid { field, reason }
    }
}

impl From<SampleError> for String {
    fn from(err: SampleError) -> Self {
        err.to_string()
    }
}

/// A sampling request on its way. Nothing is sent before it is first polled.
#[must_use = "a question is asked when it is awaited"]
#[derive(Debug)]
pub struct Sample(Lazy<Parts, Result<SamplingResult, SampleError>>);

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
    type Output = Result<SamplingResult, SampleError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.poll(cx, |parts| Start::Work(parts.ask().boxed()))
    }
}

const NEEDS: &[ClientCapability] = &[ClientCapability::Sampling];
const NEEDS_TOOLS: &[ClientCapability] = &[ClientCapability::Sampling, ClientCapability::SamplingTools];

impl Parts {
    async fn ask(self) -> Result<SamplingResult, SampleError> {
        let Self { asker, request, timeout, key } = self;
        let needs = needs(&request);
        asker.require(needs)?;
        let params = params(request, &asker.peer)?;
        let (method, key) = ("sampling/createMessage", key.as_deref());
        let told = asker.ask(Asks { method, params, needs, timeout, key, about: method }).await?;
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
pub(crate) fn params(mut request: SamplingRequest, peer: &Peer) -> Result<Bytes, SampleError> {
    request.check()?;
    // MCP 2025-11-25 client/sampling, Capabilities: SHOULD NOT without sampling.context, which older ones do not have
    let declares_context = peer.revision.has(Feature::SamplingContextCapability);
    if declares_context && !peer.capabilities.sampling_context {
        request.include_context = None;
    }
    request.fit(peer.revision);
    question::encode(&request).map_err(|_| SampleError::Malformed("a part of it has no JSON form"))
}

/// The completion that an answer is.
pub(crate) fn read(json: &str) -> Result<SamplingResult, Misfit> {
    question::read(json, "result")
}

#[cfg(test)]
mod tests;
