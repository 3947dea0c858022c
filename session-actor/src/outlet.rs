//! Where the answer to a request goes.
//!
//! **Invariant:** an outlet is owned by one call and consumed by its one answer; nothing else can write to it.

use std::{
    fmt::Write as _,
    sync::{Arc, Mutex, PoisonError},
};

use actix_mcp_router::error::ErrorCode;
use bytes::{BufMut, Bytes, BytesMut};
use tokio::sync::oneshot;

use crate::{
    queue::{Frame, Sink, Source},
    replay::EventId,
};

/// The way of one request's answer, given by the transport with the request.
#[derive(Debug)]
pub enum Outlet {
    /// An HTTP exchange that has no head yet: a single answer, or a stream if the call sends something before it.
    Exchange(Exchange),
    /// The pipe of a session that has one, such as stdio.
    Line,
    /// A member of a batch: answered together with the others.
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

/// The most bytes that an event takes besides its message: id, name and line ends.
pub(crate) const FRAMING: usize = 80; // bytes

/// Adds a message to a buffer as an event, with an id where a client can resume after it. The only place where an event
/// that carries a message is framed.
pub(crate) fn put_event(buffer: &mut BytesMut, id: Option<EventId>, json: &[u8]) {
    // the name is the default one (WHATWG HTML, 9.2.6); there are clients that skip events without it
    buffer.put_slice(b"event: message\n");
    if let Some(id) = id {
        // a buffer takes it all
        writeln!(buffer, "id: {}-{}", id.stream, id.event).ok();
    }
    // JSON of ours holds no raw line break, so one `data:` line is the whole of it
    buffer.put_slice(b"data: ");
    buffer.put_slice(json);
    buffer.put_slice(b"\n\n");
}

/// A message as an event without an id: no client can resume after it.
#[must_use]
pub fn event(json: &[u8]) -> Bytes {
    let mut event = BytesMut::with_capacity(json.len() + 23);
    put_event(&mut event, None, json);
    event.freeze()
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

/// The answers to a batch, gathered; one array when the last of its requests has ended.
#[derive(Debug)]
pub struct Batch {
    /// Where the array goes.
    to: BatchWay,
    answers: Mutex<BytesMut>,
}

#[derive(Debug)]
enum BatchWay {
    Pipe(Sink),
    /// Taken once, by the drop of the last clone.
    Exchange(Option<oneshot::Sender<Head>>),
}

impl Batch {
    /// A batch whose answers go to this pipe. Each of its requests holds a clone; the last one to go writes.
    #[must_use]
    pub fn on_pipe(pipe: Sink) -> Arc<Self> {
        Arc::new(Self { to: BatchWay::Pipe(pipe), answers: Mutex::default() })
    }

    /// A batch whose answers are the answer of this exchange; [`Head::Cancelled`] if there is none.
    #[must_use]
    pub fn in_exchange(head: oneshot::Sender<Head>) -> Arc<Self> {
        Arc::new(Self { to: BatchWay::Exchange(Some(head)), answers: Mutex::default() })
    }

    /// Adds an answer, a whole JSON-RPC message.
    pub fn push(&self, json: &[u8]) {
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
        let array = (!answers.is_empty()).then(|| {
            answers.put_u8(b']');
            answers.split().freeze()
        });
        match (&mut self.to, array) {
            (BatchWay::Pipe(_), None) => {}
            (BatchWay::Pipe(pipe), Some(array)) => pipe.push(Frame::kept(array)),
            (BatchWay::Exchange(head), array) => {
                let answer = match array {
                    Some(json) => Head::Json { json, verdict: Verdict::Answered(None) },
                    None => Head::Cancelled,
                };
                // the client may have gone, and then nobody waits
                drop(head.take().map(|head| head.send(answer)));
            }
        }
    }
}
