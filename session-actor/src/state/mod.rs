//! The rules of a session, without I/O, clock or actors: the actor calls a method for each event, and the method
//! returns what to do.
//!
//! This file has the data; the other files here have the methods. Of the data the actor sees only the limits and the
//! phase. Where a method needs something from the actor, such as a reader that must know its token, it takes a
//! closure. Two rules are elsewhere: the actor changes the phase (`session/own`, `session/notified`), and
//! `session/admit` decides which method may come in which phase. `C` is the actor's value for a call, `R` its handle
//! on the reader of a stream; neither is looked into.
//!
//! **Invariants:** every admitted call is taken exactly once, by [`SessionState::finish`], [`SessionState::cancel`]
//! or [`SessionState::close`]; its id and its stream are removed in the same step. A reader is removed only with the
//! generation it was registered with. A message that names one call or stream never affects another.
//!
//! Read next: `calls` and `streams` (the rules), `in_flight` (the map), `replay` (the ring), `session/` (the actor).

mod calls;
mod client_requests;
mod in_flight;
mod notices;
mod owed;
mod streams;

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
};

use actix_mcp_router::RequestId;
use bytestring::ByteString;
use tokio::time::Instant;

pub(crate) use self::{calls::NotAdmitted, client_requests::ClientRequest};
use self::{client_requests::ClientRequests, in_flight::InFlight, owed::Owed};
use crate::{
    changes::PendingChanges,
    limits::SessionLimits,
    replay::Replay,
    stats::Counted,
    token::{Generations, Slots, Token},
};

/// The phase of a session's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    /// Only `initialize` and `ping` are served.
    New,
    /// `initialize` was answered.
    Opened,
    /// The client has sent `notifications/initialized`: requests and change notifications may be sent to it.
    Ready,
}

/// A subscription to a resource.
#[derive(Debug)]
struct Subscription {
    /// As the client wrote it.
    uri: ByteString,
    _counted: Counted,
}

/// The state of one session: its calls, its streams and their readers, and the answers that are still owed.
#[derive(Debug)]
pub(crate) struct SessionState<C, R> {
    pub(crate) limits: Arc<SessionLimits>,
    pub(crate) phase: Phase,
    /// Set when no more calls are admitted; running ones go on.
    draining: bool,
    generations: Generations,
    in_flight: InFlight<Call<C>>,
    /// Ids taken by batches that are not answered yet.
    owed: Owed,
    /// Live readers only: a stream without a reader lives on in its call's `Track`, in `parked` or in the ring.
    readers: Slots<Reader<R>>,
    /// Standalone streams whose reader has disconnected, oldest first, each with how many events it has had. At most as
    /// many as may be open; a client can resume one even if it has missed nothing.
    parked: VecDeque<(u64, u64)>,
    client_requests: ClientRequests,
    replay: Replay,
    /// By the normal form of the URI.
    subscriptions: HashMap<ByteString, Subscription>,
    notices: PendingChanges,
    /// When something last happened; the idle clock starts here.
    touched: Instant,
}

#[derive(Debug)]
struct Call<C> {
    kept: C,
    /// The call's stream, once it has one.
    track: Option<Track>,
}

/// A stream as its call knows it. The stream keeps its generation; its reader may change.
#[derive(Clone, Copy, Debug)]
struct Track {
    stream: u64,
    /// Events so far, including the priming event: the next event's position.
    sent: u64,
    reader: Option<Token>,
}

#[derive(Debug)]
struct Reader<R> {
    handle: R,
    /// The call whose stream this is; `None` for a standalone stream.
    call: Option<Token>,
    stream: u64,
    /// Events so far, on a standalone stream; a call's are counted in its `Track`.
    sent: u64,
}

impl<C, R> SessionState<C, R> {
    pub(crate) fn new(limits: impl Into<Arc<SessionLimits>>, now: Instant) -> Self {
        let limits = limits.into();
        Self {
            phase: Phase::New,
            draining: false,
            generations: Generations::default(),
            in_flight: InFlight::default(),
            owed: Owed::default(),
            readers: Slots::default(),
            parked: VecDeque::new(),
            client_requests: ClientRequests::default(),
            replay: Replay::new(limits.replay),
            subscriptions: HashMap::new(),
            notices: PendingChanges::default(),
            touched: now,
            limits,
        }
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
        self.client_requests.clear();
        self.owed.clear();
        self.replay.clear();
        self.subscriptions.clear();
        self.notices.clear();
        let calls = self.in_flight.drain().map(|(id, call)| (id, call.kept)).collect();
        let readers = self.readers.drain().map(|reader| reader.handle).collect();
        (calls, readers)
    }

    pub(crate) fn touch(&mut self, now: Instant) {
        self.touched = now;
    }

    /// When the session expires if nothing happens; `None` while it is busy, or if it never expires.
    ///
    /// An open question keeps the session busy through its call, with which it ends.
    pub(crate) fn expires_at(&self) -> Option<Instant> {
        let idle = self.in_flight.is_empty() && self.readers.is_empty();
        if idle { self.touched.checked_add(self.limits.idle) } else { None }
    }
}

#[cfg(test)]
mod tests;
