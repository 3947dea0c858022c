//! One call, which every extractor reads.
//!
//! The submodules hold what handlers take, return and do while they run.

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
        link::{Link, NoLink},
        round::{Memory, Round},
    },
    wire::{
        era::{Feature, Revision},
        id::ProgressToken,
        peer::{ClientCapabilities, Implementation, Peer},
        principal::Principal,
    },
};

/// The part of the server that a call can see.
pub(crate) trait CallServer: Any + Send + Sync {
    /// Whether messages may be logged to clients.
    fn may_log(&self) -> bool;
}

/// Where a request came from: what the transport and the session know before it is dispatched.
#[derive(Clone, Debug)]
pub struct CallContext {
    /// The client: the session's, or the request's own where there is no session.
    pub peer: Arc<Peer>,
    /// The call's link to its session.
    pub link: Arc<dyn Link>,
    /// Fires when the call is cancelled.
    pub cancelled: Cancelled,
    /// Who the request acts for, if it is authenticated.
    pub principal: Option<Principal>,
    /// The HTTP request; `None` over stdio.
    pub http: Option<HttpRequest>,
}

/// What the transport adds to a request's message.
#[derive(Clone, Debug, Default)]
pub struct TransportContext {
    /// The client, if the request itself identifies it; `None` for the session's client.
    pub peer: Option<Arc<Peer>>,
    /// Who the request acts for, if it is authenticated.
    pub principal: Option<Principal>,
    /// The HTTP request; `None` over stdio.
    pub http: Option<HttpRequest>,
}

/// A call of a tool, prompt, resource reader or completer, as its extractors see it.
///
/// It stays on the worker thread that accepted the request. Extracted values that are `Send` may be sent to other
/// threads.
#[derive(Clone)]
pub struct Call(Rc<CallInner>);

struct CallInner {
    context: CallContext,
    data: Arc<DataMap>,
    server: Option<Arc<dyn CallServer>>,
    target: ByteString,
    arguments: Option<ByteString>,
    meta: Option<ByteString>,
    progress: Option<ProgressToken>,
    /// Whether its handler is run in rounds, which a question can end. A completer's is not.
    in_rounds: bool,
    /// Whether there were earlier rounds.
    retried: bool,
    /// What earlier rounds left; taken when `round` is created.
    memory: Cell<Option<Box<Memory>>>,
    /// Created when first needed: most handlers ask nothing.
    round: OnceCell<Arc<Round>>,
}

impl CallContext {
    /// The context of a call without a session, at the newest revision that has sessions: for unit tests.
    #[must_use]
    pub fn detached() -> Self {
        let nobody = Peer::new(
            Revision::LATEST_HANDSHAKE,
            ClientCapabilities::default(),
            Implementation::default(),
            None,
        );
        Self {
            peer: Arc::new(nobody),
            link: Arc::new(NoLink),
            cancelled: Cancelled::default(),
            principal: None,
            http: None,
        }
    }

    /// A call of `target` with `arguments` (a JSON object, or none) and the request's `_meta`. The server creates
    /// calls; in a unit test, use `testing::TestCall` of the facade.
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
            in_rounds: false,
            retried: false,
            memory: Cell::new(None),
            round: OnceCell::new(),
        }))
    }
}

impl Call {
    /// The call as part of a server.
    pub(crate) fn served_by(mut self, server: Arc<dyn CallServer>) -> Self {
        if let Some(call) = Rc::get_mut(&mut self.0) {
            call.server = Some(server);
        }
        self
    }

    /// Makes the call one round that continues from this memory; `None` for the first round.
    pub(crate) fn in_round(mut self, memory: Option<Box<Memory>>) -> Self {
        if let Some(call) = Rc::get_mut(&mut self.0) {
            call.in_rounds = true;
            call.retried = memory.is_some();
            call.memory = Cell::new(memory);
        }
        self
    }

    /// The same call again, as the next round, with this memory.
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
            in_rounds: call.in_rounds,
            retried: true,
            memory: Cell::new(Some(Box::new(memory))),
            round: OnceCell::new(),
        }))
    }

    /// Whether this is not the first round.
    pub(crate) fn is_retry(&self) -> bool {
        self.0.retried
    }

    /// The call's round.
    pub(crate) fn round(&self) -> &Arc<Round> {
        self.0.round.get_or_init(|| {
            let memory = self.0.memory.take().map(|memory| *memory).unwrap_or_default();
            Arc::new(Round::new(memory, self.can_ask()))
        })
    }

    /// The call's round, if anything has needed it yet.
    pub(crate) fn shared_round(&self) -> Option<&Arc<Round>> {
        self.0.round.get()
    }

    /// Whether the handler returned questions instead of a result.
    pub(crate) fn requires_input(&self) -> bool {
        self.shared_round().is_some_and(|round| round.requires_input())
    }

    /// Whether the handler can ask its client a question: without a session, a completer cannot.
    pub(crate) fn can_ask(&self) -> bool {
        self.0.in_rounds || !self.0.context.peer.revision.has(Feature::Stateless)
    }

    /// The server; `None` in a call that was created without one.
    pub(crate) fn server(&self) -> Option<&Arc<dyn CallServer>> {
        self.0.server.as_ref()
    }

    /// The name of the tool or prompt, or the URI of the resource.
    #[must_use]
    pub fn target(&self) -> &ByteString {
        &self.0.target
    }

    /// The arguments as JSON text: an object; `{}` if the client sent none.
    #[must_use]
    pub fn arguments(&self) -> &str {
        self.0.arguments.as_deref().unwrap_or("{}")
    }

    /// The request's `_meta` object as JSON text, if it has one.
    #[must_use]
    pub fn meta(&self) -> Option<&ByteString> {
        self.0.meta.as_ref()
    }

    /// The progress token; `None` if the client does not want progress.
    #[must_use]
    pub fn progress_token(&self) -> Option<&ProgressToken> {
        self.0.progress.as_ref()
    }

    /// The client that made the call.
    #[must_use]
    pub fn peer(&self) -> &Arc<Peer> {
        &self.0.context.peer
    }

    /// The call's link to its session.
    pub(crate) fn link(&self) -> &Arc<dyn Link> {
        &self.0.context.link
    }

    /// The call's cancellation signal.
    #[must_use]
    pub fn cancelled(&self) -> &Cancelled {
        &self.0.context.cancelled
    }

    /// Who the call acts for, if its request is authenticated.
    #[must_use]
    pub fn principal(&self) -> Option<&Principal> {
        self.0.context.principal.as_ref()
    }

    /// The HTTP request; `None` over stdio.
    #[must_use]
    pub fn http(&self) -> Option<&HttpRequest> {
        self.0.context.http.as_ref()
    }

    /// The server's shared value of this type.
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
