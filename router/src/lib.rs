//! Messages, era rules, method table, handlers and extractors of actix-mcp.
//!
//! Knows no actor, no socket and no clock; of actix-web only `HttpRequest` and `web::Data`.

pub mod call;
pub mod cancelled;
pub mod change;
pub mod content;
pub mod data;
pub mod definition;
pub mod dispatch;
pub mod era;
pub mod error;
pub mod handler;
pub mod id;
pub mod initialize;
pub mod jsonrpc;
pub mod link;
pub mod log;
mod params;
pub mod peer;
pub mod router;
