//! The registry: the sessions of a server by id.
//!
//! All workers share it. A look-up locks one shard, briefly, and no lock is held while anything is sent or dropped. The
//! registry never looks into `S`, its value for a session.
//!
//! **Invariant:** a session is found from its registration until its [`Registered`] is dropped, or until it is removed.
//!
//! Read next: `hub` (what else the sessions of a server share), `sessions` (who may find which session).

use std::{
    collections::HashMap,
    hash::{BuildHasher, RandomState},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

const SHARDS: usize = 16;

/// The sessions of one server by id.
#[derive(Debug)]
pub(crate) struct Registry<S>(Arc<Shards<S>>);

#[derive(Debug)]
struct Shards<S> {
    shards: [Mutex<HashMap<Arc<str>, S>>; SHARDS],
    hasher: RandomState,
}

impl<S> Default for Registry<S> {
    fn default() -> Self {
        let shards = std::array::from_fn(|_| Mutex::default());
        Self(Arc::new(Shards { shards, hasher: RandomState::new() }))
    }
}

impl<S> Registry<S> {
    /// Makes a session findable, for as long as the returned guard lives.
    pub(crate) fn register(&self, id: Arc<str>, session: S) -> Registered<S> {
        self.0.lock(&id).insert(id.clone(), session);
        Registered { shards: self.0.clone(), id }
    }

    /// The session with this id, if `wanted` accepts it.
    pub(crate) fn get(&self, id: &str, wanted: impl FnOnce(&S) -> bool) -> Option<S>
    where
        S: Clone,
    {
        self.0.lock(id).get(id).filter(|session| wanted(session)).cloned()
    }

    /// Removes the session with this id, if `wanted` accepts it. It cannot be found afterwards.
    pub(crate) fn remove(&self, id: &str, wanted: impl FnOnce(&S) -> bool) -> Option<S> {
        let mut shard = self.0.lock(id);
        shard.get(id).filter(|session| wanted(session))?;
        shard.remove(id)
    }

    /// The values that `pick` returns for the sessions; it runs under the lock of a shard.
    pub(crate) fn filter_map<T>(&self, pick: impl Fn(&S) -> Option<T>) -> Vec<T> {
        let read = |shard: &Mutex<HashMap<_, S>>| {
            let shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
            shard.values().filter_map(&pick).collect::<Vec<_>>()
        };
        self.0.shards.iter().flat_map(read).collect()
    }
}

impl<S> Shards<S> {
    fn lock(&self, id: &str) -> MutexGuard<'_, HashMap<Arc<str>, S>> {
        let index = usize::try_from(self.hasher.hash_one(id) % SHARDS as u64).unwrap_or(0);
        self.shards[index].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Keeps a session findable. Owned by the session's actor, so that the entry is removed even if the actor panics.
#[derive(Debug)]
pub(crate) struct Registered<S> {
    shards: Arc<Shards<S>>,
    id: Arc<str>,
}

impl<S> Drop for Registered<S> {
    fn drop(&mut self) {
        let gone = self.shards.lock(&self.id).remove(&self.id);
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
