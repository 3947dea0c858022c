//! The session of actix-mcp.
//!
//! - `state`: the rules, pure; beside it `in_flight`, `replay`, `asks`, `token`
//! - [`session`]: the actor around the state, one message a file
//! - [`task`]: the task of one request
//! - [`sessions`]: the registry shared by the workers
//! - `stream`, [`queue`], [`outlet`], `link`: the ways out
//!
//! **Invariant:** only the session touches its in-flight map, and no code of an author runs inside an actor.

mod asks;
mod in_flight;
pub mod limits;
mod link;
pub mod outlet;
pub mod queue;
pub mod replay;
pub mod session;
pub mod sessions;
mod state;
#[cfg(test)]
mod state_tests;
pub mod stats;
mod stream;
pub mod task;
pub mod token;
