//! The limits of one session, and of all sessions of a process. The error or log line at a limit gives its value.
//!
//! Nothing is enforced here.
//!
//! Read next: `state` and `budget` (which enforce a session's limits), `hub` (which enforces those of the process).

use std::time::Duration;

use serde::Deserialize;

pub use crate::replay::ReplayLimits;

/// The limits of one session, or of one self-contained request.
///
/// In a configuration, times are written as text: `30s`, `200ms`, `5min`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct SessionLimits {
    /// Maximum number of requests in flight; a further one is refused. 1 024 by default.
    pub in_flight: usize,
    /// Maximum number of open requests to the client; a further question gets an error. 1 024 by default.
    pub client_requests: usize,
    /// Maximum number of resource subscriptions of a session, and of resources in one `subscriptions/listen` request.
    /// 1 024 by default.
    pub subscriptions: usize,
    /// Maximum number of standalone streams. 8 by default.
    pub streams: usize,
    /// Maximum number of bytes queued on a stream; each message counts as at least 1/256 of it. 256 KiB by default.
    pub queue_bytes: usize,
    /// How much is kept for clients that resume a stream.
    pub replay: ReplayLimits,
    /// How long a request to the client may stay unanswered. 60 s by default, 10 min at most.
    #[serde(with = "humantime_serde")]
    pub client_request_timeout: Duration,
    /// How long a call over HTTP may be silent before its response becomes an event stream. 200 ms by default.
    #[serde(with = "humantime_serde")]
    pub sse_after: Duration,
    /// The grace period: how long a cancelled handler may go on if it listens for its cancellation. 2 s by default.
    #[serde(with = "humantime_serde")]
    pub grace: Duration,
    /// The drain time: how long running calls may go on once the client has closed its end or the server shuts down.
    /// 5 s by default.
    #[serde(with = "humantime_serde")]
    pub drain: Duration,
    /// How long a stream may be stalled, with messages waiting, before it is closed. 30 s by default.
    #[serde(with = "humantime_serde")]
    pub stall: Duration,
    /// How long a change notification is delayed so that repeated changes are merged into one. 50 ms by default.
    #[serde(with = "humantime_serde")]
    pub coalesce: Duration,
    /// How long a session over HTTP may be idle, with nothing in flight and no open stream, before it is closed. 30
    /// min by default.
    #[serde(with = "humantime_serde")]
    pub idle: Duration,
}

impl Default for SessionLimits {
    fn default() -> Self {
        Self {
            in_flight: 1024,
            client_requests: 1024,
            subscriptions: 1024,
            streams: 8,
            queue_bytes: 256 * 1024,
            replay: ReplayLimits::default(),
            client_request_timeout: Duration::from_secs(60),
            sse_after: Duration::from_millis(200),
            grace: Duration::from_secs(2),
            drain: Duration::from_secs(5),
            stall: Duration::from_secs(30),
            coalesce: Duration::from_millis(50),
            idle: Duration::from_secs(1800),
        }
    }
}

/// The limits of all sessions and requests of a server in one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct ProcessLimits {
    /// Maximum number of open sessions and, counted separately, of self-contained requests over HTTP (from 2026-07-28
    /// on); a further one is refused with 503. 100 000 by default.
    pub sessions: usize,
    /// Maximum number of open subscriptions (`subscriptions/listen`); a further one is refused. 50 000 by default.
    pub listens: usize,
}

impl Default for ProcessLimits {
    fn default() -> Self {
        Self { sessions: 100_000, listens: 50_000 }
    }
}
