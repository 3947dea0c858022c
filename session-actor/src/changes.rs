//! Changes that wait to be passed on: at most one per kind and URI, however many are announced in between.
//!
//! [`PendingChanges`] is that set. A session has one for notifications that wait for a stream, and a listener has one
//! for changes that its task passes on. `Sessions` leaves changes for a session in [`SessionChanges`], so that a
//! burst costs the session's actor one message; its mailbox would hold them all.
//!
//! Nothing is sent or woken here: `note` returns whether the change is the first pending one, and the caller acts on
//! it.
//!
//! Read next: `listeners`, `session/notices`.

use std::{
    collections::{BTreeSet, HashSet},
    mem,
    sync::{Mutex, MutexGuard, PoisonError},
};

use actix_mcp_router::{Change, internal::normal_of};
use bytestring::ByteString;

/// Pending changes, one per kind and URI.
#[derive(Debug, Default)]
pub(crate) struct PendingChanges(BTreeSet<Change>);

impl PendingChanges {
    /// Notes a change; `true` if none was pending, so the actor or task that passes them on must be notified.
    pub(crate) fn note(&mut self, change: Change) -> bool {
        let first = self.0.is_empty();
        self.0.insert(change);
        first
    }

    /// Takes all of them.
    pub(crate) fn take(&mut self) -> BTreeSet<Change> {
        mem::take(&mut self.0)
    }

    /// Takes the first of them, in the order of kinds and URIs.
    pub(crate) fn pop_first(&mut self) -> Option<Change> {
        self.0.pop_first()
    }

    pub(crate) fn remove(&mut self, change: &Change) {
        self.0.remove(change);
    }

    /// Puts back changes that could not be passed on.
    pub(crate) fn put_back(&mut self, mut changes: BTreeSet<Change>) {
        self.0.append(&mut changes);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

/// The changes since a session last took them. Shared by the session and its entry in the registry.
///
/// **Invariant:** it holds only changes that concern the session: a resource's are noted only while it is subscribed.
#[derive(Debug, Default)]
pub(crate) struct SessionChanges(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    pending: PendingChanges,
    /// The URIs of the session's subscriptions, in their normal form.
    subscribed: HashSet<ByteString>,
}

impl SessionChanges {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a change; `true` if the session must be sent a message, because no change was pending.
    pub(crate) fn note(&self, change: &Change) -> bool {
        let mut inner = self.lock();
        if let Change::Resource(uri) = change
            && !inner.subscribed.contains(uri)
        {
            return false;
        }
        inner.pending.note(change.clone())
    }

    /// Takes the changes noted since the last call.
    pub(crate) fn take(&self) -> BTreeSet<Change> {
        self.lock().pending.take()
    }

    /// From now on changes of this resource are noted.
    pub(crate) fn subscribe(&self, uri: &ByteString) {
        let normal = normal_of(uri);
        self.lock().subscribed.insert(normal);
    }

    /// From now on changes of this resource are not noted.
    pub(crate) fn unsubscribe(&self, uri: &ByteString) {
        let normal = normal_of(uri);
        let mut inner = self.lock();
        inner.subscribed.remove(&normal);
        // the invariant: the resource no longer concerns the session
        inner.pending.remove(&Change::Resource(normal));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_of_changes_is_one_message_and_only_what_was_subscribed_is_kept() {
        let changes = SessionChanges::default();
        changes.subscribe(&"mem://a".into());
        let told = (0..1_000).flat_map(|n| {
            [Change::Resource(format!("mem://{n}").into()), Change::Tools, Change::Resource("mem://a".into())]
        });
        assert_eq!(told.filter(|change| changes.note(change)).count(), 1);
        assert_eq!(changes.take(), BTreeSet::from([Change::Tools, Change::Resource("mem://a".into())]));
        assert!(changes.note(&Change::Tools), "a change after `take` is the first one again");
    }

    #[test]
    fn a_change_of_an_unsubscribed_resource_is_not_noted_and_the_next_change_is() {
        let changes = SessionChanges::default();
        changes.subscribe(&"mem://a".into());
        assert!(changes.note(&Change::Resource("mem://a".into())));
        changes.unsubscribe(&"mem://a".into());
        assert!(!changes.note(&Change::Resource("mem://a".into())));
        assert!(changes.note(&Change::Tools));
        assert_eq!(changes.take(), BTreeSet::from([Change::Tools]));
    }
}
