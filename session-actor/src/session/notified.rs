//! Notifications from the client: it is ready, or it cancels one of its requests.
//!
//! **Invariant:** a notification is never answered, whatever is wrong with it.
//!
//! Read next: `close` (what becomes of a cancelled call's task).

use actix::{Handler, Message};
use actix_mcp_router::internal::{Cancellation, Notification};
use tokio::time::Instant;
use tracing::Span;

use super::{CallEntry, SessionActor};
use crate::{
    reply_to::{ReplyTo, ResponseHead},
    state::Phase,
};

/// A notification from the client. Sent by the transport; lost if the session has ended.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct Notified {
    /// The notification.
    pub notification: Notification,
}

impl Handler<Notified> for SessionActor {
    type Result = ();

    fn handle(&mut self, notified: Notified, ctx: &mut Self::Context) {
        let Notification { method, params } = notified.notification;
        self.state.touch(Instant::now());
        match &*method {
            "notifications/initialized" if self.state.phase == Phase::Opened => {
                self.state.phase = Phase::Ready;
                self.release_held();
                self.schedule_flush(ctx);
            }
            "notifications/cancelled" => match Cancellation::read(&params) {
                Some(cancellation) => self.cancel(cancellation),
                None => {
                    log::debug!(session = self.short(); "ignored a cancellation without a valid `requestId`")
                }
            },
            _ => {}
        }
    }
}

impl SessionActor {
    /// Cancels the call with an id: it is taken here, and messages that its handler still sends are dropped.
    ///
    /// An id that is not in flight names a request that has ended or cannot be cancelled, such as `initialize`.
    // MCP 2025-11-25 basic/utilities/cancellation, Behavior Requirements 3 to 5
    fn cancel(&mut self, cancellation: Cancellation) {
        let request_id = &cancellation.request_id;
        let Some(call) = self.state.find(request_id) else {
            log::debug!(session = self.short(), request:% = request_id; "ignored a cancellation for a request id that is not in flight: {cancellation}");
            return;
        };
        let span = self.state.call_mut(call).map_or_else(Span::none, |kept| kept.running.span.clone());
        span.in_scope(|| {
            log::debug!(session = self.short(), request:% = request_id, generation = call.generation(); "the client cancelled a request: {cancellation}");
        });
        // messages sent before the cancellation took effect, and cancellations of the call's own questions
        self.flush_outbox(call);
        self.withdraw_all(call);
        let Some(taken) = self.state.cancel(call, Instant::now()) else { return };
        let CallEntry { running, reply_to, link, .. } = taken.kept;
        drop(link);
        match reply_to {
            // fails if the client has disconnected
            Some(ReplyTo::Http(reply)) => drop(reply.head.send(ResponseHead::Cancelled)),
            None => drop(taken.reader),
            Some(ReplyTo::Pipe | ReplyTo::Batch(_)) => {}
        }
        if self.cancel_task(running, cancellation.reason) {
            self.cleaning.insert(call);
        }
        self.check_drained();
    }
}
