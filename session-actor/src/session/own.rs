//! Requests that the session answers itself: `initialize`, `ping`, the log level and resource subscriptions.
//!
//! None of these is ever in flight: the request's task ends without an admission, and no handler code runs.
//!
//! Read next: `admit` (which sends requests here), `refuse`.

use std::sync::Arc;

use actix::{AsyncContext, Context};
use actix_mcp_router::{
    ErrorCode, McpError, Peer, RequestId,
    internal::{Opening, Parameters, Request, Router, encode_result, set_level},
};
use serde_json::json;
use tokio::time::Instant;

use super::{SessionActor, SessionHandle};
use crate::{
    reply_to::{Disposition, ReplyTo},
    state::{NotAdmitted, Phase},
    stats::Counter,
};

impl SessionActor {
    /// Answers `initialize`, once; a second one is refused.
    pub(super) fn initialize(&mut self, reply_to: ReplyTo, request: &Request, ctx: &mut Context<Self>) {
        if matches!(reply_to, ReplyTo::Batch(_)) {
            // MCP 2025-03-26 basic/lifecycle, Initialization: MUST NOT be part of a batch
            let error = McpError::invalid_request("`initialize` cannot be part of a batch");
            return self.refuse(reply_to, &request.id, &error, Disposition::Refused);
        }
        if self.state.phase != Phase::New {
            let error = McpError::invalid_request("the session is already initialized");
            return self.refuse(reply_to, &request.id, &error, Disposition::Refused);
        }
        match Opening::read(&request.params, self.router.limits().name_bytes) {
            Ok(client) => {
                let result = self.router.initialize_result(client.revision);
                let session_id = self.pipe.is_none().then(|| self.id.clone());
                self.opened(Peer::new(client.revision, client.capabilities, client.info, session_id), ctx);
                // checked after registration: a shutdown either finds the session or is seen here
                if self.hub.is_draining() {
                    return self.refuse_call(NotAdmitted::Draining, reply_to, &request.id);
                }
                self.answer_at_once(
                    reply_to,
                    encode_result(&request.id, &result),
                    Disposition::Answered(None),
                );
            }
            Err(error) => self.refuse(reply_to, &request.id, &error, Disposition::Answered(Some(error.code))),
        }
    }

    /// Answers with an empty result, or with the error.
    // MCP 2025-11-25 basic/utilities/ping and server/utilities/logging: an empty result has no members
    pub(super) fn answer_empty(&self, reply_to: ReplyTo, id: &RequestId, result: Result<(), McpError>) {
        match result {
            Ok(()) => {
                self.answer_at_once(reply_to, encode_result(id, &json!({})), Disposition::Answered(None))
            }
            Err(error) => self.refuse(reply_to, id, &error, Disposition::Answered(Some(error.code))),
        }
    }

    pub(super) fn set_level(&self, reply_to: ReplyTo, request: &Request, peer: &Peer) {
        let level = Router::parse_level(&request.params);
        self.answer_empty(reply_to, &request.id, level.map(|level| set_level(peer, level)));
    }

    pub(super) fn subscribe(&mut self, reply_to: ReplyTo, request: &Request) {
        let result = self.try_subscribe(&request.params);
        self.answer_empty(reply_to, &request.id, result);
    }

    pub(super) fn unsubscribe(&mut self, reply_to: ReplyTo, request: &Request) {
        let uri = self.router.parse_uri(&request.params);
        let result = uri.map(|uri| {
            self.changes.unsubscribe(&uri);
            self.state.unsubscribe(&uri);
        });
        self.answer_empty(reply_to, &request.id, result);
    }

    fn try_subscribe(&mut self, params: &Parameters) -> Result<(), McpError> {
        let uri = self.router.subscribable(params)?;
        let stats = self.hub.stats();
        if self.state.subscribe(uri.clone(), || stats.count(Counter::Subscriptions)) {
            self.changes.subscribe(&uri);
            return Ok(());
        }
        let limit = self.state.limits.subscriptions;
        let message = format!("too many resource subscriptions (the limit is {limit})");
        Err(McpError::new(ErrorCode::INTERNAL_ERROR, message))
    }

    /// Opens the session for its client and makes it findable.
    fn opened(&mut self, peer: Peer, ctx: &mut Context<Self>) {
        let peer = Arc::new(peer);
        let handle = SessionHandle {
            addr: ctx.address(),
            peer: peer.clone(),
            principal: self.principal.take(),
            changes: self.changes.clone(),
        };
        self.registered = Some(self.hub.registry().register(self.id.clone(), handle));
        // afterwards, or a shutdown in between would miss it
        self.pipe_registered = None;
        self.peer = Some(peer);
        self.state.phase = Phase::Opened;
        if self.pipe.is_none() {
            self.watch_idle(ctx);
        }
    }

    /// Checks whether the session has been idle for too long, at the earliest time at which it can have been.
    fn watch_idle(&self, ctx: &mut Context<Self>) {
        let due = self.state.expires_at().map(|due| due.saturating_duration_since(Instant::now()));
        ctx.run_later(due.unwrap_or(self.state.limits.idle), |session, ctx| {
            if session.state.expires_at().is_some_and(|due| due <= Instant::now()) {
                let idle = session.state.limits.idle;
                log::debug!(session = session.short(); "an idle session has expired (the limit is {idle:?})");
                session.close(ctx);
            } else {
                session.watch_idle(ctx);
            }
        });
    }
}
