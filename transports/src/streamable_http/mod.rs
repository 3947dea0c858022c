//! Streamable HTTP: an actix-web scope that serves MCP sessions.
//!
//! **Invariants:** every refusal here is decided before a session, a stream or a handler exists for the request, and is
//! JSON-RPC in JSON whatever the client accepts; in a session, a disconnect stops nothing but its own stream.
//!
//! Read next: `post` (a request comes in), then `sse.rs` (a stream goes out).

mod answer;
mod body;
mod connection;
mod cors;
mod delete;
mod get;
mod headers;
mod json;
mod media;
mod modern;
mod options;
mod origin;
mod post;
mod ready;
mod refusal;
mod shutdown;
mod sockets;
mod sse;

use std::{cell::Cell, fmt, rc::Rc, sync::atomic::Ordering};

use actix_mcp_router::{
    Principal,
    internal::{ErrorId, TransportContext, era},
};
use actix_web::{
    HttpRequest, HttpResponse, Scope,
    http::{Method, header::AUTHORIZATION},
    web,
};

use self::refusal::{Refusal, Refused};
pub use self::{
    options::{FindPrincipal, HttpLimits, HttpOptions, NotAllowable},
    ready::http_server,
    sockets::{SocketOptions, listener, on_connect},
};
use crate::backend::Backend;

/// The endpoint on one worker.
struct Endpoint {
    server: Backend,
    /// Set by this worker's first POST, which checks for missing `web::Data`.
    checked: Cell<bool>,
}

impl Backend {
    /// The endpoint as an actix-web scope. The path is served with and without a trailing slash, whichever is given.
    /// Each worker has its own scope, and all share the same sessions.
    #[must_use]
    pub fn scope(&self, path: &str) -> Scope {
        let path = path.trim_matches('/');
        let path = if path.is_empty() { String::new() } else { format!("/{path}") };
        shutdown::register(self, &path);
        let endpoint = Rc::new(Endpoint { server: self.clone(), checked: Cell::new(false) });
        // two resources: one with two paths would be matched by a regular expression
        let resource = |path: &str| {
            let endpoint = endpoint.clone();
            let serve = move |request: HttpRequest, payload: web::Payload| {
                let endpoint = endpoint.clone();
                async move { endpoint.serve(request, payload).await }
            };
            web::resource(path).route(web::route().to(serve))
        };
        web::scope(&path).service(resource("")).service(resource("/"))
    }
}

impl Endpoint {
    fn options(&self) -> &HttpOptions {
        &self.server.http
    }

    async fn serve(&self, request: HttpRequest, payload: web::Payload) -> HttpResponse {
        self.warn_of_bare_server(&request);
        let response = self.respond(&request, payload).await;
        connection::fit(&request, response)
    }

    async fn respond(&self, request: &HttpRequest, payload: web::Payload) -> HttpResponse {
        let origin = match self.options().allowed.check_origin(request) {
            Ok(origin) => origin,
            // no page may read this one, and caches must know that it depends on the origin
            Err(refused) => return cors::allow(refused.response(ErrorId::Absent), None),
        };
        let response = match self.options().allowed.check_host(request) {
            Err(refused) => refused.response(ErrorId::Absent),
            Ok(()) if request.method() == Method::OPTIONS => cors::preflight(request),
            Ok(()) => {
                let response = self.dispatch(request, payload).await;
                response.unwrap_or_else(|refused| refused.response(self.no_id(request)))
            }
        };
        cors::allow(response, origin.as_ref())
    }

    /// The id of an error whose request id was not read: the revision of the session decides, if there is one.
    fn no_id(&self, request: &HttpRequest) -> ErrorId<'static> {
        let id = headers::single(request, &headers::SESSION_ID).ok().flatten();
        let principal = self.principal(request);
        let session = id.and_then(|id| self.server.sessions.get(id, principal.as_ref()));
        session.map_or(ErrorId::Absent, |session| era::unreadable_id(session.peer.revision))
    }

    async fn dispatch(&self, request: &HttpRequest, payload: web::Payload) -> Result<HttpResponse, Refused> {
        match *request.method() {
            Method::POST => {
                let accepts = headers::accepts(request, self.options().prefer_json)?;
                headers::content_type(request)?;
                headers::content_encoding(request)?;
                let body = body::read(payload, request, &self.server).await?;
                self.post(request, accepts, body).await
            }
            // without sessions there is nothing to GET or DELETE
            _ if !self.server.router.eras().serve_legacy() => Err(Refusal::only_post().into()),
            Method::GET => {
                headers::accepts_events(request)?;
                self.get(request).await
            }
            Method::DELETE => self.delete(request),
            _ => Err(Refusal::method().into()),
        }
    }

    fn context(&self, request: &HttpRequest) -> TransportContext {
        let principal = self.principal(request);
        self.warn_of_nobody(request, principal.as_ref());
        TransportContext { peer: None, principal, http: Some(request.clone()) }
    }

    fn principal(&self, request: &HttpRequest) -> Option<Principal> {
        (self.options().principal)(request)
    }

    /// Warns once for all workers if requests have credentials but no principal.
    fn warn_of_nobody(&self, request: &HttpRequest, principal: Option<&Principal>) {
        let known = &self.options().owners_known;
        if known.load(Ordering::Relaxed) {
            return;
        }
        if principal.is_some() {
            known.store(true, Ordering::Relaxed);
        } else if request.headers().contains_key(AUTHORIZATION) && !known.swap(true, Ordering::Relaxed) {
            log::warn!(
                "requests have `Authorization` but no principal: sessions are not bound to a user, so anyone who knows \
                a session id can use it; put a `Principal` into the request, or see `ServerBuilder::principal`"
            );
        }
    }

    /// Checks for `web::Data` that handlers need and that neither the `App` nor the server has: with the first POST
    /// on each worker, since actix-web does not show it earlier.
    fn check_data(&self, request: &HttpRequest) -> Result<(), Refused> {
        if self.checked.replace(true) {
            return Ok(());
        }
        let missing = self.server.router.missing_data_for(request);
        for (name, missing) in &missing {
            log::error!("`{name}` needs web::Data<{missing}>, which neither the App nor the server has");
        }
        if missing.is_empty() { Ok(()) } else { Err(Refusal::internal().into()) }
    }

    /// Warns once for all workers if disconnects would go unnoticed. Requests without a peer address come from unit
    /// tests or Unix sockets.
    fn warn_of_bare_server(&self, request: &HttpRequest) {
        if request.peer_addr().is_some()
            && !sockets::is_ready(request)
            && !self.options().warned.swap(true, Ordering::Relaxed)
        {
            log::warn!(
                "this HttpServer does not detect client disconnects: use actix_mcp::http_server, or \
                 h1_allow_half_closed(false) and on_connect(actix_mcp::on_connect)"
            );
        }
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint").field("server", &self.server).finish_non_exhaustive()
    }
}
