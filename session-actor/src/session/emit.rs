//! A call has something to say: what waits in its outbox goes to its own stream.

use actix::{Context, Handler, Message};
use bytes::Bytes;
use tokio::time::Instant;

use super::{SessionActor, Way};
use crate::{queue::Frame, replay::EventId, stream::Write, token::Token};

/// Something waits in a call's outbox. Sent by the call's link when the outbox was empty before; stale once it ended.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct Emit {
    pub(crate) call: Token,
}

impl Handler<Emit> for SessionActor {
    type Result = ();

    fn handle(&mut self, emit: Emit, ctx: &mut Self::Context) {
        self.fetch(emit.call, ctx);
    }
}

impl SessionActor {
    /// Sends on what waits in a call's outbox, in order.
    pub(super) fn fetch(&mut self, call: Token, ctx: &mut Context<Self>) {
        let Some(link) = self.state.call_mut(call).map(|kept| kept.link.0.clone()) else { return };
        for frame in link.take() {
            self.send(call, frame, ctx);
        }
    }

    /// Sends one message of a call on the call's own stream, which it opens if the call has none yet.
    ///
    /// `false` if the call has nowhere to send it.
    pub(super) fn send(&mut self, call: Token, frame: Frame, ctx: &mut Context<Self>) -> bool {
        self.commit(call, ctx);
        let Some(kept) = self.state.call_mut(call) else { return false };
        match &kept.outlet {
            Way::Line | Way::Batch(_) if self.pipe.is_some() => self.push_line(frame),
            Way::Stream => self.send_event(call, frame),
            Way::Line | Way::Batch(_) | Way::Exchange(_) if frame.droppable => {
                kept.link.0.flow().count_dropped();
                log::debug!(session = self.short(), generation = call.generation(); "the client takes no notifications");
            }
            // MCP 2025-11-25 basic/transports: the standalone stream is where a request of ours may go instead
            Way::Line | Way::Batch(_) | Way::Exchange(_) => return self.send_standalone(&frame.bytes),
        }
        true
    }

    fn send_event(&mut self, call: Token, frame: Frame) {
        let Frame { bytes, room, droppable } = frame;
        if let Some((id, Some(reader))) = self.state.emit(call, &bytes, Instant::now()) {
            reader.stream.do_send(Write { id, json: bytes, room, droppable });
        }
    }

    /// Sends a message of no call on one standalone stream, the newest that has room; `false` if there is none.
    pub(super) fn send_standalone(&mut self, json: &Bytes) -> bool {
        let sent = self.state.emit_standalone(json, Instant::now(), |reader| {
            reader.sink.is_open() && reader.sink.flow().has_room(json.len())
        });
        let Some((id, reader)): Option<(EventId, _)> = sent else { return false };
        // counts from here on: a burst is on its way to the queue before any of it is there
        let room = reader.sink.flow().try_room(json.len());
        reader.stream.do_send(Write { id, json: json.clone(), room, droppable: false });
        true
    }
}

/// Ends a call's stream so that the client comes back for the rest. Sent by the call's link; stale once it ended.
// MCP 2025-11-25 basic/transports, Sending Messages 6: the server MAY close the connection before the response
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct CloseStream {
    pub(crate) call: Token,
}

impl Handler<CloseStream> for SessionActor {
    type Result = ();

    fn handle(&mut self, close: CloseStream, ctx: &mut Self::Context) {
        if !self.has_polling() || !self.state.is_in_flight(close.call) {
            return;
        }
        self.fetch(close.call, ctx);
        self.commit(close.call, ctx);
        let Some(stream) = self.state.reader_of(close.call) else { return };
        // which ends it, after what was written
        drop(self.state.drop_broken_stream(stream, Instant::now()));
    }
}
