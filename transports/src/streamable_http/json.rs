//! A slow JSON answer: white space until it is ready, which may precede JSON (RFC 8259, 2).
//!
//! Over HTTP/2 only a write detects that the client has disconnected.

use std::{
    convert::Infallible,
    future::Future,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use actix_mcp_router::{RequestId, internal::ErrorId};
use actix_mcp_session::internal::ResponseHead;
use actix_web::{
    body::{BodySize, MessageBody},
    rt::time::{Instant, Sleep, sleep},
    web::Bytes,
};

use super::refusal::Refusal;

const SPACE: Bytes = Bytes::from_static(b" ");

/// The answer as a response body. Dropped with its stream, which cancels the request.
pub(super) struct JsonBody<F> {
    /// `None` once it has been answered.
    head: Option<Pin<Box<F>>>,
    id: RequestId,
    every: Duration,
    silence: Pin<Box<Sleep>>,
}

impl<F> JsonBody<F> {
    /// A body for a head that is still awaited, with white space at once and then at this interval.
    pub(super) fn new(head: Pin<Box<F>>, id: RequestId, every: Duration) -> Self {
        Self { head: Some(head), id, every, silence: Box::pin(sleep(Duration::ZERO)) }
    }
}

impl<F: Future<Output = ResponseHead>> MessageBody for JsonBody<F> {
    type Error = Infallible;

    fn size(&self) -> BodySize {
        BodySize::Stream
    }

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Infallible>>> {
        let Some(head) = &mut self.head else { return Poll::Ready(None) };
        if let Poll::Ready(head) = head.as_mut().poll(cx) {
            self.head = None;
            let json = match head {
                ResponseHead::Json { json, .. } => json,
                // a client that accepts only JSON gets no stream, so the server is shutting down
                ResponseHead::Events(_) | ResponseHead::Cancelled | ResponseHead::Ended => {
                    Refusal::shutting_down().of(Some(&self.id)).json(ErrorId::Absent)
                }
            };
            return Poll::Ready(Some(Ok(json)));
        }
        ready!(self.silence.as_mut().poll(cx));
        let due = Instant::now() + self.every;
        self.silence.as_mut().reset(due);
        Poll::Ready(Some(Ok(SPACE)))
    }
}
