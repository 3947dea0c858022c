//! Who listens: the open subscriptions of a server, by the changes they want to hear of.
//!
//! A change looks up its own listeners only and leaves with each the fact that it happened: a burst is one change and one
//! wake-up, however slowly the listener's task runs. Nothing is sent from here.
//!
//! **Invariant:** a listener in the table hears every change that is told from then on, and holds at most one of each kind
//! and URI. No lock is held while another task is woken.
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

/// One subscription: what it has heard and not passed on yet. Shared by its task, by the listeners, and by the session on
/// whose pipe it is.
#[derive(Debug, Default)]
pub(crate) struct Listener(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    pending: PendingChanges,
    /// The server, or the client's session, ends: nothing more is heard.
    ended: bool,
    /// The listener's task, waiting.
    task: Option<Waker>,
}

impl Listener {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a change; whom to wake, if nothing waited before.
    fn note(&self, change: &Change) -> Option<Waker> {
        let mut state = self.lock();
        if state.pending.note(change.clone()) { state.task.take() } else { None }
    }

    /// Ends the subscription: its task passes on what was heard, and answers.
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

    /// What was heard since the last look.
    pub(crate) fn take(&self) -> BTreeSet<Change> {
        self.lock().pending.take()
    }

    /// Forgets a change that is being passed on: the notice tells of what was heard while it waited as well.
    pub(crate) fn forget(&self, change: &Change) {
        self.lock().pending.remove(change);
    }

    /// Puts back what could not be passed on.
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
    /// The server shuts down: a new listener is ended at once.
    ended: bool,
}

impl Listeners {
    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a listener to these changes; it hears what is told from here on.
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

    /// Tells a change to those who listen for it.
    pub(crate) fn tell(&self, change: &Change) {
        let table = self.lock();
        let names = table.by_change.get(change).into_iter().flatten();
        let listeners = names.filter_map(|name| table.by_name.get(name));
        let waiting = listeners.filter_map(|listener| listener.note(change)).collect::<Vec<_>>();
        drop(table);
        waiting.into_iter().for_each(Waker::wake);
    }

    /// Ends every subscription, and those to come.
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
