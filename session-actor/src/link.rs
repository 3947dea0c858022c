//! A call's way back to its session: the session's implementation of [`Link`], and the messages that it sends there.
//!
//! A handler's messages wait in its call's outbox until the session flushes it, in order. One [`Emit`] notifies the
//! session, so a burst costs one message. A link does not keep its session alive.
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

/// Messages wait in a call's outbox. Sent by the call's link if the outbox was empty; stale once the call has ended.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub(crate) struct Emit {
    pub(crate) call: Token,
}

/// Ends a call's stream so that the client resumes it for the rest. Sent by the call's link; stale once the call has
/// ended.
// MCP 2025-11-25 basic/transports, Sending Messages 6: the server MAY close the connection before the response
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub(crate) struct CloseStream {
    pub(crate) call: Token,
}

/// Sends a request to the client. Sent by the call's link; if the actor is gone, the reply is dropped, which tells the
/// handler that its call has ended.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub(crate) struct Ask {
    pub(crate) call: Token,
    /// The question's number in its call.
    pub(crate) nth: u64,
    pub(crate) question: Question,
    pub(crate) room: Permit,
    pub(crate) reply: oneshot::Sender<Result<ByteString, QuestionError>>,
}

/// Withdraws a question. Sent when the handler drops it; stale once it was answered or its call has ended.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub(crate) struct Withdraw {
    pub(crate) call: Token,
    pub(crate) nth: u64,
}

/// Shared by a call and its session.
#[derive(Debug)]
pub(crate) struct CallLink {
    call: Token,
    session: WeakAddr<SessionActor>,
    room: StreamRoom,
    outbox: Mutex<Outbox>,
    /// Numbers the call's questions, so that one can be withdrawn.
    asked: AtomicU64,
}

/// The byte budget of a call's stream, created when first needed: most calls send nothing before their answer, and
/// have no stream.
#[derive(Debug)]
pub(crate) struct StreamRoom {
    bytes: usize,
    /// How long a message waits for room on a stalled stream.
    stall_timeout: Duration,
    /// Counts dropped messages.
    stats: Stats,
    budget: OnceLock<Arc<ByteBudget>>,
}

impl StreamRoom {
    /// For a call's own stream, which is closed when it stalls.
    pub(crate) fn of_call(limits: &SessionLimits, stats: Stats) -> Self {
        Self { bytes: limits.queue_bytes, stall_timeout: limits.stall, stats, budget: OnceLock::new() }
    }

    /// For a call on a pipe, whose budget all calls share.
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
    /// Set when the call is taken: no further message is accepted.
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

    /// Takes the messages that wait in the outbox, oldest first.
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

    /// Closes the outbox, and drops the messages that still wait in it.
    fn end(&self) {
        let mut outbox = self.lock();
        outbox.ended = true;
        let frames = outbox.backlog.take();
        drop(outbox);
        // gives the room back, outside the lock
        drop(frames);
    }
}

/// The session's end of a link. Dropping it, when the call is taken or the session panics, closes the outbox.
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
            // cannot fail: the receiver is still here
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
        // a session that ends takes its calls with it
        !self.lock().ended
    }
}
