//! The options of Streamable HTTP.

use std::{
    fmt,
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use actix_mcp_router::Principal;
use actix_web::{HttpMessage, HttpRequest};
use serde::Deserialize;

use super::origin::Allowed;

/// Finds the principal that a request acts for.
pub type FindPrincipal = dyn Fn(&HttpRequest) -> Option<Principal> + Send + Sync;

/// The options of Streamable HTTP.
#[derive(Clone)]
pub struct HttpOptions {
    /// How large and how slow requests and responses may be.
    pub limits: HttpLimits,
    /// Answer with plain JSON if the client accepts both JSON and event streams; notifications of a call are then
    /// dropped.
    pub prefer_json: bool,
    /// Which Origin and Host headers are allowed.
    pub(crate) allowed: Allowed,
    /// Finds the principal of a request; by default, the one that middleware put into its extensions.
    pub principal: Arc<FindPrincipal>,
    /// Whether the warning that the `HttpServer` lacks our settings was logged; shared by the workers.
    pub(crate) warned: Arc<AtomicBool>,
    /// Whether a request had a principal, or the warning that none has was logged; shared by the workers.
    pub(crate) owners_known: Arc<AtomicBool>,
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self {
            limits: HttpLimits::default(),
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

/// How large HTTP requests may be, and how slow requests and responses.
///
/// In a configuration, times are written as text: `30s`, `200ms`, `5min`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct HttpLimits {
    /// Maximum size of a request body in bytes; a larger one is refused with 413. 8 MiB by default.
    pub body_bytes: usize,
    /// How long a request body may be stalled before it is refused with 408. 10 s by default.
    #[serde(with = "humantime_serde")]
    pub body_idle: Duration,
    /// How long a stream may be silent before a comment is sent to keep it alive. 15 s by default, 10 ms at least.
    #[serde(with = "humantime_serde")]
    pub keep_alive: Duration,
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self {
            body_bytes: 8 * 1024 * 1024,
            body_idle: Duration::from_secs(10),
            keep_alive: Duration::from_secs(15),
        }
    }
}

/// The error for an origin or host that cannot be allowed, because no request can have it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotAllowable {
    /// An origin.
    #[error("cannot allow the origin {origin:?}: {why}")]
    Origin {
        /// What was given.
        origin: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A host.
    #[error("cannot allow the host {host:?}: {why}")]
    Host {
        /// What was given.
        host: String,
        /// What is wrong with it.
        why: &'static str,
    },
}

impl HttpOptions {
    /// Allows pages of this origin.
    ///
    /// # Errors
    ///
    /// If no request can have such an origin.
    pub fn allow_origin(&mut self, origin: &str) -> Result<(), NotAllowable> {
        let refused = |why| NotAllowable::Origin { origin: origin.to_owned(), why };
        self.allowed.origin(origin).map_err(refused)
    }

    /// Allows pages of every origin.
    pub fn allow_any_origin(&mut self) {
        self.allowed.any_origin();
    }

    /// Allows requests for this host.
    ///
    /// # Errors
    ///
    /// If no request can be for such a host.
    pub fn allow_host(&mut self, host: &str) -> Result<(), NotAllowable> {
        let refused = |why| NotAllowable::Host { host: host.to_owned(), why };
        self.allowed.host(host).map_err(refused)
    }

    /// Allows requests for every host: the Host header is not checked.
    pub fn allow_any_host(&mut self) {
        self.allowed.any_host();
    }

    /// How often a comment is sent on a silent stream. At zero, a stream would be nothing but comments.
    pub(crate) fn keep_alive(&self) -> Duration {
        self.limits.keep_alive.max(Duration::from_millis(10))
    }
}
