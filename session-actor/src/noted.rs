//! What has changed and a session has not looked at yet: where the registry leaves it, so that a burst of changes is one
//! message to the session and not one each.
//!
//! **Invariant:** it holds at most one change a kind and subscribed URI, however many are announced before the session's
//! actor gets its turn. A mailbox would hold them all.

use std::{
    collections::{BTreeSet, HashSet},
    mem,
    sync::{Mutex, MutexGuard, PoisonError},
};

use actix_mcp_router::{Change, internal::normal_of};
use bytestring::ByteString;

/// Shared by a session and the registry.
#[derive(Debug, Default)]
pub(crate) struct Noted(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    changes: BTreeSet<Change>,
    /// The URIs of the session's subscriptions, in their normal form: a change of any other is not kept here.
    subscribed: HashSet<ByteString>,
}

impl Noted {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a change; `true` if the session must be told to look, since it has not been yet.
    pub(crate) fn note(&self, change: &Change) -> bool {
        let mut inner = self.lock();
        if let Change::Resource(uri) = change
            && !inner.subscribed.contains(uri)
        {
            return false;
        }
        let first = inner.changes.is_empty();
        inner.changes.insert(change.clone());
        first
    }

    /// What was noted since the last look.
    pub(crate) fn take(&self) -> BTreeSet<Change> {
        mem::take(&mut self.lock().changes)
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
        // or a session that nobody tells to look any more would be left with it
        inner.changes.remove(&Change::Resource(normal));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_of_changes_is_one_message_and_only_what_was_subscribed_is_kept() {
        let noted = Noted::default();
        noted.subscribe(&"mem://a".into());
        let told = (0..1_000).flat_map(|n| {
            [Change::Resource(format!("mem://{n}").into()), Change::Tools, Change::Resource("mem://a".into())]
        });
        assert_eq!(told.filter(|change| noted.note(change)).count(), 1);
        assert_eq!(noted.take(), BTreeSet::from([Change::Tools, Change::Resource("mem://a".into())]));
        assert!(noted.note(&Change::Tools), "what comes after a look is told again");
    }

    #[test]
    fn an_unsubscribed_resource_is_noted_no_more_and_the_next_change_is_told() {
        let noted = Noted::default();
        noted.subscribe(&"mem://a".into());
        assert!(noted.note(&Change::Resource("mem://a".into())));
        noted.unsubscribe(&"mem://a".into());
        assert!(!noted.note(&Change::Resource("mem://a".into())));
        assert!(noted.note(&Change::Tools));
        assert_eq!(noted.take(), BTreeSet::from([Change::Tools]));
    }
}
