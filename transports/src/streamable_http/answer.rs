//! From the head to an HTTP response: the table of status codes in a session, and how streams begin.

use std::time::Duration;

use actix_mcp_router::{RequestId, internal::ErrorId};
use actix_mcp_session::internal::{Accepts, Disposition, ResponseHead, Source, event};
use actix_web::{
    HttpResponse,
    http::{
        StatusCode,
        header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER},
    },
    web::Bytes,
};

use super::{Endpoint, refusal::Refusal, sse::SseBody};

const X_ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// The HTTP status for a request's outcome in a session, and its `Retry-After` in seconds.
fn status(disposition: Disposition) -> (StatusCode, Option<u32>) {
    match disposition {
        // an error that a handler or a method gives is an answer; 404 would end the client's session
        Disposition::Answered(_) => (StatusCode::OK, None),
        Disposition::Refused => (StatusCode::BAD_REQUEST, None),
        Disposition::Duplicate => (StatusCode::CONFLICT, None),
        Disposition::Full => (StatusCode::TOO_MANY_REQUESTS, Some(1)),
        Disposition::Draining => (StatusCode::SERVICE_UNAVAILABLE, Some(5)),
    }
}

impl Endpoint {
    /// Answers the request with this id as the session decided; `None` means that the session ended before that.
    pub(super) async fn answer(
        &self,
        head: Option<ResponseHead>,
        accepts: Accepts,
        id: Option<&RequestId>,
    ) -> HttpResponse {
        match head {
            // an answer, even an error, has a type that the client accepts; only refusals are always JSON
            Some(ResponseHead::Json { json, disposition: Disposition::Answered(_) })
                if accepts == Accepts::Events =>
            {
                one_event(&json)
            }
            Some(ResponseHead::Json { json, disposition }) => {
                let (status, retry_after) = status(disposition);
                let mut response = HttpResponse::build(status);
                response.insert_header((CONTENT_TYPE, HeaderValue::from_static("application/json")));
                if let Some(seconds) = retry_after {
                    response.insert_header((RETRY_AFTER, seconds));
                }
                response.body(json)
            }
            Some(ResponseHead::Events(source)) => self.events(source).await,
            // cancelled by its own client: there is no answer, but the exchange must end
            Some(ResponseHead::Cancelled) if accepts == Accepts::Json => HttpResponse::Accepted().finish(),
            Some(ResponseHead::Cancelled) => stream_head().body(Bytes::new()),
            Some(ResponseHead::Ended) | None => Refusal::no_session().of(id).response(ErrorId::Absent),
        }
    }

    /// Answers with a stream. Waits for its first bytes, which are on their way, so that they leave with the head.
    pub(super) async fn events(&self, source: Source) -> HttpResponse {
        self.events_with(source, self.options().keep_alive()).await
    }

    /// The same with a comment after each such silence.
    pub(super) async fn events_with(&self, mut source: Source, silence: Duration) -> HttpResponse {
        match source.next().await {
            Some(first) => stream_head().body(SseBody::new(first, source, silence)),
            None => stream_head().body(Bytes::new()),
        }
    }
}

/// A single answer for a client that accepts only streams.
fn one_event(json: &[u8]) -> HttpResponse {
    stream_head().body(event(json))
}

fn stream_head() -> actix_web::HttpResponseBuilder {
    let mut response = HttpResponse::Ok();
    response
        .insert_header((CONTENT_TYPE, "text/event-stream"))
        .insert_header((CACHE_CONTROL, "no-cache, no-transform"))
        .insert_header((X_ACCEL_BUFFERING, "no"));
    response
}
