//! A call asks the client something: elicitation, sampling, roots.
//!
//! Neither the question nor the answer is looked into here.
//!
//! **Invariant:** a request to the client belongs to the call that asked, is sent on its stream, and ends with the
//! call.
//!
//! Read next: `answered`, `state/client_requests` (the open ones).

use actix::{AsyncContext, Context, Handler};
use actix_mcp_router::{
    QuestionError, RequestId,
    internal::MAX_CLIENT_REQUEST_TIMEOUT,
    internal::{Question, encode_notification, encode_request},
};
use bytestring::ByteString;
use serde_json::json;
use tokio::time::Instant;

use super::{Held, SessionActor};
use crate::{
    link::{Ask, Withdraw},
    queue::Frame,
    state::{self, Phase},
    token::Token,
};

impl Handler<Ask> for SessionActor {
    type Result = ();

    fn handle(&mut self, ask: Ask, ctx: &mut Self::Context) {
        let Ask { call, nth, question, room, reply } = ask;
        // messages that the handler sent before its question are sent first
        self.flush_outbox(call);
        if let Err(error) = self.may_ask(call, &question) {
            // fails if the handler no longer waits
            return drop(reply.send(Err(error)));
        }
        if room.0.is_none() {
            // the stream is stalled and full, and a question could not be dropped later
            log::debug!(session = self.short(), generation = call.generation(); "could not send a question: the stream is stalled and full");
            return drop(reply.send(Err(QuestionError::TimedOut)));
        }
        let timeout = question
            .timeout
            .unwrap_or(self.state.limits.client_request_timeout)
            .min(MAX_CLIENT_REQUEST_TIMEOUT);
        let due = Instant::now() + timeout;
        let id = match self.state.ask(state::ClientRequest { call, nth, due, reply }) {
            Ok(id) => id,
            Err((ask, error)) => {
                log::warn!(session = self.short(), generation = call.generation(); "could not send a question: {error}");
                return drop(ask.reply.send(Err(error)));
            }
        };
        let wire_id = RequestId::Integer(id);
        let bytes = encode_request(&wire_id, question.method, &question.params);
        let frame = Frame { bytes, room, droppable: false };
        let held = Held { id, call, needs: question.needs, frame };
        if self.state.phase < Phase::Ready {
            // MCP 2025-11-25 basic/lifecycle, Initialization: SHOULD NOT send requests before `initialized`
            self.held.push(held);
        } else {
            self.send_ask(held);
        }
        self.watch_requests(due, ctx);
    }
}

impl SessionActor {
    fn may_ask(&self, call: Token, question: &Question) -> Result<(), QuestionError> {
        if self.input_closed || !self.state.is_in_flight(call) {
            return Err(QuestionError::Gone);
        }
        let Some(peer) = &self.peer else { return Err(QuestionError::Gone) };
        match question.needs.iter().find(|need| !peer.capabilities.has(**need)) {
            Some(lacking) => Err(QuestionError::Unsupported(*lacking)),
            None => Ok(()),
        }
    }

    /// Gives the handler that asked its answer; `false` if the request was closed before.
    pub(super) fn resolve(&mut self, id: i64, answer: Result<ByteString, QuestionError>) -> bool {
        let Some(ask) = self.state.answered(&RequestId::Integer(id), Instant::now()) else { return false };
        // fails if the handler no longer waits
        drop(ask.reply.send(answer));
        true
    }

    fn send_ask(&mut self, ask: Held) {
        if !self.send(ask.call, ask.frame) {
            let unsupported =
                ask.needs.first().map_or(QuestionError::Gone, |need| QuestionError::Unsupported(*need));
            self.resolve(ask.id, Err(unsupported));
        }
    }

    /// Makes sure that the open requests are checked when one of them is due.
    ///
    /// One timer for all: each timer of an actor is polled at every message.
    fn watch_requests(&mut self, due: Instant, ctx: &mut Context<Self>) {
        if let Some((armed, timer)) = self.request_timer {
            if armed <= due {
                return;
            }
            ctx.cancel_future(timer);
        }
        let timer = ctx.run_later(due.saturating_duration_since(Instant::now()), |session, ctx| {
            session.request_timer = None;
            for (id, call) in session.state.overdue_requests(Instant::now()) {
                log::debug!(session = session.short(), generation = call.generation(); "the client did not answer in time");
                session.resolve(id, Err(QuestionError::TimedOut));
                session.withdraw(call, id, "timed out");
            }
            if let Some(due) = session.state.next_request_due() {
                session.watch_requests(due, ctx);
            }
        });
        self.request_timer = Some((due, timer));
    }

    /// Cancels a request to the client, by a notification if it was sent.
    // MCP 2025-11-25 basic/lifecycle, Timeouts: SHOULD issue a cancellation notification and stop waiting
    fn withdraw(&mut self, call: Token, id: i64, reason: &str) {
        if self.forget_held(id) {
            return;
        }
        self.send(call, Frame::kept(cancellation(id, reason)));
    }

    /// Removes a request that was never sent, and so needs no cancellation.
    fn forget_held(&mut self, id: i64) -> bool {
        let before = self.held.len();
        self.held.retain(|held| held.id != id);
        before != self.held.len()
    }

    /// Withdraws all open requests of a call that is about to be taken, on its own stream.
    pub(super) fn withdraw_all(&mut self, call: Token) {
        for id in self.state.open_requests(call) {
            self.resolve(id, Err(QuestionError::Gone));
            self.withdraw(call, id, "the call that asked has ended");
        }
    }

    /// Sends the requests that waited for `notifications/initialized`.
    pub(super) fn release_held(&mut self) {
        for held in std::mem::take(&mut self.held) {
            self.send_ask(held);
        }
    }
}

fn cancellation(id: i64, reason: &str) -> bytes::Bytes {
    encode_notification("notifications/cancelled", &json!({ "requestId": id, "reason": reason }))
}

impl Handler<Withdraw> for SessionActor {
    type Result = ();

    fn handle(&mut self, withdraw: Withdraw, _: &mut Self::Context) {
        let Some(id) = self.state.open_request(withdraw.call, withdraw.nth) else { return };
        if self.resolve(id, Err(QuestionError::Gone)) {
            self.withdraw(withdraw.call, id, "the request was withdrawn");
        }
    }
}
