//! Where the answer to a request goes, and in which form: a message, a stream of events, or nothing.
//!
//! Nothing is decided here: the session or the exchange chooses. Every event with a message is framed here.
//!
//! **Invariant:** a [`ReplyTo`] is owned by one call and consumed by its one answer; nothing else can write to it.
//!
//! Read next: `queue` (which carries a stream's events).

use std::{
    fmt::Write as _,
    sync::{Arc, Mutex, PoisonError},
};

use actix_mcp_router::{
    ErrorCode, McpError, RequestId,
    internal::{ErrorId, Reply, encode_error},
};
use bytes::{BufMut, Bytes, BytesMut};
use tokio::sync::oneshot;

use crate::{
    queue::{Frame, Sink, Source},
    replay::EventId,
};

/// Where one request's answer goes; the transport gives it with the request.
#[derive(Debug)]
pub enum ReplyTo {
    /// An HTTP response that has no head yet: a single answer, or a stream if the call sends something before it.
    Http(HttpReply),
    /// The pipe of a session that has one, such as stdio.
    Pipe,
    /// A member of a batch: answered together with the others.
    Batch(Arc<Batch>),
}

/// An HTTP response before its head.
#[derive(Debug)]
pub struct HttpReply {
    /// Takes the head, once. The call goes on if the client has disconnected.
    pub head: oneshot::Sender<ResponseHead>,
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

impl Accepts {
    /// Whether the answer can be a stream of events.
    pub(crate) fn events(self) -> bool {
        self != Self::Json
    }
}

/// How a request over HTTP is answered.
#[derive(Debug)]
pub enum ResponseHead {
    /// One JSON-RPC message and nothing else.
    Json {
        /// The whole message.
        json: Bytes,
        /// Decides the HTTP status.
        disposition: Disposition,
    },
    /// A stream of encoded SSE events.
    Events(Source),
    /// The request was cancelled before anything was sent.
    Cancelled,
    /// The session ended before the answer.
    Ended,
}

/// Upper bound on the bytes of an event in addition to its message: id, name and line ends.
pub(crate) const FRAMING: usize = 80; // bytes

/// Adds a message to a buffer as an event, with an id where a client can resume after it. The only place where an event
/// that carries a message is framed.
pub(crate) fn put_event(buffer: &mut BytesMut, id: Option<EventId>, json: &[u8]) {
    // the name is the default one (WHATWG HTML, 9.2.6); there are clients that skip events without it
    buffer.put_slice(b"event: message\n");
    if let Some(id) = id {
        // writing to a buffer cannot fail
        writeln!(buffer, "id: {}-{}", id.stream, id.event).ok();
    }
    // the JSON has no raw line breaks, so one `data:` line holds all of it
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

/// An error as an answer.
pub(crate) fn error_reply(id: &RequestId, error: &McpError) -> Reply {
    Reply { json: encode_error(ErrorId::Given(id), error), code: Some(error.code) }
}

/// The outcome of a request, as far as it decides the HTTP status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disposition {
    /// It was answered; an error answer has a code.
    Answered(Option<ErrorCode>),
    /// It was refused because of the session's state.
    Refused,
    /// Its id is already in flight.
    Duplicate,
    /// Too many requests are in flight.
    Full,
    /// The server is shutting down.
    Draining,
}

/// Collects the answers to a batch, which are sent as one array when the last of its requests has ended.
#[derive(Debug)]
pub struct Batch {
    /// Where the array goes.
    to: BatchReplyTo,
    answers: Mutex<BytesMut>,
}

#[derive(Debug)]
enum BatchReplyTo {
    Pipe(Sink),
    /// Taken once, when the last clone is dropped.
    Http(Option<oneshot::Sender<ResponseHead>>),
}

impl Batch {
    /// A batch whose answers go to this pipe. Each of its requests holds a clone; dropping the last one writes the
    /// array.
    #[must_use]
    pub fn on_pipe(pipe: Sink) -> Arc<Self> {
        Arc::new(Self { to: BatchReplyTo::Pipe(pipe), answers: Mutex::default() })
    }

    /// A batch whose answers are the body of one HTTP response; [`ResponseHead::Cancelled`] if there are none.
    #[must_use]
    pub fn in_response(head: oneshot::Sender<ResponseHead>) -> Arc<Self> {
        Arc::new(Self { to: BatchReplyTo::Http(Some(head)), answers: Mutex::default() })
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
            (BatchReplyTo::Pipe(_), None) => {}
            (BatchReplyTo::Pipe(pipe), Some(array)) => pipe.push(Frame::kept(array)),
            (BatchReplyTo::Http(head), array) => {
                let answer = match array {
                    Some(json) => ResponseHead::Json { json, disposition: Disposition::Answered(None) },
                    None => ResponseHead::Cancelled,
                };
                // fails if the client has disconnected
                drop(head.take().map(|head| head.send(answer)));
            }
        }
    }
}
