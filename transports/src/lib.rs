//! The transports of actix-mcp.
//!
//! - `backend`: the server as they see it
//! - `stdio`: one client over any byte stream
//! - `streamable_http`: many clients, as a scope of any actix-web `App`

mod backend;
mod stdio;
mod stop;
mod streamable_http;

pub use crate::streamable_http::{
    HttpLimits, NotAllowable, SocketOptions, http_server, listener, on_connect,
};

/// What the other crates of the framework need of this one. It may change in any release.
#[doc(hidden)]
pub mod internal {
    pub use crate::{
        backend::Backend,
        streamable_http::{FindPrincipal, HttpOptions},
    };
}
