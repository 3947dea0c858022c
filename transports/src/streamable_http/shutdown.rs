//! Stopping: nothing new, a bounded time for what runs, an end for every stream.

use std::sync::{Mutex, PoisonError};

use crate::{server::Server, stop};

/// The servers that an `App` of this process has a scope of: those that a signal drains.
static SERVERS: Mutex<Vec<Server>> = Mutex::new(Vec::new());

/// Notes a server whose scope is being mounted.
pub(super) fn register(server: &Server) {
    let mut servers = SERVERS.lock().unwrap_or_else(PoisonError::into_inner);
    if !servers.iter().any(|known| known.is(server)) {
        log::info!("serving MCP over HTTP; allowed are {}", server.http().allowed.policy());
        servers.push(server.clone());
    }
}

/// Whether the server takes no new work.
pub(super) fn is_draining(server: &Server) -> bool {
    server.sessions().is_draining()
}

/// Resolves when the process is told to stop and every server of it has been drained.
pub(super) async fn on_signal() {
    match stop::signal() {
        Ok(signal) => signal.await,
        Err(error) => {
            log::error!("signals cannot be waited for: {error}");
            std::future::pending::<()>().await;
        }
    }
    let servers = std::mem::take(&mut *SERVERS.lock().unwrap_or_else(PoisonError::into_inner));
    for server in servers {
        shutdown(&server).await;
    }
}

/// Stops a server: new work is refused with 503, standalone streams end, running calls have up to the drain time to end,
/// and then every session is closed.
pub async fn shutdown(server: &Server) {
    log::info!("shutting down");
    server.sessions().drain(server.limits().drain).await;
}
