//! One call: what every extractor reads.
//!
//! Beside it: what handlers take, give back and do while they run.

pub mod cancelled;
pub(crate) mod catch_panic;
pub(crate) mod data;
pub(crate) mod erased;
pub(crate) mod extract;
pub(crate) mod failure;
pub(crate) mod handler;
pub(crate) mod lazy;
pub(crate) mod link;
pub(crate) mod log;
pub(crate) mod progress;
pub(crate) mod question_error;
pub(crate) mod result;
pub(crate) mod round;

use std::{
    any::Any,
    cell::{Cell, OnceCell},
    fmt,
    rc::Rc,
    sync::Arc,
};

use actix_web::HttpRequest;
use bytestring::ByteString;

use crate::{
    call::{
        cancelled::Cancelled,
        data::DataMap,
        link::Link,
        round::{Memory, Round},
    },
    wire::{era::Feature, id::ProgressToken, peer::Peer, principal::Principal},
};

/// What a call knows of the server that makes it.
pub(crate) trait Server: Any + Send + Sync {
    /// Whether messages may be logged to clients.
    fn may_log(&self) -> bool;
}

/// Where a request came from: what the transport and the session know of it before it is dispatched.
#[derive(Clone, Debug)]
pub struct CallContext {
    /// The client of the session.
    pub peer: Arc<Peer>,
    /// The way back to the session.
    pub link: Arc<dyn Link>,
    /// Fires when the call is cancelled.
    pub cancelled: Cancelled,
    /// Who the request acts for.
    pub principal: Option<Principal>,
    /// The HTTP request, where there is one.
    pub http: Option<HttpRequest>,
}

/// What a request brings with it beside its message.
#[derive(Clone, Debug, Default)]
pub struct TransportContext {
    /// Who sends it, where the request says so itself; the session's client otherwise.
    pub peer: Option<Arc<Peer>>,
    /// Who it acts for.
    pub principal: Option<Principal>,
    /// The HTTP request, where there is one.
    pub http: Option<HttpRequest>,
}

/// A call of a tool, prompt, resource reader or completer, as its extractors see it.
///
/// It stays on the worker that accepted the request; what an extractor takes from it may be sent elsewhere.
#[derive(Clone)]
pub struct Call(Rc<CallInner>);

struct CallInner {
    context: CallContext,
    data: Arc<DataMap>,
    server: Option<Arc<dyn Server>>,
    target: ByteString,
    arguments: Option<ByteString>,
    meta: Option<ByteString>,
    progress: Option<ProgressToken>,
    /// Whether a question can end it: it is run for one round.
    asks: bool,
    /// Whether there were rounds before.
    retried: bool,
    /// What earlier rounds left, until the round is made.
    memory: Cell<Option<Box<Memory>>>,
    /// Made when something asks: most handlers do not.
    round: OnceCell<Arc<Round>>,
}

impl CallContext {
    /// A call of `target` with `arguments` (a JSON object, or none) and the request's `_meta`. Servers make calls; a unit test
    /// has `testing::TestCall` of the facade.
    #[must_use]
    pub fn into_call(
        self,
        data: Arc<DataMap>,
        target: ByteString,
        arguments: Option<ByteString>,
        meta: Option<ByteString>,
        progress: Option<ProgressToken>,
    ) -> Call {
        Call(Rc::new(CallInner {
            context: self,
            data,
            server: None,
            target,
            arguments,
            meta,
            progress,
            asks: false,
            retried: false,
            memory: Cell::new(None),
            round: OnceCell::new(),
        }))
    }
}

impl Call {
    /// The call as part of a server.
    pub(crate) fn served_by(mut self, server: Arc<dyn Server>) -> Self {
        if let Some(call) = Rc::get_mut(&mut self.0) {
            call.server = Some(server);
        }
        self
    }

    /// The call as one round, after others that left this memory.
    pub(crate) fn in_round(mut self, memory: Option<Box<Memory>>) -> Self {
        if let Some(call) = Rc::get_mut(&mut self.0) {
            call.asks = true;
            call.retried = memory.is_some();
            call.memory = Cell::new(memory);
        }
        self
    }

    /// The same call once more, with what it remembers.
    pub(crate) fn again(&self, memory: Memory) -> Self {
        let call = &*self.0;
        Self(Rc::new(CallInner {
            context: call.context.clone(),
            data: call.data.clone(),
            server: call.server.clone(),
            target: call.target.clone(),
            arguments: call.arguments.clone(),
            meta: call.meta.clone(),
            progress: call.progress.clone(),
            asks: call.asks,
            retried: true,
            memory: Cell::new(Some(Box::new(memory))),
            round: OnceCell::new(),
        }))
    }

    /// Whether it is not the first round.
    pub(crate) fn is_retry(&self) -> bool {
        self.0.retried
    }

    /// The round that the call is.
    pub(crate) fn round(&self) -> &Arc<Round> {
        self.0.round.get_or_init(|| {
            let memory = self.0.memory.take().map(|memory| *memory).unwrap_or_default();
            Arc::new(Round::new(memory, self.0.asks))
        })
    }

    /// The same, if something needed it before.
    pub(crate) fn shared_round(&self) -> Option<&Arc<Round>> {
        self.0.round.get()
    }

    /// Whether the handler gave back questions instead of a result.
    pub(crate) fn requires_input(&self) -> bool {
        self.shared_round().is_some_and(|round| round.requires_input())
    }

    /// Whether the handler can ask its client something: where there is no session, a completer cannot.
    pub(crate) fn can_ask(&self) -> bool {
        self.0.asks || !self.0.context.peer.revision.has(Feature::Stateless)
    }

    /// The server; `None` in a call that no server makes.
    pub(crate) fn server(&self) -> Option<&Arc<dyn Server>> {
        self.0.server.as_ref()
    }

    /// The name of the tool or prompt, or the URI of the resource.
    #[must_use]
    pub fn target(&self) -> &ByteString {
        &self.0.target
    }

    /// The arguments as JSON text: an object; `{}` where the client sent none.
    #[must_use]
    pub fn arguments(&self) -> &str {
        self.0.arguments.as_deref().unwrap_or("{}")
    }

    /// The request's `_meta` object as JSON text, where there is one.
    #[must_use]
    pub fn meta(&self) -> Option<&ByteString> {
        self.0.meta.as_ref()
    }

    /// The token under which the client wants progress.
    #[must_use]
    pub fn progress_token(&self) -> Option<&ProgressToken> {
        self.0.progress.as_ref()
    }

    /// The client of the session.
    #[must_use]
    pub fn peer(&self) -> &Arc<Peer> {
        &self.0.context.peer
    }

    /// The way back to the session.
    pub(crate) fn link(&self) -> &Arc<dyn Link> {
        &self.0.context.link
    }

    /// The call's cancellation.
    #[must_use]
    pub fn cancelled(&self) -> &Cancelled {
        &self.0.context.cancelled
    }

    /// Who the call acts for.
    #[must_use]
    pub fn principal(&self) -> Option<&Principal> {
        self.0.context.principal.as_ref()
    }

    /// The HTTP request; `None` over stdio.
    #[must_use]
    pub fn http(&self) -> Option<&HttpRequest> {
        self.0.context.http.as_ref()
    }

    /// A value that was given to the server.
    #[must_use]
    pub fn data<T: ?Sized + 'static>(&self) -> Option<Arc<T>> {
        self.0.data.get()
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call").field("target", &self.0.target).finish_non_exhaustive()
    }
}
