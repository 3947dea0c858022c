//! The signal that a call was cancelled.

use std::{
    borrow::Cow,
    fmt,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

use tokio::sync::Notify;

use crate::wire::{error::Shown, id::RequestId, jsonrpc::Parameters, params::Members};

/// The content of `notifications/cancelled`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cancellation {
    /// The id of the cancelled request.
    pub request_id: RequestId,
    /// The client's reason, if it gave one.
    pub reason: Option<String>,
}

impl Cancellation {
    /// Reads the parameters of the notification; `None` if they do not name exactly one request.
    #[must_use]
    pub fn read(params: &Parameters) -> Option<Self> {
        let params = params.members().ok()?;
        let request_id = RequestId::read(params.raw("requestId")?)?;
        // a reason that cannot be read, such as one cut inside a character, must not keep the call running
        let reason = params.optional_text("reason", usize::MAX).ok().flatten().map(Cow::into_owned);
        Some(Self { request_id, reason })
    }
}

/// The client's reason as a log may show it: quoted, escaped, and cut at 100 characters.
impl fmt::Display for Cancellation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.reason {
            Some(reason) => Shown(reason).fmt(f),
            None => f.write_str("no reason given"),
        }
    }
}

/// Notifies a handler that its call was cancelled.
///
/// A handler without this extractor is dropped when its call is cancelled. A handler that extracts it is notified, gets
/// a grace period (2 s by default) to clean up, and is then dropped; its result is discarded.
///
/// Over HTTP, from 2026-07-28 on, a client cancels by closing the response stream or the connection. Over HTTP/1 the
/// server notices at once if it is configured to detect disconnects. Over HTTP/2 it notices at the next write, within a
/// second: it writes a comment to a stream, and a space before a JSON answer, whose status is then 200. One case goes
/// unnoticed: over HTTP/1, a client that has sent some 256 KiB of further requests behind a call and then closes
/// without a reset. actix-web resumes reading when the call has been answered.
///
/// `Send`: pass it to an actor or a spawned task, which gets no other signal.
#[derive(Clone, Default)]
pub struct Cancelled(Arc<Inner>);

#[derive(Default)]
struct Inner {
    fired: AtomicBool,
    /// Set when a handler extracts the signal: only then is there a grace period.
    listening: AtomicBool,
    reason: OnceLock<String>,
    notify: Notify,
}

impl Cancelled {
    /// Whether the call was cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.fired.load(Ordering::Acquire)
    }

    /// The client's reason, if it gave one.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        self.0.reason.get().map(String::as_str)
    }

    /// Waits until the call is cancelled.
    ///
    /// # Cancellation
    ///
    /// The future may be dropped and the method called again.
    pub async fn wait(&self) {
        let mut notified = std::pin::pin!(self.0.notify.notified());
        // enabled before the flag is read: a `fire` in between is not missed
        notified.as_mut().enable();
        if !self.is_cancelled() {
            notified.await;
        }
    }

    /// Notes that a handler listens, so that a cancel gives it a grace.
    pub(crate) fn listen(&self) {
        self.0.listening.store(true, Ordering::Release);
    }
}

/// Fires the signal, once. Only the session cancels a call, so handlers have no such method.
pub fn fire(cancelled: &Cancelled, reason: Option<String>) {
    if let Some(reason) = reason {
        // only the first reason counts
        drop(cancelled.0.reason.set(reason));
    }
    cancelled.0.fired.store(true, Ordering::Release);
    cancelled.0.notify.notify_waiters();
}

/// Whether a handler listens.
#[must_use]
pub fn is_listening(cancelled: &Cancelled) -> bool {
    cancelled.0.listening.load(Ordering::Acquire)
}

impl fmt::Debug for Cancelled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Cancelled").field(&self.is_cancelled()).finish()
    }
}
