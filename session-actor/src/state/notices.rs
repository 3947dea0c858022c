//! The resource subscriptions of a session, and the change notifications that wait for a stream: at most one per kind
//! and URI.
//!
//! The actor decides when they are sent.
//!
//! Read next: `changes`, `session/notices`.

use actix_mcp_router::{Change, internal::normal_of};
use bytestring::ByteString;

use super::{Phase, SessionState, Subscription};
use crate::stats::Counted;

impl<C, R> SessionState<C, R> {
    /// Subscribes to a resource. A second subscription, however its URI is spelled, has no effect. `false` at the
    /// limit.
    pub(crate) fn subscribe(&mut self, uri: ByteString, count: impl FnOnce() -> Counted) -> bool {
        let normal = normal_of(&uri);
        if self.subscriptions.contains_key(&normal) {
            return true;
        }
        if self.subscriptions.len() >= self.limits.subscriptions {
            return false;
        }
        self.subscriptions.insert(normal, Subscription { uri, _counted: count() });
        true
    }

    /// A change as its notification names it: a resource by the URI with which the client first subscribed.
    pub(crate) fn as_asked(&self, change: &Change) -> Change {
        let Change::Resource(normal) = change else { return change.clone() };
        let asked = self.subscriptions.get(normal).map(|subscription| subscription.uri.clone());
        Change::Resource(asked.unwrap_or_else(|| normal.clone()))
    }

    pub(crate) fn unsubscribe(&mut self, uri: &ByteString) {
        let normal = normal_of(uri);
        self.subscriptions.remove(&normal);
        self.notices.remove(&Change::Resource(normal));
    }

    /// Notes a change, its URI in the normal form, for a notification; there is one per kind and URI. `false` if the
    /// change does not concern this session.
    pub(crate) fn changed(&mut self, change: Change) -> bool {
        if let Change::Resource(uri) = &change
            && !self.subscriptions.contains_key(uri)
        {
            return false;
        }
        self.notices.note(change);
        true
    }

    /// Takes one waiting notification, if the client is ready for them.
    pub(crate) fn next_notice(&mut self) -> Option<Change> {
        if self.phase < Phase::Ready { None } else { self.notices.pop_first() }
    }

    /// Puts back a notification that could not be sent.
    pub(crate) fn put_back(&mut self, change: Change) {
        self.notices.note(change);
    }

    pub(crate) fn has_notices(&self) -> bool {
        !self.notices.is_empty()
    }
}
