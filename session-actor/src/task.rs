//! A request's own task: it waits for the admission, runs the handler and reports its end, on the worker that accepted
//! it.
//!
//! It outlives the HTTP future that started it: dropping that leaves neither a running call without an entry nor an
//! entry without a call. Before the session admits the request, the task only waits.
//!
//! Read next: `session/admit` (the admission), `session/report` (the end).

use std::{future::Future, sync::Arc};

use actix::Addr;
use actix_mcp_router::{
    Cancelled,
    internal::{CallContext, Reply, Request, Router, TransportContext},
};
use actix_rt::time::sleep;
use futures_util::future::{Either, poll_immediate, select};
use tokio::{sync::oneshot, task::coop::unconstrained};
use tracing::{Instrument, Span};

use crate::{
    listen::{self, ListenPermit},
    reply_to::ReplyTo,
    session::{Admission, Admit, Running, SessionActor},
    sessions::Sessions,
    stats::Counter,
};

/// The future that serves an admitted request.
pub(crate) fn work(
    router: &Arc<Router>,
    request: Request,
    context: CallContext,
    listens: Option<ListenPermit>,
) -> impl Future<Output = Reply> + use<> + 'static {
    match listens {
        Some(permit) => Either::Left(listen::serve(permit, router, request, context)),
        None => Either::Right(router.dispatch(request, context)),
    }
}

/// Starts the task of a request, in the current `tracing` span. The answer or refusal goes to `reply_to`.
pub fn serve(
    session: &Addr<SessionActor>,
    router: &Arc<Router>,
    sessions: &Sessions,
    request: Request,
    reply_to: ReplyTo,
    context: TransportContext,
) {
    let (cancelled, peer, span) = (Cancelled::default(), context.peer.clone(), Span::current());
    let (admitted, admission) = oneshot::channel::<Admission>();
    let task = {
        let (router, sessions, cancelled) = (router.clone(), sessions.clone(), cancelled.clone());
        let task = async move {
            // dropped: the session has answered or refused the request itself, or has ended
            let Ok(admission) = admission.await else { return };
            let (report, stream_after) = (admission.report, admission.stream_after);
            // `subscriptions/listen` runs no handler
            let running = admission.listens.is_none().then(|| sessions.stats().count(Counter::InFlight));
            let context = CallContext {
                peer: admission.peer,
                link: admission.link,
                cancelled,
                principal: context.principal,
                http: context.http,
            };
            let mut reply = std::pin::pin!(work(&router, admission.request, context, admission.listens));
            let reply = match stream_after {
                None => reply.await,
                // a handler that never waits needs no timer
                Some(silence) => match poll_immediate(reply.as_mut()).await {
                    Some(reply) => reply,
                    None => match select(reply.as_mut(), Box::pin(unconstrained(sleep(silence)))).await {
                        Either::Left((reply, _)) => reply,
                        Either::Right(_) => {
                            report.start_stream();
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
    session.do_send(Admit { request, peer, running, reply_to, admitted });
}
