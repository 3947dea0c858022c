//! What the connection of a request asks of its response: offers to upgrade it, HTTP/1.0, and middleware that encodes.
//!
//! **Invariant:** an offer to upgrade is ignored. The response to it never says `Connection: upgrade`, since it is not a 101. (A
//! response that something was pipelined behind is out of our hands: `docs/upstream/pipelined-request.md`.)
// RFC 9110, 7.8: a server MAY ignore a received Upgrade header field

use actix_web::{
    HttpRequest, HttpResponse,
    body::{BodySize, MessageBody},
    http::{
        ConnectionType, Version,
        header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, HeaderValue, TRANSFER_ENCODING, UPGRADE},
    },
};

/// Whether the body that actix-http hands over is all that the connection still brings, instead of what `Content-Length`
/// announces: so with a request that offers `websocket`, unless its body is chunked.
pub(super) fn body_is_connection(request: &HttpRequest) -> bool {
    let headers = request.headers();
    request.version() < Version::HTTP_2
        && headers
            .get_all(UPGRADE)
            .any(|offer| offer.as_bytes().trim_ascii().eq_ignore_ascii_case(b"websocket"))
        && !headers.contains_key(TRANSFER_ENCODING)
}

/// Makes a response fit for the connection that it leaves on.
pub(super) fn fit(request: &HttpRequest, mut response: HttpResponse) -> HttpResponse {
    let version = request.version();
    let streams = matches!(response.body().size(), BodySize::Stream);
    if version < Version::HTTP_2 {
        let no_chunks = version < Version::HTTP_11 || body_is_connection(request);
        // RFC 9112, 6.1: MUST NOT send Transfer-Encoding to a client of HTTP/1.0. After an offer of `websocket` actix-http
        // announces chunks and writes none.
        if streams && no_chunks {
            response.head_mut().no_chunking(true);
        }
        // actix-http would answer an offer with `Connection: upgrade`, and close; it cannot be made to keep it
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

/// Keeps `Compress` away: it would hold events back until its buffer is full, and give what it encodes to a client of
/// HTTP/1.0 in chunks.
// RFC 9110, 8.4: `identity` SHOULD NOT be included. `Compress` takes nothing else for an answer: it encodes whatever has no
// `Content-Encoding`, but images and videos. It encodes for nobody who sends no `Accept-Encoding`, so these get none.
fn leave_alone(response: &mut HttpResponse) {
    response.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static("identity"));
}
