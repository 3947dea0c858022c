//! What is answered without a call: refusals, and whatever the session answers itself.

use actix_mcp_router::{
    error::McpError,
    id::RequestId,
    jsonrpc::{ErrorId, encode_error},
};
use bytes::Bytes;

use super::SessionActor;
use crate::{
    outlet::{Head, Outlet, Verdict},
    queue::Frame,
};

impl SessionActor {
    /// Answers through an outlet that was never in flight: refusals, and what the session answers itself.
    pub(super) fn answer_at_once(&self, outlet: Outlet, json: Bytes, verdict: Verdict) {
        match outlet {
            // the client may have gone, and then nobody waits
            Outlet::Exchange(exchange) => drop(exchange.head.send(Head::Json { json, verdict })),
            Outlet::Line => self.push_line(Frame::kept(json)),
            Outlet::Batch(batch) => batch.push(&json),
        }
    }

    pub(super) fn refuse(&self, outlet: Outlet, id: &RequestId, error: &McpError, verdict: Verdict) {
        log::debug!(session = self.short(), request:% = id, code = error.code.0; "refused a request: {}", error.message);
        self.answer_at_once(outlet, encode_error(ErrorId::Given(id), error), verdict);
    }

    pub(super) fn push_line(&self, frame: Frame) {
        if let Some(pipe) = &self.pipe {
            pipe.push(frame);
        }
    }
}
