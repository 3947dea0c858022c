//! Where the answer to a request goes.
//!
//! **Invariant:** an outlet is owned by one call and consumed by its one answer; nothing else can write to it.

use std::sync::{Arc, Mutex, PoisonError};

use actix_mcp_router::error::ErrorCode;
use bytes::{BufMut, Bytes, BytesMut};
use tokio::sync::oneshot;

use crate::queue::{Frame, Sink, Source};

/// The way of one request's answer, given by the transport with the request.
#[derive(Debug)]
pub enum Outlet {
    /// An HTTP exchange that has no head yet: a single answer, or a stream if the call sends something before it.
    Exchange(Exchange),
    /// The pipe of a session that has one, such as stdio.
    Line,
    /// A member of a batch on the pipe: answered together with the others.
    Batch(Arc<Batch>),
}

/// An HTTP exchange before its head.
#[derive(Debug)]
pub struct Exchange {
    /// Takes the head, once. A client that has gone is no reason to stop.
    pub head: oneshot::Sender<Head>,
    /// What the client can read.
    pub accepts: Accepts,
}

/// What kinds of answer a client can read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accepts {
    /// `application/json` and `text/event-stream`.
    Both,
    /// `application/json` only: the call's notifications are dropped and counted.
    Json,
    /// `text/event-stream` only.
    Events,
}

/// How an exchange is answered.
#[derive(Debug)]
pub enum Head {
    /// One JSON-RPC message and nothing else.
    Json {
        /// The whole message.
        json: Bytes,
        /// What decides on the status.
        verdict: Verdict,
    },
    /// A stream of encoded SSE events.
    Events(Source),
    /// The request was cancelled before anything was sent.
    Cancelled,
    /// The session ended first.
    Ended,
}

/// What became of a request, as far as a status line can say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It was answered; an error answer has a code.
    Answered(Option<ErrorCode>),
    /// It was refused for the state the session is in.
    Refused,
    /// Its id is in flight.
    Duplicate,
    /// Too many requests are in flight.
    Full,
    /// The server is shutting down.
    Draining,
}

/// The answers to a batch, gathered; written as one array when the last of its requests has ended.
#[derive(Debug)]
pub struct Batch {
    pipe: Sink,
    answers: Mutex<BytesMut>,
}

impl Batch {
    /// A batch whose answers go to this pipe. Each of its requests holds a clone; the last one to go writes.
    #[must_use]
    pub fn new(pipe: Sink) -> Arc<Self> {
        Arc::new(Self { pipe, answers: Mutex::default() })
    }

    pub(crate) fn push(&self, json: &[u8]) {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let opener = if answers.is_empty() { b'[' } else { b',' };
        answers.put_u8(opener);
        answers.put_slice(json);
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        let answers = self.answers.get_mut().unwrap_or_else(PoisonError::into_inner);
        // JSON-RPC 2.0, Batch: nothing at all if there is no answer
        if !answers.is_empty() {
            answers.put_u8(b']');
            self.pipe.push(Frame::kept(answers.split().freeze()));
        }
    }
}
