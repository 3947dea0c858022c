//! Reads a request's whole body, up to the limit.
//!
//! By hand: `Payload::to_bytes_limited` of actix-web has no timeout for a body that stalls.

use std::{future::poll_fn, pin::Pin, task::Poll};

use actix_web::{
    HttpRequest,
    error::PayloadError,
    http::header::CONTENT_LENGTH,
    rt::time::timeout,
    web::{Bytes, BytesMut, Payload},
};
use futures_util::Stream;

use super::{
    connection::body_is_connection,
    refusal::{Refusal, Refused},
};
use crate::backend::Backend;

/// Reads the body. One that arrives in one piece is not copied.
pub(super) async fn read(
    payload: Payload,
    request: &HttpRequest,
    server: &Backend,
) -> Result<Bytes, Refused> {
    let announced =
        request.headers().get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    let limit = server.http.limits.body_bytes;
    if announced.is_some_and(|length: u64| length > limit as u64) {
        return Err(Refusal::too_large(limit).into());
    }
    // what is left of a body that does not end by itself; one without a length is empty (RFC 9112, 6.3)
    let mut left = body_is_connection(request).then(|| announced.unwrap_or_default());
    let mut payload = std::pin::pin!(payload.into_inner());
    let mut first: Option<Bytes> = None;
    let mut rest = BytesMut::new();
    while left != Some(0)
        && let Some(mut chunk) = next(payload.as_mut(), server).await?
    {
        if let Some(left) = &mut left {
            chunk.truncate(usize::try_from(*left).unwrap_or(usize::MAX));
            *left -= chunk.len() as u64;
        }
        let so_far = first.as_ref().map_or(0, Bytes::len) + rest.len();
        if so_far + chunk.len() > limit {
            return Err(Refusal::too_large(limit).into());
        }
        match &first {
            None => first = Some(chunk),
            Some(_) => rest.extend_from_slice(&chunk),
        }
    }
    let first = first.unwrap_or_default();
    if rest.is_empty() {
        return Ok(first);
    }
    let mut whole = BytesMut::with_capacity(first.len() + rest.len());
    whole.extend_from_slice(&first);
    whole.extend_from_slice(&rest);
    Ok(whole.freeze())
}

/// The next part of the body; `None` at its end.
async fn next<S>(mut payload: Pin<&mut S>, server: &Backend) -> Result<Option<Bytes>, Refused>
where
    S: Stream<Item = Result<Bytes, PayloadError>>,
{
    // A body that came with its head is handed over right after the first poll, in the same turn of the connection.
    // Polling a second time saves the timer.
    let mut asked = false;
    let at_once = poll_fn(|cx| match payload.as_mut().poll_next(cx) {
        Poll::Ready(next) => Poll::Ready(Some(next)),
        Poll::Pending if asked => Poll::Ready(None),
        Poll::Pending => {
            asked = true;
            cx.waker().wake_by_ref();
            Poll::Pending
        }
    });
    let next = match at_once.await {
        Some(next) => next,
        None => {
            let idle = server.http.limits.body_idle;
            tokio::select! {
                next = timeout(idle, poll_fn(|cx| payload.as_mut().poll_next(cx))) => {
                    next.map_err(|_| Refusal::body_timeout(idle))?
                }
                // a client that sends half a request would keep the server from shutting down
                () = server.sessions.ended() => return Err(Refusal::shutting_down().into()),
            }
        }
    };
    match next {
        Some(Err(error)) => Err(Refusal::bad(format!("the body could not be read: {error}")).into()),
        Some(Ok(chunk)) => Ok(Some(chunk)),
        None => Ok(None),
    }
}
