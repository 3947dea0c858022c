//! The bounded queues between a handler and the bytes of its stream.
//!
//! They are bounded by the stream's byte budget, from which frames take their room. A frame's content is never looked
//! at.
//!
//! **Invariant:** a frame that must arrive (an answer, a request to the client) is never dropped to make room.
//!
//! Read next: `budget`.

use std::{
    collections::VecDeque,
    future::poll_fn,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
    time::Duration,
};

use actix_mcp_router::internal::Permit;
use bytes::Bytes;
use tokio::{sync::OwnedSemaphorePermit, time::Instant};

use crate::budget::{ByteBudget, MAX_MESSAGES};

/// One message on its way out.
#[derive(Debug)]
pub(crate) struct Frame {
    pub(crate) bytes: Bytes,
    /// Given back when the frame is dropped, wherever that is.
    pub(crate) room: Permit,
    /// Whether it may be dropped to make room: notifications may, answers and requests to the client may not.
    pub(crate) droppable: bool,
}

impl Frame {
    pub(crate) fn kept(bytes: Bytes) -> Self {
        Self { bytes, room: Permit(None), droppable: false }
    }
}

/// Frames in order. For a frame without room, the oldest droppable ones are dropped.
#[derive(Debug, Default)]
pub(crate) struct Backlog(VecDeque<Frame>);

/// The room of frames that were dropped for another. Best dropped outside of locks: it wakes those who wait for room.
#[derive(Debug, Default)]
pub(crate) struct Gone {
    bytes: usize,
    /// The part of their room that the new frame did not need.
    room: Option<OwnedSemaphorePermit>,
    /// The limit of the stream's queues, if these are the first dropped frames.
    limit: Option<usize>,
}

impl Gone {
    fn permits(&self) -> usize {
        self.room.as_ref().map_or(0, OwnedSemaphorePermit::num_permits)
    }
}

impl Drop for Gone {
    fn drop(&mut self) {
        if let Some(limit) = self.limit {
            log::warn!(
                "a stream is full (the limit is {limit} bytes or {MAX_MESSAGES} messages): dropping its oldest messages"
            );
        }
    }
}

impl Backlog {
    /// Adds a frame. One without room takes over the room of those dropped for it, so at most one droppable frame has
    /// none.
    pub(crate) fn push(&mut self, mut frame: Frame, budget: &ByteBudget) -> Gone {
        let mut gone = Gone::default();
        if frame.droppable && frame.room.0.is_none() {
            let share = budget.share(frame.bytes.len()) as usize;
            while gone.permits() < share && self.drop_oldest(&mut gone) {
                if budget.count_dropped() {
                    gone.limit = Some(budget.limit());
                }
            }
            let share = share.min(gone.permits());
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

/// Creates the queue of one stream: the end that frames are put into, and the end that its writer takes them from.
#[must_use]
pub fn queue(budget: Arc<ByteBudget>) -> (Sink, Source) {
    let shared = Arc::new(Shared { budget, state: Mutex::default() });
    (Sink(shared.clone()), Source(shared))
}

#[derive(Debug)]
struct Shared {
    budget: Arc<ByteBudget>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    backlog: Backlog,
    bytes: usize,
    /// Since when frames have waited without the writer taking one.
    waiting_since: Option<Instant>,
    /// Wakes the writer when there is a frame.
    reader: Option<Waker>,
    /// Wakes the task that waits for the writer to disconnect or to catch up.
    watcher: Option<Waker>,
    /// No frame will follow.
    finished: bool,
    /// The writer's end was dropped.
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
    /// Adds a frame; it is dropped if the queue is finished or the writer's end was dropped.
    pub(crate) fn push(&self, frame: Frame) {
        let mut state = self.0.lock();
        if state.closed || state.finished {
            return;
        }
        state.bytes += frame.bytes.len();
        let gone = state.backlog.push(frame, &self.0.budget);
        state.bytes -= gone.bytes;
        state.waiting_since.get_or_insert_with(Instant::now);
        let reader = state.reader.take();
        drop(state);
        drop(gone);
        if let Some(reader) = reader {
            reader.wake();
        }
    }

    /// No frame follows: the writer ends when it has written those that wait.
    pub(crate) fn finish(&self) {
        let mut state = self.0.lock();
        state.finished = true;
        let wakers = [state.reader.take(), state.watcher.take()];
        drop(state);
        wakers.into_iter().flatten().for_each(Waker::wake);
    }

    /// No frame follows, and those that wait are dropped: the writer ends at once, and the room is given back.
    pub(crate) fn cut(&self) {
        let frames = self.0.lock().clear();
        self.finish();
        // gives the room back, outside the lock
        drop(frames);
    }

    /// The stream's byte budget.
    #[must_use]
    pub fn budget(&self) -> &Arc<ByteBudget> {
        &self.0.budget
    }

    /// How many frames wait.
    pub(crate) fn len(&self) -> usize {
        self.0.lock().backlog.0.len()
    }

    /// How long until the writer has been stalled for this long: zero if it has been, `None` while no frame waits.
    pub(crate) fn stalls_in(&self, stall: Duration) -> Option<Duration> {
        let since = self.0.lock().waiting_since?;
        Some(stall.saturating_sub(since.elapsed()))
    }

    /// Whether frames that are added now can still be taken out.
    pub(crate) fn is_open(&self) -> bool {
        let state = self.0.lock();
        !state.closed && !state.finished
    }

    /// Waits until the writer's end was dropped, or the queue is finished and empty.
    pub(crate) async fn gone(&self) {
        self.watch(|state| state.closed || (state.finished && state.backlog.is_empty())).await;
    }

    /// Waits until fewer than this many bytes and frames wait, or the writer's end was dropped.
    ///
    /// Only one task at a time may wait here or in `gone`: a second one would replace the first one's waker. This is
    /// for the pipe of a session, where nothing waits in `gone`.
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
            // thousands of streams may wait for hours: none keeps memory for frames to come
            state.backlog = Backlog::default();
            state.reader = Some(cx.waker().clone());
            return Poll::Pending;
        };
        state.bytes -= frame.bytes.len();
        state.waiting_since = (!state.backlog.is_empty()).then(Instant::now);
        let watcher = state.watcher.take();
        drop(state);
        self.0.budget.count_moved();
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
