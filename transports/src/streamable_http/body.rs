//! A request's body, whole and bounded.

use std::future::poll_fn;

use actix_web::{
    HttpRequest,
    http::header::CONTENT_LENGTH,
    rt::time::timeout,
    web::{Bytes, BytesMut, Payload},
};
use futures_util::Stream;

use super::{
    HttpOptions,
    refusal::{Refusal, Refused},
};

/// Reads the body. One that arrives in one piece is not copied.
pub(super) async fn read(
    payload: Payload,
    request: &HttpRequest,
    options: &HttpOptions,
) -> Result<Bytes, Refused> {
    let announced =
        request.headers().get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    let limit = options.max_body;
    if announced.is_some_and(|length: u64| length > limit as u64) {
        return Err(Refusal::too_large(limit).into());
    }
    let mut payload = std::pin::pin!(payload.into_inner());
    let mut first: Option<Bytes> = None;
    let mut rest = BytesMut::new();
    loop {
        let next = poll_fn(|cx| payload.as_mut().poll_next(cx));
        let chunk = match timeout(options.body_idle, next).await {
            Ok(Some(Ok(chunk))) => chunk,
            Ok(Some(Err(error))) => {
                return Err(Refusal::bad(format!("the body could not be read: {error}")).into());
            }
            Ok(None) => break,
            Err(_) => return Err(Refusal::body_timeout(options.body_idle).into()),
        };
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
