//! How a call reaches its session.
//!
//! A handler never sees a session, a stream or a wire id: it holds a [`Link`], which carries its call's token. Once the
//! call has ended, whatever the link is given is dropped.

use std::{fmt, time::Duration};

use bytes::Bytes;
use bytestring::ByteString;
use futures_util::future::BoxFuture;
use tokio::sync::{OwnedSemaphorePermit, oneshot};

use crate::{call::question_error::QuestionError, wire::peer::ClientCapability};

/// A call's link to its session; implemented by the session actor, and by tests.
pub trait Link: fmt::Debug + Send + Sync + 'static {
    /// Waits until the call's stream has room for a message of this many bytes.
    ///
    /// Returns at once if the call has ended or has no reader. Returns without room if the stream has been stalled for
    /// the stall timeout; the message is then queued all the same, and the oldest notification is dropped.
    fn reserve(&self, bytes: usize) -> BoxFuture<'static, Permit>;

    /// Takes room without waiting; an empty permit if there is none.
    fn try_reserve(&self, bytes: usize) -> Permit;

    /// Queues a notification of this call, as JSON without a newline, on the call's stream. Never waits.
    fn emit(&self, json: Bytes, room: Permit);

    /// The same for a notification that must arrive: it is never dropped to make room. The caller bounds how many there
    /// are.
    fn deliver(&self, json: Bytes, room: Permit) {
        self.emit(json, room);
    }

    /// Sends a request to the client on the call's stream.
    fn ask(&self, question: Question, room: Permit) -> Asked;

    /// Closes the call's stream so that the client polls. Does nothing if the revision or the transport has no polling.
    fn close_stream(&self);

    /// Whether the call is still in flight, as far as this side knows. A `false` is final.
    fn is_live(&self) -> bool;
}

/// The link of a call without a session: notifications are dropped, and questions fail with [`QuestionError::Gone`].
///
/// For unit tests: the calls of `testing::TestCall` in the facade have it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NoLink;

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
        // the receiver is still here: this cannot fail
        drop(answer.send(Err(QuestionError::Gone)));
        Asked { answer: receiver, withdraw: Box::new(|| ()) }
    }

    fn close_stream(&self) {}

    fn is_live(&self) -> bool {
        false
    }
}

/// A share of a stream's queue, released when the message that holds it leaves the queue.
#[derive(Debug, Default)]
pub struct Permit(pub Option<OwnedSemaphorePermit>);

/// A request to the client, before the session has given it an id.
#[derive(Debug)]
pub struct Question {
    /// The method, such as `elicitation/create`.
    pub method: &'static str,
    /// Its parameters, encoded for the session's revision.
    pub params: Bytes,
    /// The capabilities that the client must have declared, all of them.
    pub needs: &'static [ClientCapability],
    /// How long to wait; `None` for the session's limit.
    pub timeout: Option<Duration>,
}

/// A question that waits for its answer.
pub struct Asked {
    /// The client's `result` as JSON text, or why there is none. The session drops the sender when the call ends.
    pub answer: oneshot::Receiver<Result<ByteString, QuestionError>>,
    /// Withdraws the question: the client is notified, and a late answer is ignored. Does nothing after the answer.
    pub withdraw: Box<dyn FnOnce() + Send>,
}

impl fmt::Debug for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Asked").finish_non_exhaustive()
    }
}
