//! The wire format: JSON-RPC messages, the types of the specification, and what differs between its revisions.
//!
//! Never runs a handler, and does not know what is registered. Read next: `jsonrpc`, then `era`.

pub(crate) mod capability;
pub(crate) mod change;
pub(crate) mod content;
pub(crate) mod definition;
pub mod era;
pub(crate) mod error;
pub(crate) mod id;
pub mod jsonrpc;
pub(crate) mod level;
pub(crate) mod method;
pub(crate) mod names;
pub(crate) mod number;
pub(crate) mod params;
pub(crate) mod peer;
pub(crate) mod principal;
pub(crate) mod result_meta;
pub(crate) mod seal;
pub(crate) mod tool_result;
pub(crate) mod uri;
