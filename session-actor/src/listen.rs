//! `subscriptions/listen`: a request that is answered by notices of changes, for as long as its client likes.
//!
//! It is one long request like any other: cancelled as they are, and counted with them. Its task only ever waits for a change
//! or for the end, so an idle one has no timer. No code of an author runs in it.
//!
//! **Invariants:** the acknowledgement comes first, and no change that follows it is lost; at most one notice a kind and URI
//! waits, however long the reader is stalled. A subscription that the server ends has its result; one that its client ends
//! sends nothing more.
//!
//! Read next: `listeners` (who hears what).

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

/// The permit of one subscription among those of its server, taken before anything is looked at.
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
    /// A permit for a request that wants to listen; `None` for any other.
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

    /// The way to end the subscription.
    pub(crate) fn listener(&self) -> &Arc<Listener> {
        &self.listener
    }
}

/// A subscription that hears what changes. Dropped, it hears nothing any more.
struct Subscription {
    permit: ListenPermit,
    name: u64,
    /// Resources by the normal form of their URI.
    changes: Box<[Change]>,
    /// What the client calls the resources of which that is not the normal form: usually none.
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

    /// The notice of a change; a resource has the name by which the client asked for it.
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

/// Serves one subscription. What it does not need for long, such as the request's body, is dropped here.
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
            // before the acknowledgement is sent: what changes from now on is heard
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
        // boxed: an idle subscription does not carry its size
        Box::pin(pass_on(&*link, &id, &subscription)).await;
    }
    // what was heard before the end is told before it, as far as there is room now
    for change in listener.take() {
        let notice = subscription.notice(&id, &change);
        let room = link.try_reserve(notice.len());
        if room.0.is_some() {
            link.deliver(notice, room);
        }
    }
    Reply { json: router.listen_result(&id, revision), code: None }
}

/// Passes on what was heard, after a moment in which later changes join it. Keeps what the end leaves no time for.
async fn pass_on(link: &dyn Link, id: &RequestId, subscription: &Subscription) {
    let ListenPermit { listener, coalesce, .. } = &subscription.permit;
    let coalesce = *coalesce;
    // all the same whether the time is over or the subscription
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

/// Waits for room, which bounds what a stalled reader is owed; `None` once the subscription ends.
async fn reserve(link: &dyn Link, listener: &Listener, bytes: usize, pause: Duration) -> Option<Permit> {
    loop {
        let ended = std::pin::pin!(listener.ended());
        let Either::Left((room, _)) = select(link.reserve(bytes), ended).await else { return None };
        if room.0.is_some() {
            return Some(room);
        }
        if !link.is_live() {
            // nobody is there any more
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
