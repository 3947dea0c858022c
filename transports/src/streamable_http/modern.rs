//! POST of a self-contained request: no session is looked up, and none is created.
//!
//! Read next: `actix_mcp_session::exchange`.

use std::{sync::Arc, time::Duration};

use actix_mcp_router::{
    McpError, Peer, Revision,
    internal::{Feature, Incoming, Malformed, Method, Request, RequestMeta, Router, check_version},
};
use actix_mcp_session::internal::{Accepts, Disposition, Exchange, ResponseHead};
use actix_web::{
    HttpRequest, HttpResponse,
    http::{
        StatusCode, Version,
        header::{CONTENT_TYPE, HeaderValue},
    },
    rt::time::timeout,
};

use super::{
    Endpoint, headers,
    json::JsonBody,
    refusal::{Refusal, Refused, answered_status},
    shutdown,
};

/// Over HTTP/2, a call goes on for at most this long after its client has disconnected.
const NOTICED_WITHIN: Duration = Duration::from_secs(1);

impl Endpoint {
    /// Whether a message is self-contained. An earlier `initialize` on the same connection does not matter.
    // MCP 2026-07-28 basic/versioning, Backward Compatibility with Initialization-Based Versions
    pub(super) fn is_modern(&self, request: &HttpRequest, message: &Incoming) -> bool {
        let eras = self.server.router.eras();
        if !eras.serve_modern() {
            return false;
        }
        if !eras.serve_legacy() {
            return true;
        }
        match message {
            Incoming::Request(message) => {
                // the header first: it needs no look into the body
                (names_modern(request) && Method::of(&message.method) != Some(Method::Initialize))
                    || RequestMeta::of(&message.params).is_some()
            }
            Incoming::Notification(_) | Incoming::Response(_) => names_modern(request),
        }
    }

    pub(super) async fn post_modern(
        &self,
        request: &HttpRequest,
        accepts: Accepts,
        message: Incoming,
    ) -> Result<HttpResponse, Refused> {
        let message = match message {
            Incoming::Request(message) => message,
            // notifications from clients have no effect here; existing clients still send `notifications/cancelled`
            Incoming::Notification(_) => return Ok(HttpResponse::Accepted().finish()),
            Incoming::Response(_) => {
                return Err(Refusal::bad("the body is a response, but this server sends no requests").into());
            }
        };
        let peer = self.check(request, &message)?;
        if shutdown::is_draining(&self.server) {
            return Err(Refusal::shutting_down().of(Some(&message.id)).into());
        }
        let id = message.id.clone();
        let reads = accepts;
        // `subscriptions/listen` is answered with a stream, or not at all
        let accepts = match Method::of(&message.method) {
            Some(Method::Listen) => headers::accepts_events(request).map(|()| Accepts::Events),
            _ => Ok(accepts),
        }
        .map_err(|refused| Box::new(refused.of(Some(&id))))?;
        let silence = self.silence(request, &message);
        let (sessions, router, limits) = (&self.server.sessions, &self.server.router, &self.server.limits);
        let context = self.context(request);
        let exchange = Exchange::new(sessions, router, limits, message, Arc::new(peer), accepts, context)
            .map_err(|full| Refusal::full(full).of(Some(&id)))?;
        let head = if accepts == Accepts::Json && request.version() == Version::HTTP_2 {
            let mut head = Box::pin(exchange.head());
            match timeout(NOTICED_WITHIN, &mut head).await {
                Ok(head) => head,
                Err(_) => {
                    return Ok(HttpResponse::Ok()
                        .insert_header((CONTENT_TYPE, HeaderValue::from_static("application/json")))
                        .body(JsonBody::new(head, id, NOTICED_WITHIN)));
                }
            }
        } else {
            exchange.head().await
        };
        match head {
            ResponseHead::Json { json, disposition: Disposition::Answered(code) }
                // a 400 is JSON, whatever is accepted; so is an error to `subscriptions/listen`, if JSON is accepted
                if answered_status(code) != StatusCode::OK || reads != Accepts::Events =>
            {
                Ok(HttpResponse::build(answered_status(code))
                    .insert_header((CONTENT_TYPE, HeaderValue::from_static("application/json")))
                    .body(json))
            }
            ResponseHead::Events(source) => Ok(self.events_with(source, silence).await),
            ResponseHead::Ended => Err(Refusal::shutting_down().of(Some(&id)).into()),
            head @ (ResponseHead::Json { .. } | ResponseHead::Cancelled) => {
                Ok(self.answer(Some(head), accepts, Some(&id)).await)
            }
        }
    }

    /// How long a stream may be silent. Over HTTP/2 only a write detects that its client has disconnected, and a call
    /// must end within a second after that. For a client that accepts only JSON, [`JsonBody`] does this.
    fn silence(&self, request: &HttpRequest, message: &Request) -> Duration {
        let most = self.options().keep_alive();
        let lasts = Method::of(&message.method) == Some(Method::Listen);
        if request.version() == Version::HTTP_2 && !lasts { most.min(NOTICED_WITHIN) } else { most }
    }

    /// Checks the metadata and headers of a request; the order decides which error is sent.
    fn check(&self, request: &HttpRequest, message: &Request) -> Result<Peer, Refused> {
        let refuse = |error| Box::new(Refusal::modern(error, &message.id));
        let router = &self.server.router;
        let claim = RequestMeta::required(message, router).map_err(refuse)?;
        let version = claim.version().map_err(refuse)?;
        let field = |name: &str| headers::field(request, name);
        check_version(field("MCP-Protocol-Version"), &version).map_err(refuse)?;
        let peer = claim.peer(router).map_err(refuse)?;
        router.check_headers(message, field).map_err(refuse)?;
        router.method(&message.method, peer.revision).map_err(refuse)?;
        Ok(peer)
    }
}

/// Refuses a batch if there are no sessions, or if the version header names a revision without them.
// MCP 2026-07-28 basic/transports/streamable-http, Sending Messages 4: MUST be a single request or notification
pub(super) fn refuse_batch(router: &Router, request: &HttpRequest) -> Result<(), Refused> {
    let eras = router.eras();
    if eras.serve_modern() && (!eras.serve_legacy() || names_modern(request)) {
        return Err(Refusal::bad("the body must be a single message").into());
    }
    Ok(())
}

/// The error for a self-contained request in a session's batch.
// as on a pipe: no revision without sessions has batches
pub(super) fn refuse_member(router: &Router, message: &Request) -> Option<Malformed> {
    let claims = router.eras().serve_modern() && RequestMeta::of(&message.params).is_some();
    claims.then(|| {
        let error =
            McpError::invalid_request("a request with its version in `_meta` cannot be part of a batch");
        Malformed::request(message.id.clone(), error)
    })
}

/// Whether the version header names a revision that has no sessions.
fn names_modern(request: &HttpRequest) -> bool {
    let mut versions = request.headers().get_all(&headers::PROTOCOL_VERSION);
    versions.any(|version| {
        version
            .to_str()
            .is_ok_and(|version| Revision::parse_with(version.trim(), Feature::Stateless).is_some())
    })
}
