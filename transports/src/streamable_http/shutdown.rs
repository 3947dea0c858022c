//! Stopping: nothing new, a bounded time for what runs, an end for every stream.

use std::sync::{Mutex, PoisonError};

use futures_util::future::join_all;

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
    join_all(servers.iter().map(Server::shutdown)).await;
}

impl Server {
    /// Stops serving: new work is refused with 503, standalone streams end, running calls have up to the drain time (5 s by
    /// default) to end, and then every session is closed. A server that was stopped stays so.
    ///
    /// [`http_server`](super::http_server) does this on SIGTERM and SIGINT. An `HttpServer` of your own is stopped after it,
    /// and finds no stream open that would keep it from ending:
    ///
    /// ```no_run
    /// # mod actix_mcp { pub use actix_mcp_transports::server::Server; }
    /// # use actix_mcp::Server;
    /// # async fn stop(server: Server, handle: actix_web::dev::ServerHandle) {
    /// server.shutdown().await;
    /// handle.stop(true).await;
    /// # }
    /// ```
    ///
    /// A handler that calls this waits for itself, for the whole drain time; let it spawn a task for it.
    ///
    /// # Cancellation
    ///
    /// If the future is dropped, nothing new is served, and what runs goes on.
    pub async fn shutdown(&self) {
        log::info!("shutting down");
        self.sessions().drain(self.limits().drain).await;
    }
}
