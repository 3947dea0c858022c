//! Answers without a call: refusals, and the one way out for the requests that the session answers itself.
//!
//! Nothing is admitted or changed here, except for the ids that a batch takes.
//!
//! Read next: `admit`, which decides what is refused.

use std::sync::Arc;

use actix::{Handler, Message};
use actix_mcp_router::{
    ErrorCode, McpError, RequestId,
    internal::{ErrorId, Malformed, encode_error},
};
use bytes::Bytes;

use super::SessionActor;
use crate::{
    queue::Frame,
    reply_to::{Batch, Disposition, ReplyTo, ResponseHead},
    state::NotAdmitted,
};

impl SessionActor {
    /// Answers a request that was never in flight: a refused one, or one that the session answers itself.
    pub(super) fn answer_at_once(&self, reply_to: ReplyTo, json: Bytes, disposition: Disposition) {
        match reply_to {
            // fails if the client has disconnected
            ReplyTo::Http(reply) => drop(reply.head.send(ResponseHead::Json { json, disposition })),
            ReplyTo::Pipe => self.push_to_pipe(Frame::kept(json)),
            ReplyTo::Batch(batch) => batch.push(&json),
        }
    }

    pub(super) fn refuse(
        &self,
        reply_to: ReplyTo,
        id: &RequestId,
        error: &McpError,
        disposition: Disposition,
    ) {
        log::debug!(session = self.short(), request:% = id, code = error.code.0; "refused a request: {}", error.message);
        self.answer_at_once(reply_to, encode_error(ErrorId::Given(id), error), disposition);
    }

    /// Refuses a request for its method, or at a limit, which comes first.
    pub(super) fn refuse_method(&self, reply_to: ReplyTo, id: &RequestId, error: &McpError) {
        match self.state.check_room() {
            Ok(()) => self.refuse(reply_to, id, error, Disposition::Answered(Some(error.code))),
            Err(refused) => self.refuse_call(refused, reply_to, id),
        }
    }

    /// Refuses a second request with an id that is in flight. The first is not touched.
    pub(super) fn refuse_duplicate(&self, reply_to: ReplyTo, id: &RequestId) {
        let error = McpError::invalid_request(format!("request id {id} is already in flight"));
        match reply_to {
            // under the live id every client would fail its first call, so the pipe's error has none: a deliberate
            // deviation from MCP 2025-11-25 basic, Error Responses
            ReplyTo::Pipe | ReplyTo::Batch(_) => {
                log::debug!(session = self.short(), request:% = id; "refused a duplicate request id");
                self.answer_at_once(reply_to, encode_error(self.no_id(), &error), Disposition::Duplicate);
            }
            ReplyTo::Http(_) => self.refuse(reply_to, id, &error, Disposition::Duplicate),
        }
    }

    /// Refuses a request before `initialize`; `error` is the error for its method, if it has one.
    pub(super) fn refuse_unopened(&self, reply_to: ReplyTo, id: &RequestId, error: Option<&McpError>) {
        match error {
            // a client of 2026-07-28 begins without a handshake: this error tells it that it needs one
            Some(error) if !self.router.eras().serve_modern() => {
                self.refuse(reply_to, id, error, Disposition::Answered(Some(error.code)));
            }
            _ => {
                let error = McpError::invalid_params(self.how_to_begin());
                self.refuse(reply_to, id, &error, Disposition::Refused);
            }
        }
    }

    /// The error message for a client that begins with another request.
    fn how_to_begin(&self) -> &'static str {
        if self.router.eras().serve_modern() {
            "the session is not open: send `initialize` first, or name a version in \
             `_meta.io.modelcontextprotocol/protocolVersion`"
        } else {
            "the session is not open: send `initialize` first"
        }
    }

    /// Refuses a call that was not admitted.
    pub(super) fn refuse_call(&self, refused: NotAdmitted, reply_to: ReplyTo, id: &RequestId) {
        let (message, disposition) = match refused {
            NotAdmitted::Duplicate => return self.refuse_duplicate(reply_to, id),
            NotAdmitted::Draining => ("the server is shutting down".to_owned(), Disposition::Draining),
            NotAdmitted::Full => {
                let limit = self.state.limits.in_flight;
                (format!("too many requests are in flight (the limit is {limit})"), Disposition::Full)
            }
        };
        self.refuse(reply_to, id, &McpError::new(ErrorCode::INTERNAL_ERROR, message), disposition);
    }

    pub(super) fn push_to_pipe(&self, frame: Frame) {
        if let Some(pipe) = &self.pipe {
            pipe.push(frame);
        }
    }
}

/// Answers a message that could not be read as a request, on the session's pipe or in its batch. Sent by its transport;
/// lost if the session has ended.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct Refuse {
    /// What was read, and what is wrong with it.
    pub malformed: Malformed,
    /// The batch it came in, if any.
    pub batch: Option<Arc<Batch>>,
}

impl Handler<Refuse> for SessionActor {
    type Result = ();

    fn handle(&mut self, refuse: Refuse, _: &mut Self::Context) {
        let Malformed { id, error, .. } = &refuse.malformed;
        log::debug!(session = self.short(), code = error.code.0; "refused a message: {}", error.message);
        let id = match id {
            // an error under a live id would fail the request that owns it
            Some(id) if !self.state.is_taken(id) => {
                if let Some(batch) = &refuse.batch {
                    self.state.take_in(batch, id);
                }
                ErrorId::Given(id)
            }
            _ => self.no_id(),
        };
        let json = encode_error(id, error);
        match refuse.batch {
            Some(batch) => batch.push(&json),
            None => self.push_to_pipe(Frame::kept(json)),
        }
    }
}
