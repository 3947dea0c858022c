//! Changes that wait to be passed on: at most one a kind and URI, however many are announced in between.
//!
//! [`PendingChanges`] is that set. A session holds one for the notices that wait for a stream, a listener one for what its
//! task passes on, and the hub leaves changes for a session in [`SessionChanges`], so that a burst of changes is one message
//! to the session's actor. A mailbox would hold them all.
//!
//! Nothing here sends or wakes: `note` says whether it was the first change, and the caller does.
//!
//! Read next: `listeners`, `session/notices`.

use std::{
    collections::{BTreeSet, HashSet},
    mem,
    sync::{Mutex, MutexGuard, PoisonError},
};

use actix_mcp_router::{Change, internal::normal_of};
use bytestring::ByteString;

/// Changes that wait, one a kind and URI.
#[derive(Debug, Default)]
pub(crate) struct PendingChanges(BTreeSet<Change>);

impl PendingChanges {
    /// Notes a change; `true` if none waited before, so that whoever passes them on must hear of it.
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

    /// Puts back what could not be passed on.
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

/// What has changed since a session last looked. Shared by the session and its entry in the registry.
///
/// **Invariant:** it holds only changes that concern the session: a resource is noted while it is subscribed.
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

    /// Notes a change; `true` if the session must be sent a message, since none waited before.
    pub(crate) fn note(&self, change: &Change) -> bool {
        let mut inner = self.lock();
        if let Change::Resource(uri) = change
            && !inner.subscribed.contains(uri)
        {
            return false;
        }
        inner.pending.note(change.clone())
    }

    /// What was noted since the last look.
    pub(crate) fn take(&self) -> BTreeSet<Change> {
        self.lock().pending.take()
    }

    /// From here on changes of this resource are noted.
    pub(crate) fn subscribe(&self, uri: &ByteString) {
        let normal = normal_of(uri);
        self.lock().subscribed.insert(normal);
    }

    /// From here on changes of this resource are not noted.
    pub(crate) fn unsubscribe(&self, uri: &ByteString) {
        let normal = normal_of(uri);
        let mut inner = self.lock();
        inner.subscribed.remove(&normal);
        // otherwise the change would stay, with a session to which no message goes any more
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
        assert!(changes.note(&Change::Tools), "what comes after a look is told again");
    }

    #[test]
    fn an_unsubscribed_resource_is_changes_no_more_and_the_next_change_is_told() {
        let changes = SessionChanges::default();
        changes.subscribe(&"mem://a".into());
        assert!(changes.note(&Change::Resource("mem://a".into())));
        changes.unsubscribe(&"mem://a".into());
        assert!(!changes.note(&Change::Resource("mem://a".into())));
        assert!(changes.note(&Change::Tools));
        assert_eq!(changes.take(), BTreeSet::from([Change::Tools]));
    }
}
