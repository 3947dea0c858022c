//! The sessions of one server, for the transports: they are looked up, notified of changes, drained and closed from any
//! worker.
//!
//! The shared state is in the hub, which this wraps. Messages to all actors are sent from here and not from the hub,
//! never under a lock.
//!
//! **Invariant:** only the principal that opened a session finds it by its id; for anyone else it does not exist.
//!
//! Read next: `hub` (what the sessions share), `registry` (the map), `session` (the actor of one).

use std::{
    sync::{Arc, Weak},
    time::Duration,
};

use actix::Addr;
use actix_mcp_router::{Change, Principal, internal::ChangeListener};
use futures_util::future::join_all;
use tokio::{sync::oneshot, time::Instant};

use crate::session::SessionHandle;
use crate::{
    bus::{Bus, Node},
    hub::{Hub, ShutdownStage},
    limits::ProcessLimits,
    session::{Changed, Close, Drain, SessionActor, SessionHub, Stop},
    stats::{Counter, Stats},
};

/// Minimum time for clients to read their streams to the end, even if the calls have used up the drain time.
const FLUSH_TIMEOUT: Duration = Duration::from_millis(500);

/// The sessions of one server.
#[derive(Clone, Debug)]
pub struct Sessions(Arc<SessionHub>);

/// The sessions of one server, if it still exists.
#[derive(Clone, Debug)]
pub struct WeakSessions(Weak<SessionHub>);

impl Default for Sessions {
    fn default() -> Self {
        Self::new(&ProcessLimits::default())
    }
}

impl Sessions {
    /// Creates the sessions of a server, none so far, with these limits.
    #[must_use]
    pub fn new(limits: &ProcessLimits) -> Self {
        Self(Arc::new(Hub::new(limits)))
    }

    /// The state they share.
    pub(crate) fn hub(&self) -> &Arc<SessionHub> {
        &self.0
    }

    /// The same sessions, without keeping their server alive.
    #[must_use]
    pub fn downgrade(&self) -> WeakSessions {
        WeakSessions(Arc::downgrade(&self.0))
    }

    /// The session with this id, if this principal opened it.
    #[must_use]
    pub fn get(&self, id: &str, principal: Option<&Principal>) -> Option<SessionHandle> {
        self.0.registry().get(id, |session| session.principal.as_ref() == principal)
    }

    /// The server's counters.
    #[must_use]
    pub fn stats(&self) -> &Stats {
        self.0.stats()
    }

    /// Takes changes from other nodes.
    #[must_use]
    pub fn node(&self) -> Node {
        let sessions = self.downgrade();
        Node::new(move |change| sessions.upgrade().map(|sessions| sessions.tell(change)).is_some())
    }

    /// Sets the bus on which changes on this node are published. Only the first call has an effect.
    pub fn set_bus(&self, bus: impl Bus) {
        self.0.set_bus(bus);
    }

    /// Notifies this node's clients of a change, whose URI is normalized first.
    fn tell(&self, change: &Change) {
        let change = change.normal();
        self.0.listeners().tell(&change);
        for session in self.addrs(|session| session.changes.note(&change)) {
            session.do_send(Changed);
        }
    }

    /// Ends the session with this id, if this principal opened it; `false` if there is none. It cannot be found
    /// afterwards.
    #[must_use]
    pub fn close(&self, id: &str, principal: Option<&Principal>) -> bool {
        let session = self.0.registry().remove(id, |session| session.principal.as_ref() == principal);
        session.is_some_and(|session| {
            session.addr.do_send(Close);
            true
        })
    }

    /// Whether the server is shutting down.
    #[must_use]
    pub fn is_draining(&self) -> bool {
        self.0.is_draining()
    }

    /// Drains and closes every session: new requests are refused, subscriptions and standalone streams end, and calls
    /// that still run after `time` are answered with an error. Clients have the rest of `time`, but at least half a
    /// second, to read what was written on their streams.
    pub async fn drain(&self, time: Duration) {
        let start = Instant::now();
        self.0.enter(ShutdownStage::Draining);
        self.0.listeners().end();
        let mut waiting = Vec::new();
        for session in self.all() {
            let (done, drained) = oneshot::channel();
            session.do_send(Drain { done, input_closed: false });
            waiting.push(drained);
        }
        let (calls, listens) =
            (self.stats().wait_for_zero(Counter::Exchanges), self.stats().wait_for_zero(Counter::Listens));
        let ended = async { tokio::join!(join_all(waiting), calls, listens) };
        if tokio::time::timeout(time, ended).await.is_err() {
            log::warn!("calls still running after the drain time of {time:?} are stopped");
        }
        for session in self.all() {
            session.do_send(Stop);
        }
        self.0.enter(ShutdownStage::Closed);
        // a stream's writer lives on its session's worker, which stops at once if it has no connection of its own
        let rest = time.saturating_sub(start.elapsed()).max(FLUSH_TIMEOUT);
        if tokio::time::timeout(rest, self.stats().wait_for_zero(Counter::Streams)).await.is_err() {
            log::warn!("closing streams that clients have not read to the end");
        }
    }

    /// Waits until the drain time is over: nothing that a client sends after that is served.
    pub async fn ended(&self) {
        self.0.reached(ShutdownStage::Closed).await;
    }

    /// Every session. Pipes first: a pipe that does its handshake meanwhile is added to the registry before it is
    /// removed here. A session found in both gets the message twice, which has no further effect.
    fn all(&self) -> Vec<Addr<SessionActor>> {
        let mut all = self.0.pipes().filter_map(|session| Some(session.clone()));
        all.extend(self.addrs(|_| true));
        all
    }

    fn addrs(&self, wanted: impl Fn(&SessionHandle) -> bool) -> Vec<Addr<SessionActor>> {
        self.0.registry().filter_map(|session| wanted(session).then(|| session.addr.clone()))
    }
}

impl WeakSessions {
    /// The sessions; `None` once their server no longer exists.
    #[must_use]
    pub fn upgrade(&self) -> Option<Sessions> {
        self.0.upgrade().map(Sessions)
    }

    /// Whether the server no longer exists.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        self.0.strong_count() == 0
    }

    /// Whether these are the sessions of the same server.
    #[must_use]
    pub fn ptr_eq(&self, sessions: &Sessions) -> bool {
        std::ptr::eq(self.0.as_ptr(), Arc::as_ptr(&sessions.0))
    }
}

impl ChangeListener for Sessions {
    fn announce(&self, change: Change) {
        self.tell(&change);
        self.0.publish(change);
    }
}
