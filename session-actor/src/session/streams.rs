//! Streams: a call's starts with its first message, or after a silence; a standalone one when the client asks for it.
//!
//! `state/streams` decides whether a client may have one; this file has the actors and queues behind it.
//!
//! Read next: `stream` (the writer), `state/streams`.

use std::{sync::Arc, time::Duration};

use actix::{Actor, Handler, Message};
use actix_mcp_router::internal::Feature;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::Instant,
};

use super::{Reader, SessionActor};
use crate::{
    budget::ByteBudget,
    limits::SessionLimits,
    queue::{Source, queue},
    replay::{EventId, ReplayLimits},
    reply_to::{ReplyTo, ResponseHead},
    stats::{Counted, Counter},
    stream::{Hello, Prime, StreamActor, StreamClosed, Write, WriteAll},
    token::Token,
};

/// How soon a client whose stream ended should resume it.
pub(super) const RETRY: Duration = Duration::from_secs(1);

impl SessionActor {
    /// Whether streams begin with a priming event, so that a client can resume one that has sent nothing.
    pub(super) fn has_polling(&self) -> bool {
        self.pipe.is_none()
            && self.peer.as_ref().is_some_and(|peer| peer.revision.has(Feature::StreamPolling))
    }

    /// Turns a call's pending response into a stream, if the client accepts one. Does nothing the second time.
    pub(super) fn start_stream(&mut self, call: Token) {
        let primed = self.has_polling();
        let Some(kept) = self.state.call_mut(call) else { return };
        if !matches!(&kept.reply_to, Some(ReplyTo::Http(reply)) if reply.accepts.events()) {
            return;
        }
        let Some(ReplyTo::Http(reply)) = kept.reply_to.take() else { return };
        let budget = kept.link.0.budget().clone();
        let make = self.reader_maker(budget, None);
        let mut events = None;
        self.state.open_stream(call, primed, |token, first| make(token, first, primed, &mut events));
        if let Some(events) = events {
            // if the client has disconnected, this drops the source, and the stream reports that
            drop(reply.head.send(ResponseHead::Events(events)));
        }
    }

    /// Starts a reader: the actor on this side, the source of its events for the transport.
    fn reader_maker(
        &self,
        budget: Arc<ByteBudget>,
        replayed: Option<OwnedSemaphorePermit>,
    ) -> impl FnOnce(Token, EventId, bool, &mut Option<Source>) -> Reader + use<> {
        let (stall, session) = (self.state.limits.stall, self.address.clone());
        let open: Counted = self.hub.stats().count(Counter::Streams);
        move |token, first, primed, events| {
            let (sink, source) = queue(budget);
            let stream = StreamActor::new(token, session, sink.clone(), stall, open, replayed).start();
            // browsers and proxies show a response once it has a body
            if primed {
                stream.do_send(Prime { id: first, retry: RETRY });
            } else {
                stream.do_send(Hello);
            }
            *events = Some(source);
            Reader { stream, sink }
        }
    }
}

impl Handler<StreamClosed> for SessionActor {
    type Result = ();

    fn handle(&mut self, closed: StreamClosed, _: &mut Self::Context) {
        let dropped = self.state.drop_broken_stream(closed.stream, Instant::now()).is_some();
        log::debug!(session = self.short(), generation = closed.stream.generation(), dropped; "a stream has closed");
    }
}

/// Turns a call's response into a stream although it has sent nothing yet. Sent by its task after a silence; stale
/// once the call has ended or has a stream.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub(crate) struct StartStream {
    /// The call.
    pub(crate) call: Token,
}

impl Handler<StartStream> for SessionActor {
    type Result = ();

    fn handle(&mut self, start: StartStream, _: &mut Self::Context) {
        self.start_stream(start.call);
    }
}

/// Opens a standalone stream. Sent by the transport; a mailbox error means that the session has ended.
#[derive(Debug, Message)]
#[rtype(result = "Result<Source, NoStream>")]
pub struct OpenStream;

/// Why a session does not open another standalone stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoStream {
    /// The limit of standalone streams is reached.
    #[error("too many streams are open (the limit is {limit})")]
    Full {
        /// The limit.
        limit: usize,
    },
    /// The server is shutting down, and a new stream would delay that.
    #[error("the server is shutting down")]
    Draining,
}

impl Handler<OpenStream> for SessionActor {
    type Result = Result<Source, NoStream>;

    fn handle(&mut self, _: OpenStream, ctx: &mut Self::Context) -> Self::Result {
        if self.state.is_draining() {
            return Err(NoStream::Draining);
        }
        let primed = self.has_polling();
        let make = self.reader_maker(self.budget(), None);
        let mut events = None;
        self.state
            .open_standalone(primed, Instant::now(), |token, first| make(token, first, primed, &mut events));
        self.schedule_flush(ctx);
        events.ok_or(NoStream::Full { limit: self.state.limits.streams })
    }
}

/// Asks for the rest of a stream. Sent by the transport; a mailbox error means that the session has ended.
#[derive(Debug, Message)]
#[rtype(result = "Result<Source, NotResumed>")]
pub struct Resume {
    /// The last event the client has.
    pub last: EventId,
}

/// Why a stream is not resumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotResumed {
    /// The event is unknown or the last one, or later events are no longer kept.
    #[error(
        "the stream cannot be resumed after this event: it is unknown or the last, or later ones are no longer kept ({limits})"
    )]
    Unservable {
        /// What bounds how much is kept.
        limits: ReplayLimits,
    },
    /// Too many bytes are still being replayed to other readers of finished streams.
    #[error("too many streams are being replayed (the limit is {limit} bytes at once)")]
    TooMuch {
        /// The limit.
        limit: usize,
    },
}

impl Handler<Resume> for SessionActor {
    type Result = Result<Source, NotResumed>;

    fn handle(&mut self, resume: Resume, ctx: &mut Self::Context) -> Self::Result {
        // a running call's messages hold room of the call's own budget; any other stream gets a new one
        let budget = self
            .state
            .call_of(resume.last)
            .and_then(|call| self.state.call_mut(call))
            .map(|kept| kept.link.0.budget().clone());
        let replayed = self.room_to_replay(resume.last)?;
        // a client whose stream breaks again before the next event has an id to resume with
        let primed = self.has_polling();
        let make = self.reader_maker(budget.unwrap_or_else(|| self.budget()), None);
        let mut live = None;
        let mut events = None;
        let resumed = self.state.resume(resume.last, Instant::now(), |token, _| {
            let reader = make(token, resume.last, primed, &mut events);
            live = Some(reader.stream.clone());
            reader
        });
        let unservable = NotResumed::Unservable { limits: self.state.limits.replay };
        let resumed = resumed.ok_or(unservable)?;
        if let Some(old) = resumed.replaced {
            // its waiting events are replayed to the new reader, and their room is needed
            old.sink.cut();
        }
        if let (Some(stream), Some(events)) = (live, events) {
            write_kept(&stream, resumed.events);
            self.schedule_flush(ctx);
            return Ok(events);
        }
        // the stream has ended: the client gets the kept events and the end. The writer has no live token and can break
        // nothing
        let make = self.reader_maker(self.budget(), replayed);
        let mut events = None;
        let reader = make(self.state.spent_token(), resume.last, primed, &mut events);
        write_kept(&reader.stream, resumed.events);
        events.ok_or(unservable)
    }
}

impl SessionActor {
    /// Reserves space for replaying a finished stream. Such a reader replaces no other, so without a limit a client
    /// that resumes many times and reads nothing would have as many copies written.
    fn room_to_replay(&mut self, last: EventId) -> Result<Option<OwnedSemaphorePermit>, NotResumed> {
        let Some(bytes) = self.state.bytes_after_end(last) else { return Ok(None) };
        let bytes = u32::try_from(bytes.max(MIN_REPLAY_BYTES)).unwrap_or(u32::MAX);
        let limit = replays_limit(&self.state.limits);
        let replays = self.replays.get_or_insert_with(|| Arc::new(Semaphore::new(limit))).clone();
        replays.try_acquire_many_owned(bytes).map(Some).map_err(|_| NotResumed::TooMuch { limit })
    }
}

/// A reader of a finished stream counts as at least this many bytes.
const MIN_REPLAY_BYTES: usize = 1024; // bytes

/// How many bytes may be being replayed to readers of finished streams: as many as all standalone streams could
/// replay at once.
fn replays_limit(limits: &SessionLimits) -> usize {
    let streams = limits.streams.max(1);
    limits.replay.bytes.max(MIN_REPLAY_BYTES).saturating_mul(streams).min(Semaphore::MAX_PERMITS)
}

fn write_kept(stream: &actix::Addr<StreamActor>, events: Vec<(EventId, bytes::Bytes)>) {
    let write = |(id, json)| Write { id, json, room: Default::default(), droppable: false };
    stream.do_send(WriteAll(events.into_iter().map(write).collect()));
}
