//! What one session may take. Each limit is named by the error or log line it causes.
//!
//! Nothing is enforced here, and what a whole server may take is not here either: that is in `sessions`.
//!
//! Read next: `state` and `budget` (which enforce them).

use std::time::Duration;

use serde::Deserialize;

pub use crate::replay::ReplayLimits;

/// What one session may take, or one self-contained request.
///
/// Times are read from a configuration as text: `30s`, `200ms`, `5min`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct SessionLimits {
    /// Requests in flight, at most; one more is refused. 1 024 by default.
    pub in_flight: usize,
    /// Requests to the client that are open at once, at most. 1 024 by default.
    pub client_requests: usize,
    /// Resource subscriptions of a session, and resources of one request to listen, at most. 1 024 by default.
    pub subscriptions: usize,
    /// Standalone streams, at most. 8 by default.
    pub streams: usize,
    /// Bytes queued on a stream, at most; every message counts for at least a 256th. 256 KiB by default.
    pub queue_bytes: usize,
    /// What is kept for clients that resume a stream.
    pub replay: ReplayLimits,
    /// How long a request to the client may stay unanswered. 60 s by default, 10 min at most.
    #[serde(with = "humantime_serde")]
    pub client_request_timeout: Duration,
    /// How long a call over HTTP may be silent before its answer becomes a stream. 200 ms by default.
    #[serde(with = "humantime_serde")]
    pub sse_after: Duration,
    /// How long a cancelled handler may go on if it listens for its cancellation. 2 s by default.
    #[serde(with = "humantime_serde")]
    pub grace: Duration,
    /// How long running calls may go on when the client has closed its end or the server shuts down. 5 s by default.
    #[serde(with = "humantime_serde")]
    pub drain: Duration,
    /// How long a stream may be stalled, with messages waiting, before it is closed. 30 s by default.
    #[serde(with = "humantime_serde")]
    pub stall: Duration,
    /// How long a change notice may be held back so that later ones of its kind join it. 50 ms by default.
    #[serde(with = "humantime_serde")]
    pub coalesce: Duration,
    /// How long a session may be idle: nothing in flight, no open stream, no open request to the client. 30 min by default.
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

/// What all sessions and requests of a server's process may take together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct ProcessLimits {
    /// Open sessions, at most, and beside them as many self-contained requests over HTTP (from 2026-07-28 on); one more is
    /// refused with 503. 100 000 by default.
    pub sessions: usize,
    /// Open subscriptions (`subscriptions/listen`), at most; one more is refused. 50 000 by default.
    pub listens: usize,
}

impl Default for ProcessLimits {
    fn default() -> Self {
        Self { sessions: 100_000, listens: 50_000 }
    }
}
