//! The open subscriptions of a server, by the changes they listen for.
//!
//! A change is noted with its own listeners only: a burst is one pending change and one wake-up, however slowly the
//! listener's task runs. Nothing is sent from here.
//!
//! **Invariant:** a listener in the table gets every change announced from then on, and holds at most one per kind and
//! URI. No lock is held while another task is woken.
//!
//! Read next: `changes` (the set), `listen` (the task that passes them on).

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    future::poll_fn,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll, Waker},
};

use actix_mcp_router::Change;

use crate::changes::PendingChanges;

/// One subscription: the changes it has not passed on yet. Shared by its task, the table and, on a pipe, the session.
#[derive(Debug, Default)]
pub(crate) struct Listener(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    pending: PendingChanges,
    /// The server, or the client's session, ends: the task stops waiting for changes.
    ended: bool,
    /// Wakes the listener's task.
    task: Option<Waker>,
}

impl Listener {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a change; returns the task to wake, if no change was pending.
    fn note(&self, change: &Change) -> Option<Waker> {
        let mut state = self.lock();
        if state.pending.note(change.clone()) { state.task.take() } else { None }
    }

    /// Ends the subscription: its task passes on the pending changes, and answers.
    pub(crate) fn end(&self) {
        let mut state = self.lock();
        state.ended = true;
        let task = state.task.take();
        drop(state);
        if let Some(task) = task {
            task.wake();
        }
    }

    /// Waits for a change; `false` once the subscription ends. One task at a time waits here, or for the end.
    pub(crate) async fn change(&self) -> bool {
        poll_fn(|cx| self.poll(cx, |state| !state.pending.is_empty())).await
    }

    /// Waits until the subscription ends.
    pub(crate) async fn ended(&self) {
        poll_fn(|cx| self.poll(cx, |_| false)).await;
    }

    fn poll(&self, cx: &Context<'_>, until: impl Fn(&State) -> bool) -> Poll<bool> {
        let mut state = self.lock();
        if state.ended {
            return Poll::Ready(false);
        }
        if until(&state) {
            return Poll::Ready(true);
        }
        if !state.task.as_ref().is_some_and(|task| task.will_wake(cx.waker())) {
            state.task = Some(cx.waker().clone());
        }
        Poll::Pending
    }

    /// Takes the pending changes.
    pub(crate) fn take(&self) -> BTreeSet<Change> {
        self.lock().pending.take()
    }

    /// Forgets a change that is being passed on: its notification also covers the same change announced while it
    /// waited.
    pub(crate) fn forget(&self, change: &Change) {
        self.lock().pending.remove(change);
    }

    /// Puts back changes that could not be passed on.
    pub(crate) fn put_back(&self, changes: BTreeSet<Change>) {
        self.lock().pending.put_back(changes);
    }
}

/// The listeners of one server.
#[derive(Debug, Default)]
pub(crate) struct Listeners {
    table: Mutex<Table>,
    /// Names a listener in the table.
    names: AtomicU64,
}

#[derive(Debug, Default)]
struct Table {
    by_name: HashMap<u64, Arc<Listener>>,
    by_change: HashMap<Change, HashSet<u64>>,
    /// The server is shutting down: a new listener is ended at once.
    ended: bool,
}

impl Listeners {
    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a listener for these changes; it gets those announced from now on.
    pub(crate) fn add(&self, listener: &Arc<Listener>, changes: &[Change]) -> u64 {
        let name = self.names.fetch_add(1, Ordering::Relaxed);
        let mut table = self.lock();
        for change in changes {
            table.by_change.entry(change.clone()).or_default().insert(name);
        }
        table.by_name.insert(name, listener.clone());
        let ended = table.ended;
        drop(table);
        if ended {
            listener.end();
        }
        name
    }

    pub(crate) fn remove(&self, name: u64, changes: &[Change]) {
        let mut table = self.lock();
        for change in changes {
            if let Some(names) = table.by_change.get_mut(change) {
                names.remove(&name);
                if names.is_empty() {
                    table.by_change.remove(change);
                }
            }
        }
        let gone = table.by_name.remove(&name);
        drop(table);
        // dropped outside the lock
        drop(gone);
    }

    /// Notes a change with those who listen for it, and wakes their tasks.
    pub(crate) fn tell(&self, change: &Change) {
        let table = self.lock();
        let names = table.by_change.get(change).into_iter().flatten();
        let listeners = names.filter_map(|name| table.by_name.get(name));
        let waiting = listeners.filter_map(|listener| listener.note(change)).collect::<Vec<_>>();
        drop(table);
        waiting.into_iter().for_each(Waker::wake);
    }

    /// Ends every subscription; later ones end at once.
    pub(crate) fn end(&self) {
        let mut table = self.lock();
        table.ended = true;
        let all = table.by_name.values().cloned().collect::<Vec<_>>();
        drop(table);
        all.iter().for_each(|listener| listener.end());
    }

    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        let table = self.lock();
        table.by_name.is_empty() && table.by_change.is_empty()
    }
}

#[cfg(test)]
#[path = "listeners_tests.rs"]
mod tests;
