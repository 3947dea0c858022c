//! The server of actix-mcp and its transports.
//!
//! - [`server`]: [`Server`](server::Server), what it offers and its limits
//! - [`stdio`]: one client over any byte stream
//! - [`streamable_http`]: many clients, as a scope of any actix-web `App`
//! - `testing`: the test kit, with the feature of that name

pub mod server;
pub mod stdio;
mod stop;
pub mod streamable_http;
#[cfg(feature = "testing")]
pub mod testing;
