//! Change notifications to the session's client.
//!
//! They are delayed for a moment to merge repeated ones, and then wait until there is a stream for them. There is one
//! per kind and URI, so they are bounded and the last is never lost. `subscriptions/listen` requests are not served
//! from here: each has its own task.
//!
//! Read next: `changes` (what the hub leaves for the session), `state/notices`.

use actix::{AsyncContext, Context, Handler, Message};
use actix_mcp_router::{Change, internal::encode_notification};
use bytes::Bytes;
use serde_json::json;

use super::SessionActor;
use crate::queue::Frame;

/// A change was noted for the session. Sent by `Sessions` if none was pending; lost if the session has ended.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub(crate) struct Changed;

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

/// While this many messages wait on a pipe, change notifications are held back.
const MAX_PIPE_MESSAGES: usize = 256; // messages

impl SessionActor {
    /// Whether there is a pipe or stream for notifications, even if it is full at the moment.
    fn hears_notices(&self) -> bool {
        self.pipe.is_some() || self.state.has_standalone()
    }

    /// Schedules sending the waiting notifications, unless that is already scheduled.
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
            // a full pipe or stream is retried; without any, the next standalone stream schedules this again
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
