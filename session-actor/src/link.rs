//! A call's way back to its session: [`Link`] as the session sees it, and the messages that it sends there.
//!
//! What a handler emits waits in its call's outbox until the session flushes it, in order; one [`Emit`] tells the session
//! that there is something, so a burst costs one message. A link keeps no session alive.
//!
//! **Invariant:** once the session has taken the call, the outbox accepts nothing.
//!
//! Read next: `session/emit` and `session/ask` (what the session does with the messages).

use std::{
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use actix::{Message, WeakAddr};
use actix_mcp_router::{
    QuestionError,
    internal::{Asked, Link, Permit, Question},
};
use bytes::Bytes;
use bytestring::ByteString;
use futures_util::future::{BoxFuture, FutureExt};
use tokio::sync::oneshot;

use crate::{
    budget::{ByteBudget, no_room},
    limits::SessionLimits,
    queue::{Backlog, Frame},
    session::SessionActor,
    stats::Stats,
    token::Token,
};

/// Something waits in a call's outbox. Sent by the call's link when the outbox was empty before; stale once it ended.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub(crate) struct Emit {
    pub(crate) call: Token,
}

/// Ends a call's stream so that the client resumes it for the rest. Sent by the call's link; stale once it ended.
// MCP 2025-11-25 basic/transports, Sending Messages 6: the server MAY close the connection before the response
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub(crate) struct CloseStream {
    pub(crate) call: Token,
}

/// Sends a request to the client. Sent by the call's link; if the actor is gone, the reply is dropped and the asker learns
/// that its call has ended.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub(crate) struct Ask {
    pub(crate) call: Token,
    /// Which of the call's questions this is.
    pub(crate) nth: u64,
    pub(crate) question: Question,
    pub(crate) room: Permit,
    pub(crate) reply: oneshot::Sender<Result<ByteString, QuestionError>>,
}

/// Takes a question back. Sent when its author drops it; stale once it was answered or its call has ended.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub(crate) struct Withdraw {
    pub(crate) call: Token,
    pub(crate) nth: u64,
}

/// What a call and its session share.
#[derive(Debug)]
pub(crate) struct CallLink {
    call: Token,
    session: WeakAddr<SessionActor>,
    room: StreamRoom,
    outbox: Mutex<Outbox>,
    /// Numbers the call's questions, so that one can be taken back.
    asked: AtomicU64,
}

/// The room of a call's stream. Most calls have nothing to say before their answer, and no stream: it is made for those
/// that have.
#[derive(Debug)]
pub(crate) struct StreamRoom {
    bytes: usize,
    /// How long a message waits for room.
    stall_timeout: Duration,
    /// Where what is dropped is counted.
    stats: Stats,
    budget: OnceLock<Arc<ByteBudget>>,
}

impl StreamRoom {
    /// For a stream of the call's own, which is closed when it stalls.
    pub(crate) fn of_call(limits: &SessionLimits, stats: Stats) -> Self {
        Self { bytes: limits.queue_bytes, stall_timeout: limits.stall, stats, budget: OnceLock::new() }
    }

    /// For a call on a pipe, which all calls share.
    pub(crate) fn of_pipe(budget: Arc<ByteBudget>) -> Self {
        let stats = budget.stats().clone();
        Self { bytes: 0, stall_timeout: Duration::ZERO, stats, budget: OnceLock::from(budget) }
    }

    fn budget(&self) -> &Arc<ByteBudget> {
        self.budget.get_or_init(|| {
            ByteBudget::with_stall_timeout(self.bytes, self.stall_timeout, self.stats.clone())
        })
    }
}

#[derive(Debug, Default)]
struct Outbox {
    backlog: Backlog,
    /// The call was taken.
    ended: bool,
}

impl CallLink {
    pub(crate) fn new(call: Token, session: WeakAddr<SessionActor>, room: StreamRoom) -> Self {
        Self { call, session, room, outbox: Mutex::default(), asked: AtomicU64::new(0) }
    }

    pub(crate) fn budget(&self) -> &Arc<ByteBudget> {
        self.room.budget()
    }

    fn lock(&self) -> MutexGuard<'_, Outbox> {
        self.outbox.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What waits in the outbox, oldest first.
    pub(crate) fn take(&self) -> impl Iterator<Item = Frame> + use<> {
        self.lock().backlog.take().into_iter()
    }

    fn put(&self, frame: Frame) {
        let mut outbox = self.lock();
        if outbox.ended {
            return;
        }
        let wake = outbox.backlog.is_empty();
        let gone = outbox.backlog.push(frame, self.budget());
        drop(outbox);
        drop(gone);
        if wake && let Some(session) = self.session.upgrade() {
            session.do_send(Emit { call: self.call });
        }
    }

    /// Closes the outbox, and drops what still waits in it.
    fn end(&self) {
        let mut outbox = self.lock();
        outbox.ended = true;
        let frames = outbox.backlog.take();
        drop(outbox);
        // gives the room back, outside the lock
        drop(frames);
    }
}

/// The session's end of a link. Dropping it, when the call is taken or with a session that panics, closes the outbox.
#[derive(Debug)]
pub(crate) struct CallEnd(pub(crate) Arc<CallLink>);

impl Drop for CallEnd {
    fn drop(&mut self) {
        self.0.end();
    }
}

impl Link for CallLink {
    fn reserve(&self, bytes: usize) -> BoxFuture<'static, Permit> {
        if self.lock().ended {
            return no_room().boxed();
        }
        self.budget().clone().reserve(bytes).boxed()
    }

    fn try_reserve(&self, bytes: usize) -> Permit {
        self.budget().try_reserve(bytes)
    }

    fn emit(&self, json: Bytes, room: Permit) {
        self.put(Frame { bytes: json, room, droppable: true });
    }

    fn deliver(&self, json: Bytes, room: Permit) {
        self.put(Frame { bytes: json, room, droppable: false });
    }

    fn ask(&self, question: Question, room: Permit) -> Asked {
        let (reply, answer) = oneshot::channel();
        let (call, nth) = (self.call, self.asked.fetch_add(1, Ordering::Relaxed));
        match self.session.upgrade() {
            Some(session) if !self.lock().ended => session.do_send(Ask { call, nth, question, room, reply }),
            // the receiver may be gone already; then nobody waits
            _ => drop(reply.send(Err(QuestionError::Gone))),
        }
        let session = self.session.clone();
        let withdraw = move || {
            if let Some(session) = session.upgrade() {
                session.do_send(Withdraw { call, nth });
            }
        };
        Asked { answer, withdraw: Box::new(withdraw) }
    }

    fn close_stream(&self) {
        if let Some(session) = self.session.upgrade() {
            session.do_send(CloseStream { call: self.call });
        }
    }

    fn is_live(&self) -> bool {
        // a session that goes takes its calls with it
        !self.lock().ended
    }
}
