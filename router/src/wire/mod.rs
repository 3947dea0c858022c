//! What is on the wire: JSON-RPC messages, the types of the specification, and what differs between its revisions.
//!
//! Never runs a handler, and knows nothing of what a server offers. Read next: `jsonrpc`, then `era`.

pub(crate) mod capability;
pub mod change;
pub mod content;
pub mod definition;
pub mod era;
pub mod error;
pub mod id;
pub mod jsonrpc;
pub(crate) mod level;
pub(crate) mod method;
pub(crate) mod names;
pub(crate) mod number;
pub(crate) mod params;
pub(crate) mod peer;
pub(crate) mod principal;
pub mod result_meta;
pub mod seal;
pub(crate) mod tool_result;
pub mod uri;
