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
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use actix::Addr;
use actix_mcp_router::{
    change::{Announce, Change},
    peer::{Peer, Principal},
};
use futures_util::future::join_all;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, oneshot, watch},
    time::Instant,
};

use crate::{
    bus::{Bus, Node},
    listen::LISTENS_MAX,
    listeners::Listeners,
    noted::Noted,
    session::{Changed, Close, Drain, SessionActor, Stop},
    stats::{Counted, Counter, Stats},
};

const SHARDS: usize = 16;
/// As many cancelled exchanges clean up at once; one more is dropped at once.
const GRACES_MAX: usize = 1024;
/// How long streams have to be read to their end, at least, when the calls have used up the drain time.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// The sessions of one server.
#[derive(Clone, Debug)]
pub struct Sessions(Arc<Registry>);

/// The sessions of one server, if it is still there.
#[derive(Clone, Debug)]
pub struct WeakSessions(Weak<Registry>);

struct Registry {
    shards: [Mutex<HashMap<Arc<str>, SessionHandle>>; SHARDS],
    /// Sessions on a byte stream that have done no handshake, and may never: nobody looks for them, but a shutdown ends them.
    pipes: Mutex<HashMap<Arc<str>, Addr<SessionActor>>>,
    hasher: RandomState,
    /// Sessions at once, at most; and requests that are sessions of their own.
    limit: AtomicUsize,
    listeners: Listeners,
    /// Subscriptions at once, at most.
    listens: AtomicUsize,
    /// The way to other nodes; set once, before the server runs.
    bus: OnceLock<Box<dyn Bus>>,
    /// How far the server's shutdown has come.
    stage: watch::Sender<Stage>,
    /// Bounds the cancelled exchanges that still have their grace.
    graces: Arc<Semaphore>,
    stats: Stats,
}

/// How far a server's shutdown has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stage {
    Open,
    /// Nothing new is taken, what lasts as long as its client likes ends, and what runs has the drain time.
    Draining,
    /// What still runs is cancelled.
    Closed,
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
    pub(crate) noted: Arc<Noted>,
}

/// As many of them as the limit allows are open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("too many {what} are open (the limit is {limit})")]
pub struct Full {
    /// What they are: sessions, requests that are sessions of their own, or subscriptions.
    pub what: &'static str,
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
    /// A registry of at most `limit` sessions, beside as many requests that are sessions of their own.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        let shards = std::array::from_fn(|_| Mutex::default());
        Self(Arc::new(Registry {
            shards,
            pipes: Mutex::default(),
            hasher: RandomState::new(),
            limit: AtomicUsize::new(limit),
            listeners: Listeners::default(),
            listens: AtomicUsize::new(LISTENS_MAX),
            bus: OnceLock::new(),
            stage: watch::Sender::new(Stage::Open),
            graces: Arc::new(Semaphore::new(GRACES_MAX)),
            stats: Stats::default(),
        }))
    }

    /// The same sessions, without keeping their server.
    #[must_use]
    pub fn downgrade(&self) -> WeakSessions {
        WeakSessions(Arc::downgrade(&self.0))
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

    /// Sets how many sessions may be open at once, and as many requests that are sessions of their own; open ones stay.
    pub fn set_limit(&self, limit: usize) {
        self.0.limit.store(limit, Ordering::Relaxed);
    }

    /// Sets how many subscriptions may be open at once; open ones stay.
    pub fn set_listens(&self, limit: usize) {
        self.0.listens.store(limit, Ordering::Relaxed);
    }

    /// The way in for changes on other nodes.
    #[must_use]
    pub fn node(&self) -> Node {
        Node(self.downgrade())
    }

    /// Sets the way out for changes on this node. Only the first counts.
    pub fn set_bus(&self, bus: impl Bus) {
        if self.0.bus.set(Box::new(bus)).is_err() {
            log::warn!("a server can have one bus only; changes are published on the first");
        }
    }

    /// Counts one more subscription, if one more may open.
    pub(crate) fn count_listen(&self) -> Result<Counted, Full> {
        self.count_below(&self.0.listens, Counter::Listens, "subscriptions")
    }

    /// Counts one more request that is a session of its own, if one more may be open.
    pub(crate) fn count_exchange(&self) -> Result<Counted, Full> {
        self.count_below(&self.0.limit, Counter::Exchanges, "requests")
    }

    pub(crate) fn listeners(&self) -> &Listeners {
        &self.0.listeners
    }

    /// Tells this node's clients of a change, whatever way its URI is written.
    pub(crate) fn tell(&self, change: &Change) {
        let change = change.normal();
        self.0.listeners.tell(&change);
        for session in self.addrs(|session| session.noted.note(&change)) {
            session.do_send(Changed);
        }
    }

    /// Ends the session under this id, if this principal opened it; `false` if there is none. Nobody finds it afterwards.
    #[must_use]
    pub fn close(&self, id: &str, principal: Option<&Principal>) -> bool {
        let mut shard = self.shard(id);
        if shard.get(id).is_none_or(|session| session.principal.as_ref() != principal) {
            return false;
        }
        let session = shard.remove(id);
        drop(shard);
        session.is_some_and(|session| {
            session.addr.do_send(Close);
            true
        })
    }

    /// Whether the server shuts down.
    #[must_use]
    pub fn is_draining(&self) -> bool {
        *self.0.stage.borrow() != Stage::Open
    }

    /// Waits until the shutdown has come so far.
    pub(crate) async fn reached(&self, stage: Stage) {
        // the sender is in the registry, which is held
        drop(self.0.stage.subscribe().wait_for(|now| *now >= stage).await);
    }

    /// A place for an exchange that was cancelled and cleans up; `None` if too many do.
    pub(crate) fn grace(&self) -> Option<OwnedSemaphorePermit> {
        let place = self.0.graces.clone().try_acquire_owned().ok();
        if place.is_none() {
            log::warn!("a cancelled call has no grace: too many have (the limit is {GRACES_MAX})");
        }
        place
    }

    /// Lets every session end: nothing new is admitted, standalone streams end, running calls have this long and are then
    /// answered with an error, and all sessions are closed. What was written on their streams by then is read first, unless that takes too long.
    pub async fn drain(&self, time: Duration) {
        let end = Instant::now() + time;
        self.0.stage.send_replace(Stage::Draining);
        self.0.listeners.end();
        let mut waiting = Vec::new();
        for session in self.all() {
            let (done, drained) = oneshot::channel();
            session.do_send(Drain { done, deaf: false });
            waiting.push(drained);
        }
        let (calls, listens) = (self.stats().no(Counter::Exchanges), self.stats().no(Counter::Listens));
        let ended = async { tokio::join!(join_all(waiting), calls, listens) };
        if tokio::time::timeout(time, ended).await.is_err() {
            log::warn!("calls still running after the drain time of {time:?} are stopped");
        }
        for session in self.all() {
            session.do_send(Stop);
        }
        self.0.stage.send_replace(Stage::Closed);
        // a stream's writer lives on its session's worker, which stops at once if it has no connection of its own
        let end = end.max(Instant::now() + LAST_WORDS);
        if tokio::time::timeout_at(end, self.stats().no(Counter::Streams)).await.is_err() {
            log::warn!("streams whose readers stand still are cut off");
        }
    }

    /// Waits until a drain is over: whatever a client still sends then is for nobody.
    pub async fn ended(&self) {
        self.reached(Stage::Closed).await;
    }

    /// Counts one more session, if one more may open.
    pub(crate) fn take_room(&self) -> Result<Counted, Full> {
        self.count_below(&self.0.limit, Counter::Sessions, "sessions")
    }

    /// One step, or workers that count at once would pass the limit.
    fn count_below(
        &self,
        limit: &AtomicUsize,
        counter: Counter,
        what: &'static str,
    ) -> Result<Counted, Full> {
        let limit = limit.load(Ordering::Relaxed);
        self.0.stats.count_below(counter, limit).ok_or(Full { what, limit })
    }

    /// Makes a session findable, for as long as the returned guard lives.
    pub(crate) fn register(&self, id: Arc<str>, session: SessionHandle) -> Registered {
        self.shard(&id).insert(id.clone(), session);
        Registered { sessions: self.clone(), id, place: Place::Shard }
    }

    /// Lets a shutdown reach a session on a byte stream before its handshake, for as long as the returned guard lives.
    pub(crate) fn register_pipe(&self, id: Arc<str>, session: Addr<SessionActor>) -> Registered {
        self.pipes().insert(id.clone(), session);
        Registered { sessions: self.clone(), id, place: Place::Pipes }
    }

    fn pipes(&self) -> MutexGuard<'_, HashMap<Arc<str>, Addr<SessionActor>>> {
        self.0.pipes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn shard(&self, id: &str) -> MutexGuard<'_, HashMap<Arc<str>, SessionHandle>> {
        let index = usize::try_from(self.0.hasher.hash_one(id) % SHARDS as u64).unwrap_or(0);
        self.0.shards[index].lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn all(&self) -> Vec<Addr<SessionActor>> {
        // first: a pipe that does its handshake meanwhile is in the shards before it is not here any more. One that is in both
        // is told twice, which is no more than once
        let mut all = self.pipes().values().cloned().collect::<Vec<_>>();
        all.extend(self.addrs(|_| true));
        all
    }

    fn addrs(&self, wanted: impl Fn(&SessionHandle) -> bool) -> Vec<Addr<SessionActor>> {
        let read = |shard: &Mutex<HashMap<_, SessionHandle>>| {
            let shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
            shard
                .values()
                .filter(|session| wanted(session))
                .map(|session| session.addr.clone())
                .collect::<Vec<_>>()
        };
        self.0.shards.iter().flat_map(read).collect()
    }
}

impl WeakSessions {
    /// The sessions; `None` once their server has gone.
    #[must_use]
    pub fn upgrade(&self) -> Option<Sessions> {
        self.0.upgrade().map(Sessions)
    }

    /// Whether the server has gone.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        self.0.strong_count() == 0
    }

    /// Whether these are the sessions of the same server.
    #[must_use]
    pub fn is(&self, sessions: &Sessions) -> bool {
        std::ptr::eq(self.0.as_ptr(), Arc::as_ptr(&sessions.0))
    }
}

impl Announce for Sessions {
    fn announce(&self, change: Change) {
        self.tell(&change);
        if let Some(bus) = self.0.bus.get() {
            bus.publish(change);
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
    place: Place,
}

/// Where a session stands in the registry.
#[derive(Clone, Copy, Debug)]
enum Place {
    Shard,
    Pipes,
}

impl Drop for Registered {
    fn drop(&mut self) {
        // what was found is dropped outside the lock
        match self.place {
            Place::Shard => {
                let gone = self.sessions.shard(&self.id).remove(&self.id);
                drop(gone);
            }
            Place::Pipes => {
                let gone = self.sessions.pipes().remove(&self.id);
                drop(gone);
            }
        }
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
