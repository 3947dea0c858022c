//! All limits of a server that an operator can set.

pub use actix_mcp_router::{ReadLimits, StateLimits};
pub use actix_mcp_session::{ProcessLimits, ReplayLimits, SessionLimits};
pub use actix_mcp_transports::HttpLimits;
use serde::Deserialize;

/// All limits of a server, grouped by what they protect. The defaults suit a server that is open to the internet.
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
/// Limits can be read from a configuration, with times as text. A missing limit has its default; an unknown name is an
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
    /// The size of a message and its parts.
    pub message: ReadLimits,
    /// HTTP requests and responses.
    pub http: HttpLimits,
    /// One session, or one self-contained request.
    pub session: SessionLimits,
    /// All sessions and requests of the process.
    pub process: ProcessLimits,
    /// The `requestState` in which the client carries a call's answers, from 2026-07-28 on.
    pub state: StateLimits,
}
