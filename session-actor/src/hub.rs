//! What the sessions of one server share: the registry, how many there may be of what, how far the shutdown has come, who
//! listens, and the counters.
//!
//! It never sends anything to a session: it does not know the actor, only what the registry keeps for one, which is `S`, or `P` before
//! a handshake.
//!
//! Read next: `sessions` (which does send), `registry`, `listeners`.

use std::{
    fmt,
    sync::{Arc, OnceLock},
};

use actix_mcp_router::Change;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use crate::{
    bus::Bus,
    limits::ProcessLimits,
    listeners::Listeners,
    registry::Registry,
    stats::{Counted, Counter, Stats},
};

/// The most cancelled exchanges that clean up at the same time; one more has no grace.
const MAX_GRACES: usize = 1024;

/// What the sessions of one server share. A session holds it, and so does a request without a session.
pub(crate) struct Hub<S, P> {
    registry: Registry<S>,
    /// Sessions on a byte stream that have done no handshake, and may never: nobody looks for them, but a shutdown ends them.
    pipes: Registry<P>,
    limits: ProcessLimits,
    listeners: Arc<Listeners>,
    /// The way to other nodes; set once, before the server runs.
    bus: OnceLock<Box<dyn Bus>>,
    /// How far the server's shutdown has come.
    stage: watch::Sender<ShutdownStage>,
    /// Bounds the cancelled exchanges that still have their grace.
    graces: Arc<Semaphore>,
    stats: Stats,
}

/// How far a server's shutdown has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ShutdownStage {
    Open,
    /// Nothing new is taken, what lasts as long as its client likes ends, and what runs has the drain time.
    Draining,
    /// What still runs is cancelled.
    Closed,
}

/// As many of them as the limit allows are open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("too many {what} are open (the limit is {limit})")]
pub struct Full {
    /// What they are: sessions, requests without a session, or subscriptions.
    pub what: &'static str,
    /// The limit.
    pub limit: usize,
}

impl<S, P> Hub<S, P> {
    pub(crate) fn new(limits: &ProcessLimits) -> Self {
        Self {
            registry: Registry::default(),
            pipes: Registry::default(),
            limits: *limits,
            listeners: Arc::default(),
            bus: OnceLock::new(),
            stage: watch::Sender::new(ShutdownStage::Open),
            graces: Arc::new(Semaphore::new(MAX_GRACES)),
            stats: Stats::default(),
        }
    }

    pub(crate) fn registry(&self) -> &Registry<S> {
        &self.registry
    }

    pub(crate) fn pipes(&self) -> &Registry<P> {
        &self.pipes
    }

    pub(crate) fn listeners(&self) -> &Arc<Listeners> {
        &self.listeners
    }

    pub(crate) fn stats(&self) -> &Stats {
        &self.stats
    }

    /// Sets the way out for changes on this node. Only the first counts.
    pub(crate) fn set_bus(&self, bus: impl Bus) {
        if self.bus.set(Box::new(bus)).is_err() {
            log::warn!("a server can have one bus only; changes are published on the first");
        }
    }

    /// Tells the other nodes of a change, where there are any.
    pub(crate) fn publish(&self, change: Change) {
        if let Some(bus) = self.bus.get() {
            bus.publish(change);
        }
    }

    /// Counts one more session, if one more may open.
    pub(crate) fn count_session(&self) -> Result<Counted, Full> {
        self.count_below(self.limits.sessions, Counter::Sessions, "sessions")
    }

    /// Counts one more request without a session, if one more may be open.
    pub(crate) fn count_exchange(&self) -> Result<Counted, Full> {
        self.count_below(self.limits.sessions, Counter::Exchanges, "requests")
    }

    /// Counts one more subscription, if one more may open.
    pub(crate) fn count_listen(&self) -> Result<Counted, Full> {
        self.count_below(self.limits.listens, Counter::Listens, "subscriptions")
    }

    /// One step, or workers that count at once would pass the limit.
    fn count_below(&self, limit: usize, counter: Counter, what: &'static str) -> Result<Counted, Full> {
        self.stats.count_below(counter, limit).ok_or(Full { what, limit })
    }

    /// A permit for an exchange that was cancelled and cleans up; `None` if too many do.
    pub(crate) fn grace(&self) -> Option<OwnedSemaphorePermit> {
        let permit = self.graces.clone().try_acquire_owned().ok();
        if permit.is_none() {
            log::warn!("a cancelled call has no grace: too many have (the limit is {MAX_GRACES})");
        }
        permit
    }

    /// Whether the server shuts down.
    pub(crate) fn is_draining(&self) -> bool {
        *self.stage.borrow() != ShutdownStage::Open
    }

    /// Lets the shutdown go on to this stage.
    pub(crate) fn enter(&self, stage: ShutdownStage) {
        self.stage.send_replace(stage);
    }

    /// Waits until the shutdown has come so far.
    pub(crate) async fn reached(&self, stage: ShutdownStage) {
        // the sender is in the hub, which is held
        drop(self.stage.subscribe().wait_for(|now| *now >= stage).await);
    }
}

impl<S, P> fmt::Debug for Hub<S, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hub").field("limits", &self.limits).finish_non_exhaustive()
    }
}
