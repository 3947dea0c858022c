//! Messages to the client: those in a call's outbox go to the call's own stream, those of no call to a standalone
//! stream.
//!
//! A call's messages never go to another call's stream.
//!
//! Read next: `streams` (how a call gets its stream), `link` (the outbox).

use std::iter;

use actix::Handler;
use bytes::Bytes;
use tokio::time::Instant;

use super::SessionActor;
use crate::{
    link::{CloseStream, Emit},
    queue::Frame,
    replay::EventId,
    reply_to::ReplyTo,
    stream::{Write, WriteAll},
    token::Token,
};

impl Handler<Emit> for SessionActor {
    type Result = ();

    fn handle(&mut self, emit: Emit, _: &mut Self::Context) {
        self.flush_outbox(emit.call);
    }
}

impl SessionActor {
    /// Sends the messages that wait in a call's outbox, in order.
    pub(super) fn flush_outbox(&mut self, call: Token) {
        let Some(link) = self.state.call_mut(call).map(|kept| kept.link.0.clone()) else { return };
        let mut frames = link.take().peekable();
        if frames.peek().is_none() {
            return;
        }
        self.start_stream(call);
        if self.state.call_mut(call).is_some_and(|kept| kept.reply_to.is_none()) {
            return self.send_events(call, frames);
        }
        for frame in frames {
            self.send(call, frame);
        }
    }

    /// Sends one message of a call on the call's own stream, which it opens if the call has none yet.
    ///
    /// `false` if there is nowhere to send it.
    pub(super) fn send(&mut self, call: Token, frame: Frame) -> bool {
        self.start_stream(call);
        let Some(kept) = self.state.call_mut(call) else { return false };
        match &kept.reply_to {
            Some(ReplyTo::Pipe | ReplyTo::Batch(_)) if self.pipe.is_some() => self.push_to_pipe(frame),
            None => self.send_events(call, iter::once(frame)),
            Some(_) if frame.droppable => {
                kept.link.0.budget().count_dropped();
                log::debug!(session = self.short(), generation = call.generation(); "dropped a notification: the client does not accept text/event-stream");
            }
            // MCP 2025-11-25 basic/transports: the standalone stream is where a server-initiated request may go instead
            Some(_) => return self.send_standalone(&frame.bytes),
        }
        true
    }

    /// Numbers messages on a call's stream, and gives them to its reader together.
    fn send_events(&mut self, call: Token, frames: impl Iterator<Item = Frame>) {
        let now = Instant::now();
        let numbered = frames.filter_map(|Frame { bytes, room, droppable }| {
            let (id, _) = self.state.emit(call, &bytes, now)?;
            Some(Write { id, json: bytes, room, droppable })
        });
        let events = numbered.collect();
        if let Some(reader) = self.state.handle_of(call) {
            reader.stream.do_send(WriteAll(events));
        }
    }

    /// Sends a message of no call on one standalone stream, the newest that has room; `false` if there is none.
    pub(super) fn send_standalone(&mut self, json: &Bytes) -> bool {
        let sent = self.state.emit_standalone(json, Instant::now(), |reader| {
            reader.sink.is_open() && reader.sink.budget().has_room(json.len())
        });
        let Some((id, reader)): Option<(EventId, _)> = sent else { return false };
        // reserved now: of a burst, all messages are sent before any is in the queue
        let room = reader.sink.budget().try_reserve(json.len());
        reader.stream.do_send(Write { id, json: json.clone(), room, droppable: false });
        true
    }
}

impl Handler<CloseStream> for SessionActor {
    type Result = ();

    fn handle(&mut self, close: CloseStream, _: &mut Self::Context) {
        if !self.has_polling() || !self.state.is_in_flight(close.call) {
            return;
        }
        self.flush_outbox(close.call);
        self.start_stream(close.call);
        let Some(stream) = self.state.reader_of(close.call) else { return };
        // dropping the reader ends the stream, after the events written so far
        drop(self.state.drop_broken_stream(stream, Instant::now()));
    }
}
