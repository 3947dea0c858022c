//! Streams: a call's is opened when there is something to say, a standalone one when the client asks for it.

use std::{sync::Arc, time::Duration};

use actix::{Actor, AsyncContext, Context, Handler, Message};
use actix_mcp_router::era::Feature;
use tokio::time::Instant;

use super::{Reader, SessionActor, Way};
use crate::{
    outlet::{Accepts, Exchange, Head},
    queue::{Flow, Source, queue},
    replay::EventId,
    stats::{Counted, Counter},
    stream::{Hello, Prime, StreamActor, Write},
    token::Token,
};

/// How soon a client whose stream ended should come back.
pub(super) const RETRY: Duration = Duration::from_secs(1);

impl SessionActor {
    /// Whether streams have ids and a priming event, so that a client can come back to one that has said nothing.
    pub(super) fn has_polling(&self) -> bool {
        self.pipe.is_none()
            && self.peer.as_ref().is_some_and(|peer| peer.revision.has(Feature::StreamPolling))
    }

    /// Turns a call's pending exchange into a stream, where the client can read one. Does nothing the second time.
    pub(super) fn commit(&mut self, call: Token, ctx: &mut Context<Self>) {
        let primed = self.has_polling();
        let Some(kept) = self.state.call_mut(call) else { return };
        match &kept.outlet {
            Way::Exchange(Exchange { accepts: Accepts::Both | Accepts::Events, .. }) => {}
            Way::Exchange(_) | Way::Stream | Way::Line | Way::Batch(_) => return,
        }
        let Way::Exchange(exchange) = std::mem::replace(&mut kept.outlet, Way::Stream) else { return };
        let kept_flow = kept.link.0.flow().clone();
        let make = self.reader_maker(kept_flow, ctx);
        let mut events = None;
        self.state.open_stream(call, primed, |token, first| make(token, first, primed, &mut events));
        if let Some(events) = events {
            // a client that has gone drops the events, and the stream reports that
            drop(exchange.head.send(Head::Events(events)));
        }
    }

    /// Starts readers: the actor on this side, the events for the other.
    fn reader_maker(
        &self,
        flow: Arc<Flow>,
        ctx: &mut Context<Self>,
    ) -> impl FnOnce(Token, EventId, bool, &mut Option<Source>) -> Reader + use<> {
        let (stall, session) = (self.state.limits.stall, ctx.address().downgrade());
        let open: Counted = self.sessions.stats().count(Counter::Streams);
        move |token, first, primed, events| {
            let (sink, source) = queue(flow);
            let stream = StreamActor::new(token, session, sink.clone(), true, stall, open).start();
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

/// A stream's reader has gone or stands still. Sent by the stream; stale if the stream has another reader by now.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct StreamClosed {
    pub(crate) stream: Token,
}

impl Handler<StreamClosed> for SessionActor {
    type Result = ();

    fn handle(&mut self, closed: StreamClosed, _: &mut Self::Context) {
        let dropped = self.state.drop_broken_stream(closed.stream, Instant::now()).is_some();
        log::debug!(session = self.short(), generation = closed.stream.generation(), dropped; "a stream has closed");
    }
}

/// Turns a call's exchange into a stream although it has said nothing yet. Sent by its task after a while; stale once
/// the call has ended or has a stream.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct Commit {
    /// The call.
    pub call: Token,
}

impl Handler<Commit> for SessionActor {
    type Result = ();

    fn handle(&mut self, commit: Commit, ctx: &mut Self::Context) {
        self.commit(commit.call, ctx);
    }
}

/// Asks for a standalone stream. Sent by the transport; the mailbox error means that the session has ended.
#[derive(Debug, Message)]
#[rtype(result = "Result<Source, NoStream>")]
pub struct OpenStream;

/// Why a session opens no further standalone stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoStream {
    /// It has as many as its limit allows.
    #[error("too many streams are open (the limit is {limit})")]
    Full {
        /// The limit.
        limit: usize,
    },
    /// A new stream would keep the server from ending.
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
        let make = self.reader_maker(self.flow(), ctx);
        let mut events = None;
        self.state
            .open_standalone(primed, Instant::now(), |token, first| make(token, first, primed, &mut events));
        self.schedule_flush(ctx);
        events.ok_or(NoStream::Full { limit: self.state.limits.streams })
    }
}

/// Asks for the rest of a stream. Sent by the transport; the mailbox error means that the session has ended.
#[derive(Debug, Message)]
#[rtype(result = "Result<Source, Unservable>")]
pub struct Resume {
    /// The last event the client has.
    pub last: EventId,
}

/// The stream cannot be served from that event: it is unknown, part of the rest is gone, or there is no rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the stream cannot be resumed after this event")]
pub struct Unservable;

impl Handler<Resume> for SessionActor {
    type Result = Result<Source, Unservable>;

    fn handle(&mut self, resume: Resume, ctx: &mut Self::Context) -> Self::Result {
        // what the running call still sends holds room of its own flow; nothing sends on a stream without one
        let flow = self
            .state
            .call_of(resume.last)
            .and_then(|call| self.state.call_mut(call))
            .map(|kept| kept.link.0.flow().clone());
        let make = self.reader_maker(flow.unwrap_or_else(|| self.flow()), ctx);
        let mut live = None;
        let mut events = None;
        let resumed = self.state.resume(resume.last, Instant::now(), |token, first| {
            let reader = make(token, first, false, &mut events);
            live = Some(reader.stream.clone());
            reader
        });
        let resumed = resumed.ok_or(Unservable)?;
        if let Some(old) = resumed.replaced {
            // what waits there is given to the new reader, and the room it holds is needed
            old.sink.cut();
        }
        if let (Some(stream), Some(events)) = (live, events) {
            write_kept(&stream, resumed.events);
            self.schedule_flush(ctx);
            return Ok(events);
        }
        // the stream has ended: what is kept, and the end. Its writer knows no live token and can break nothing
        let make = self.reader_maker(self.flow(), ctx);
        let mut events = None;
        let reader = make(self.state.spent_token(), resume.last, false, &mut events);
        write_kept(&reader.stream, resumed.events);
        events.ok_or(Unservable)
    }
}

fn write_kept(stream: &actix::Addr<StreamActor>, events: Vec<(EventId, bytes::Bytes)>) {
    for (id, json) in events {
        stream.do_send(Write { id, json, room: Default::default(), droppable: false });
    }
}
