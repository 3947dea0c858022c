//! Shutdown: new work is refused, running calls have a bounded time, and every stream ends.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use actix_mcp_session::internal::{Sessions, WeakSessions};
use futures_util::future::join_all;

use crate::{backend::Backend, stop};

/// The servers with a scope in an `App` of this process, which a signal drains. An entry does not keep its server
/// alive; it is removed when the server no longer exists and another is mounted.
static SERVERS: Mutex<Vec<Mounted>> = Mutex::new(Vec::new());

struct Mounted {
    sessions: WeakSessions,
    drain: Duration,
    /// The paths where it is mounted, each once: every worker mounts it again.
    paths: Vec<String>,
}

/// Notes a server whose scope is being mounted at a path.
pub(super) fn register(server: &Backend, path: &str) {
    let mut servers = SERVERS.lock().unwrap_or_else(PoisonError::into_inner);
    servers.retain(|known| !known.sessions.is_gone());
    let at = servers.iter().position(|known| known.sessions.ptr_eq(&server.sessions));
    let at = at.unwrap_or_else(|| {
        let (sessions, drain) = (server.sessions.downgrade(), server.limits.drain);
        servers.push(Mounted { sessions, drain, paths: Vec::new() });
        servers.len() - 1
    });
    if let Some(Mounted { paths, .. }) = servers.get_mut(at)
        && !paths.iter().any(|known| known == path)
    {
        paths.push(path.to_owned());
        let shown = if path.is_empty() { "/" } else { path };
        log::info!("serving MCP over HTTP at {shown}; allowed: {}", server.http.allowed.policy());
    }
}

/// Whether the server refuses new work.
pub(super) fn is_draining(server: &Backend) -> bool {
    server.sessions.is_draining()
}

/// Resolves when a signal has stopped the process and all its servers have been drained.
pub(super) async fn on_signal() {
    match stop::signal() {
        Ok(signal) => signal.await,
        Err(error) => {
            log::error!("cannot wait for signals: {error}");
            std::future::pending::<()>().await;
        }
    }
    let servers = std::mem::take(&mut *SERVERS.lock().unwrap_or_else(PoisonError::into_inner));
    join_all(servers.iter().map(async |mounted| {
        if let Some(sessions) = mounted.sessions.upgrade() {
            shut_down(&sessions, mounted.drain).await;
        }
    }))
    .await;
}

async fn shut_down(sessions: &Sessions, drain: Duration) {
    log::info!("shutting down");
    sessions.drain(drain).await;
}

impl Backend {
    /// Shuts down: new work is refused, running calls have the drain time, and every session is closed.
    pub async fn shutdown(&self) {
        shut_down(&self.sessions, self.limits.drain).await;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use actix_mcp_router::internal::Router;

    use super::*;

    #[test]
    fn a_server_that_was_mounted_once_is_not_kept() {
        let backend = |name: &str| Backend {
            router: Arc::new(Router::new(name, "1")),
            sessions: Sessions::default(),
            limits: Arc::default(),
            http: Arc::default(),
        };
        let server = backend("short-lived");
        let sessions = server.sessions.downgrade();
        let scopes = [server.scope("/a"), server.scope("/b")];
        let noted = |sessions: &Sessions| {
            let servers = SERVERS.lock().unwrap_or_else(PoisonError::into_inner);
            servers.iter().filter(|known| known.sessions.ptr_eq(sessions)).count()
        };
        assert_eq!(noted(&server.sessions), 1, "a signal would miss it, or drain it twice");
        drop((server, scopes));
        assert!(sessions.is_gone());
        let next = backend("next");
        drop(next.scope("/mcp"));
        let servers = SERVERS.lock().unwrap_or_else(PoisonError::into_inner);
        assert!(servers.iter().all(|known| !known.sessions.is_gone()), "its entry is kept");
    }
}
