//! A call's reports to its session: that it has been silent for a while, and that it has ended.
//!
//! It does not keep the session alive, and a report about a call that was taken changes nothing.
//!
//! Read next: `finish`, `streams`.

use actix::WeakAddr;
use actix_mcp_router::internal::Reply;

use super::{Finished, SessionActor, StartStream};
use crate::token::Token;

/// Reports a call's end, however it ends: otherwise its id would stay taken for ever.
///
/// Created by the session with the admission, so that no call is ever in flight without one.
#[derive(Debug)]
pub(crate) struct Report {
    call: Token,
    /// Weak: a call does not keep its session alive.
    session: WeakAddr<SessionActor>,
    sent: bool,
}

impl Report {
    pub(crate) fn new(call: Token, session: WeakAddr<SessionActor>) -> Self {
        Self { call, session, sent: false }
    }

    pub(crate) fn send(mut self, reply: Reply) {
        self.sent = true;
        self.finished(Some(reply));
    }

    /// Reports that the call has been silent for so long that the client should see that it is alive.
    pub(crate) fn start_stream(&self) {
        if let Some(session) = self.session.upgrade() {
            session.do_send(StartStream { call: self.call });
        }
    }

    fn finished(&self, reply: Option<Reply>) {
        if let Some(session) = self.session.upgrade() {
            session.do_send(Finished { call: self.call, reply });
        }
    }
}

impl Drop for Report {
    fn drop(&mut self) {
        if !self.sent {
            // stale if the call was cancelled, which is the usual reason to get here
            self.finished(None);
        }
    }
}
