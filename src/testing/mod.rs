//! The test kit: clients in the same process, over the real session actor and the real transport.
//!
//! Start a test with `#[actix_web::test]` (or `#[actix::test]`). Where all that the test waits for is in its own runtime, stop
//! the clock with [`paused`]: time then stands still while anything can run and jumps to the next timer when nothing can, so an
//! hour costs nothing and "nothing comes" is exact. Not where anything waits for a real socket or another thread, such as a
//! pool of database connections: see there.
//!
//! - [`Pipe`]: a client on a byte stream, one JSON message a line
//! - [`Posts`]: a client that sends each request in an exchange of its own, as over HTTP, without HTTP; up to 2025-11-25
//! - [`script()`]: the same as text, for rules of the wire
//! - [`TestCall`]: a call without a server, for unit tests of extractors and handlers
//!
//! On a paused clock, run the actors of your tools on the test's own arbiter: another arbiter or runtime has a clock of its
//! own, which a paused one does not wait for.

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

/// Stops the clock of the test's runtime: it jumps to the next timer whenever nothing in the runtime can run.
///
/// Not for tests that wait for what happens elsewhere: a socket, a file, `web::block` or `spawn_blocking`, a thread or runtime
/// of its own. While such a thing is awaited nothing can run, so the clock jumps, and the first timeout around it fires at
/// once. A pool of connections (`sqlx`, `deadpool`, `bb8`) then fails with its own timeout, `PoolTimedOut` for example,
/// even where the database is in memory. Leave the clock running in those tests. What asks for silence
/// ([`Pipe::silence`], [`Stream::silence`], [`settle`], [`script()`] with `< nothing`) needs the paused clock.
///
/// # Panics
///
/// Outside a current-thread runtime, or if the clock stands already.
pub fn paused() {
    tokio::time::pause();
}

/// How long "nothing comes" takes on the paused clock: longer than change notices are held back by default, 50 ms, to be told as
/// one.
const QUIET: std::time::Duration = std::time::Duration::from_millis(60);

/// Lets everything run that can, until all of it waits for a timer or a message. The clock must be paused.
pub async fn settle() {
    tokio::time::sleep(std::time::Duration::from_micros(1)).await;
}
