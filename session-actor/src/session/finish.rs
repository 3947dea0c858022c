//! A request is answered: its id and stream are removed and its answer is handed over, in one step.
//!
//! The answer, which the task has made, is never looked into.
//!
//! Read next: `report` (which sends it), `state/calls`.

use actix::{Handler, Message};
use actix_mcp_router::{
    McpError, RequestId,
    internal::{Reply, torn_down},
};
use tokio::time::Instant;

use super::{CallEntry, Running, SessionActor};
use crate::{
    queue::Frame,
    reply_to::{Disposition, ReplyTo, ResponseHead, error_reply},
    stream::Write,
    token::Token,
};

/// A call's handler has ended. Sent by the call's task, once; for a cancelled call it only ends the grace period.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub(crate) struct Finished {
    /// The call.
    pub(crate) call: Token,
    /// The answer; `None` if the task ended without one, because of a bug or with its worker.
    pub(crate) reply: Option<Reply>,
}

impl Handler<Finished> for SessionActor {
    type Result = ();

    fn handle(&mut self, finished: Finished, _: &mut Self::Context) {
        let Finished { call, reply } = finished;
        if self.cleaning.remove(&call) {
            // it was cancelled, and has cleaned up or used up its grace
            return self.check_drained();
        }
        if self.finish(call, |id| reply.unwrap_or_else(|| error_reply(id, &McpError::internal()))).is_none() {
            log::trace!(session = self.short(), generation = call.generation(); "ignored the end of a call that was taken before");
            return;
        }
        self.check_drained();
    }
}

impl SessionActor {
    /// Takes a call with its answer. Returns its task, which may still run; `None` if it was taken before.
    pub(super) fn finish(&mut self, call: Token, reply: impl FnOnce(&RequestId) -> Reply) -> Option<Running> {
        // messages that the handler sent before its answer are sent first
        self.flush_outbox(call);
        self.withdraw_all(call);
        let mut code = None;
        let answer = |id: &_| {
            let reply = reply(id);
            code = reply.code;
            reply.json
        };
        let (taken, json) = self.state.finish(call, answer, Instant::now())?;
        let CallEntry { running, reply_to, link, listener, .. } = taken.kept;
        drop(link);
        match reply_to {
            // fails if the client has disconnected
            Some(ReplyTo::Http(reply)) => {
                drop(reply.head.send(ResponseHead::Json { json, disposition: Disposition::Answered(code) }));
            }
            None => {
                if let (Some(reader), Some(id)) = (taken.reader, taken.event) {
                    reader.stream.do_send(Write { id, json, room: Default::default(), droppable: false });
                }
            }
            Some(ReplyTo::Pipe) => {
                self.push_to_pipe(Frame::kept(json));
                if listener.is_some() && code.is_none() {
                    self.push_to_pipe(Frame::kept(torn_down(&taken.id)));
                }
            }
            Some(ReplyTo::Batch(batch)) => {
                batch.push(&json);
                drop(batch);
                self.state.tidy();
            }
        }
        Some(running)
    }
}
