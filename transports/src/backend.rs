//! The server as the transports see it: a router, its sessions, and the limits of both.

use std::{io, sync::Arc};

use actix_mcp_router::{Principal, internal::Router};
use actix_mcp_session::{
    SessionLimits,
    internal::{Opening, Sessions, Sink},
};

use crate::streamable_http::HttpOptions;

/// The server that the transports serve. Clones are the same server.
#[derive(Clone, Debug)]
pub struct Backend {
    /// The server's tools, prompts and resources.
    pub router: Arc<Router>,
    /// The server's sessions.
    pub sessions: Sessions,
    /// The limits of one session.
    pub limits: Arc<SessionLimits>,
    /// The options of Streamable HTTP.
    pub http: Arc<HttpOptions>,
}

impl Backend {
    /// Checks for `web::Data` that handlers need and the server does not have, on a transport without an `App`.
    #[must_use]
    pub fn opening(&self, principal: Option<Principal>, pipe: Option<Sink>) -> Opening {
        let (router, sessions, limits) = (self.router.clone(), self.sessions.clone(), self.limits.clone());
        Opening { router, sessions, limits, principal, pipe }
    }

    /// Finds values that handlers need and nobody gave, where no `App` can have them.
    pub(crate) fn check_data(&self) -> io::Result<()> {
        let missing = self.router.missing_data();
        if missing.is_empty() {
            return Ok(());
        }
        let list = missing.iter().map(|(name, missing)| format!("`{name}` needs web::Data<{missing}>"));
        let list = list.collect::<Vec<_>>().join(", ");
        Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("{list}: provide it with `ServerBuilder::data`"),
        ))
    }
}
