//! What is particular to Streamable HTTP, and how a server is told of it.

use std::{
    fmt,
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

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
    /// Whether it was said that the `HttpServer` lacks our settings; shared by the workers.
    pub(crate) warned: Arc<AtomicBool>,
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
            warned: Arc::default(),
        }
    }
}

impl fmt::Debug for HttpOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpOptions").field("allowed", &self.allowed).finish_non_exhaustive()
    }
}

/// What cannot be allowed, as it is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotAllowable {
    /// No origin.
    #[error("{0:?} is no origin: write scheme://host or scheme://host:port")]
    Origin(String),
    /// No host.
    #[error("{0:?} is no host")]
    Host(String),
}

impl Server {
    /// Allows web pages of this origin, such as `https://app.example`, beside those of the loopback interface.
    ///
    /// # Panics
    ///
    /// With the caller's line, if it is not `http[s]://host[:port]`.
    #[must_use]
    #[track_caller]
    pub fn allow_origin(self, origin: &str) -> Self {
        self.try_allow_origin(origin).unwrap_or_else(|wrong| panic!("{wrong}"))
    }

    /// Allows an origin that a configuration or a command line names, as [`allow_origin`](Self::allow_origin) does.
    ///
    /// # Errors
    ///
    /// If it is no origin.
    pub fn try_allow_origin(mut self, origin: &str) -> Result<Self, NotAllowable> {
        if self.http.allowed.origin(origin) { Ok(self) } else { Err(NotAllowable::Origin(origin.to_owned())) }
    }

    /// Allows requests for this host, under any port, beside the names of the loopback interface, and checks the Host header
    /// on every socket; without it, on loopback sockets only.
    ///
    /// # Panics
    ///
    /// With the caller's line, if it is no host.
    #[must_use]
    #[track_caller]
    pub fn allow_host(self, host: &str) -> Self {
        self.try_allow_host(host).unwrap_or_else(|wrong| panic!("{wrong}"))
    }

    /// Allows a host that a configuration or a command line names, as [`allow_host`](Self::allow_host) does.
    ///
    /// # Errors
    ///
    /// If it is no host.
    pub fn try_allow_host(mut self, host: &str) -> Result<Self, NotAllowable> {
        if self.http.allowed.host(host) { Ok(self) } else { Err(NotAllowable::Host(host.to_owned())) }
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

    /// Sets how long a request body may make no progress. 10 s by default; then it is 408.
    #[must_use]
    pub fn body_idle(mut self, time: Duration) -> Self {
        self.http.body_idle = time;
        self
    }

    /// Sets how long a stream may be silent before a comment shows that it lives. 15 s by default, 10 ms at least.
    #[must_use]
    pub fn keep_alive(mut self, every: Duration) -> Self {
        // a stream that is never to be silent would be all comments
        self.http.keep_alive = every.max(Duration::from_millis(10));
        self
    }

    /// Answers with plain JSON where the client takes both: what calls say before their answer is dropped.
    #[must_use]
    pub fn json_response(mut self) -> Self {
        self.http.prefer_json = true;
        self
    }
}
