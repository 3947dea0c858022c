//! Every limit of a server that its operator can set.

pub use actix_mcp_router::{ReadLimits, StateLimits};
pub use actix_mcp_session::{ProcessLimits, ReplayLimits, SessionLimits};
pub use actix_mcp_transports::HttpLimits;
use serde::Deserialize;

/// Every limit of a server, by what it protects. The defaults suit a server that is open to the internet.
///
/// ```
/// use std::time::Duration;
///
/// use actix_mcp::{Limits, Server};
///
/// let mut limits = Limits::default();
/// limits.session.idle = Duration::from_secs(600);
/// limits.process.sessions = 10_000;
/// let server = Server::builder("small", "1.0.0").limits(limits).build();
/// ```
///
/// They can be read from a configuration, with times as text; what is left out has its default, and an unknown name is an
/// error:
///
/// ```
/// # use actix_mcp::Limits;
/// let limits: Limits = serde_json::from_str(r#"{ "http": { "body_bytes": 65536 }, "session": { "idle": "10min" } }"#)?;
/// assert_eq!(limits.session.idle.as_secs(), 600);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Limits {
    /// How large the parts of a message may be.
    pub message: ReadLimits,
    /// HTTP requests and responses.
    pub http: HttpLimits,
    /// One session, or one request that is self-contained.
    pub session: SessionLimits,
    /// All sessions and requests of the process.
    pub process: ProcessLimits,
    /// The `requestState` that carries a call's answers through the client, from 2026-07-28 on.
    pub state: StateLimits,
}
