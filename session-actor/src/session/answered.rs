//! The client answers a server-initiated request.
//!
//! Whether the answer fits the question is not checked here: the asker does that.
//!
//! Read next: `ask`.

use actix::{Handler, Message};
use actix_mcp_router::{QuestionError, internal::Response};
use tokio::time::Instant;

use super::SessionActor;

/// An answer of the client. Sent by the transport; one that nobody waits for is ignored, as one that came too late.
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
            log::debug!(session = self.short(), request:% = id; "ignored an answer nobody waits for");
            return;
        };
        // the asker may have gone
        drop(ask.reply.send(result.map_err(QuestionError::Refused)));
    }
}
