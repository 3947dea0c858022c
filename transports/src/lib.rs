//! The server of actix-mcp and its transports.
//!
//! - [`server`]: [`Server`](server::Server), what it offers and its limits
//! - [`stdio`]: one client over any byte stream
//! - `testing`: the test kit, with the feature of that name

pub mod server;
pub mod stdio;
#[cfg(feature = "testing")]
pub mod testing;
