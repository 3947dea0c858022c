//! Adapts a response to its connection: to offers to upgrade it, to HTTP/1.0, and to middleware that encodes.
//!
//! **Invariant:** an offer to upgrade is ignored. The response to it never has `Connection: upgrade`, since it is not
//! a 101. (If another request was pipelined behind it, this cannot be guaranteed:
//! `docs/upstream/pipelined-request.md`.)
// RFC 9110, 7.8: a server MAY ignore a received Upgrade header field

use actix_web::{
    HttpRequest, HttpResponse,
    body::{BodySize, MessageBody},
    http::{
        ConnectionType, Version,
        header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, HeaderValue, TRANSFER_ENCODING, UPGRADE},
    },
};

/// Whether actix-http hands over the rest of the connection as the body, instead of the length in `Content-Length`:
/// it does so for a request that offers `websocket`, unless its body is chunked.
pub(super) fn body_is_connection(request: &HttpRequest) -> bool {
    let headers = request.headers();
    request.version() < Version::HTTP_2
        && headers
            .get_all(UPGRADE)
            .any(|offer| offer.as_bytes().trim_ascii().eq_ignore_ascii_case(b"websocket"))
        && !headers.contains_key(TRANSFER_ENCODING)
}

/// Adapts a response to the connection that it leaves on.
pub(super) fn fit(request: &HttpRequest, mut response: HttpResponse) -> HttpResponse {
    let version = request.version();
    let streams = matches!(response.body().size(), BodySize::Stream);
    if version < Version::HTTP_2 {
        let no_chunks = version < Version::HTTP_11 || body_is_connection(request);
        // RFC 9112, 6.1: MUST NOT send Transfer-Encoding to a client of HTTP/1.0. After an offer of `websocket`
        // actix-http announces chunks and writes none.
        if streams && no_chunks {
            response.head_mut().no_chunking(true);
        }
        // actix-http would answer an offer with `Connection: upgrade`, and close; it cannot be made to keep the
        // connection
        if streams && no_chunks || request.head().connection_type() == ConnectionType::Upgrade {
            response.head_mut().set_connection_type(ConnectionType::Close);
        }
    }
    let whole = version >= Version::HTTP_11 && !streams && !is_event_stream(&response);
    if !whole && request.headers().contains_key(ACCEPT_ENCODING) {
        leave_alone(&mut response);
    }
    response
}

fn is_event_stream(response: &HttpResponse) -> bool {
    response.headers().get(CONTENT_TYPE).is_some_and(|value| value == "text/event-stream")
}

/// Prevents `Compress` from encoding the body: it would hold events back until its buffer is full, and send an HTTP/1.0
/// client chunks.
// RFC 9110, 8.4: `identity` SHOULD NOT be included, but nothing else stops `Compress`: it encodes every response
// without a `Content-Encoding`, except images and videos. It encodes nothing without `Accept-Encoding`, so these
// responses get none.
fn leave_alone(response: &mut HttpResponse) {
    response.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static("identity"));
}
