//! A request comes in: it is admitted under a token, answered by the session itself, or refused.
//!
//! No handler code runs here. The request's task has been started and waits; it goes on only if the request is
//! admitted.
//!
//! **Invariant:** only this actor decides whether an id is free. Until it has, there is no stream and no handler runs.
//!
//! Read next: `own`, `refuse` (the other two outcomes), `task` (where an admitted request goes on).

use std::{sync::Arc, time::Duration};

use actix::{Context, Handler, Message};
use actix_mcp_router::{
    ErrorCode, McpError, Peer,
    internal::{Feature, Link, Method, Request, Target},
};
use tokio::{sync::oneshot, time::Instant};

use super::{CallEntry, Running, SessionActor, report::Report};
use crate::{
    link::{CallEnd, CallLink, StreamRoom},
    listen::ListenPermit,
    reply_to::{Disposition, ReplyTo},
};

/// Asks a session to take a request. Sent by the request's own task, which waits for the reply.
///
/// If the actor is gone, the reply is dropped and the request's task ends; the transport finds the sender of its head
/// dropped.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub(crate) struct Admit {
    pub(crate) request: Request,
    /// The sender of a self-contained request; `None` for a request of the session's client.
    pub(crate) peer: Option<Arc<Peer>>,
    /// Stops the task.
    pub(crate) running: Running,
    /// Where the answer goes.
    pub(crate) reply_to: ReplyTo,
    /// Gets the request back if it is admitted; dropped if the session has answered it.
    pub(crate) admitted: oneshot::Sender<Admission>,
}

/// A request that was admitted, and what its handler needs.
#[derive(Debug)]
pub(crate) struct Admission {
    /// The request.
    pub(crate) request: Request,
    /// The session's client.
    pub(crate) peer: Arc<Peer>,
    /// The way back to the session.
    pub(crate) link: Arc<dyn Link>,
    /// How long the call may be silent before its response becomes a stream; `None` if it cannot.
    pub(crate) stream_after: Option<Duration>,
    /// Its permit, if it is a `subscriptions/listen` request.
    pub(crate) listens: Option<ListenPermit>,
    /// Reports the call's end, even if the admission is dropped.
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
        // over HTTP a second `initialize` is refused as such even if its id is in flight: the refusal can have that id
        let is_second = matches!((&method, &admit.reply_to), (Ok(Method::Initialize), ReplyTo::Http(_)));
        if !is_second && self.state.is_taken(&admit.request.id) {
            return self.refuse_duplicate(admit.reply_to, &admit.request.id);
        }
        self.note_batch(&admit);
        let (request, reply_to) = (&admit.request, admit.reply_to);
        match method {
            Ok(Method::Initialize) => return self.initialize(reply_to, request, ctx),
            Ok(Method::Ping) => return self.answer_empty(reply_to, &request.id, Ok(())),
            _ => {}
        }
        let Some(peer) = self.peer.clone() else {
            return self.refuse_unopened(reply_to, &request.id, method.err().as_ref());
        };
        match method {
            Ok(Method::SetLevel) => self.set_level(reply_to, request, &peer),
            Ok(Method::Subscribe) => self.subscribe(reply_to, request),
            Ok(Method::Unsubscribe) => self.unsubscribe(reply_to, request),
            Ok(_) => self.admit(Admit { reply_to, ..admit }, peer),
            Err(error) => self.refuse_method(reply_to, &request.id, &error),
        }
    }

    /// Admits a self-contained request. It shares only the pipe and its in-flight ids with the session.
    fn admit_stateless(&mut self, admit: Admit, peer: Arc<Peer>) {
        if self.state.is_taken(&admit.request.id) {
            return self.refuse_duplicate(admit.reply_to, &admit.request.id);
        }
        self.note_batch(&admit);
        if matches!(admit.reply_to, ReplyTo::Batch(_)) {
            // no revision without sessions has batches
            let error =
                McpError::invalid_request("a request with its version in `_meta` cannot be part of a batch");
            return self.refuse(admit.reply_to, &admit.request.id, &error, Disposition::Refused);
        }
        match self.router.method(&admit.request.method, peer.revision) {
            Ok(_) => self.admit(admit, peer),
            Err(error) => self.refuse_method(admit.reply_to, &admit.request.id, &error),
        }
    }

    /// In a batch, an id stays taken until the whole batch is answered.
    fn note_batch(&mut self, admit: &Admit) {
        if let ReplyTo::Batch(batch) = &admit.reply_to {
            self.state.take_in(batch, &admit.request.id);
        }
    }

    /// Puts the call into the map and lets its task go on.
    fn admit(&mut self, admit: Admit, peer: Arc<Peer>) {
        let Admit { request, running, reply_to, admitted: task, peer: _ } = admit;
        let stream_after = match &reply_to {
            ReplyTo::Http(reply) if reply.accepts.events() => Some(self.state.limits.sse_after),
            ReplyTo::Http(_) | ReplyTo::Pipe | ReplyTo::Batch(_) => None,
        };
        let room = match &self.pipe {
            Some(pipe) => StreamRoom::of_pipe(pipe.budget().clone()),
            None => StreamRoom::of_call(&self.state.limits, self.hub.stats().clone()),
        };
        let session = self.address.clone();
        let listens = match ListenPermit::of(&self.hub, &self.state.limits, &request, &peer) {
            Ok(listens) => listens,
            Err(too_many) => {
                let error = McpError::new(ErrorCode::INTERNAL_ERROR, too_many.to_string());
                return self.refuse(reply_to, &request.id, &error, Disposition::Full);
            }
        };
        let admitted = match self.state.admit(request.id.clone(), Instant::now()) {
            Ok(admitted) => admitted,
            Err(refused) => return self.refuse_call(refused, reply_to, &request.id),
        };
        let link = Arc::new(CallLink::new(admitted.token(), session.clone(), room));
        let listener = listens.as_ref().map(|permit| permit.listener().clone());
        let (reply_to, target) = (Some(reply_to), Target::of(&request));
        let kept = CallEntry { running, reply_to, target, link: CallEnd(link.clone()), listener };
        let call = admitted.fill(kept);
        log::trace!(session = self.short(), request:% = request.id, generation = call.generation(); "admitted");
        let report = Report::new(call, session);
        // a task that was dropped meanwhile, with its worker, drops the admission, whose report frees the id
        drop(task.send(Admission { request, peer, link, stream_after, listens, report }));
    }
}

/// Asks whether batches may be served now. Sent by a transport that has read one; a mailbox error counts as `false`.
#[derive(Debug, Message)]
#[rtype(result = "bool")]
pub struct Batching;

impl Handler<Batching> for SessionActor {
    type Result = bool;

    fn handle(&mut self, _: Batching, _: &mut Self::Context) -> bool {
        self.peer.as_ref().is_some_and(|peer| peer.revision.has(Feature::Batching))
    }
}
