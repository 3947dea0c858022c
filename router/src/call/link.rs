//! The way from a call back to its session.
//!
//! A handler never sees a session, a stream or a wire id: it holds a [`Link`], which carries its call's token. Once the
//! call has ended, whatever the link is given reaches nobody.

use std::{fmt, sync::Arc, time::Duration};

use bytes::Bytes;
use bytestring::ByteString;
use futures_util::future::BoxFuture;
use tokio::sync::{OwnedSemaphorePermit, oneshot};

use crate::{
    call::{CallContext, cancelled::Cancelled, question_error::QuestionError},
    wire::{
        era::Revision,
        peer::{ClientCapabilities, ClientCapability, Implementation, Peer},
    },
};

/// One call's way back to its session; implemented by the session actor, and by tests.
pub trait Link: fmt::Debug + Send + Sync + 'static {
    /// Waits until the call's stream has room for a message of this many bytes.
    ///
    /// Returns at once when the call has ended or has no reader, and without room when the stream has not moved for a
    /// second; the message is then handed over all the same and the oldest goes.
    fn reserve(&self, bytes: usize) -> BoxFuture<'static, Permit>;

    /// The room there is now, without waiting.
    fn try_reserve(&self, bytes: usize) -> Permit;

    /// Hands one notification of this call, as JSON without a newline, to the call's stream. Never waits.
    fn emit(&self, json: Bytes, room: Permit);

    /// The same for one that must arrive: it never goes to make room for others. Who hands it over bounds how many there are.
    fn deliver(&self, json: Bytes, room: Permit) {
        self.emit(json, room);
    }

    /// Sends a request to the client on the call's stream.
    fn ask(&self, question: Question, room: Permit) -> Asked;

    /// Closes the call's stream for polling, where the revision and the transport know that; otherwise nothing.
    fn close_stream(&self);

    /// Whether the call is still in flight, as far as this side knows. A `false` is final.
    fn is_live(&self) -> bool;
}

/// A call that has no session: what it is given reaches nobody, and a question is answered with [`QuestionError::Gone`].
///
/// Calls of unit tests have it: `testing::TestCall` of the facade makes one.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoLink;

impl Link for NoLink {
    fn reserve(&self, _: usize) -> BoxFuture<'static, Permit> {
        Box::pin(std::future::ready(Permit::default()))
    }

    fn try_reserve(&self, _: usize) -> Permit {
        Permit::default()
    }

    fn emit(&self, _: Bytes, _: Permit) {}

    fn ask(&self, _: Question, _: Permit) -> Asked {
        let (answer, receiver) = oneshot::channel();
        // the receiver is in our hands: it cannot be gone
        drop(answer.send(Err(QuestionError::Gone)));
        Asked { answer: receiver, withdraw: Box::new(|| ()) }
    }

    fn close_stream(&self) {}

    fn is_live(&self) -> bool {
        false
    }
}

impl CallContext {
    /// The context of a call that belongs to no session, at the newest revision: for unit tests.
    #[must_use]
    pub fn detached() -> Self {
        let nobody = Peer::new(
            Revision::LATEST_HANDSHAKE,
            ClientCapabilities::default(),
            Implementation::default(),
            None,
        );
        Self {
            peer: Arc::new(nobody),
            link: Arc::new(NoLink),
            cancelled: Cancelled::default(),
            principal: None,
            http: None,
        }
    }
}

/// A share of a stream's queue, given back when the message that holds it leaves the queue.
#[derive(Debug, Default)]
pub struct Permit(pub Option<OwnedSemaphorePermit>);

/// A request to the client, before the session has given it an id.
#[derive(Debug)]
pub struct Question {
    /// The method, such as `elicitation/create`.
    pub method: &'static str,
    /// Its parameters, encoded for the session's revision.
    pub params: Bytes,
    /// What the client must have declared; all of them.
    pub needs: &'static [ClientCapability],
    /// How long to wait, where the author said so; the session's own limit otherwise.
    pub timeout: Option<Duration>,
}

/// A question that is on its way.
pub struct Asked {
    /// The client's `result` as JSON text, or why there is none. Dropped by the session when the call ends.
    pub answer: oneshot::Receiver<Result<ByteString, QuestionError>>,
    /// Takes the question back: the client is told, a later answer is ignored. Does nothing once it was answered.
    pub withdraw: Box<dyn FnOnce() + Send>,
}

impl fmt::Debug for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Asked").finish_non_exhaustive()
    }
}
