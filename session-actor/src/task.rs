//! A request's own task: admission, handler and report, on the worker that accepted it.
//!
//! It outlives whoever started it: an HTTP future that is dropped leaves neither a call that runs without an entry nor an
//! entry without a call.

use std::{future::Future, sync::Arc};

use actix::{Addr, WeakAddr};
use actix_mcp_router::{
    call::{Bearings, Origin},
    cancelled::Cancelled,
    dispatch::Reply,
    jsonrpc::Request,
    router::Router,
};
use actix_rt::time::sleep;
use futures_util::future::{Either, poll_immediate, select};
use tokio::{sync::oneshot, task::coop::unconstrained};
use tracing::{Instrument, Span};

use crate::{
    listen::{self, Place},
    outlet::Outlet,
    session::{Admission, Admit, Commit, Finished, Running, SessionActor},
    sessions::Sessions,
    stats::Counter,
    token::Token,
};

/// What serves a request that was admitted, whatever it is.
pub(crate) fn work(
    router: &Arc<Router>,
    request: Request,
    origin: Origin,
    listens: Option<Place>,
) -> impl Future<Output = Reply> + use<> + 'static {
    match listens {
        Some(place) => Either::Left(listen::serve(place, router, request, origin)),
        None => Either::Right(router.dispatch(request, origin)),
    }
}

/// Starts the task of a request, in the `tracing` span that is current. Its answer, or its refusal, comes out of the outlet.
pub fn serve(
    session: &Addr<SessionActor>,
    router: &Arc<Router>,
    sessions: &Sessions,
    request: Request,
    outlet: Outlet,
    bearings: Bearings,
) {
    let (cancelled, peer, span) = (Cancelled::default(), bearings.peer.clone(), Span::current());
    let (reply, admission) = oneshot::channel::<Admission>();
    let task = {
        let (router, sessions, cancelled) = (router.clone(), sessions.clone(), cancelled.clone());
        let task = async move {
            // dropped: the session has answered or refused the request itself, or has ended
            let Ok(admission) = admission.await else { return };
            let (report, commit_after) = (admission.report, admission.commit_after);
            // nothing of an author's runs in a request to listen
            let running = admission.listens.is_none().then(|| sessions.stats().count(Counter::InFlight));
            let origin = Origin {
                peer: admission.peer,
                link: admission.link,
                cancelled,
                principal: bearings.principal,
                http: bearings.http,
            };
            let mut reply = std::pin::pin!(work(&router, admission.request, origin, admission.listens));
            let reply = match commit_after {
                None => reply.await,
                // a handler that never waits needs no timer
                Some(silence) => match poll_immediate(reply.as_mut()).await {
                    Some(reply) => reply,
                    None => match select(reply.as_mut(), Box::pin(unconstrained(sleep(silence)))).await {
                        Either::Left((reply, _)) => reply,
                        Either::Right(_) => {
                            report.commit();
                            reply.await
                        }
                    },
                },
            };
            drop(running);
            report.send(reply);
        };
        actix_rt::spawn(task.instrument(span.clone()))
    };
    let running = Running { abort: task.abort_handle(), cancelled, span };
    session.do_send(Admit { request, peer, running, outlet, reply });
}

/// Reports a call's end, whatever it is: without it an id would stay taken for ever.
///
/// Made by the session with the admission, so that there is no moment in which a call is in flight without one.
#[derive(Debug)]
pub(crate) struct Report {
    call: Token,
    /// Weak: a call keeps no session alive.
    session: WeakAddr<SessionActor>,
    sent: bool,
}

impl Report {
    pub(crate) fn new(call: Token, session: WeakAddr<SessionActor>) -> Self {
        Self { call, session, sent: false }
    }

    fn send(mut self, reply: Reply) {
        self.sent = true;
        self.finished(Some(reply));
    }

    /// The call has been silent for so long that whoever waits should see that it lives.
    fn commit(&self) {
        if let Some(session) = self.session.upgrade() {
            session.do_send(Commit { call: self.call });
        }
    }

    fn finished(&self, reply: Option<Reply>) {
        if let Some(session) = self.session.upgrade() {
            session.do_send(Finished { call: self.call, reply });
        }
    }
}

impl Drop for Report {
    fn drop(&mut self) {
        if !self.sent {
            // stale if the call was cancelled, which is the usual reason to get here
            self.finished(None);
        }
    }
}
