//! Opening a session: its parts, and the errors.
//!
//! It cannot be found by its id yet: that comes with the answer to `initialize`.
//!
//! Read next: `own` (the answer to `initialize`).

use std::{collections::HashSet, sync::Arc};

use actix::{Actor, Addr, AsyncContext};
use actix_mcp_router::{Principal, internal::Router};
use tokio::time::Instant;

use super::SessionActor;
use crate::{
    hub::Full, limits::SessionLimits, queue::Sink, registry::new_id, sessions::Sessions, state::SessionState,
};

/// The parts of a new session.
#[derive(Clone, Debug)]
pub struct Opening {
    /// The server's tools, prompts and resources.
    pub router: Arc<Router>,
    /// The sessions of the server, which this one is added to.
    pub sessions: Sessions,
    /// Its limits; shared by all sessions.
    pub limits: Arc<SessionLimits>,
    /// Who opens it.
    pub principal: Option<Principal>,
    /// The pipe, for a session over a byte stream.
    pub pipe: Option<Sink>,
}

/// Why a session could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// Not the client's fault: it should retry later.
    #[error(transparent)]
    Full(#[from] Full),
    /// The system provides no random bytes. An id that can be guessed would be worse than no session.
    #[error("could not get random bytes for a session id")]
    NoRandom(#[source] getrandom::Error),
}

impl SessionActor {
    /// Starts a session on this worker, and returns it with its id. It can be found once it has answered `initialize`.
    ///
    /// # Errors
    ///
    /// [`OpenError::Full`] at the limit of sessions, which the client sees; [`OpenError::NoRandom`] if the system
    /// fails.
    pub fn open(opening: Opening) -> Result<(Addr<Self>, Arc<str>), OpenError> {
        let open = opening.sessions.hub().count_session()?;
        let id = new_id().map_err(OpenError::NoRandom)?;
        let registry_id = id.clone();
        let session = Self::create(move |ctx| {
            let hub = opening.sessions.hub().clone();
            let mut state = SessionState::new(opening.limits, Instant::now());
            let on_pipe = opening.pipe.is_some();
            let pipe_registered = on_pipe.then(|| hub.pipes().register(registry_id.clone(), ctx.address()));
            // checked after registration: a shutdown either finds the session or is seen here
            if on_pipe && hub.is_draining() {
                state.drain();
            }
            Self {
                address: ctx.address().downgrade(),
                router: opening.router,
                state,
                peer: None,
                pipe: opening.pipe,
                id: registry_id,
                principal: opening.principal,
                hub,
                registered: None,
                pipe_registered,
                changes: Arc::default(),
                held: Vec::new(),
                cleaning: HashSet::new(),
                request_timer: None,
                graces: None,
                replays: None,
                drained: Vec::new(),
                input_closed: false,
                flush: None,
                _open: open,
            }
        });
        Ok((session, id))
    }
}
