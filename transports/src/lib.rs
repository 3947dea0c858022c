//! The transports of actix-mcp.
//!
//! - [`backend`]: what they serve
//! - [`stdio`]: one client over any byte stream
//! - [`streamable_http`]: many clients, as a scope of any actix-web `App`

pub mod backend;
pub mod stdio;
mod stop;
pub mod streamable_http;
