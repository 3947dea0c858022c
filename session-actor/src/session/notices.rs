//! Something the server offers has changed, and this session's client is to be told.
//!
//! Notices wait for a moment so that others of their kind join them, and then until there is a stream for them. There is one
//! a kind and URI, so they are bounded and the last is never lost. Listeners are not told from here: they have a task each.
//!
//! Read next: `changes` (what the hub leaves for the session), `state/notices`.

use actix::{AsyncContext, Context, Handler, Message};
use actix_mcp_router::{Change, internal::encode_notification};
use bytes::Bytes;
use serde_json::json;

use super::SessionActor;
use crate::queue::Frame;

/// Something was noted for the session. Sent by `Sessions` when nothing was noted before; lost with the session.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub struct Changed;

impl Handler<Changed> for SessionActor {
    type Result = ();

    fn handle(&mut self, _: Changed, ctx: &mut Self::Context) {
        let mut concerned = false;
        for change in self.changes.take() {
            concerned |= self.state.changed(change);
        }
        if concerned && self.hears_notices() {
            self.schedule_flush(ctx);
        }
    }
}

/// A pipe with this many messages waiting is given no notices yet.
const MAX_PIPE_MESSAGES: usize = 256; // messages

impl SessionActor {
    /// Whether there is a way for notices, be it full at the moment.
    fn hears_notices(&self) -> bool {
        self.pipe.is_some() || self.state.has_standalone()
    }

    /// Sends the waiting notices in a moment, unless that is due already.
    pub(super) fn schedule_flush(&mut self, ctx: &mut Context<Self>) {
        if self.flush.is_none() && self.state.has_notices() {
            self.flush = Some(ctx.run_later(self.state.limits.coalesce, |session, ctx| {
                session.flush = None;
                session.send_notices(ctx);
            }));
        }
    }

    fn send_notices(&mut self, ctx: &mut Context<Self>) {
        while let Some(change) = self.state.next_notice() {
            if self.send_notice(&notice(&self.state.as_asked(&change))) {
                continue;
            }
            self.state.put_back(change);
            // what is full drains; where there is nothing, the next standalone stream brings us back here
            if self.hears_notices() {
                self.schedule_flush(ctx);
            }
            return;
        }
    }

    fn send_notice(&mut self, json: &Bytes) -> bool {
        match &self.pipe {
            Some(pipe) if pipe.len() >= MAX_PIPE_MESSAGES => false,
            Some(pipe) => {
                pipe.push(Frame::kept(json.clone()));
                true
            }
            None => self.send_standalone(json),
        }
    }
}

fn notice(change: &Change) -> Bytes {
    match change.uri() {
        Some(uri) => encode_notification(change.method(), &json!({ "uri": uri })),
        None => encode_notification(change.method(), &json!({})),
    }
}
