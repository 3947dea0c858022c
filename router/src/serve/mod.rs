//! Serving requests: the router, its method table, and the handlers of the methods.
//!
//! Never keeps state of a client. Read next: `dispatch`, then `calls`.

pub(crate) mod calls;
pub(crate) mod discover;
pub(crate) mod dispatch;
pub(crate) mod extension;
pub(crate) mod handle;
pub(crate) mod initialize;
pub(crate) mod listen;
pub(crate) mod metadata;
pub(crate) mod param_headers;
pub(crate) mod register;
pub(crate) mod rounds;
pub(crate) mod router;
pub(crate) mod settings;
