//! The bounded queues between a handler and the bytes of its stream.
//!
//! A message holds its [`Room`] from the moment its author was allowed to send it until its bytes leave the last queue, so
//! the room of a stream bounds all its queues at once, and a message that is dropped anywhere gives its room back.
//!
//! **Invariant:** a frame that must arrive (an answer, a request to the client) is never dropped to make room.

use std::{
    collections::VecDeque,
    future::poll_fn,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll, Waker},
    time::Duration,
};

use actix_mcp_router::link::Room;
use bytes::Bytes;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    task::consume_budget,
    time::Instant,
};

use crate::stats::Stats;

/// A message counts for at least this share of a queue, which so holds at most 256 messages.
const MIN_SHARE: usize = 256; // messages
/// A stream that has not moved for this long makes the oldest message go, where nobody closes one that stands still.
const STILL: Duration = Duration::from_secs(1);

/// The room of one stream: how much may wait in its queues.
#[derive(Debug)]
pub struct Flow {
    bytes: usize,
    room: Arc<Semaphore>,
    /// How long the stream may stand still before a message that waits for room goes without.
    patience: Duration,
    /// Counts frames that left; unchanged means that the stream stands still.
    moved: AtomicU64,
    /// Counts messages that were dropped.
    dropped: AtomicU64,
    /// Of the server, which counts them too.
    stats: Stats,
}

impl Flow {
    /// Room for `bytes` bytes, or a 256th of that many messages. A message waits for a second.
    #[must_use]
    pub fn new(bytes: usize, stats: Stats) -> Arc<Self> {
        Self::with_patience(bytes, STILL, stats)
    }

    /// The same for a stream that is closed when it stands still for so long, which gives all room back.
    ///
    /// A reader is slow in bursts: between it and this queue are the buffers of the connection and of two kernels, which
    /// ask for more when half of them is empty. What looks still for a second may be read all the time.
    #[must_use]
    pub(crate) fn with_patience(bytes: usize, patience: Duration, stats: Stats) -> Arc<Self> {
        let bytes = bytes.clamp(MIN_SHARE, Semaphore::MAX_PERMITS >> 3);
        Arc::new(Self {
            bytes,
            room: Arc::new(Semaphore::new(bytes)),
            patience,
            moved: AtomicU64::new(0),
            dropped: AtomicU64::new(0),
            stats,
        })
    }

    /// How many messages were dropped: to make room, or because the client reads no stream.
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// Counts one more message that was dropped. `true` if it is the first.
    pub(crate) fn count_dropped(&self) -> bool {
        self.stats.count_dropped();
        self.dropped.fetch_add(1, Ordering::Relaxed) == 0
    }

    pub(crate) fn stats(&self) -> &Stats {
        &self.stats
    }

    fn share(&self, bytes: usize) -> u32 {
        u32::try_from(bytes.clamp(self.bytes / MIN_SHARE, self.bytes)).unwrap_or(u32::MAX)
    }

    /// Whether there is room now.
    pub(crate) fn has_room(&self, bytes: usize) -> bool {
        self.room.available_permits() >= self.share(bytes) as usize
    }

    /// The room there is now.
    pub(crate) fn try_room(&self, bytes: usize) -> Room {
        Room(self.room.clone().try_acquire_many_owned(self.share(bytes)).ok())
    }

    /// Waits for room; gives up, without any, when the stream stands still. Where there is room, it lets others run now and
    /// then: of a stream that nobody reads, all room comes back at once.
    ///
    /// # Cancellation
    ///
    /// A dropped wait takes no room.
    pub(crate) async fn room(self: Arc<Self>, bytes: usize) -> Room {
        consume_budget().await;
        // the usual case, which needs no timer
        let room = self.try_room(bytes);
        if room.0.is_some() {
            return room;
        }
        let mut acquire = std::pin::pin!(self.room.clone().acquire_many_owned(self.share(bytes)));
        loop {
            let before = self.moved.load(Ordering::Relaxed);
            match tokio::time::timeout(self.patience, acquire.as_mut()).await {
                Ok(permit) => return Room(permit.ok()),
                Err(_) if self.moved.load(Ordering::Relaxed) == before => return Room(None),
                Err(_) => {}
            }
        }
    }
}

/// No room, since nobody waits for what a call says. A handler that goes on saying it must not keep its worker from what
/// would end it.
pub(crate) async fn no_room() -> Room {
    consume_budget().await;
    Room(None)
}

/// One message on its way out.
#[derive(Debug)]
pub(crate) struct Frame {
    pub(crate) bytes: Bytes,
    /// Given back when the frame is dropped, wherever that is.
    pub(crate) room: Room,
    /// Whether it may go to make room: notifications may, answers and requests to the client may not.
    pub(crate) droppable: bool,
}

impl Frame {
    pub(crate) fn kept(bytes: Bytes) -> Self {
        Self { bytes, room: Room(None), droppable: false }
    }
}

/// Frames in order. For a frame without room, the oldest that may go make way.
#[derive(Debug, Default)]
pub(crate) struct Backlog(VecDeque<Frame>);

/// What made way for a frame. Best dropped outside of locks: its room goes to those who wait.
#[derive(Debug, Default)]
pub(crate) struct Gone {
    bytes: usize,
    /// What the frame that came in did not need of their room.
    room: Option<OwnedSemaphorePermit>,
    /// The limit of the stream's queues, if these are the first to go.
    limit: Option<usize>,
}

impl Gone {
    fn room(&self) -> usize {
        self.room.as_ref().map_or(0, OwnedSemaphorePermit::num_permits)
    }
}

impl Drop for Gone {
    fn drop(&mut self) {
        if let Some(limit) = self.limit {
            log::warn!(
                "a stream is full (the limit is {limit} bytes or {MIN_SHARE} messages): its oldest messages go"
            );
        }
    }
}

impl Backlog {
    /// Puts a frame in, in the place and the room of those that make way for it: so there is at most one without.
    pub(crate) fn push(&mut self, mut frame: Frame, flow: &Flow) -> Gone {
        let mut gone = Gone::default();
        if frame.droppable && frame.room.0.is_none() {
            let share = flow.share(frame.bytes.len()) as usize;
            while gone.room() < share && self.drop_oldest(&mut gone) {
                if flow.count_dropped() {
                    gone.limit = Some(flow.bytes);
                }
            }
            let share = share.min(gone.room());
            frame.room.0 = gone.room.as_mut().and_then(|room| room.split(share));
        }
        self.0.push_back(frame);
        gone
    }

    fn drop_oldest(&mut self, gone: &mut Gone) -> bool {
        let oldest = self.0.iter().position(|frame| frame.droppable);
        let Some(oldest) = oldest.and_then(|oldest| self.0.remove(oldest)) else { return false };
        gone.bytes += oldest.bytes.len();
        match (&mut gone.room, oldest.room.0) {
            (Some(room), Some(more)) if Arc::ptr_eq(room.semaphore(), more.semaphore()) => room.merge(more),
            (none @ None, more) => *none = more,
            (Some(_), _) => {}
        }
        true
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn take(&mut self) -> VecDeque<Frame> {
        std::mem::take(&mut self.0)
    }
}

/// Makes the queue of one stream: the session's end and the writer's end.
#[must_use]
pub fn queue(flow: Arc<Flow>) -> (Sink, Source) {
    let shared = Arc::new(Shared { flow, state: Mutex::default() });
    (Sink(shared.clone()), Source(shared))
}

#[derive(Debug)]
struct Shared {
    flow: Arc<Flow>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    backlog: Backlog,
    bytes: usize,
    /// Since when the writer has taken nothing although something waits.
    waiting_since: Option<Instant>,
    /// The writer, waiting for a frame.
    reader: Option<Waker>,
    /// Whoever waits for the writer to go, or to catch up.
    watcher: Option<Waker>,
    /// No frame will follow.
    finished: bool,
    /// The writer has gone.
    closed: bool,
}

impl State {
    /// Takes all frames out, for the caller to drop outside the lock.
    fn clear(&mut self) -> VecDeque<Frame> {
        self.bytes = 0;
        self.waiting_since = None;
        self.backlog.take()
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The end of a queue that frames are put into.
#[derive(Clone, Debug)]
pub struct Sink(Arc<Shared>);

impl Sink {
    /// Puts a frame in; it is dropped if the writer has gone.
    pub(crate) fn push(&self, frame: Frame) {
        let mut state = self.0.lock();
        if state.closed || state.finished {
            return;
        }
        state.bytes += frame.bytes.len();
        let gone = state.backlog.push(frame, &self.0.flow);
        state.bytes -= gone.bytes;
        state.waiting_since.get_or_insert_with(Instant::now);
        let reader = state.reader.take();
        drop(state);
        drop(gone);
        if let Some(reader) = reader {
            reader.wake();
        }
    }

    /// Nothing follows: the writer ends when it has written what is there.
    pub(crate) fn finish(&self) {
        let mut state = self.0.lock();
        state.finished = true;
        let wakers = [state.reader.take(), state.watcher.take()];
        drop(state);
        wakers.into_iter().flatten().for_each(Waker::wake);
    }

    /// Nothing follows, and what waits is dropped: the writer ends at once, and the room is given back.
    pub(crate) fn cut(&self) {
        let frames = self.0.lock().clear();
        self.finish();
        // gives the room back, outside the lock
        drop(frames);
    }

    /// The stream's room.
    #[must_use]
    pub fn flow(&self) -> &Arc<Flow> {
        &self.0.flow
    }

    /// How many frames wait.
    pub(crate) fn len(&self) -> usize {
        self.0.lock().backlog.0.len()
    }

    /// How long until the writer has stood still for so long: zero if it has, `None` while nothing waits for it.
    pub(crate) fn stalls_in(&self, stall: Duration) -> Option<Duration> {
        let since = self.0.lock().waiting_since?;
        Some(stall.saturating_sub(since.elapsed()))
    }

    /// Whether frames that are put in now can still be taken out.
    pub(crate) fn is_open(&self) -> bool {
        let state = self.0.lock();
        !state.closed && !state.finished
    }

    /// Waits until the writer has gone, or has taken all that there will be.
    pub(crate) async fn gone(&self) {
        self.watch(|state| state.closed || (state.finished && state.backlog.is_empty())).await;
    }

    /// Waits until less than this many bytes and frames wait, or the writer has gone.
    ///
    /// One task at a time may wait here: a second one would take the first one's wake-up. It waits at the pipe of a
    /// session, where no stream waits for its writer to go.
    pub async fn below(&self, bytes: usize, frames: usize) {
        self.watch(|state| state.closed || (state.bytes < bytes && state.backlog.0.len() < frames)).await;
    }

    async fn watch(&self, until: impl Fn(&State) -> bool) {
        poll_fn(|cx| {
            let mut state = self.0.lock();
            if until(&state) {
                return Poll::Ready(());
            }
            state.watcher = Some(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }
}

/// The end of a queue that its writer takes frames from. Dropping it closes the queue.
#[derive(Debug)]
pub struct Source(Arc<Shared>);

impl Source {
    /// The next frame's bytes; `None` once the queue is finished and empty.
    pub fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let mut state = self.0.lock();
        let Some(frame) = state.backlog.0.pop_front() else {
            if state.finished {
                return Poll::Ready(None);
            }
            // a stream may wait for hours, and there may be thousands: none keeps memory for what may come
            state.backlog = Backlog::default();
            state.reader = Some(cx.waker().clone());
            return Poll::Pending;
        };
        state.bytes -= frame.bytes.len();
        state.waiting_since = (!state.backlog.is_empty()).then(Instant::now);
        let watcher = state.watcher.take();
        drop(state);
        self.0.flow.moved.fetch_add(1, Ordering::Relaxed);
        if let Some(watcher) = watcher {
            watcher.wake();
        }
        Poll::Ready(Some(frame.bytes))
    }

    /// Waits for the next frame.
    ///
    /// # Cancellation
    ///
    /// May be dropped and called again; no frame is lost.
    pub async fn next(&mut self) -> Option<Bytes> {
        poll_fn(|cx| self.poll_next(cx)).await
    }

    /// The next frame, if there is one now.
    pub fn try_next(&mut self) -> Option<Bytes> {
        match self.poll_next(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(frame) => frame,
            Poll::Pending => None,
        }
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.closed = true;
        let frames = state.clear();
        let watcher = state.watcher.take();
        drop(state);
        // gives the room back, outside the lock
        drop(frames);
        if let Some(watcher) = watcher {
            watcher.wake();
        }
    }
}

#[cfg(test)]
#[path = "queue_tests.rs"]
mod tests;
