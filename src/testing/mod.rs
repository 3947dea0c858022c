//! The test kit: clients in the same process, over the real session actor and the real transport.
//!
//! Mark a test with `#[actix_web::test]` (or `#[actix::test]`). If everything that the test waits for happens in its
//! own runtime, pause the clock with [`paused`](crate::testing::paused). Time then stops while anything can run, and
//! jumps to the next timer when nothing can: an hour costs nothing, and "no message comes" can be asserted exactly. Do
//! not pause the clock if the test waits for a real socket or another thread, such as a pool of database connections;
//! [`paused`](crate::testing::paused) says why.
//!
//! - [`Pipe`](crate::testing::Pipe): a client on a byte stream, with one JSON message per line
//! - [`Posts`](crate::testing::Posts): a client that sends each request in its own exchange, as over HTTP but without
//!   HTTP; up to 2025-11-25
//! - [`script()`](crate::testing::script()): a `Pipe` test written as text, for rules of the wire
//! - [`TestCall`](crate::testing::TestCall): a call without a server, for unit tests of extractors and handlers
//!
//! With a paused clock, run the actors of your tools on the test's own arbiter. Other arbiters and runtimes have their
//! own clocks, and the paused clock does not wait for them.

mod call;
mod contains;
mod pipe;
mod posts;
mod script;

pub use actix_mcp_session::internal::{Accepts, Disposition, ResponseHead};

pub use self::{
    call::TestCall,
    contains::contains,
    pipe::Pipe,
    posts::{PendingAnswer, Posts, SseEvent, Stream},
    script::script,
};

/// Pauses the clock of the test's runtime: it jumps to the next timer whenever nothing in the runtime can run.
///
/// Not for tests that wait for anything outside the runtime: a socket, a file, `web::block` or `spawn_blocking`,
/// another thread or runtime. During such a wait nothing can run, so the clock jumps, and the first timeout around it
/// fires at once. A connection pool (`sqlx`, `deadpool`, `bb8`) then fails with its own timeout, such as
/// `PoolTimedOut`, even if the database is in memory. Leave the clock running in those tests. Assertions of silence
/// ([`Pipe::silence`], [`Stream::silence`], [`settle`], [`script()`] with `< nothing`) need the paused clock.
///
/// # Panics
///
/// Outside a current-thread runtime, or if the clock is already paused.
pub fn paused() {
    tokio::time::pause();
}

/// How long silence must last on the paused clock. Longer than the 50 ms (by default) for which change notifications
/// are held back to be sent as one.
const QUIET: std::time::Duration = std::time::Duration::from_millis(60);

/// Waits until every task in the runtime waits for a timer or a message. The clock must be paused.
pub async fn settle() {
    tokio::time::sleep(std::time::Duration::from_micros(1)).await;
}
