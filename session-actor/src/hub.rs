//! The state that the sessions of one server share: the registry, the process limits, the shutdown stage, the listeners
//! and the counters.
//!
//! It never sends anything to a session: it does not know the actor, only `S`, the registry's value for a session, and
//! `P`, the value for a pipe before its handshake.
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

/// Maximum number of cancelled exchanges in their grace period; a further one is dropped at once.
const MAX_GRACES: usize = 1024;

/// The shared state of one server's sessions. Every session and every self-contained request holds it.
pub(crate) struct Hub<S, P> {
    registry: Registry<S>,
    /// Sessions on a byte stream before their handshake, which may never come. Nobody looks them up, but a shutdown
    /// must reach them.
    pipes: Registry<P>,
    limits: ProcessLimits,
    listeners: Arc<Listeners>,
    /// Publishes changes to the other nodes; set once, before the server runs.
    bus: OnceLock<Box<dyn Bus>>,
    /// How far the server's shutdown has come.
    stage: watch::Sender<ShutdownStage>,
    /// Bounds the cancelled exchanges in their grace period.
    graces: Arc<Semaphore>,
    stats: Stats,
}

/// How far a server's shutdown has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ShutdownStage {
    Open,
    /// New work is refused, subscriptions and standalone streams end, and running calls have the drain time.
    Draining,
    /// Calls that still run are cancelled.
    Closed,
}

/// The error at a limit of the whole process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("too many {what} are open (the limit is {limit})")]
pub struct Full {
    /// What is limited: `sessions`, `requests` (self-contained ones) or `subscriptions`.
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

    /// Sets the bus on which changes on this node are published. Only the first call has an effect.
    pub(crate) fn set_bus(&self, bus: impl Bus) {
        if self.bus.set(Box::new(bus)).is_err() {
            log::warn!("a server can have only one bus: the first one stays in use");
        }
    }

    /// Publishes a change to the other nodes, if there is a bus.
    pub(crate) fn publish(&self, change: Change) {
        if let Some(bus) = self.bus.get() {
            bus.publish(change);
        }
    }

    /// Counts a new session, unless the limit is reached.
    pub(crate) fn count_session(&self) -> Result<Counted, Full> {
        self.count_below(self.limits.sessions, Counter::Sessions, "sessions")
    }

    /// Counts a new self-contained request, unless the limit is reached.
    pub(crate) fn count_exchange(&self) -> Result<Counted, Full> {
        self.count_below(self.limits.sessions, Counter::Exchanges, "requests")
    }

    /// Counts a new subscription, unless the limit is reached.
    pub(crate) fn count_listen(&self) -> Result<Counted, Full> {
        self.count_below(self.limits.listens, Counter::Listens, "subscriptions")
    }

    /// Compares and counts in one step: otherwise workers that count at the same time could exceed the limit.
    fn count_below(&self, limit: usize, counter: Counter, what: &'static str) -> Result<Counted, Full> {
        self.stats.count_below(counter, limit).ok_or(Full { what, limit })
    }

    /// A permit for the grace period of a cancelled exchange; `None` if too many are in theirs.
    pub(crate) fn grace(&self) -> Option<OwnedSemaphorePermit> {
        let permit = self.graces.clone().try_acquire_owned().ok();
        if permit.is_none() {
            log::warn!(
                "dropping a cancelled call at once: too many are in their grace period (the limit is {MAX_GRACES})"
            );
        }
        permit
    }

    /// Whether the server is shutting down.
    pub(crate) fn is_draining(&self) -> bool {
        *self.stage.borrow() != ShutdownStage::Open
    }

    /// Moves the shutdown on to this stage.
    pub(crate) fn enter(&self, stage: ShutdownStage) {
        self.stage.send_replace(stage);
    }

    /// Waits until the shutdown has reached this stage.
    pub(crate) async fn reached(&self, stage: ShutdownStage) {
        // cannot fail: the sender is in the hub, which is borrowed
        drop(self.stage.subscribe().wait_for(|now| *now >= stage).await);
    }
}

impl<S, P> fmt::Debug for Hub<S, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hub").field("limits", &self.limits).finish_non_exhaustive()
    }
}
