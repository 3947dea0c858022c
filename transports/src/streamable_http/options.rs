//! What is particular to Streamable HTTP, and how a server is told of it.

use std::{fmt, sync::Arc, time::Duration};

use actix_mcp_router::peer::Principal;
use actix_web::{HttpMessage, HttpRequest};

use super::origin::Allowed;
use crate::server::Server;

/// Finds out who a request acts for.
pub(crate) type FindPrincipal = dyn Fn(&HttpRequest) -> Option<Principal> + Send + Sync;

/// What is particular to Streamable HTTP.
#[derive(Clone)]
pub(crate) struct HttpOptions {
    /// The largest request body, in bytes.
    pub(crate) max_body: usize,
    /// How long a body may make no progress.
    pub(crate) body_idle: Duration,
    /// How long a stream may be silent before a comment keeps it alive.
    pub(crate) keep_alive: Duration,
    /// Answer with plain JSON where the client takes both.
    pub(crate) prefer_json: bool,
    /// Which Origin and Host headers are allowed.
    pub(crate) allowed: Allowed,
    /// By default, what middleware put into the request.
    pub(crate) principal: Arc<FindPrincipal>,
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self {
            max_body: 8 * 1024 * 1024,
            body_idle: Duration::from_secs(10),
            keep_alive: Duration::from_secs(15),
            prefer_json: false,
            allowed: Allowed::default(),
            principal: Arc::new(|request| request.extensions().get::<Principal>().cloned()),
        }
    }
}

impl fmt::Debug for HttpOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpOptions").field("allowed", &self.allowed).finish_non_exhaustive()
    }
}

impl Server {
    /// Allows web pages of this origin, such as `https://app.example`, beside those of the loopback interface.
    ///
    /// # Panics
    ///
    /// With the caller's line, if it is not `http[s]://host[:port]`.
    #[must_use]
    #[track_caller]
    pub fn allow_origin(mut self, origin: &str) -> Self {
        assert!(
            self.http.allowed.origin(origin),
            "{origin:?} is no origin: write scheme://host or scheme://host:port"
        );
        self
    }

    /// Allows requests for this host, under any port, beside the names of the loopback interface, and checks the Host header
    /// on every socket; without it, on loopback sockets only.
    ///
    /// # Panics
    ///
    /// With the caller's line, if it is no host.
    #[must_use]
    #[track_caller]
    pub fn allow_host(mut self, host: &str) -> Self {
        assert!(self.http.allowed.host(host), "{host:?} is no host");
        self
    }

    /// Does not check the Host header: for a server behind a proxy that has checked it.
    #[must_use]
    pub fn allow_any_host(mut self) -> Self {
        self.http.allowed.any_host();
        self
    }

    /// Finds out who a request acts for. By default it is the [`Principal`] that middleware put into the request's
    /// extensions.
    #[must_use]
    pub fn principal(
        mut self,
        find: impl Fn(&HttpRequest) -> Option<Principal> + Send + Sync + 'static,
    ) -> Self {
        self.http.principal = Arc::new(find);
        self
    }

    /// Sets the largest HTTP request body, in bytes. 8 MiB by default; a larger one is 413.
    #[must_use]
    pub fn max_body(mut self, bytes: usize) -> Self {
        self.http.max_body = bytes;
        self
    }

    /// Sets how long a stream may be silent before a comment shows that it lives. 15 s by default.
    #[must_use]
    pub fn keep_alive(mut self, every: Duration) -> Self {
        self.http.keep_alive = every;
        self
    }

    /// Answers with plain JSON where the client takes both: what calls say before their answer is dropped.
    #[must_use]
    pub fn json_response(mut self) -> Self {
        self.http.prefer_json = true;
        self
    }
}
