//! The rules of a session, without I/O, clock or actors: events go in, what is to be done comes out.
//!
//! `C` is what the actor keeps for a call, `R` its handle on the reader of a stream; neither is looked into here.
//!
//! **Invariants:** every admitted call is taken exactly once, by [`SessionState::finish`], [`SessionState::cancel`] or
//! [`SessionState::close`]; its id and its stream leave in the same step. A reader is removed only under the generation it
//! was registered with. Nothing that names one call or stream touches another.
//!
//! Read next: `in_flight` (the map), `replay` (the ring), `session/` (the actor that asks these questions).

use std::{
    collections::{BTreeSet, HashMap, VecDeque},
    sync::Arc,
};

use actix_mcp_router::{change::Change, id::RequestId, link::AskError, uri::normal_of};
use bytes::Bytes;
use bytestring::ByteString;
use tokio::time::Instant;

use crate::{
    asks::{Ask, Asks},
    in_flight::{Claim, InFlight},
    limits::Limits,
    outlet::Batch,
    owed::Owed,
    replay::{EventId, Replay},
    stats::Counted,
    token::{Generations, Slots, Token},
};

/// Where a session stands in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    /// Only `initialize` and `ping` are served.
    New,
    /// `initialize` was answered.
    Opened,
    /// The client said `notifications/initialized`: requests and notices of ours may go out.
    Ready,
}

/// A subscription to a resource.
#[derive(Debug)]
struct Subscription {
    /// As the client wrote it.
    uri: ByteString,
    _counted: Counted,
}

/// One session: what runs, who reads, what is owed.
#[derive(Debug)]
pub(crate) struct SessionState<C, R> {
    pub(crate) limits: Arc<Limits>,
    pub(crate) phase: Phase,
    /// Set when no more calls are admitted; running ones go on.
    draining: bool,
    generations: Generations,
    in_flight: InFlight<Call<C>>,
    /// Ids that are in flight no more, and whose batch is.
    owed: Owed,
    /// Live readers only: a stream whose reader has gone lives on in its call's `Track`, or in the ring.
    readers: Slots<Reader<R>>,
    /// Standalone streams whose reader has gone, oldest first: number and events so far. As many as may be open; a client
    /// that comes back to one goes on with it, although it has missed nothing.
    parked: VecDeque<(u64, u64)>,
    asks: Asks,
    replay: Replay,
    /// By the normal form of the URI.
    subscriptions: HashMap<ByteString, Subscription>,
    notices: BTreeSet<Change>,
    /// When something last happened; the idle clock starts here.
    touched: Instant,
}

#[derive(Debug)]
struct Call<C> {
    kept: C,
    /// The call's stream, once it has one.
    track: Option<Track>,
}

/// A stream as its call knows it: its number stays, its reader may change.
#[derive(Clone, Copy, Debug)]
struct Track {
    number: u64,
    /// Events so far, the priming event included: the next event's place.
    sent: u64,
    reader: Option<Token>,
}

#[derive(Debug)]
struct Reader<R> {
    handle: R,
    /// The call whose stream this is; `None` for a standalone stream.
    call: Option<Token>,
    number: u64,
    /// Events so far, on a standalone stream; a call's are counted in its `Track`.
    sent: u64,
}

/// Why a request is not admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// The id is in flight.
    Duplicate,
    /// The session takes no more calls.
    Draining,
    /// As many calls as the limit allows are in flight.
    Full,
}

/// The claim of a call that may run.
#[derive(Debug)]
pub(crate) struct Admitted<'a, C>(Claim<'a, Call<C>>);

impl<C> Admitted<'_, C> {
    pub(crate) fn token(&self) -> Token {
        self.0.token()
    }

    pub(crate) fn fill(self, kept: C) -> Token {
        self.0.fill(Call { kept, track: None })
    }
}

/// A call that was taken, with its stream.
#[derive(Debug)]
pub(crate) struct Taken<C, R> {
    pub(crate) id: RequestId,
    pub(crate) kept: C,
    /// The reader of its stream, if it had one.
    pub(crate) reader: Option<R>,
    /// The answer's place on its stream, if the call had a stream.
    pub(crate) event: Option<EventId>,
}

/// A stream that a client came back to.
#[derive(Debug)]
pub(crate) struct Resumed<R> {
    /// What it missed, in order.
    pub(crate) events: Vec<(EventId, Bytes)>,
    /// The reader it had until now.
    pub(crate) replaced: Option<R>,
}

impl<C, R> SessionState<C, R> {
    pub(crate) fn new(limits: impl Into<Arc<Limits>>, now: Instant) -> Self {
        let limits = limits.into();
        Self {
            phase: Phase::New,
            draining: false,
            generations: Generations::default(),
            in_flight: InFlight::default(),
            owed: Owed::default(),
            readers: Slots::default(),
            parked: VecDeque::new(),
            asks: Asks::default(),
            replay: Replay::new(limits.replay),
            subscriptions: HashMap::new(),
            notices: BTreeSet::new(),
            touched: now,
            limits,
        }
    }

    // Calls

    /// The live call under an id: what a new request is held against, and what a cancellation names.
    pub(crate) fn find(&self, id: &RequestId) -> Option<Token> {
        self.in_flight.find(id)
    }

    /// Whether an id is in flight, itself or by the batch that it came in.
    pub(crate) fn is_taken(&self, id: &RequestId) -> bool {
        self.find(id).is_some() || self.owed.holds(id)
    }

    /// Takes a free id for as long as the answer of its batch is not handed over, whatever becomes of it.
    pub(crate) fn take_in(&mut self, batch: &Arc<Batch>, id: &RequestId) {
        self.owed.take(id.clone(), batch);
    }

    /// Forgets the ids of batches that were answered.
    pub(crate) fn tidy(&mut self) {
        self.owed.tidy();
    }

    /// Claims an id for a call, which is admitted once the claim is filled. Nothing exists for one that is refused.
    pub(crate) fn admit(&mut self, id: RequestId, now: Instant) -> Result<Admitted<'_, C>, Refused> {
        self.touched = now;
        let room = self.check_room();
        let Some(claim) = self.in_flight.claim(&mut self.generations, id) else {
            return Err(Refused::Duplicate);
        };
        room?;
        Ok(Admitted(claim))
    }

    /// Whether one more call could be admitted, whatever its id.
    pub(crate) fn check_room(&self) -> Result<(), Refused> {
        if self.draining {
            return Err(Refused::Draining);
        }
        if self.in_flight.len() >= self.limits.in_flight {
            return Err(Refused::Full);
        }
        Ok(())
    }

    pub(crate) fn call_mut(&mut self, call: Token) -> Option<&mut C> {
        self.in_flight.get_mut(call).map(|call| &mut call.kept)
    }

    /// The calls in flight.
    pub(crate) fn calls_in_flight(&self) -> Vec<Token> {
        self.in_flight.iter().map(|(call, _)| call).collect()
    }

    /// What is kept for each call in flight.
    pub(crate) fn calls(&self) -> impl Iterator<Item = &C> {
        self.in_flight.iter().map(|(_, call)| &call.kept)
    }

    pub(crate) fn is_in_flight(&self, call: Token) -> bool {
        self.in_flight.get(call).is_some()
    }

    /// Takes a call by its answer, which is kept for a reader that comes back if the stream has one of these.
    pub(crate) fn finish(
        &mut self,
        call: Token,
        answer: impl FnOnce(&RequestId) -> Bytes,
        now: Instant,
    ) -> Option<(Taken<C, R>, Bytes)> {
        let taken = self.take(call, now)?;
        let answer = answer(&taken.id);
        if let Some(event) = taken.event {
            self.replay.keep(event, answer.clone(), taken.reader.is_none(), now);
        }
        Some((taken, answer))
    }

    /// Takes a call by its cancellation: its stream ends without an answer.
    pub(crate) fn cancel(&mut self, call: Token, now: Instant) -> Option<Taken<C, R>> {
        let taken = self.take(call, now)?;
        self.owed.free(&taken.id);
        Some(taken)
    }

    /// The one way out of the map: id, stream and questions leave together.
    fn take(&mut self, call: Token, now: Instant) -> Option<Taken<C, R>> {
        let (id, entry) = self.in_flight.take(call)?;
        self.touched = now;
        let reader =
            entry.track.and_then(|track| track.reader).and_then(|reader| self.readers.remove(reader));
        let event = entry.track.map(|track| EventId { stream: track.number, event: track.sent });
        self.asks.drop_of(call);
        Some(Taken { id, kept: entry.kept, reader: reader.map(|reader| reader.handle), event })
    }

    pub(crate) fn in_flight(&self) -> usize {
        self.in_flight.len()
    }

    pub(crate) fn drain(&mut self) {
        self.draining = true;
    }

    pub(crate) fn is_draining(&self) -> bool {
        self.draining
    }

    /// Takes everything, at the session's end.
    pub(crate) fn close(&mut self) -> (Vec<(RequestId, C)>, Vec<R>) {
        self.draining = true;
        self.asks.clear();
        self.owed.clear();
        self.replay.clear();
        self.subscriptions.clear();
        self.notices.clear();
        let calls = self.in_flight.drain().map(|(id, call)| (id, call.kept)).collect();
        let readers = self.readers.drain().map(|reader| reader.handle).collect();
        (calls, readers)
    }

    // Streams

    /// Opens the stream of a call that has none yet. `primed` says that its first event is the priming event.
    pub(crate) fn open_stream(
        &mut self,
        call: Token,
        primed: bool,
        reader: impl FnOnce(Token, EventId) -> R,
    ) -> Option<Token> {
        let entry = self.in_flight.get_mut(call).filter(|entry| entry.track.is_none())?;
        let number = self.generations.next();
        let token = Self::register(
            &mut self.readers,
            number,
            Some(call),
            EventId { stream: number, event: 0 },
            reader,
        );
        entry.track = Some(Track { number, sent: u64::from(primed), reader: Some(token) });
        Some(token)
    }

    /// Opens a standalone stream; `None` when there are as many as the limit allows.
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
        let number = self.generations.next();
        let token =
            Self::register(&mut self.readers, number, None, EventId { stream: number, event: 0 }, reader);
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
        vacancy.fill(Reader { handle, call, number: first.stream, sent: first.event })
    }

    /// Removes a reader that broke, if it is still the one registered. Its call goes on.
    pub(crate) fn drop_broken_stream(&mut self, stream: Token, now: Instant) -> Option<R> {
        let reader = self.readers.remove(stream)?;
        self.touched = now;
        if let Some(track) =
            reader.call.and_then(|call| self.in_flight.get_mut(call)).and_then(|call| call.track.as_mut())
        {
            // it was this one: a call's stream has one reader, and an older one was removed when this came
            track.reader = None;
        }
        if reader.call.is_none() {
            if self.parked.len() >= self.limits.streams {
                self.parked.pop_front();
            }
            self.parked.push_back((reader.number, reader.sent));
        }
        Some(reader.handle)
    }

    /// A client came back to the stream of `last`. `None` if that stream cannot be served from there.
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
        let next = EventId { stream: track.number, event: track.sent };
        let token = Self::register(&mut self.readers, generation, Some(call), next, reader);
        if let Some(track) = self.in_flight.get_mut(call).and_then(|call| call.track.as_mut()) {
            track.reader = Some(token);
        }
        Some(Resumed { events, replaced })
    }

    /// How many bytes a reader is given, at most, that comes back to a stream which has ended; `None` where it has not,
    /// and the one reader it has makes way.
    pub(crate) fn bytes_after_end(&self, last: EventId) -> Option<usize> {
        let open =
            self.call_of(last).is_some() || self.standalone().any(|(_, reader)| reader.number == last.stream);
        (!open).then(|| self.replay.bytes_of(last.stream))
    }

    /// The running call on whose stream an event was sent.
    pub(crate) fn call_of(&self, event: EventId) -> Option<Token> {
        let is_on = |call: &Call<C>| call.track.is_some_and(|track| track.number == event.stream);
        self.in_flight.iter().find(|(_, call)| is_on(call)).map(|(token, _)| token)
    }

    /// A stream of no running call: a standalone one goes on, anything else gives what is kept and ends.
    fn resume_standalone(
        &mut self,
        last: EventId,
        now: Instant,
        reader: impl FnOnce(Token, EventId) -> R,
    ) -> Option<Resumed<R>> {
        let open = self
            .readers
            .iter()
            .find(|(_, reader)| reader.call.is_none() && reader.number == last.stream)
            .map(|(token, reader)| (token, reader.sent));
        let parked = self.parked.iter().find(|(number, _)| *number == last.stream).map(|(_, sent)| *sent);
        let Some(sent) = open.map(|(_, sent)| sent).or(parked) else {
            let events = self.replay.after(last, None, now)?;
            return (!events.is_empty()).then_some(Resumed { events, replaced: None });
        };
        if open.is_none() && self.standalone().count() >= self.limits.streams {
            return None;
        }
        let events = self.replay.after(last, Some(sent), now)?;
        self.parked.retain(|(number, _)| *number != last.stream);
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
        let event = EventId { stream: track.number, event: track.sent };
        track.sent += 1;
        let reader = track.reader;
        self.replay.keep(event, json.clone(), false, now);
        Some((event, reader.and_then(|reader| self.readers.get(reader)).map(|reader| &reader.handle)))
    }

    /// Who reads a call's stream.
    pub(crate) fn handle_of(&self, call: Token) -> Option<&R> {
        self.readers.get(self.reader_of(call)?).map(|reader| &reader.handle)
    }

    /// The reader of a call's stream.
    pub(crate) fn reader_of(&self, call: Token) -> Option<Token> {
        self.in_flight.get(call).and_then(|call| call.track).and_then(|track| track.reader)
    }

    /// Numbers a message of no call on the newest standalone stream that `healthy` accepts, and keeps it.
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
        let event = EventId { stream: reader.number, event: reader.sent };
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

    /// A token that names nothing and never will.
    pub(crate) fn spent_token(&mut self) -> Token {
        Token::spent(self.generations.next())
    }

    // Requests to the client

    /// Opens a request of a call to the client. The ask comes back with the error if the call has ended or as many are
    /// open as the limit allows.
    pub(crate) fn ask(&mut self, ask: Ask) -> Result<i64, (Ask, AskError)> {
        if !self.is_in_flight(ask.call) {
            return Err((ask, AskError::Gone));
        }
        let limit = self.limits.asks;
        if self.asks.len() >= limit {
            return Err((ask, AskError::TooMany { limit }));
        }
        Ok(self.asks.open(ask))
    }

    /// The client's answer: resolves the ask it names, if this session has it open.
    pub(crate) fn answered(&mut self, id: &RequestId, now: Instant) -> Option<Ask> {
        self.touched = now;
        self.asks.take(id)
    }

    /// The wire id of a call's `nth` question, if it is open.
    pub(crate) fn open_ask(&self, call: Token, nth: u64) -> Option<i64> {
        self.asks.find(call, nth)
    }

    /// When the first of the open asks will have waited for too long.
    pub(crate) fn next_ask_due(&self) -> Option<Instant> {
        self.asks.next_due()
    }

    /// The open asks that have waited for too long: wire id and call.
    pub(crate) fn overdue_asks(&self, now: Instant) -> Vec<(i64, Token)> {
        self.asks.overdue(now)
    }

    /// Drops every open ask: nobody can answer any more.
    pub(crate) fn drop_asks(&mut self) {
        self.asks.clear();
    }

    /// The wire ids of a call's open questions.
    pub(crate) fn open_asks(&self, call: Token) -> Vec<i64> {
        self.asks.of(call)
    }

    // The session

    pub(crate) fn touch(&mut self, now: Instant) {
        self.touched = now;
    }

    /// When the session will have been idle for too long, if nothing happens; `None` while it is busy, or
    /// if that is never.
    ///
    /// A question keeps it by the call that asked, with which it ends.
    pub(crate) fn expires_at(&self) -> Option<Instant> {
        let idle = self.in_flight.is_empty() && self.readers.is_empty();
        if idle { self.touched.checked_add(self.limits.idle) } else { None }
    }

    /// Subscribes to a resource; a second time, however it is written, is no more than once. `false` at the limit.
    pub(crate) fn subscribe(&mut self, uri: ByteString, count: impl FnOnce() -> Counted) -> bool {
        let normal = normal_of(&uri);
        if self.subscriptions.contains_key(&normal) {
            return true;
        }
        if self.subscriptions.len() >= self.limits.subscriptions {
            return false;
        }
        self.subscriptions.insert(normal, Subscription { uri, _counted: count() });
        true
    }

    /// A change as the client is told of it: a resource has the name by which it first subscribed.
    pub(crate) fn as_asked(&self, change: &Change) -> Change {
        let Change::Resource(normal) = change else { return change.clone() };
        let asked = self.subscriptions.get(normal).map(|subscription| subscription.uri.clone());
        Change::Resource(asked.unwrap_or_else(|| normal.clone()))
    }

    pub(crate) fn unsubscribe(&mut self, uri: &ByteString) {
        let normal = normal_of(uri);
        self.subscriptions.remove(&normal);
        self.notices.remove(&Change::Resource(normal));
    }

    /// Notes a change, its URI in the normal form, that this session is to be told of; one notice a kind and URI. `false` if
    /// it is no concern of its.
    pub(crate) fn changed(&mut self, change: Change) -> bool {
        if let Change::Resource(uri) = &change
            && !self.subscriptions.contains_key(uri)
        {
            return false;
        }
        self.notices.insert(change);
        true
    }

    /// Takes one waiting notice, if notices may go out.
    pub(crate) fn next_notice(&mut self) -> Option<Change> {
        if self.phase < Phase::Ready { None } else { self.notices.pop_first() }
    }

    /// Puts back a notice that found no stream.
    pub(crate) fn put_back(&mut self, change: Change) {
        self.notices.insert(change);
    }

    pub(crate) fn has_notices(&self) -> bool {
        !self.notices.is_empty()
    }
}
