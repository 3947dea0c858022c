//! The session ends: at once, or after what runs has had its time.

use actix::{Handler, Message};
use tokio::sync::oneshot;

use super::{SessionActor, streams::RETRY};
use crate::stream::Retry;

/// Ends the session: running calls are cancelled, streams end. Sent by whoever owns it: DELETE, the transport, shutdown.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct Close;

impl Handler<Close> for SessionActor {
    type Result = ();

    fn handle(&mut self, _: Close, ctx: &mut Self::Context) {
        self.end(ctx);
    }
}

/// Admits nothing more, ends standalone streams and subscriptions, and tells when nothing is in flight. Sent by the transport when the
/// client has closed its end or the server shuts down; if the actor is gone, the sender is dropped.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct Drain {
    /// Told when nothing is in flight.
    pub done: oneshot::Sender<()>,
    /// The client can answer nothing any more: what waits for it is told so.
    pub deaf: bool,
}

impl Handler<Drain> for SessionActor {
    type Result = ();

    fn handle(&mut self, drain: Drain, _: &mut Self::Context) {
        self.state.drain();
        for reader in self.state.take_standalone() {
            // MCP 2025-11-25 basic/transports, Listening 4: SHOULD send `retry` before it closes the connection
            reader.stream.do_send(Retry { after: RETRY });
            // ends with its reader, which is dropped here
        }
        for heard in self.state.calls().filter_map(|kept| kept.heard.as_ref()) {
            heard.end();
        }
        if drain.deaf {
            self.deaf = true;
            self.state.drop_asks();
            self.held.clear();
        }
        self.drained.push(drain.done);
        self.check_drained();
    }
}
