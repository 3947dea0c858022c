//! One SSE stream: a child of its session that encodes what it gets and notices when its reader has disconnected.
//!
//! It never numbers or keeps an event: the session does, for clients that resume.
//!
//! **Invariant:** it has a weak address of its session and no token but its own; it can break nothing but itself.
//!
//! Read next: `queue` (where its events go), `session/streams` (who starts it).

use std::time::Duration;

use actix::{
    Actor, ActorContext, ActorFutureExt, AsyncContext, Context, Handler, Message, SpawnHandle, WeakAddr,
    WrapFuture,
};
use bytes::{Bytes, BytesMut};
use tokio::sync::OwnedSemaphorePermit;

use actix_mcp_router::internal::Permit;

use crate::{
    queue::{Frame, Sink},
    replay::EventId,
    reply_to::{FRAMING, put_event},
    session::SessionActor,
    stats::Counted,
    token::Token,
};

/// The writer of one SSE stream.
#[derive(Debug)]
pub(crate) struct StreamActor {
    /// Its name in the session; a report with it is stale once another reader has replaced this one.
    token: Token,
    /// Gets a message when the reader has disconnected. Weak: a stream does not keep its session alive.
    session: WeakAddr<SessionActor>,
    /// Where the encoded events go; finished when the stream ends.
    sink: Sink,
    /// The session has ended the stream, which now waits until everything is read or the reader stalls.
    ended: bool,
    /// How long the reader may be stalled with events waiting.
    stall: Duration,
    /// The timer that checks whether the reader is stalled; there is one while events wait.
    watch: Option<SpawnHandle>,
    /// Counts the stream as open.
    _open: Counted,
    /// Its share of the session's limit on bytes being replayed.
    _replayed: Option<OwnedSemaphorePermit>,
}

impl StreamActor {
    pub(crate) fn new(
        token: Token,
        session: WeakAddr<SessionActor>,
        sink: Sink,
        stall: Duration,
        open: Counted,
        replayed: Option<OwnedSemaphorePermit>,
    ) -> Self {
        let (_open, _replayed) = (open, replayed);
        Self { token, session, sink, ended: false, stall, watch: None, _open, _replayed }
    }

    /// Encodes an event, in a buffer for several.
    fn encode(id: EventId, data: &[u8], buffer: &mut BytesMut) -> Bytes {
        put_event(buffer, Some(id), data);
        buffer.split().freeze()
    }

    /// Tells the session that the reader has disconnected or stalled, unless the session itself ended the stream.
    fn report_closed(&self) {
        if self.ended {
            return;
        }
        if let Some(session) = self.session.upgrade() {
            session.do_send(StreamClosed { stream: self.token });
        }
    }

    /// Checks the reader at the earliest time at which it can have been stalled for too long, as long as events wait.
    fn watch(&mut self, ctx: &mut Context<Self>) {
        if self.watch.is_some() {
            return;
        }
        let Some(rest) = self.sink.stalls_in(self.stall) else { return };
        self.watch = Some(ctx.run_later(rest, |stream, ctx| {
            stream.watch = None;
            if stream.sink.stalls_in(stream.stall).is_some_and(|rest| rest.is_zero()) {
                let stall = stream.stall;
                log::warn!(generation = stream.token.generation(); "closing a stalled stream (the limit is {stall:?})");
                stream.report_closed();
                ctx.stop();
            } else {
                stream.watch(ctx);
            }
        }));
    }
}

impl Actor for StreamActor {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        let sink = self.sink.clone();
        let gone = async move { sink.gone().await };
        ctx.spawn(gone.into_actor(self).map(|(), stream, ctx| {
            stream.report_closed();
            ctx.stop();
        }));
    }

    fn stopped(&mut self, _: &mut Self::Context) {
        // the client of a stalled reader can resume: the ring has what it missed
        self.sink.cut();
    }
}

/// A stream's reader has disconnected or stalled. Sent by the stream; stale if the stream has another reader by now.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub(crate) struct StreamClosed {
    pub(crate) stream: Token,
}

/// Writes the priming event: an id to resume with, and how soon to do so. Sent by the session, as the first message.
// MCP 2025-11-25 basic/transports, Sending Messages 6: SHOULD send an event with an id and an empty data field
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub(crate) struct Prime {
    pub(crate) id: EventId,
    pub(crate) retry: Duration,
}

impl Handler<Prime> for StreamActor {
    type Result = ();

    fn handle(&mut self, prime: Prime, _: &mut Self::Context) {
        let event = format!("id: {}\nretry: {}\ndata: \n\n", prime.id, prime.retry.as_millis());
        // not watched: the client that asked for the stream reads this event, or has disconnected
        self.sink.push(Frame::kept(event.into()));
    }
}

/// Writes how soon a client should resume. Sent by the session before a drain ends a standalone stream.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub(crate) struct Retry {
    pub(crate) after: Duration,
}

impl Handler<Retry> for StreamActor {
    type Result = ();

    fn handle(&mut self, retry: Retry, _: &mut Self::Context) {
        // without data it is not an event: every client can read it
        self.sink.push(Frame::kept(format!("retry: {}\n\n", retry.after.as_millis()).into()));
    }
}

/// Writes a comment: a first byte, if there is no priming event. Sent by the session, as the first message.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub(crate) struct Hello;

impl Handler<Hello> for StreamActor {
    type Result = ();

    fn handle(&mut self, _: Hello, _: &mut Self::Context) {
        self.sink.push(Frame::kept(Bytes::from_static(b":\n\n")));
    }
}

/// Writes one message. Sent by the session; if the stream is gone, its kept copy serves a client that resumes.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub(crate) struct Write {
    pub(crate) id: EventId,
    pub(crate) json: Bytes,
    /// Held until the bytes have left.
    pub(crate) room: Permit,
    /// Whether it may be dropped when the reader is stalled.
    pub(crate) droppable: bool,
}

impl Handler<Write> for StreamActor {
    type Result = ();

    fn handle(&mut self, write: Write, ctx: &mut Self::Context) {
        self.handle(WriteAll(vec![write]), ctx);
    }
}

/// Writes several messages in order. Sent by the session for those that come together.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub(crate) struct WriteAll(pub(crate) Vec<Write>);

impl Handler<WriteAll> for StreamActor {
    type Result = ();

    fn handle(&mut self, WriteAll(writes): WriteAll, ctx: &mut Self::Context) {
        let bytes = writes.iter().map(|write| write.json.len() + FRAMING).sum();
        let mut buffer = BytesMut::with_capacity(bytes);
        for Write { id, json, room, droppable } in writes {
            let bytes = Self::encode(id, &json, &mut buffer);
            self.sink.push(Frame { bytes, room, droppable });
        }
        self.watch(ctx);
    }
}

/// Ends the stream after the events written so far. Sent when the session drops the stream's reader.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub(crate) struct End;

impl Handler<End> for StreamActor {
    type Result = ();

    fn handle(&mut self, _: End, ctx: &mut Self::Context) {
        self.ended = true;
        self.sink.finish();
        self.watch(ctx);
    }
}
