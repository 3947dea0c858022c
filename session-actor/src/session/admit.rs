//! A request comes in: it is admitted under a token, answered at once, or refused.
//!
//! **Invariant:** this handler decides alone whether an id is free. Until it has, there is no stream and no handler.

use std::{sync::Arc, time::Duration};

use actix::{AsyncContext, Context, Handler, Message};
use actix_mcp_router::{
    dispatch::Method,
    era::Feature,
    error::{ErrorCode, McpError},
    id::RequestId,
    initialize::Opening,
    jsonrpc::{ErrorId, Malformed, Parameters, Request, Target, encode_error, encode_result},
    link::Link,
    peer::Peer,
    router::Router,
};
use serde_json::json;
use tokio::{sync::oneshot, time::Instant};

use super::{Kept, Running, SessionActor, SessionHandle, Way, report::Report};
use crate::{
    link::{CallEnd, CallLink, StreamRoom},
    listen::Place,
    outlet::{Accepts, Batch, Exchange, Outlet, Verdict},
    queue::Frame,
    state::{Phase, Refused},
    stats::Counter,
    token::Token,
};

/// Asks a session to take a request. Sent by the request's own task, which waits for the reply.
///
/// If the actor is gone, the reply is dropped and the request's task ends; whoever waits for its head finds it dropped.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct Admit {
    pub(crate) request: Request,
    /// Who sends it, where the request says so itself; the session's client otherwise.
    pub(crate) peer: Option<Arc<Peer>>,
    /// What stops the task.
    pub(crate) running: Running,
    /// Where the answer goes.
    pub(crate) outlet: Outlet,
    /// Told if the request is admitted, with the request back; dropped if the session has answered it.
    pub(crate) reply: oneshot::Sender<Admission>,
}

/// A request that was admitted, and what its handler needs.
#[derive(Debug)]
pub struct Admission {
    /// The call's name from now on.
    pub call: Token,
    /// The request.
    pub request: Request,
    /// The session's client.
    pub peer: Arc<Peer>,
    /// The way back to the session.
    pub link: Arc<dyn Link>,
    /// After what silence the answer becomes a stream; `None` where it cannot.
    pub commit_after: Option<Duration>,
    /// Its place, where it is a request to listen.
    pub(crate) listens: Option<Place>,
    /// Reports the call's end, even if nobody takes the admission.
    pub(crate) report: Report,
}

impl Handler<Admit> for SessionActor {
    type Result = ();

    fn handle(&mut self, admit: Admit, ctx: &mut Self::Context) {
        let span = admit.running.span.clone();
        span.in_scope(|| self.take(admit, ctx));
        self.state.tidy();
    }
}

impl SessionActor {
    fn take(&mut self, mut admit: Admit, ctx: &mut Context<Self>) {
        self.state.touch(Instant::now());
        if let Some(peer) = admit.peer.take() {
            return self.admit_stateless(admit, peer);
        }
        let method = self.router.method(&admit.request.method, self.revision());
        // a second `initialize` is refused as one, whatever its id, where the refusal can have an id
        let is_second = matches!((&method, &admit.outlet), (Ok(Method::Initialize), Outlet::Exchange(_)));
        if !is_second && self.state.is_taken(&admit.request.id) {
            return self.refuse_duplicate(admit.outlet, &admit.request.id);
        }
        self.note_batch(&admit);
        match method {
            Ok(Method::Initialize) => self.initialize(admit.outlet, &admit.request, ctx),
            Ok(Method::Ping) => self.answer_empty(admit.outlet, &admit.request.id, Ok(())),
            // what a client that knows no handshake asks first: it tells by this error that it needs one
            Err(error) if self.state.phase == Phase::New && !self.router.eras().serve_modern() => {
                self.refuse(admit.outlet, &admit.request.id, &error, Verdict::Answered(Some(error.code)));
            }
            _ if self.state.phase == Phase::New => {
                let error = McpError::invalid_params(self.how_to_begin());
                self.refuse(admit.outlet, &admit.request.id, &error, Verdict::Refused);
            }
            Ok(Method::SetLevel) => {
                let result = Router::parse_level(&admit.request.params);
                let set = |level| self.peer.iter().for_each(|peer| peer.set_level(level));
                self.answer_empty(admit.outlet, &admit.request.id, result.map(set));
            }
            Ok(Method::Subscribe) => {
                let result = self.subscribe(&admit.request.params);
                self.answer_empty(admit.outlet, &admit.request.id, result);
            }
            Ok(Method::Unsubscribe) => {
                let uri = self.router.parse_uri(&admit.request.params);
                let result = uri.map(|uri| {
                    self.noted.unsubscribe(&uri);
                    self.state.unsubscribe(&uri);
                });
                self.answer_empty(admit.outlet, &admit.request.id, result);
            }
            Ok(_) => {
                let Some(peer) = self.peer.clone() else { return };
                self.run(admit, peer);
            }
            Err(error) => self.refuse_method(admit.outlet, &admit.request.id, &error),
        }
    }

    /// Takes a request that speaks for itself. Of the session it shares the pipe, and the ids in flight on it.
    fn admit_stateless(&mut self, admit: Admit, peer: Arc<Peer>) {
        if self.state.is_taken(&admit.request.id) {
            return self.refuse_duplicate(admit.outlet, &admit.request.id);
        }
        self.note_batch(&admit);
        if matches!(admit.outlet, Outlet::Batch(_)) {
            // no revision without sessions has batches
            let error =
                McpError::invalid_request("a request that names its version cannot be part of a batch");
            return self.refuse(admit.outlet, &admit.request.id, &error, Verdict::Refused);
        }
        match self.router.method(&admit.request.method, peer.revision) {
            Ok(_) => self.run(admit, peer),
            Err(error) => self.refuse_method(admit.outlet, &admit.request.id, &error),
        }
    }

    /// In a batch, an id stays taken until all are answered.
    fn note_batch(&mut self, admit: &Admit) {
        if let Outlet::Batch(batch) = &admit.outlet {
            self.state.take_in(batch, &admit.request.id);
        }
    }

    /// Refuses what is no method here, or for the limits, which come before methods.
    fn refuse_method(&self, outlet: Outlet, id: &RequestId, error: &McpError) {
        match self.state.check_room() {
            Ok(()) => self.refuse(outlet, id, error, Verdict::Answered(Some(error.code))),
            Err(refused) => self.refuse_call(refused, outlet, id),
        }
    }

    /// What is told to whoever begins with something else.
    fn how_to_begin(&self) -> &'static str {
        if self.router.eras().serve_modern() {
            "the session is not open: send `initialize` first, or name a version in \
             `_meta.io.modelcontextprotocol/protocolVersion`"
        } else {
            "the session is not open: send `initialize` first"
        }
    }

    /// Refuses a second request under a live id. The first is not touched.
    fn refuse_duplicate(&self, outlet: Outlet, id: &RequestId) {
        let error = McpError::invalid_request(format!("request id {id} is already in flight"));
        match outlet {
            // under the live id every client would fail its first call, so the pipe's error has none: a deliberate
            // deviation from MCP 2025-11-25 basic, Error Responses
            Outlet::Line | Outlet::Batch(_) => {
                log::debug!(session = self.short(), request:% = id; "refused a request id that is in flight");
                self.answer_at_once(outlet, encode_error(self.no_id(), &error), Verdict::Duplicate);
            }
            Outlet::Exchange(_) => self.refuse(outlet, id, &error, Verdict::Duplicate),
        }
    }

    /// Puts the call into the map and lets its task go on.
    fn run(&mut self, admit: Admit, peer: Arc<Peer>) {
        let Admit { request, running, outlet, reply, peer: _ } = admit;
        let commit_after = match &outlet {
            Outlet::Exchange(Exchange { accepts: Accepts::Both | Accepts::Events, .. }) => {
                Some(self.state.limits.sse_after)
            }
            Outlet::Exchange(_) | Outlet::Line | Outlet::Batch(_) => None,
        };
        let room = match &self.pipe {
            Some(pipe) => StreamRoom::of_pipe(pipe.flow().clone()),
            None => StreamRoom::of_call(&self.state.limits, self.hub.stats().clone()),
        };
        let session = self.address.clone();
        let listens = match Place::of(&self.hub, &self.state.limits, &request, &peer) {
            Ok(listens) => listens,
            Err(too_many) => {
                let error = McpError::new(ErrorCode::INTERNAL_ERROR, too_many.to_string());
                return self.refuse(outlet, &request.id, &error, Verdict::Full);
            }
        };
        let admitted = match self.state.admit(request.id.clone(), Instant::now()) {
            Ok(admitted) => admitted,
            Err(refused) => return self.refuse_call(refused, outlet, &request.id),
        };
        let link = Arc::new(CallLink::new(admitted.token(), session.clone(), room));
        let heard = listens.as_ref().map(|place| place.heard().clone());
        let (outlet, target) = (Way::from(outlet), Target::of(&request));
        let kept = Kept { running, outlet, target, link: CallEnd(link.clone()), heard };
        let call = admitted.fill(kept);
        log::trace!(session = self.short(), request:% = request.id, generation = call.generation(); "admitted");
        let report = Report::new(call, session);
        // a task that has gone in between, with its worker, drops the admission, whose report frees the id
        drop(reply.send(Admission { call, request, peer, link, commit_after, listens, report }));
    }

    fn refuse_call(&self, refused: Refused, outlet: Outlet, id: &RequestId) {
        let (message, verdict) = match refused {
            Refused::Duplicate => return self.refuse_duplicate(outlet, id),
            Refused::Draining => ("the server is shutting down".to_owned(), Verdict::Draining),
            Refused::Full => {
                let limit = self.state.limits.in_flight;
                (format!("too many requests are in flight (the limit is {limit})"), Verdict::Full)
            }
        };
        self.refuse(outlet, id, &McpError::new(ErrorCode::INTERNAL_ERROR, message), verdict);
    }

    /// Answers `initialize`, once; a second one changes nothing.
    fn initialize(&mut self, outlet: Outlet, request: &Request, ctx: &mut Context<Self>) {
        if matches!(outlet, Outlet::Batch(_)) {
            // MCP 2025-03-26 basic/lifecycle, Initialization: MUST NOT be part of a batch
            let error = McpError::invalid_request("`initialize` cannot be part of a batch");
            return self.refuse(outlet, &request.id, &error, Verdict::Refused);
        }
        if self.state.phase != Phase::New {
            let error = McpError::invalid_request("the session is already initialized");
            return self.refuse(outlet, &request.id, &error, Verdict::Refused);
        }
        match Opening::read(&request.params, self.router.limits().name_bytes) {
            Ok(client) => {
                let result = self.router.initialize_result(client.revision);
                let session_id = self.pipe.is_none().then(|| self.id.clone());
                self.opened(Peer::new(client.revision, client.capabilities, client.info, session_id), ctx);
                // asked once the session can be found: a shutdown that did not find it has been announced by now
                if self.hub.is_draining() {
                    return self.refuse_call(Refused::Draining, outlet, &request.id);
                }
                self.answer_at_once(outlet, encode_result(&request.id, &result), Verdict::Answered(None));
            }
            Err(error) => self.refuse(outlet, &request.id, &error, Verdict::Answered(Some(error.code))),
        }
    }

    /// Opens the session for its client and makes it findable.
    fn opened(&mut self, peer: Peer, ctx: &mut Context<Self>) {
        let peer = Arc::new(peer);
        let handle = SessionHandle {
            addr: ctx.address(),
            peer: peer.clone(),
            principal: self.principal.take(),
            noted: self.noted.clone(),
        };
        self.registered = Some(self.hub.registry().register(self.id.clone(), handle));
        self.peer = Some(peer);
        self.state.phase = Phase::Opened;
        if self.pipe.is_none() {
            self.watch_idle(ctx);
        }
    }

    /// Looks whether the session has been idle for too long, at the time it could be.
    fn watch_idle(&self, ctx: &mut Context<Self>) {
        let due = self.state.expires_at().map(|due| due.saturating_duration_since(Instant::now()));
        ctx.run_later(due.unwrap_or(self.state.limits.idle), |session, ctx| {
            if session.state.expires_at().is_some_and(|due| due <= Instant::now()) {
                let idle = session.state.limits.idle;
                log::debug!(session = session.short(); "an idle session has expired (the limit is {idle:?})");
                session.end(ctx);
            } else {
                session.watch_idle(ctx);
            }
        });
    }

    /// Answers with an empty result, or with the error.
    // MCP 2025-11-25 basic/utilities/ping and server/utilities/logging: an empty result has no members
    fn answer_empty(&self, outlet: Outlet, id: &RequestId, result: Result<(), McpError>) {
        match result {
            Ok(()) => self.answer_at_once(outlet, encode_result(id, &json!({})), Verdict::Answered(None)),
            Err(error) => self.refuse(outlet, id, &error, Verdict::Answered(Some(error.code))),
        }
    }

    fn subscribe(&mut self, params: &Parameters) -> Result<(), McpError> {
        let uri = self.router.subscribable(params)?;
        let stats = self.hub.stats();
        if self.state.subscribe(uri.clone(), || stats.count(Counter::Subscriptions)) {
            self.noted.subscribe(&uri);
            return Ok(());
        }
        let limit = self.state.limits.subscriptions;
        let message = format!("too many resource subscriptions (the limit is {limit})");
        Err(McpError::new(ErrorCode::INTERNAL_ERROR, message))
    }
}

impl From<Outlet> for Way {
    fn from(outlet: Outlet) -> Self {
        match outlet {
            Outlet::Exchange(exchange) => Self::Exchange(exchange),
            Outlet::Line => Self::Line,
            Outlet::Batch(batch) => Self::Batch(batch),
        }
    }
}

/// Asks whether batches may be served now. Sent by a transport that read one; `false` also if the actor is gone.
#[derive(Debug, Message)]
#[rtype(result = "bool")]
pub struct Batching;

impl Handler<Batching> for SessionActor {
    type Result = bool;

    fn handle(&mut self, _: Batching, _: &mut Self::Context) -> bool {
        self.peer.as_ref().is_some_and(|peer| peer.revision.has(Feature::Batching))
    }
}

/// Answers what could not be read as a request, on the session's pipe or in its batch. Sent by its transport; lost with the session.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct Refuse {
    /// What was read, and what is wrong with it.
    pub malformed: Malformed,
    /// The batch it was in, if it was in one.
    pub batch: Option<Arc<Batch>>,
}

impl Handler<Refuse> for SessionActor {
    type Result = ();

    fn handle(&mut self, refuse: Refuse, _: &mut Self::Context) {
        let Malformed { id, error, .. } = &refuse.malformed;
        log::debug!(session = self.short(), code = error.code.0; "refused a message: {}", error.message);
        let id = match id {
            // an error under a live id would fail the request that owns it
            Some(id) if !self.state.is_taken(id) => {
                if let Some(batch) = &refuse.batch {
                    self.state.take_in(batch, id);
                }
                ErrorId::Given(id)
            }
            _ => self.no_id(),
        };
        let json = encode_error(id, error);
        match refuse.batch {
            Some(batch) => batch.push(&json),
            None => self.push_line(Frame::kept(json)),
        }
    }
}
