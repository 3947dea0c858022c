//! What the transports serve: a router, its sessions, and the limits of both.

use std::{io, sync::Arc};

use actix_mcp_router::internal::Router;
use actix_mcp_session::{SessionLimits, internal::Sessions};

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
