//! The registry: which sessions there are, and how to reach them from any worker.
//!
//! Shared by all workers; a look-up takes one short lock of one shard and none is held while anything is sent.
//!
//! **Invariant:** a session is found under its id by the principal that opened it and by nobody else; for others it does
//! not exist.

use std::{
    collections::HashMap,
    fmt,
    hash::{BuildHasher, RandomState},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use actix::Addr;
use actix_mcp_router::{
    change::{Announce, Change},
    peer::{Peer, Principal},
};

use crate::{
    session::{Changed, Close, SessionActor},
    stats::Stats,
};

const SHARDS: usize = 16;

/// The sessions of one server.
#[derive(Clone, Debug)]
pub struct Sessions(Arc<Registry>);

struct Registry {
    shards: [Mutex<HashMap<Arc<str>, SessionHandle>>; SHARDS],
    hasher: RandomState,
    /// Sessions at once, at most.
    limit: usize,
    stats: Stats,
}

/// How to reach a session.
#[derive(Clone, Debug)]
pub struct SessionHandle {
    /// The session.
    pub addr: Addr<SessionActor>,
    /// Its client.
    pub peer: Arc<Peer>,
    /// Who opened it.
    pub principal: Option<Principal>,
}

/// As many sessions as the limit allows are open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("too many sessions are open (the limit is {limit})")]
pub struct Full {
    /// The limit.
    pub limit: usize,
}

/// The most sessions at once, by default.
pub const SESSIONS_MAX: usize = 100_000;

impl Default for Sessions {
    fn default() -> Self {
        Self::new(SESSIONS_MAX)
    }
}

impl Sessions {
    /// A registry of at most `limit` sessions.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        let shards = std::array::from_fn(|_| Mutex::default());
        Self(Arc::new(Registry { shards, hasher: RandomState::new(), limit, stats: Stats::default() }))
    }

    /// The session under this id, if this principal opened it.
    #[must_use]
    pub fn get(&self, id: &str, principal: Option<&Principal>) -> Option<SessionHandle> {
        let shard = self.shard(id);
        shard.get(id).filter(|session| session.principal.as_ref() == principal).cloned()
    }

    /// The server's counters.
    #[must_use]
    pub fn stats(&self) -> &Stats {
        &self.0.stats
    }

    /// Ends every session.
    pub fn close_all(&self) {
        for session in self.all() {
            session.do_send(Close);
        }
    }

    /// Whether one more session may open.
    ///
    /// # Errors
    ///
    /// [`Full`] at the limit; the client is told to come back later.
    pub fn check_room(&self) -> Result<(), Full> {
        let limit = self.0.limit;
        if self.0.stats.snapshot().sessions < limit { Ok(()) } else { Err(Full { limit }) }
    }

    /// Makes a session findable, for as long as the returned guard lives.
    pub(crate) fn register(&self, id: Arc<str>, session: SessionHandle) -> Registered {
        self.shard(&id).insert(id.clone(), session);
        Registered { sessions: self.clone(), id }
    }

    fn shard(&self, id: &str) -> MutexGuard<'_, HashMap<Arc<str>, SessionHandle>> {
        let index = usize::try_from(self.0.hasher.hash_one(id) % SHARDS as u64).unwrap_or(0);
        self.0.shards[index].lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn all(&self) -> Vec<Addr<SessionActor>> {
        let read = |shard: &Mutex<HashMap<_, SessionHandle>>| {
            let shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
            shard.values().map(|session| session.addr.clone()).collect::<Vec<_>>()
        };
        self.0.shards.iter().flat_map(read).collect()
    }
}

impl Announce for Sessions {
    fn announce(&self, change: Change) {
        for session in self.all() {
            session.do_send(Changed { change: change.clone() });
        }
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry").field("limit", &self.limit).finish_non_exhaustive()
    }
}

/// Keeps a session findable. Owned by the session's actor, so that it goes even with an actor that panics.
#[derive(Debug)]
pub(crate) struct Registered {
    sessions: Sessions,
    id: Arc<str>,
}

impl Drop for Registered {
    fn drop(&mut self) {
        let gone = self.sessions.shard(&self.id).remove(&self.id);
        // dropped outside the lock
        drop(gone);
    }
}

/// A new session id: 128 random bits as 32 hexadecimal digits.
// MCP 2025-11-25 basic/transports, Session Management 1: cryptographically secure, visible ASCII
pub(crate) fn new_id() -> Result<Arc<str>, getrandom::Error> {
    let mut bytes = [0u8; 16];
    getrandom::fill(&mut bytes)?;
    Ok(format!("{:032x}", u128::from_be_bytes(bytes)).into())
}

/// The part of a session id that may be logged.
pub(crate) fn short(id: &str) -> &str {
    id.get(..8).unwrap_or(id)
}
