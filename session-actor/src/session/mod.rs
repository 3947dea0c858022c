//! The session's actor: a thin shell that turns messages into calls of `SessionState` and acts on the results.
//!
//! This file has the actor's data; each of the other files has the messages and methods for one kind of event.
//! Messages that a call's link or a stream sends are defined with their senders, in `link` and `stream`. Your
//! handlers never run here: an admitted request runs in its own task (`task`), on the worker that accepted it, and
//! this actor knows it by its token.
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

pub use self::{
    admit::Batching,
    answered::Answered,
    close::{Close, Drain, Stop},
    notified::Notified,
    open::{OpenError, Opening},
    refuse::Refuse,
    streams::{NoStream, NotResumed, OpenStream, Resume},
};
pub(crate) use self::{
    admit::{Admission, Admit},
    close::stopped,
    finish::Finished,
    notices::Changed,
    streams::StartStream,
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
    /// The server's tools, prompts and resources; shared by all sessions.
    router: Arc<Router>,
    /// All rules. Only this actor touches it.
    state: SessionState<CallEntry, Reader>,
    /// The client, from the answer to `initialize` on.
    peer: Option<Arc<Peer>>,
    /// The pipe of a session over a byte stream; `None` over HTTP.
    pipe: Option<Sink>,
    /// Its own address, for its calls and streams. Weak, and so cheap to clone.
    address: WeakAddr<Self>,
    /// Its id in the registry, never shown in full.
    id: Arc<str>,
    /// Who opened it; moved to its [`SessionHandle`] when it answers `initialize`.
    principal: Option<Principal>,
    /// The state it shares with the other sessions of its server.
    hub: Arc<SessionHub>,
    /// Its entry in the registry, from `initialize` on.
    registered: Option<Registered<SessionHandle>>,
    /// On a pipe, its entry until then: a shutdown must also reach a client that does no handshake.
    pipe_registered: Option<Registered<Addr<Self>>>,
    /// Where `Sessions` leaves changes for it.
    changes: Arc<SessionChanges>,
    /// Requests to the client that wait for `notifications/initialized`, with the calls that asked.
    held: Vec<Held>,
    /// Cancelled calls in their grace period, by their former token; an entry is removed when its task reports its
    /// end. A drain waits for them.
    cleaning: HashSet<Token>,
    /// The timer of the open requests to the client, and when it fires; there is at most one.
    request_timer: Option<(Instant, SpawnHandle)>,
    /// Bounds the cancelled calls in their grace period: as many as may be in flight. Created for the first.
    graces: Option<Arc<Semaphore>>,
    /// Bounds the bytes being replayed to readers of finished streams. Created for the first.
    replays: Option<Arc<Semaphore>>,
    /// Notified when nothing is in flight any more; set by [`Drain`].
    drained: Vec<oneshot::Sender<()>>,
    /// The client has closed its end: it can no longer answer questions.
    input_closed: bool,
    /// The timer that sends waiting notifications; `None` if none is due.
    flush: Option<SpawnHandle>,
    /// Counts the session.
    _open: Counted,
}

impl fmt::Debug for SessionActor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionActor").field("session", &short(&self.id)).finish_non_exhaustive()
    }
}

/// The shared state of one server's sessions.
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
    /// Its method and target, for the log.
    target: Target,
    /// Its way back, shared with its handler.
    link: CallEnd,
    /// Its listener, if it is a `subscriptions/listen` request.
    listener: Option<Arc<Listener>>,
}

/// The session's hold on a call's task. Dropping it, also when the session panics, stops the task.
#[derive(Debug)]
pub(crate) struct Running {
    pub(crate) abort: AbortHandle,
    pub(crate) cancelled: Cancelled,
    /// The span that was current when the request came: log lines about the call belong to it.
    pub(crate) span: Span,
}

impl Drop for Running {
    fn drop(&mut self) {
        // has no effect on a task that has ended by itself
        self.abort.abort();
    }
}

/// A request to the client that waits for `notifications/initialized`.
struct Held {
    id: i64,
    call: Token,
    /// The client capabilities it needs.
    needs: &'static [ClientCapability],
    frame: Frame,
}

/// The reader of a stream. Dropping it, also when the session panics, ends the stream after the events written so far.
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

    /// The negotiated revision; before the handshake, the latest one that has a handshake.
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

    /// The id of an error whose request id could not be read, or must not be repeated.
    fn no_id(&self) -> ErrorId<'static> {
        match &self.peer {
            Some(peer) => actix_mcp_router::internal::era::unreadable_id(peer.revision),
            None => ErrorId::Absent,
        }
    }
}

impl Actor for SessionActor {
    type Context = Context<Self>;
}

#[cfg(test)]
mod tests;
