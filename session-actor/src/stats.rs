//! Counters of what is open and running. Each is kept by guards and goes down when a guard is dropped, however that
//! happens.
//!
//! There is also one total: the dropped messages. Nothing is measured in time, and nothing is ever reset.
//!
//! Read next: `hub` (which compares counts with their limits).

use std::sync::{
    Arc,
    atomic::{AtomicU64, AtomicUsize, Ordering},
};

use tokio::sync::Notify;

/// The counters of one server, shared by its sessions.
#[derive(Clone, Debug, Default)]
pub struct Stats(Arc<Counters>);

#[derive(Debug, Default)]
struct Counters {
    sessions: AtomicUsize,
    in_flight: AtomicUsize,
    streams: AtomicUsize,
    subscriptions: AtomicUsize,
    exchanges: AtomicUsize,
    /// Messages dropped since the server was created.
    dropped: AtomicU64,
    listens: AtomicUsize,
    /// Notified when the last open stream, exchange or subscription ends.
    none_left: Notify,
}

/// The values of [`Stats`] at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct Snapshot {
    /// Live sessions.
    pub sessions: usize,
    /// Running handlers; a `subscriptions/listen` request runs none.
    pub in_flight: usize,
    /// Open streams.
    pub streams: usize,
    /// Resource subscriptions of sessions.
    pub subscriptions: usize,
    /// Open `subscriptions/listen` requests.
    pub listens: usize,
}

/// What a [`Counted`] guard counts.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Counter {
    Sessions,
    InFlight,
    Streams,
    Subscriptions,
    /// Self-contained requests over HTTP; `subscriptions/listen` is counted as `Listens`.
    Exchanges,
    /// `subscriptions/listen` requests, on a session's pipe or over HTTP.
    Listens,
}

impl Stats {
    /// The counts at this moment.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        let read = |counter| self.gauge(counter).load(Ordering::Relaxed);
        Snapshot {
            sessions: read(Counter::Sessions),
            in_flight: read(Counter::InFlight),
            streams: read(Counter::Streams),
            subscriptions: read(Counter::Subscriptions),
            listens: read(Counter::Listens),
        }
    }

    /// How many messages of calls were dropped so far: to make room, or because the client accepts no event stream.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.0.dropped.load(Ordering::Relaxed)
    }

    pub(crate) fn count_dropped(&self) {
        self.0.dropped.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn count(&self, counter: Counter) -> Counted {
        self.gauge(counter).fetch_add(1, Ordering::Relaxed);
        Counted { stats: self.clone(), counter }
    }

    /// Counts one more, unless the limit is reached.
    pub(crate) fn count_below(&self, counter: Counter, limit: usize) -> Option<Counted> {
        let more = |count: usize| (count < limit).then(|| count + 1);
        self.gauge(counter).fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).ok()?;
        Some(Counted { stats: self.clone(), counter })
    }

    /// Waits until the counter is zero; for `Streams`, `Exchanges` and `Listens` only.
    pub(crate) async fn wait_for_zero(&self, counter: Counter) {
        loop {
            // created before the check, so that no notification in between is missed
            let told = self.0.none_left.notified();
            if self.gauge(counter).load(Ordering::Relaxed) == 0 {
                return;
            }
            told.await;
        }
    }

    fn gauge(&self, counter: Counter) -> &AtomicUsize {
        match counter {
            Counter::Sessions => &self.0.sessions,
            Counter::InFlight => &self.0.in_flight,
            Counter::Streams => &self.0.streams,
            Counter::Subscriptions => &self.0.subscriptions,
            Counter::Exchanges => &self.0.exchanges,
            Counter::Listens => &self.0.listens,
        }
    }
}

/// A guard that counts one.
#[derive(Debug)]
pub(crate) struct Counted {
    stats: Stats,
    counter: Counter,
}

impl Drop for Counted {
    fn drop(&mut self) {
        let before = self.stats.gauge(self.counter).fetch_sub(1, Ordering::Relaxed);
        if before == 1 && matches!(self.counter, Counter::Streams | Counter::Exchanges | Counter::Listens) {
            self.stats.0.none_left.notify_waiters();
        }
    }
}
