//! The calls of a session, each admitted under a free id and taken once, and their questions to the client.
//!
//! The actor's value for a call is never looked into.
//!
//! Read next: `in_flight` (the map), `streams` (a call's stream).

use std::sync::Arc;

use actix_mcp_router::{QuestionError, RequestId};
use bytes::Bytes;
use tokio::time::Instant;

use super::{Call, SessionState, client_requests::ClientRequest, in_flight::VacantId};
use crate::{replay::EventId, reply_to::Batch, token::Token};

/// Why a request is not admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotAdmitted {
    /// The id is in flight.
    Duplicate,
    /// The session admits no more calls.
    Draining,
    /// The limit of calls in flight is reached.
    Full,
}

/// The claimed id of a call that may run.
#[derive(Debug)]
pub(crate) struct Admitted<'a, C>(VacantId<'a, Call<C>>);

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
    /// The answer's position on its stream, if the call had a stream.
    pub(crate) event: Option<EventId>,
}

impl<C, R> SessionState<C, R> {
    /// The live call with an id, for a new request with the same id and for a cancellation.
    pub(crate) fn find(&self, id: &RequestId) -> Option<Token> {
        self.in_flight.find(id)
    }

    /// Whether an id is taken: by a call in flight, or by the batch that it came in.
    pub(crate) fn is_taken(&self, id: &RequestId) -> bool {
        self.find(id).is_some() || self.owed.holds(id)
    }

    /// Takes a free id until its batch is answered or its call is cancelled.
    pub(crate) fn take_in(&mut self, batch: &Arc<Batch>, id: &RequestId) {
        self.owed.take(id.clone(), batch);
    }

    /// Forgets the ids of batches that were answered.
    pub(crate) fn tidy(&mut self) {
        self.owed.tidy();
    }

    /// Claims an id for a call, which is admitted once the claim is filled. Nothing is created for a refused one.
    pub(crate) fn admit(&mut self, id: RequestId, now: Instant) -> Result<Admitted<'_, C>, NotAdmitted> {
        self.touched = now;
        let room = self.check_room();
        let Some(claim) = self.in_flight.claim(&mut self.generations, id) else {
            return Err(NotAdmitted::Duplicate);
        };
        room?;
        Ok(Admitted(claim))
    }

    /// Whether one more call could be admitted, whatever its id.
    pub(crate) fn check_room(&self) -> Result<(), NotAdmitted> {
        if self.draining {
            return Err(NotAdmitted::Draining);
        }
        if self.in_flight.len() >= self.limits.in_flight {
            return Err(NotAdmitted::Full);
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

    /// Takes a call with its answer, which is kept for a client that resumes if the call has a stream.
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

    /// Takes a cancelled call: its stream ends without an answer.
    pub(crate) fn cancel(&mut self, call: Token, now: Instant) -> Option<Taken<C, R>> {
        let taken = self.take(call, now)?;
        self.owed.free(&taken.id);
        Some(taken)
    }

    /// The one way out of the map before the session's end: id, stream and questions are removed together.
    fn take(&mut self, call: Token, now: Instant) -> Option<Taken<C, R>> {
        let (id, entry) = self.in_flight.take(call)?;
        self.touched = now;
        let reader =
            entry.track.and_then(|track| track.reader).and_then(|reader| self.readers.remove(reader));
        let event = entry.track.map(|track| EventId { stream: track.stream, event: track.sent });
        self.client_requests.drop_of(call);
        Some(Taken { id, kept: entry.kept, reader: reader.map(|reader| reader.handle), event })
    }

    pub(crate) fn in_flight(&self) -> usize {
        self.in_flight.len()
    }

    /// Opens a request to the client for a call. It is returned with the error if the call has ended or the limit is
    /// reached.
    pub(crate) fn ask(&mut self, request: ClientRequest) -> Result<i64, (ClientRequest, QuestionError)> {
        if !self.is_in_flight(request.call) {
            return Err((request, QuestionError::Gone));
        }
        let limit = self.limits.client_requests;
        if self.client_requests.len() >= limit {
            return Err((request, QuestionError::TooMany { limit }));
        }
        Ok(self.client_requests.open(request))
    }

    /// Takes the request that the client's answer names, if it is open.
    pub(crate) fn answered(&mut self, id: &RequestId, now: Instant) -> Option<ClientRequest> {
        self.touched = now;
        self.client_requests.take(id)
    }

    /// The wire id of a call's `nth` question, if it is open.
    pub(crate) fn open_request(&self, call: Token, nth: u64) -> Option<i64> {
        self.client_requests.find(call, nth)
    }

    /// When the first of the open requests times out.
    pub(crate) fn next_request_due(&self) -> Option<Instant> {
        self.client_requests.next_due()
    }

    /// The open requests that have timed out: wire id and call.
    pub(crate) fn overdue_requests(&self, now: Instant) -> Vec<(i64, Token)> {
        self.client_requests.overdue(now)
    }

    /// Drops every open request: the client can no longer answer.
    pub(crate) fn drop_client_requests(&mut self) {
        self.client_requests.clear();
    }

    /// The wire ids of a call's open questions.
    pub(crate) fn open_requests(&self, call: Token) -> Vec<i64> {
        self.client_requests.of(call)
    }
}
