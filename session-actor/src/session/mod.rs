//! The session's actor: a thin shell that turns messages into calls of `SessionState` and does what comes out.
//!
//! This file has the actor's data; each file beside it has what belongs to one occasion, messages and methods. Messages that
//! a call's link or a stream sends are defined beside their senders, in `link` and `stream`. Handlers of tools never run
//! here: an admitted request runs in a task of its own (`task`), on the worker that accepted it, and this actor knows it by its
//! token.
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
mod open;
mod own;
mod refuse;
mod report;
mod streams;

use std::{collections::HashSet, fmt, sync::Arc};

use actix::{Actor, Addr, Context, SpawnHandle, WeakAddr};
use actix_mcp_router::{
    Cancelled, ClientCapability, Peer, Principal, Revision,
    internal::{ErrorId, Router, Target},
};
use tokio::{
    sync::{Semaphore, oneshot},
    task::AbortHandle,
    time::Instant,
};
use tracing::Span;

pub(crate) use self::close::stopped;
pub use self::{
    admit::{Admission, Admit, Batching},
    answered::Answered,
    close::{Close, Drain, Stop},
    finish::Finished,
    notices::Changed,
    notified::Notified,
    open::{OpenError, Opening},
    refuse::Refuse,
    streams::{NoStream, NotResumed, OpenStream, Resume, StartStream},
};
use crate::{
    budget::ByteBudget,
    changes::SessionChanges,
    hub::Hub,
    link::CallEnd,
    listeners::Listener,
    queue::{Frame, Sink},
    registry::{Registered, short},
    reply_to::ReplyTo,
    state::SessionState,
    stats::Counted,
    stream::{End, StreamActor},
    token::Token,
};

/// One session.
pub struct SessionActor {
    /// What the server offers; shared by all sessions.
    router: Arc<Router>,
    /// All rules. Only this actor touches it.
    state: SessionState<CallEntry, Reader>,
    /// The client, from the answer to `initialize` on.
    peer: Option<Arc<Peer>>,
    /// The one stream of a session over a byte stream; `None` over HTTP.
    pipe: Option<Sink>,
    /// Its own address, for those below it. Weak, and so cheap to clone.
    address: WeakAddr<Self>,
    /// Its id in the registry, never shown in full.
    id: Arc<str>,
    /// Who opened it; moved to its [`SessionHandle`] when it answers `initialize`.
    principal: Option<Principal>,
    /// What it shares with the other sessions of its server.
    hub: Arc<SessionHub>,
    /// Its entry in the registry, from `initialize` on.
    registered: Option<Registered<SessionHandle>>,
    /// On a pipe until then: a shutdown must reach a client that does no handshake, too.
    pipe_registered: Option<Registered<Addr<Self>>>,
    /// Where the hub leaves what has changed.
    changes: Arc<SessionChanges>,
    /// Requests to the client that wait for `notifications/initialized`, with the calls that asked.
    held: Vec<Held>,
    /// Cancelled calls that clean up, by the token they had; an entry goes when its task reports its end. A drain waits for
    /// them.
    cleaning: HashSet<Token>,
    /// The timer of the requests to the client that are open, and when it fires; there is at most one.
    request_timer: Option<(Instant, SpawnHandle)>,
    /// Bounds the cancelled calls that still have their grace: as many as may be in flight. Made for the first.
    graces: Option<Arc<Semaphore>>,
    /// Bounds what is on its way to readers of finished streams. Made for the first.
    replays: Option<Arc<Semaphore>>,
    /// Notified when nothing is in flight any more; set by [`Drain`].
    drained: Vec<oneshot::Sender<()>>,
    /// The client has closed its end: it can answer nothing any more.
    input_closed: bool,
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

/// What the sessions of one server share.
pub(crate) type SessionHub = Hub<SessionHandle, Addr<SessionActor>>;

/// How to reach a session.
#[derive(Clone, Debug)]
pub struct SessionHandle {
    /// The session.
    pub addr: Addr<SessionActor>,
    /// Its client.
    pub peer: Arc<Peer>,
    /// Who opened it.
    pub principal: Option<Principal>,
    pub(crate) changes: Arc<SessionChanges>,
}

/// What the session keeps for a call in flight.
pub(crate) struct CallEntry {
    /// Stops its task.
    running: Running,
    /// Where its answer goes; `None` once it has a stream of its own, whose reader the state knows.
    reply_to: Option<ReplyTo>,
    /// What it asks for, for the log.
    target: Target,
    /// Its way back, shared with its handler.
    link: CallEnd,
    /// What it hears, where it is a request to listen.
    listener: Option<Arc<Listener>>,
}

/// A call's task, as its session holds it. Dropping it, also with a session that panics, stops the task.
#[derive(Debug)]
pub(crate) struct Running {
    pub(crate) abort: AbortHandle,
    pub(crate) cancelled: Cancelled,
    /// The span that was current when the request came: log lines about the call belong to it.
    pub(crate) span: Span,
}

impl Drop for Running {
    fn drop(&mut self) {
        // nothing happens to a task that has ended by itself
        self.abort.abort();
    }
}

/// A request to the client that waits for `notifications/initialized`.
struct Held {
    id: i64,
    call: Token,
    /// What the client would have to have for it.
    needs: &'static [ClientCapability],
    frame: Frame,
}

/// The reader of a stream. Dropping it, also with a session that panics, ends the stream after what was written.
pub(crate) struct Reader {
    stream: Addr<StreamActor>,
    sink: Sink,
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.stream.do_send(End);
    }
}

impl SessionActor {
    /// The part of the id that logs may show.
    fn short(&self) -> &str {
        short(&self.id)
    }

    /// The revision that was agreed on; before that, the one that would be offered.
    fn revision(&self) -> Revision {
        self.peer.as_ref().map_or(Revision::LATEST_HANDSHAKE, |peer| peer.revision)
    }

    fn budget(&self) -> Arc<ByteBudget> {
        match &self.pipe {
            Some(pipe) => pipe.budget().clone(),
            None => {
                let (limits, stats) = (&self.state.limits, self.hub.stats().clone());
                ByteBudget::with_stall_timeout(limits.queue_bytes, limits.stall, stats)
            }
        }
    }

    /// The id of an error whose request had none that could be read, or must not be named.
    fn no_id(&self) -> ErrorId<'static> {
        match &self.peer {
            Some(peer) => actix_mcp_router::internal::unreadable_id(peer.revision),
            None => ErrorId::Absent,
        }
    }
}

impl Actor for SessionActor {
    type Context = Context<Self>;
}

#[cfg(test)]
mod tests;
