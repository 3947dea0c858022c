//! The byte budget of one stream: how much may wait between a handler and the bytes of the stream.
//!
//! A message holds its [`Permit`] from when its handler may send it until its bytes leave the last queue, so the budget
//! bounds all queues of a stream at once, and a message that is dropped anywhere gives its room back.
//!
//! The budget never drops a message itself: the queue does.
//!
//! Read next: `queue`.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use actix_mcp_router::internal::Permit;
use tokio::{sync::Semaphore, task::consume_budget};

use crate::stats::Stats;

/// A stream's queues hold at most this many messages: each counts as at least its share of the bytes.
pub(crate) const MAX_MESSAGES: usize = 256; // messages
/// After this long without progress the oldest message is dropped, on streams that are not closed for stalling.
pub(crate) const STALL_TIMEOUT: Duration = Duration::from_secs(1);

/// How much may wait in the queues of one stream.
#[derive(Debug)]
pub struct ByteBudget {
    bytes: usize,
    room: Arc<Semaphore>,
    /// How long the stream may stall before a message that waits for room is sent without any.
    stall_timeout: Duration,
    /// Counts frames that have left; unchanged means that the stream is stalled.
    moved: AtomicU64,
    /// Counts messages that were dropped.
    dropped: AtomicU64,
    /// The server's counters, which count them too.
    stats: Stats,
}

impl ByteBudget {
    /// A budget of `bytes` bytes, of which each message takes at least 1/256. A message waits for room until the
    /// stream has been stalled for a second.
    #[must_use]
    pub fn new(bytes: usize, stats: Stats) -> Arc<Self> {
        Self::with_stall_timeout(bytes, STALL_TIMEOUT, stats)
    }

    /// The same for a stream that is closed after stalling for this long, which gives all room back.
    ///
    /// A second would be too short: between this queue and its reader are the buffers of the connection and of two
    /// kernels, which ask for more only when half empty. A stream that seems to stall for a second may be read all
    /// the time.
    #[must_use]
    pub(crate) fn with_stall_timeout(bytes: usize, stall_timeout: Duration, stats: Stats) -> Arc<Self> {
        // at least a byte per message
        let bytes = bytes.clamp(MAX_MESSAGES, Semaphore::MAX_PERMITS >> 3);
        Arc::new(Self::of(bytes, stall_timeout, stats))
    }

    fn of(bytes: usize, stall_timeout: Duration, stats: Stats) -> Self {
        Self {
            bytes,
            room: Arc::new(Semaphore::new(bytes)),
            stall_timeout,
            moved: AtomicU64::new(0),
            dropped: AtomicU64::new(0),
            stats,
        }
    }

    /// How many messages were dropped: to make room, or because the client accepts no event stream.
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// Counts a dropped message. `true` if it is the first.
    pub(crate) fn count_dropped(&self) -> bool {
        self.stats.count_dropped();
        self.dropped.fetch_add(1, Ordering::Relaxed) == 0
    }

    pub(crate) fn stats(&self) -> &Stats {
        &self.stats
    }

    /// The room that a message of this size takes.
    pub(crate) fn share(&self, bytes: usize) -> u32 {
        u32::try_from(bytes.clamp(self.bytes / MAX_MESSAGES, self.bytes)).unwrap_or(u32::MAX)
    }

    /// How many bytes may wait.
    pub(crate) fn limit(&self) -> usize {
        self.bytes
    }

    /// Counts a frame that has left.
    pub(crate) fn count_moved(&self) {
        self.moved.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether there is room now.
    pub(crate) fn has_room(&self, bytes: usize) -> bool {
        self.room.available_permits() >= self.share(bytes) as usize
    }

    /// Takes room, if there is enough now.
    pub(crate) fn try_reserve(&self, bytes: usize) -> Permit {
        Permit(self.room.clone().try_acquire_many_owned(self.share(bytes)).ok())
    }

    /// Waits for room; returns without any when the stream stalls. If there is room, it lets other tasks run now and
    /// then: with a stream that nobody reads, all room comes back at once.
    ///
    /// # Cancellation
    ///
    /// Dropping the future takes no room.
    pub(crate) async fn reserve(self: Arc<Self>, bytes: usize) -> Permit {
        consume_budget().await;
        // the usual case, which needs no timer
        let room = self.try_reserve(bytes);
        if room.0.is_some() {
            return room;
        }
        let mut acquire = std::pin::pin!(self.room.clone().acquire_many_owned(self.share(bytes)));
        loop {
            let before = self.moved.load(Ordering::Relaxed);
            match tokio::time::timeout(self.stall_timeout, acquire.as_mut()).await {
                Ok(permit) => return Permit(permit.ok()),
                Err(_) if self.moved.load(Ordering::Relaxed) == before => return Permit(None),
                Err(_) => {}
            }
        }
    }
}

/// No room, since the call has ended. It lets other tasks run now and then, so that a handler that keeps sending does
/// not block the worker that is to end it.
pub(crate) async fn no_room() -> Permit {
    consume_budget().await;
    Permit(None)
}

#[cfg(test)]
impl ByteBudget {
    /// So few bytes that a test can fill them.
    pub(crate) fn tiny(bytes: usize) -> Arc<Self> {
        Arc::new(Self::of(bytes, STALL_TIMEOUT, Stats::default()))
    }

    pub(crate) fn available(&self) -> usize {
        self.room.available_permits()
    }
}
