//! The session ends: at once, or after running calls have had the drain time.
//!
//! The actor never waits: a handler's grace period has its own task, and the sender of [`Drain`] waits for a channel.
//!
//! Read next: `sessions` (the drain of all sessions).

use std::sync::Arc;

use actix::{ActorContext, Context, Handler, Message};
use actix_mcp_router::{ErrorCode, McpError, internal::cancelled};
use tokio::sync::{Semaphore, oneshot};
use tracing::Instrument;

use super::{CallEntry, Running, SessionActor, streams::RETRY};
use crate::{
    reply_to::{ReplyTo, ResponseHead, error_reply},
    stream::Retry,
    token::Token,
};

/// Ends the session: running calls are cancelled, streams end. Sent by `Sessions` for a DELETE, and by a transport
/// whose client has disconnected or never got the session's id.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct Close;

impl Handler<Close> for SessionActor {
    type Result = ();

    fn handle(&mut self, _: Close, ctx: &mut Self::Context) {
        self.close(ctx);
    }
}

/// The answer to a call that a shutdown no longer waits for.
pub(crate) fn stopped() -> McpError {
    McpError::new(ErrorCode::INTERNAL_ERROR, "the server is shutting down; the call was stopped")
}

/// The reason its handler gets, if it listens for its cancellation.
const SHUTTING_DOWN: &str = "the server is shutting down";

/// Ends the session when the drain time is over: running calls are answered with an error, then as [`Close`]. Sent by
/// the transport or by `Sessions` after [`Drain`]; if the actor is gone, it has nothing left to answer.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct Stop;

impl Handler<Stop> for SessionActor {
    type Result = ();

    fn handle(&mut self, _: Stop, ctx: &mut Self::Context) {
        for call in self.state.calls_in_flight() {
            self.log_stopped(call);
            if let Some(running) = self.finish(call, |id| error_reply(id, &stopped())) {
                self.cancel_task(running, Some(SHUTTING_DOWN.to_owned()));
            }
        }
        self.close(ctx);
    }
}

impl SessionActor {
    /// Notifies those who wait for the drain, if nothing is in flight any more.
    pub(super) fn check_drained(&mut self) {
        if self.state.in_flight() == 0 && self.cleaning.is_empty() {
            for drained in self.drained.drain(..) {
                // fails if the sender of `Drain` has stopped waiting
                drained.send(()).ok();
            }
        }
    }

    /// Stops the task of a cancelled call: at once, or after the grace period if its handler listens for its
    /// cancellation.
    ///
    /// The grace period has its own task: it outlives a session that ends, and a timer here would be polled at every
    /// message. `true` if there is one.
    pub(super) fn cancel_task(&mut self, running: Running, reason: Option<String>) -> bool {
        cancelled::fire(&running.cancelled, reason);
        if !cancelled::is_listening(&running.cancelled) {
            return false;
        }
        let limit = self.state.limits.in_flight;
        let all = || Arc::new(Semaphore::new(limit.min(Semaphore::MAX_PERMITS)));
        let Ok(permit) = self.graces.get_or_insert_with(all).clone().try_acquire_owned() else {
            log::warn!(session = self.short(); "dropping a cancelled call at once: too many are in their grace period (the limit is {limit})");
            return false;
        };
        let grace = self.state.limits.grace;
        let span = running.span.clone();
        let over = async move {
            tokio::time::sleep(grace).await;
            if !running.abort.is_finished() {
                log::debug!("a cancelled call used up its grace period of {grace:?}");
            }
            drop((running, permit));
        };
        actix_rt::spawn(over.instrument(span));
        true
    }

    /// Ends the session: every call is taken, every stream ends, and it can no longer be found.
    pub(super) fn close(&mut self, ctx: &mut Context<Self>) {
        self.registered = None;
        self.pipe_registered = None;
        let (calls, readers) = self.state.close();
        for (_, CallEntry { running, reply_to, link, .. }) in calls {
            drop(link);
            if let Some(ReplyTo::Http(reply)) = reply_to {
                // fails if the client has disconnected
                drop(reply.head.send(ResponseHead::Ended));
            }
            self.cancel_task(running, Some("the session has ended".to_owned()));
        }
        drop(readers);
        self.held.clear();
        self.cleaning.clear();
        self.check_drained();
        if let Some(pipe) = &self.pipe {
            pipe.finish();
        }
        ctx.stop();
    }

    fn log_stopped(&mut self, call: Token) {
        let Some(kept) = self.state.call_mut(call) else { return };
        let (span, target) = (kept.running.span.clone(), kept.target.clone());
        span.in_scope(|| {
            log::warn!(session = self.short(), generation = call.generation(); "the server is shutting down: stopped {target}");
        });
    }
}

/// Admits nothing more, ends standalone streams and subscriptions, and reports when nothing is in flight. Sent by the
/// transport when the client has closed its end or the server shuts down; if the actor is gone, the sender is dropped.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct Drain {
    /// Notified when nothing is in flight.
    pub done: oneshot::Sender<()>,
    /// The client has closed its end and can no longer answer: handlers that wait for an answer get an error.
    pub input_closed: bool,
}

impl Handler<Drain> for SessionActor {
    type Result = ();

    fn handle(&mut self, drain: Drain, _: &mut Self::Context) {
        self.state.drain();
        for reader in self.state.take_standalone() {
            // MCP 2025-11-25 basic/transports, Listening 4: SHOULD send `retry` before it closes the connection
            reader.stream.do_send(Retry { after: RETRY });
            // the stream ends with its reader, which is dropped here
        }
        for listener in self.state.calls().filter_map(|kept| kept.listener.as_ref()) {
            listener.end();
        }
        if drain.input_closed {
            self.input_closed = true;
            self.state.drop_client_requests();
            self.held.clear();
        }
        self.drained.push(drain.done);
        self.check_drained();
    }
}
