//! The client answers a server-initiated request.
//!
//! Whether the answer fits the question is not checked here: the call that asked does that.
//!
//! Read next: `ask`.

use actix::{Handler, Message};
use actix_mcp_router::{QuestionError, internal::Response};
use tokio::time::Instant;

use super::SessionActor;

/// An answer of the client. Sent by the transport; an answer to a request that is not open (any more) is ignored.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct Answered {
    /// What the client answered.
    pub response: Response,
}

impl Handler<Answered> for SessionActor {
    type Result = ();

    fn handle(&mut self, answered: Answered, _: &mut Self::Context) {
        let Response { id, result } = answered.response;
        let Some(ask) = self.state.answered(&id, Instant::now()) else {
            log::debug!(session = self.short(), request:% = id; "ignored an answer to a request that is not open");
            return;
        };
        // fails if the handler no longer waits
        drop(ask.reply.send(result.map_err(QuestionError::Refused)));
    }
}
