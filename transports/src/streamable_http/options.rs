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
    /// Whether a request had a principal, or it was said that none has; shared by the workers.
    pub(crate) owners_known: Arc<AtomicBool>,
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
            owners_known: Arc::default(),
        }
    }
}

impl fmt::Debug for HttpOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpOptions").field("allowed", &self.allowed).finish_non_exhaustive()
    }
}

/// What can never match the `Origin` or `Host` of a request, and so cannot be allowed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotAllowable {
    /// As an origin.
    #[error("{origin:?} is not an origin that can be allowed: {why}")]
    Origin {
        /// What was given.
        origin: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// As a host.
    #[error("{host:?} is not a host that can be allowed: {why}")]
    Host {
        /// What was given.
        host: String,
        /// What is wrong with it.
        why: &'static str,
    },
}

impl Server {
    /// Allows pages of this origin, such as `https://app.example`, beside the web pages of the loopback interface; pages of
    /// any other are refused with 403. The scheme may be any: `chrome-extension://ID`, `moz-extension://ID`,
    /// `vscode-webview://ID`, `tauri://localhost` and `app://.` are origins, too (RFC 6454). Scheme, host and port must be
    /// the same; case does not matter, and the port of http and https may be left out where it is 80 or 443.
    ///
    /// # Panics
    ///
    /// With the caller's line, if no request can have such an origin: `null`, a wildcard, a path, a slash at the end, a user.
    #[must_use]
    #[track_caller]
    pub fn allow_origin(self, origin: &str) -> Self {
        self.try_allow_origin(origin).unwrap_or_else(|wrong| panic!("{wrong}"))
    }

    /// Allows an origin that a configuration or a command line names, as [`allow_origin`](Self::allow_origin) does.
    ///
    /// # Errors
    ///
    /// If no request can have such an origin.
    pub fn try_allow_origin(mut self, origin: &str) -> Result<Self, NotAllowable> {
        match self.http.allowed.origin(origin) {
            Ok(()) => Ok(self),
            Err(why) => Err(NotAllowable::Origin { origin: origin.to_owned(), why }),
        }
    }

    /// Allows pages of every origin, and those that have none (`Origin: null`).
    ///
    /// Only for a server where every request is authenticated by something that a page must have been given, such as a bearer
    /// token in `Authorization`. On any other, every page that a user opens can call the tools: a cookie, a client certificate,
    /// an address of the local network or a loopback socket is not such a thing, since a browser brings it along by itself.
    #[must_use]
    pub fn allow_any_origin(mut self) -> Self {
        self.http.allowed.any_origin();
        self
    }

    /// Allows requests for this host, under any port, beside the names of the loopback interface, and checks the Host header
    /// on every socket; without it, on loopback sockets only. A Unix socket is not one of these.
    ///
    /// # Panics
    ///
    /// With the caller's line, if no request can be for such a host: a wildcard, a URL, a path, a user.
    #[must_use]
    #[track_caller]
    pub fn allow_host(self, host: &str) -> Self {
        self.try_allow_host(host).unwrap_or_else(|wrong| panic!("{wrong}"))
    }

    /// Allows a host that a configuration or a command line names, as [`allow_host`](Self::allow_host) does.
    ///
    /// # Errors
    ///
    /// If no request can be for such a host.
    pub fn try_allow_host(mut self, host: &str) -> Result<Self, NotAllowable> {
        match self.http.allowed.host(host) {
            Ok(()) => Ok(self),
            Err(why) => Err(NotAllowable::Host { host: host.to_owned(), why }),
        }
    }

    /// Does not check the Host header: for a server behind a proxy that has checked it.
    #[must_use]
    pub fn allow_any_host(mut self) -> Self {
        self.http.allowed.any_host();
        self
    }

    /// Finds out who a request acts for. By default it is the [`Principal`] that middleware put into the request's
    /// extensions. Where no request has one, sessions are bound to nobody: who knows the id of one can use it. If such
    /// requests carry `Authorization`, that is warned of, once.
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
