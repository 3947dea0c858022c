//! The sessions of one server, as the transports see them: found, told of changes, drained and closed, from any worker.
//!
//! What they share is in the hub, which this wraps; only here is anything sent to their actors, and never under a lock.
//!
//! **Invariant:** a session is found under its id by the principal that opened it and by nobody else; for others it does
//! not exist.
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

/// How long clients have, at least, to read their streams to the end when the calls have used up the drain time.
const FLUSH_TIMEOUT: Duration = Duration::from_millis(500);

/// The sessions of one server.
#[derive(Clone, Debug)]
pub struct Sessions(Arc<SessionHub>);

/// The sessions of one server, if it is still there.
#[derive(Clone, Debug)]
pub struct WeakSessions(Weak<SessionHub>);

impl Default for Sessions {
    fn default() -> Self {
        Self::new(&ProcessLimits::default())
    }
}

impl Sessions {
    /// No session yet, within these limits.
    #[must_use]
    pub fn new(limits: &ProcessLimits) -> Self {
        Self(Arc::new(Hub::new(limits)))
    }

    /// What they share.
    pub(crate) fn hub(&self) -> &Arc<SessionHub> {
        &self.0
    }

    /// The same sessions, without keeping their server.
    #[must_use]
    pub fn downgrade(&self) -> WeakSessions {
        WeakSessions(Arc::downgrade(&self.0))
    }

    /// The session under this id, if this principal opened it.
    #[must_use]
    pub fn get(&self, id: &str, principal: Option<&Principal>) -> Option<SessionHandle> {
        self.0.registry().get(id, |session| session.principal.as_ref() == principal)
    }

    /// The server's counters.
    #[must_use]
    pub fn stats(&self) -> &Stats {
        self.0.stats()
    }

    /// The way in for changes on other nodes.
    #[must_use]
    pub fn node(&self) -> Node {
        let sessions = self.downgrade();
        Node::new(move |change| sessions.upgrade().map(|sessions| sessions.tell(change)).is_some())
    }

    /// Sets the way out for changes on this node. Only the first counts.
    pub fn set_bus(&self, bus: impl Bus) {
        self.0.set_bus(bus);
    }

    /// Tells this node's clients of a change, whatever way its URI is written.
    fn tell(&self, change: &Change) {
        let change = change.normal();
        self.0.listeners().tell(&change);
        for session in self.addrs(|session| session.changes.note(&change)) {
            session.do_send(Changed);
        }
    }

    /// Ends the session under this id, if this principal opened it; `false` if there is none. Nobody finds it afterwards.
    #[must_use]
    pub fn close(&self, id: &str, principal: Option<&Principal>) -> bool {
        let session = self.0.registry().remove(id, |session| session.principal.as_ref() == principal);
        session.is_some_and(|session| {
            session.addr.do_send(Close);
            true
        })
    }

    /// Whether the server shuts down.
    #[must_use]
    pub fn is_draining(&self) -> bool {
        self.0.is_draining()
    }

    /// Lets every session end: nothing new is admitted, standalone streams end, running calls have this long and are then
    /// answered with an error, and all sessions are closed. What was written on their streams by then is read first, unless
    /// that takes too long.
    pub async fn drain(&self, time: Duration) {
        let end = Instant::now() + time;
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
        let end = end.max(Instant::now() + FLUSH_TIMEOUT);
        if tokio::time::timeout_at(end, self.stats().wait_for_zero(Counter::Streams)).await.is_err() {
            log::warn!("streams whose readers stand still are cut off");
        }
    }

    /// Waits until a drain is over: whatever a client still sends then is for nobody.
    pub async fn ended(&self) {
        self.0.reached(ShutdownStage::Closed).await;
    }

    /// Every session. Pipes first: one that does its handshake meanwhile is in the registry before it is not here any more, and
    /// whoever is in both is told twice, which is no more than once.
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
