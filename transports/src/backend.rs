//! What the transports serve: a router, its sessions, and the limits of both.

use std::{io, sync::Arc};

use actix_mcp_router::{Principal, internal::Router};
use actix_mcp_session::{
    SessionLimits,
    internal::{Opening, Sessions, Sink},
};

use crate::streamable_http::HttpOptions;

/// What the transports serve. Clones are the same.
#[derive(Clone, Debug)]
pub struct Backend {
    /// What the server offers.
    pub router: Arc<Router>,
    /// The server's sessions.
    pub sessions: Sessions,
    /// What one session may take.
    pub limits: Arc<SessionLimits>,
    /// What is particular to Streamable HTTP.
    pub http: Arc<HttpOptions>,
}

impl Backend {
    /// What a session of this principal is made of; the pipe is for one over a byte stream.
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
            format!("{list}: give it with `ServerBuilder::data`"),
        ))
    }
}
