//! The session's actor: a thin shell that turns messages into events of `SessionState` and does what comes out.
//!
//! One message a file. Handlers of tools never run here: a request that is admitted runs in a task of its own (`task`), on
//! the worker that accepted it, and this actor only hears of it by its token.
//!
//! Read next: `admit` and `finish`, the two ends of a request.

mod admit;
mod answered;
mod ask;
mod close;
mod emit;
mod finish;
mod notices;
mod notified;
mod streams;
#[cfg(test)]
mod tests;

use std::{collections::HashSet, fmt, sync::Arc};

use actix::{Actor, ActorContext, AsyncContext, Context, SpawnHandle, WeakAddr};
use actix_mcp_router::{
    era::Revision,
    error::McpError,
    id::RequestId,
    jsonrpc::{ErrorId, Target, encode_error},
    peer::{Peer, Principal},
    router::Router,
};
use bytes::Bytes;
use tokio::{
    sync::{Semaphore, oneshot},
    time::Instant,
};
use tracing::Instrument;

pub(crate) use self::{admit::Running, close::stopped, finish::refused};
pub use self::{
    admit::{Admission, Admit, Batching, Refuse},
    answered::Answered,
    ask::{Ask, Withdraw},
    close::{Close, Drain, Stop},
    emit::{CloseStream, Emit},
    finish::Finished,
    notices::Changed,
    notified::Notified,
    streams::{Commit, NoStream, NotResumed, OpenStream, Resume, StreamClosed},
};
use crate::{
    limits::Limits,
    link::CallEnd,
    listeners::Heard,
    noted::Noted,
    outlet::{Exchange, Head, Outlet, Verdict},
    queue::{Flow, Frame, Sink},
    sessions::{Registered, SessionHandle, Sessions, new_id, short},
    state::{Phase, SessionState},
    stats::Counted,
    stream::{End, StreamActor},
    token::Token,
};

/// One session.
pub struct SessionActor {
    /// What the server offers; shared by all sessions.
    router: Arc<Router>,
    /// All rules. Only this actor touches it.
    state: SessionState<Kept, Reader>,
    /// The client, from the answer to `initialize` on.
    peer: Option<Arc<Peer>>,
    /// The one stream of a session over a byte stream; `None` over HTTP.
    pipe: Option<Sink>,
    /// Its own address, for those below it. Weak, and so cheap to clone.
    address: WeakAddr<Self>,
    /// Its id in the registry, never shown in full.
    id: Arc<str>,
    /// Who opened it.
    principal: Option<Principal>,
    /// The registry, in which it can be found from `initialize` on.
    sessions: Sessions,
    /// On a pipe from the start: a shutdown must reach a client that does no handshake, too.
    registered: Option<Registered>,
    /// Where the registry leaves what has changed.
    noted: Arc<Noted>,
    /// Requests to the client that wait for `notifications/initialized`, with the calls that asked.
    held: Vec<ask::Held>,
    /// Cancelled calls that clean up, by the token they had; an entry goes when its task reports its end. A drain waits for
    /// them.
    cleaning: HashSet<Token>,
    /// The timer of the requests to the client that are open, and when it fires; there is at most one.
    ask_timer: Option<(Instant, SpawnHandle)>,
    /// Bounds the cancelled calls that still have their grace: as many as may be in flight. Made for the first.
    graces: Option<Arc<Semaphore>>,
    /// Bounds what is on its way to readers of streams that have ended. Made for the first.
    replays: Option<Arc<Semaphore>>,
    /// Told when nothing is in flight any more; set by [`Drain`].
    drained: Vec<oneshot::Sender<()>>,
    /// The client has closed its end: it can answer nothing any more.
    deaf: bool,
    /// The timer that sends waiting notices; there is one while some wait.
    flush: Option<SpawnHandle>,
    /// Counts the session.
    _open: Counted,
}

impl fmt::Debug for SessionActor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionActor").field("session", &short(&self.id)).finish_non_exhaustive()
    }
}

/// What the session keeps for a call in flight.
pub(crate) struct Kept {
    /// Stops its task.
    running: Running,
    /// Where its answer goes.
    outlet: Way,
    /// What it asks for, for the log.
    target: Target,
    /// Its way back, shared with its handler.
    link: CallEnd,
    /// What it hears, where it is a request to listen.
    heard: Option<Arc<Heard>>,
}

/// Where a call's answer goes, once it was admitted.
enum Way {
    /// An HTTP exchange without a head.
    Exchange(Exchange),
    /// A stream of its own; the state knows its reader.
    Stream,
    /// The session's pipe.
    Line,
    /// A batch on the pipe.
    Batch(Arc<crate::outlet::Batch>),
}

/// The reader of a stream. Dropping it, also with a session that panics, ends the stream after what was written.
pub(crate) struct Reader {
    stream: actix::Addr<StreamActor>,
    sink: Sink,
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.stream.do_send(End);
    }
}

/// What a session is made of.
#[derive(Clone, Debug)]
pub struct Opening {
    /// What the server offers.
    pub router: Arc<Router>,
    /// Where the session will be found.
    pub sessions: Sessions,
    /// What it may take; shared by all sessions.
    pub limits: Arc<Limits>,
    /// Who opens it.
    pub principal: Option<Principal>,
    /// The pipe, for a session over a byte stream.
    pub pipe: Option<Sink>,
}

/// Why a session could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The client's fault is none; it is told to come back later.
    #[error(transparent)]
    Full(#[from] crate::sessions::Full),
    /// The machine gives no random bytes, and an id that can be guessed is worse than no session.
    #[error("no random bytes for a session id")]
    NoRandom(#[source] getrandom::Error),
}

impl SessionActor {
    /// Starts a session on this worker, under the id that is given with it. It can be found once it has answered
    /// `initialize`.
    ///
    /// # Errors
    ///
    /// [`OpenError::Full`] at the limit of sessions, which the client sees; [`OpenError::NoRandom`] is the machine's fault.
    pub fn open(opening: Opening) -> Result<(actix::Addr<Self>, Arc<str>), OpenError> {
        let open = opening.sessions.take_room()?;
        let id = new_id().map_err(OpenError::NoRandom)?;
        let registry_id = id.clone();
        let session = Self::create(move |ctx| {
            let mut state = SessionState::new(opening.limits, Instant::now());
            let mut registered = None;
            if opening.pipe.is_some() {
                registered = Some(opening.sessions.register_pipe(registry_id.clone(), ctx.address()));
                // asked once a shutdown can find it
                if opening.sessions.is_draining() {
                    state.drain();
                }
            }
            Self {
                address: ctx.address().downgrade(),
                router: opening.router,
                state,
                peer: None,
                pipe: opening.pipe,
                id: registry_id,
                principal: opening.principal,
                sessions: opening.sessions,
                registered,
                noted: Arc::default(),
                held: Vec::new(),
                cleaning: HashSet::new(),
                ask_timer: None,
                graces: None,
                replays: None,
                drained: Vec::new(),
                deaf: false,
                flush: None,
                _open: open,
            }
        });
        Ok((session, id))
    }

    /// The part of the id that logs may show.
    fn short(&self) -> &str {
        short(&self.id)
    }

    /// The revision that was agreed on; before that, the one that would be offered.
    fn revision(&self) -> Revision {
        self.peer.as_ref().map_or(Revision::LATEST_HANDSHAKE, |peer| peer.revision)
    }

    fn flow(&self) -> Arc<Flow> {
        match &self.pipe {
            Some(pipe) => pipe.flow().clone(),
            None => {
                let (limits, stats) = (&self.state.limits, self.sessions.stats().clone());
                Flow::with_patience(limits.queue_bytes, limits.stall, stats)
            }
        }
    }

    /// The id of an error whose request had none that could be read, or must not be named.
    fn no_id(&self) -> ErrorId<'static> {
        match &self.peer {
            Some(peer) => actix_mcp_router::era::unreadable_id(peer.revision),
            None => ErrorId::Absent,
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
        self.registered = Some(self.sessions.register(self.id.clone(), handle));
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

    /// Answers through an outlet that was never in flight: refusals, and what the session answers itself.
    fn answer_at_once(&self, outlet: Outlet, json: Bytes, verdict: Verdict) {
        match outlet {
            // the client may have gone, and then nobody waits
            Outlet::Exchange(exchange) => drop(exchange.head.send(Head::Json { json, verdict })),
            Outlet::Line => self.push_line(Frame::kept(json)),
            Outlet::Batch(batch) => batch.push(&json),
        }
    }

    fn refuse(&self, outlet: Outlet, id: &RequestId, error: &McpError, verdict: Verdict) {
        log::debug!(session = self.short(), request:% = id, code = error.code.0; "refused a request: {}", error.message);
        self.answer_at_once(outlet, encode_error(ErrorId::Given(id), error), verdict);
    }

    fn push_line(&self, frame: Frame) {
        if let Some(pipe) = &self.pipe {
            pipe.push(frame);
        }
    }

    /// Tells everyone who waits for the session to fall silent.
    fn check_drained(&mut self) {
        if self.state.in_flight() == 0 && self.cleaning.is_empty() {
            for drained in self.drained.drain(..) {
                // whoever waited may have stopped waiting
                drained.send(()).ok();
            }
        }
    }

    /// Stops the task of a call that was cancelled: at once, or after a grace if its handler listens.
    ///
    /// The grace is a task of its own: it outlives a session that ends, and a timer here would be polled at every message.
    /// `true` if it has one.
    fn stop(&mut self, running: Running, reason: Option<String>) -> bool {
        running.cancelled.fire(reason);
        if !running.cancelled.is_listening() {
            return false;
        }
        let limit = self.state.limits.in_flight;
        let all = || Arc::new(Semaphore::new(limit.min(Semaphore::MAX_PERMITS)));
        let Ok(place) = self.graces.get_or_insert_with(all).clone().try_acquire_owned() else {
            log::warn!(session = self.short(); "a cancelled call has no grace: too many have (the limit is {limit})");
            return false;
        };
        let grace = self.state.limits.grace;
        let span = running.span.clone();
        let over = async move {
            tokio::time::sleep(grace).await;
            if !running.abort.is_finished() {
                log::debug!("a cancelled call used up its grace of {grace:?}");
            }
            drop((running, place));
        };
        actix_rt::spawn(over.instrument(span));
        true
    }

    /// Ends the session: every call is taken, every stream ends, and nobody finds it any more.
    fn end(&mut self, ctx: &mut Context<Self>) {
        self.registered = None;
        let (calls, readers) = self.state.close();
        for (_, Kept { running, outlet, link, .. }) in calls {
            drop(link);
            if let Way::Exchange(exchange) = outlet {
                // the client may have gone, and then nobody waits
                drop(exchange.head.send(Head::Ended));
            }
            self.stop(running, Some("the session has ended".to_owned()));
        }
        drop(readers);
        self.held.clear();
        self.cleaning.clear();
        self.check_drained();
        if let Some(pipe) = &self.pipe {
            pipe.finish();
        }
        ctx.stop();
    }
}

impl Actor for SessionActor {
    type Context = Context<Self>;
}
