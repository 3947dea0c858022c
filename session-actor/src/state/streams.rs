//! The streams of a session: a call's, which lives as long as the call, and the standalone ones.
//!
//! A broken reader takes nothing with it: its stream lives on in its call or among the parked ones, and its events in
//! the replay ring.
//!
//! Read next: `replay`, `session/streams`.

use bytes::Bytes;
use tokio::time::Instant;

use super::{Call, Reader, SessionState, Track};
use crate::{
    replay::EventId,
    token::{Slots, Token},
};

/// A resumed stream.
#[derive(Debug)]
pub(crate) struct Resumed<R> {
    /// The events that the client missed, in order.
    pub(crate) events: Vec<(EventId, Bytes)>,
    /// The reader it had until now.
    pub(crate) replaced: Option<R>,
}

impl<C, R> SessionState<C, R> {
    /// Opens the stream of a call that has none yet. If `primed`, its first event is the priming event.
    pub(crate) fn open_stream(
        &mut self,
        call: Token,
        primed: bool,
        reader: impl FnOnce(Token, EventId) -> R,
    ) -> Option<Token> {
        let entry = self.in_flight.get_mut(call).filter(|entry| entry.track.is_none())?;
        let stream = self.generations.next();
        let token =
            Self::register(&mut self.readers, stream, Some(call), EventId { stream, event: 0 }, reader);
        entry.track = Some(Track { stream, sent: u64::from(primed), reader: Some(token) });
        Some(token)
    }

    /// Opens a standalone stream; `None` at the limit.
    pub(crate) fn open_standalone(
        &mut self,
        primed: bool,
        now: Instant,
        reader: impl FnOnce(Token, EventId) -> R,
    ) -> Option<Token> {
        if self.standalone().count() >= self.limits.streams {
            return None;
        }
        self.touched = now;
        let stream = self.generations.next();
        let token = Self::register(&mut self.readers, stream, None, EventId { stream, event: 0 }, reader);
        if let Some(reader) = self.readers.get_mut(token) {
            reader.sent = u64::from(primed);
        }
        Some(token)
    }

    fn register(
        readers: &mut Slots<Reader<R>>,
        generation: u64,
        call: Option<Token>,
        first: EventId,
        handle: impl FnOnce(Token, EventId) -> R,
    ) -> Token {
        let vacancy = readers.vacancy(generation);
        let handle = handle(vacancy.token(), first);
        vacancy.fill(Reader { handle, call, stream: first.stream, sent: first.event })
    }

    /// Removes a broken reader, if it is still the one registered. Its call goes on.
    pub(crate) fn drop_broken_stream(&mut self, stream: Token, now: Instant) -> Option<R> {
        let reader = self.readers.remove(stream)?;
        self.touched = now;
        if let Some(track) =
            reader.call.and_then(|call| self.in_flight.get_mut(call)).and_then(|call| call.track.as_mut())
        {
            // it was this one: a call's stream has one reader, and an older one was removed when this one came
            track.reader = None;
        }
        if reader.call.is_none() {
            if self.parked.len() >= self.limits.streams {
                self.parked.pop_front();
            }
            self.parked.push_back((reader.stream, reader.sent));
        }
        Some(reader.handle)
    }

    /// Resumes the stream of `last` after that event. `None` if it cannot be served from there.
    pub(crate) fn resume(
        &mut self,
        last: EventId,
        now: Instant,
        reader: impl FnOnce(Token, EventId) -> R,
    ) -> Option<Resumed<R>> {
        self.touched = now;
        let Some((call, track)) =
            self.call_of(last).and_then(|call| Some((call, self.in_flight.get(call)?.track?)))
        else {
            return self.resume_standalone(last, now, reader);
        };
        let events = self.replay.after(last, Some(track.sent), now)?;
        let generation = self.generations.next();
        let replaced = track.reader.and_then(|old| self.readers.remove(old)).map(|old| old.handle);
        let next = EventId { stream: track.stream, event: track.sent };
        let token = Self::register(&mut self.readers, generation, Some(call), next, reader);
        if let Some(track) = self.in_flight.get_mut(call).and_then(|call| call.track.as_mut()) {
            track.reader = Some(token);
        }
        Some(Resumed { events, replaced })
    }

    /// Upper bound on the bytes replayed for a finished stream. `None` if the stream is live, where the new reader
    /// replaces the old.
    pub(crate) fn bytes_after_end(&self, last: EventId) -> Option<usize> {
        let open =
            self.call_of(last).is_some() || self.standalone().any(|(_, reader)| reader.stream == last.stream);
        (!open).then(|| self.replay.bytes_of(last.stream))
    }

    /// The running call on whose stream an event was sent.
    pub(crate) fn call_of(&self, event: EventId) -> Option<Token> {
        let is_on = |call: &Call<C>| call.track.is_some_and(|track| track.stream == event.stream);
        self.in_flight.iter().find(|(_, call)| is_on(call)).map(|(token, _)| token)
    }

    /// Resumes a stream of no running call: a standalone one goes on, any other replays what is kept and ends.
    fn resume_standalone(
        &mut self,
        last: EventId,
        now: Instant,
        reader: impl FnOnce(Token, EventId) -> R,
    ) -> Option<Resumed<R>> {
        let open = self
            .readers
            .iter()
            .find(|(_, reader)| reader.call.is_none() && reader.stream == last.stream)
            .map(|(token, reader)| (token, reader.sent));
        let parked = self.parked.iter().find(|(stream, _)| *stream == last.stream).map(|(_, sent)| *sent);
        let Some(sent) = open.map(|(_, sent)| sent).or(parked) else {
            let events = self.replay.after(last, None, now)?;
            return (!events.is_empty()).then_some(Resumed { events, replaced: None });
        };
        if open.is_none() && self.standalone().count() >= self.limits.streams {
            return None;
        }
        let events = self.replay.after(last, Some(sent), now)?;
        self.parked.retain(|(stream, _)| *stream != last.stream);
        let replaced = open.and_then(|(old, _)| self.readers.remove(old)).map(|old| old.handle);
        let generation = self.generations.next();
        let next = EventId { stream: last.stream, event: sent };
        Self::register(&mut self.readers, generation, None, next, reader);
        Some(Resumed { events, replaced })
    }

    /// Numbers a message of a call on its stream and keeps it; the reader is `None` if the stream is broken.
    ///
    /// `None` if the call has ended or has no stream.
    pub(crate) fn emit(&mut self, call: Token, json: &Bytes, now: Instant) -> Option<(EventId, Option<&R>)> {
        let track = self.in_flight.get_mut(call)?.track.as_mut()?;
        let event = EventId { stream: track.stream, event: track.sent };
        track.sent += 1;
        let reader = track.reader;
        self.replay.keep(event, json.clone(), false, now);
        Some((event, reader.and_then(|reader| self.readers.get(reader)).map(|reader| &reader.handle)))
    }

    /// The actor's handle on the reader of a call's stream.
    pub(crate) fn handle_of(&self, call: Token) -> Option<&R> {
        self.readers.get(self.reader_of(call)?).map(|reader| &reader.handle)
    }

    /// The token of the reader of a call's stream.
    pub(crate) fn reader_of(&self, call: Token) -> Option<Token> {
        self.in_flight.get(call).and_then(|call| call.track).and_then(|track| track.reader)
    }

    /// Numbers a message on the newest standalone stream that `healthy` accepts, and keeps it.
    pub(crate) fn emit_standalone(
        &mut self,
        json: &Bytes,
        now: Instant,
        healthy: impl Fn(&R) -> bool,
    ) -> Option<(EventId, &R)> {
        let (token, _) = self
            .standalone()
            .filter(|(_, reader)| healthy(&reader.handle))
            .max_by_key(|(token, _)| token.generation())?;
        let reader = self.readers.get_mut(token)?;
        let event = EventId { stream: reader.stream, event: reader.sent };
        reader.sent += 1;
        self.replay.keep(event, json.clone(), false, now);
        self.readers.get(token).map(|reader| (event, &reader.handle))
    }

    /// Takes every standalone stream.
    pub(crate) fn take_standalone(&mut self) -> Vec<R> {
        let tokens = self.standalone().map(|(token, _)| token).collect::<Vec<_>>();
        tokens
            .into_iter()
            .filter_map(|token| self.readers.remove(token))
            .map(|reader| reader.handle)
            .collect()
    }

    /// Whether a standalone stream is open.
    pub(crate) fn has_standalone(&self) -> bool {
        self.standalone().next().is_some()
    }

    fn standalone(&self) -> impl Iterator<Item = (Token, &Reader<R>)> {
        self.readers.iter().filter(|(_, reader)| reader.call.is_none())
    }

    /// A token that matches nothing and never will.
    pub(crate) fn spent_token(&mut self) -> Token {
        Token::spent(self.generations.next())
    }
}
