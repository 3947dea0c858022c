//! A builder that is its own future: it starts when it is first polled.

use std::{
    fmt, mem,
    pin::Pin,
    task::{Context, Poll},
};

use futures_util::future::BoxFuture;

/// Either the parts, which can still be changed, or the work that they started.
pub(crate) enum Lazy<S, O> {
    /// Not polled yet.
    Idle(S),
    /// Polled; dropping it drops the work.
    Running(BoxFuture<'static, O>),
    /// Finished; the output was taken.
    Done,
}

/// The outcome of a start.
pub(crate) enum Start<O> {
    /// There was nothing to wait for.
    Done(O),
    /// The remaining work.
    Work(BoxFuture<'static, O>),
}

impl<S, O> Lazy<S, O> {
    /// The parts so far; `None` once polled.
    pub(crate) fn idle(&mut self) -> Option<&mut S> {
        match self {
            Self::Idle(parts) => Some(parts),
            Self::Running(_) | Self::Done => None,
        }
    }

    /// Starts the work on the first call, then drives it.
    ///
    /// # Panics
    ///
    /// If polled again after it was ready, like every future of an `async` block.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>, start: impl FnOnce(S) -> Start<O>) -> Poll<O> {
        let mut work = match mem::replace(self, Self::Done) {
            Self::Idle(parts) => match start(parts) {
                Start::Done(output) => return Poll::Ready(output),
                Start::Work(work) => work,
            },
            Self::Running(work) => work,
            Self::Done => panic!("polled after it was ready"),
        };
        let polled = Pin::new(&mut work).poll(cx);
        if polled.is_pending() {
            *self = Self::Running(work);
        }
        polled
    }
}

impl<S: fmt::Debug, O> fmt::Debug for Lazy<S, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Idle(parts) => parts.fmt(f),
            Self::Running(_) => f.write_str("Running(..)"),
            Self::Done => f.write_str("Done"),
        }
    }
}
