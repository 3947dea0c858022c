//! `subscriptions/listen`: a long-lived request that streams change notifications until the client ends it.
//!
//! It is cancelled like any other request, but has its own counter and limit. Its task only waits for a change or for
//! the end, so an idle one has no timer. It runs no handler code.
//!
//! **Invariants:** the acknowledgement comes first, and no change after it is lost; at most one notification per kind
//! and URI waits, however long the reader is stalled. A subscription that the server ends gets a result; one that its
//! client ends sends nothing more.
//!
//! Read next: `listeners` (the table of open subscriptions).

use std::{fmt, future::ready, sync::Arc, time::Duration};

use actix_mcp_router::{
    Change, Peer, RequestId, Revision,
    internal::{
        CallContext, Feature, Filter, Link, Method, Permit, Reply, Request, Router, acknowledged, notice,
    },
};
use bytes::Bytes;
use futures_util::future::{Either, FutureExt, LocalBoxFuture, select};
use tokio::time::timeout;

use crate::{
    hub::{Full, Hub},
    limits::SessionLimits,
    listeners::{Listener, Listeners},
    reply_to::error_reply,
    stats::Counted,
};

/// The permit of one subscription of the server, taken before the parameters are read.
pub(crate) struct ListenPermit {
    listeners: Arc<Listeners>,
    listener: Arc<Listener>,
    coalesce: Duration,
    resources: usize,
    _counted: Counted,
}

impl fmt::Debug for ListenPermit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ListenPermit").field("listener", &self.listener).finish_non_exhaustive()
    }
}

impl ListenPermit {
    /// A permit for a `subscriptions/listen` request; `None` for any other.
    pub(crate) fn of<S, P>(
        hub: &Hub<S, P>,
        limits: &SessionLimits,
        request: &Request,
        peer: &Peer,
    ) -> Result<Option<Self>, Full> {
        let listens =
            peer.revision.has(Feature::Stateless) && Method::of(&request.method) == Some(Method::Listen);
        if !listens {
            return Ok(None);
        }
        Ok(Some(Self {
            _counted: hub.count_listen()?,
            listeners: hub.listeners().clone(),
            listener: Arc::default(),
            coalesce: limits.coalesce,
            resources: limits.subscriptions,
        }))
    }

    /// The listener, which can end the subscription.
    pub(crate) fn listener(&self) -> &Arc<Listener> {
        &self.listener
    }
}

/// A subscription in the table of listeners; dropping it removes it.
struct Subscription {
    permit: ListenPermit,
    name: u64,
    /// Resources by the normal form of their URI.
    changes: Box<[Change]>,
    /// The normal form and the client's spelling of the resources for which they differ: usually none.
    asked: Box<[(Change, Change)]>,
}

impl Subscription {
    fn new(permit: ListenPermit, filter: Filter) -> Self {
        let changes = filter.changes().collect::<Box<[_]>>();
        let written = filter.uris.into_iter().map(Change::Resource);
        let asked =
            written.map(|written| (written.normal(), written)).filter(|(normal, asked)| normal != asked);
        let name = permit.listeners.add(&permit.listener, &changes);
        Self { permit, name, changes, asked: asked.collect() }
    }

    /// The notification of a change; a resource is named as the client spelled it.
    fn notice(&self, id: &RequestId, change: &Change) -> Bytes {
        let asked = self.asked.iter().find(|(normal, _)| normal == change);
        notice(id, asked.map_or(change, |(_, asked)| asked))
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.permit.listeners.remove(self.name, &self.changes);
    }
}

/// Serves one subscription. Values it does not need for long, such as the request's body, are dropped here.
pub(crate) fn serve(
    permit: ListenPermit,
    router: &Arc<Router>,
    request: Request,
    context: CallContext,
) -> LocalBoxFuture<'static, Reply> {
    let Request { id, params, .. } = request;
    match router.listen_filter(&params, permit.resources) {
        Ok(filter) => {
            let acknowledgement = acknowledged(&id, &filter);
            // before the acknowledgement is sent, so that no later change is missed
            let subscription = Subscription::new(permit, filter);
            let (router, revision) = (router.clone(), context.peer.revision);
            run(router, revision, context.link, id, subscription, acknowledgement).boxed_local()
        }
        Err(error) => ready(error_reply(&id, &error)).boxed_local(),
    }
}

async fn run(
    router: Arc<Router>,
    revision: Revision,
    link: Arc<dyn Link>,
    id: RequestId,
    subscription: Subscription,
    acknowledgement: Bytes,
) -> Reply {
    // MCP 2026-07-28 basic/patterns/subscriptions, Acknowledgment: MUST be the first message
    let room = link.try_reserve(acknowledgement.len());
    link.deliver(acknowledgement, room);
    let listener = &subscription.permit.listener;
    while listener.change().await {
        // boxed, so that an idle subscription does not carry its size
        Box::pin(pass_on(&*link, &id, &subscription)).await;
    }
    // changes before the end are sent before the result, as far as there is room now
    for change in listener.take() {
        let notice = subscription.notice(&id, &change);
        let room = link.try_reserve(notice.len());
        if room.0.is_some() {
            link.deliver(notice, room);
        }
    }
    Reply { json: router.listen_result(&id, revision), code: None }
}

/// Passes on the pending changes, after a delay that merges repeated ones. Those left at the end stay pending.
async fn pass_on(link: &dyn Link, id: &RequestId, subscription: &Subscription) {
    let ListenPermit { listener, coalesce, .. } = &subscription.permit;
    let coalesce = *coalesce;
    // it does not matter whether the delay or the subscription is over
    drop(timeout(coalesce, listener.ended()).await);
    let mut changes = listener.take();
    while let Some(change) = changes.pop_first() {
        let notice = subscription.notice(id, &change);
        match reserve(link, listener, notice.len(), coalesce).await {
            Some(room) => {
                listener.forget(&change);
                link.deliver(notice, room);
            }
            None => {
                changes.insert(change);
                return listener.put_back(changes);
            }
        }
    }
}

/// Waits for room, which bounds what is queued for a stalled reader; `None` once the subscription ends.
async fn reserve(link: &dyn Link, listener: &Listener, bytes: usize, pause: Duration) -> Option<Permit> {
    loop {
        let ended = std::pin::pin!(listener.ended());
        let Either::Left((room, _)) = select(link.reserve(bytes), ended).await else { return None };
        if room.0.is_some() {
            return Some(room);
        }
        if !link.is_live() {
            // the client has disconnected
            listener.end();
            return None;
        }
        // the reader is stalled
        if timeout(pause, listener.ended()).await.is_ok() {
            return None;
        }
    }
}

#[cfg(test)]
#[path = "listen_tests.rs"]
mod tests;
