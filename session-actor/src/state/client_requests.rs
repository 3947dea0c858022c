//! Server-initiated requests that the client has not answered yet.
//!
//! Nothing is sent from here, and no timer runs: the current time is passed in.
//!
//! **Invariant:** a request belongs to the call that asked and is removed once: by its answer, its timeout, its
//! withdrawal, or the end of its call.
//!
//! Read next: `session/ask`.

use std::collections::HashMap;

use actix_mcp_router::{QuestionError, RequestId};
use bytestring::ByteString;
use tokio::{sync::oneshot, time::Instant};

use crate::token::Token;

/// A server-initiated request that waits for its answer.
#[derive(Debug)]
pub(crate) struct ClientRequest {
    /// The call that asked.
    pub(crate) call: Token,
    /// The question's number in its call.
    pub(crate) nth: u64,
    /// When it times out.
    pub(crate) due: Instant,
    /// Takes the answer; the handler may no longer be waiting.
    pub(crate) reply: oneshot::Sender<Result<ByteString, QuestionError>>,
}

/// The open requests to the client of one session, by wire id.
#[derive(Debug, Default)]
pub(crate) struct ClientRequests {
    open: HashMap<i64, ClientRequest>,
    last: i64,
}

impl ClientRequests {
    /// Opens a request; returns its wire id.
    pub(crate) fn open(&mut self, request: ClientRequest) -> i64 {
        self.last += 1;
        self.open.insert(self.last, request);
        self.last
    }

    /// Takes the request with this wire id.
    pub(crate) fn take(&mut self, id: &RequestId) -> Option<ClientRequest> {
        match id {
            RequestId::Integer(id) => self.open.remove(id),
            RequestId::Unsigned(_) | RequestId::String(_) => None,
        }
    }

    /// The wire id of a call's `nth` question, if it is open.
    pub(crate) fn find(&self, call: Token, nth: u64) -> Option<i64> {
        self.open.iter().find(|(_, request)| request.call == call && request.nth == nth).map(|(id, _)| *id)
    }

    /// The wire ids of a call's open requests.
    pub(crate) fn of(&self, call: Token) -> Vec<i64> {
        self.open.iter().filter(|(_, request)| request.call == call).map(|(id, _)| *id).collect()
    }

    /// When the first of them times out.
    pub(crate) fn next_due(&self) -> Option<Instant> {
        self.open.values().map(|request| request.due).min()
    }

    /// The wire ids and calls of those that have timed out.
    pub(crate) fn overdue(&self, now: Instant) -> Vec<(i64, Token)> {
        self.open
            .iter()
            .filter(|(_, request)| request.due <= now)
            .map(|(id, request)| (*id, request.call))
            .collect()
    }

    /// Drops the requests of a call that ended.
    pub(crate) fn drop_of(&mut self, call: Token) {
        // few sessions have a request open when a call ends, so the usual cost is one length check
        if !self.open.is_empty() {
            self.open.retain(|_, request| request.call != call);
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.open.len()
    }

    /// Takes all of them, at the session's end.
    pub(crate) fn clear(&mut self) {
        self.open.clear();
    }
}
