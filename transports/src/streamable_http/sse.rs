//! The body of an event stream: the events, and a comment whenever it has been silent for too long.
//!
//! By hand: `actix_web_lab::sse` formats each event as it is sent; here events are bytes that are also kept for a
//! replay.

use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use actix_mcp_session::internal::Source;
use actix_web::{
    body::{BodySize, MessageBody},
    rt::time::{Instant, Sleep, sleep},
    web::Bytes,
};

/// A comment: not an event, but bytes that keep the connection alive (WHATWG HTML, 9.2.6).
const COMMENT: Bytes = Bytes::from_static(b":\n\n");

/// An event stream as a response body. Dropped with its connection, which the stream's writer notices.
pub(super) struct SseBody {
    /// The first bytes, ready before the head is written, so that both leave in one write.
    first: Option<Bytes>,
    source: Source,
    every: Duration,
    /// When something was last written.
    wrote: Instant,
    /// Fires at the earliest when nothing was written for `every`; it is reset only then, so that events do not pay
    /// for it.
    silence: Pin<Box<Sleep>>,
}

impl SseBody {
    pub(super) fn new(first: Bytes, source: Source, every: Duration) -> Self {
        Self { first: Some(first), source, every, wrote: Instant::now(), silence: Box::pin(sleep(every)) }
    }

    fn wrote(&mut self, bytes: Bytes) -> Poll<Option<Result<Bytes, Infallible>>> {
        self.wrote = Instant::now();
        Poll::Ready(Some(Ok(bytes)))
    }

    /// Waits until nothing was written for `every`.
    fn poll_silence(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        while self.silence.as_mut().poll(cx).is_ready() {
            let due = self.wrote + self.every;
            if due <= Instant::now() {
                return Poll::Ready(());
            }
            self.silence.as_mut().reset(due);
        }
        Poll::Pending
    }
}

impl MessageBody for SseBody {
    type Error = Infallible;

    fn size(&self) -> BodySize {
        BodySize::Stream
    }

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Infallible>>> {
        if let Some(first) = self.first.take() {
            return self.wrote(first);
        }
        match self.source.poll_next(cx) {
            Poll::Ready(Some(event)) => self.wrote(event),
            Poll::Ready(None) => Poll::Ready(None),
            Poll::Pending => {
                ready!(self.poll_silence(cx));
                self.wrote(COMMENT)
            }
        }
    }
}
