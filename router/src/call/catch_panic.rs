//! Contains the panics of handlers: whatever a handler does, its request gets one answer.
//!
//! `CatchUnwind` of `futures_util` does not catch a panic in the destructor of the future.

use std::{
    any::Any,
    fmt,
    future::Future,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    task::{Context, Poll},
};

use bytestring::ByteString;
use futures_util::future::LocalBoxFuture;

use crate::wire::error::{McpError, Shown};

/// Runs a handler's future. A panic while it runs, or in the destructor of anything it leaves, becomes -32603 without
/// its text.
///
/// Dropping it drops the future, and contains a panic in that, too.
///
/// A panic within a panic still aborts the process, as does every panic under `panic = "abort"`.
pub(crate) struct Contained<T> {
    /// Taken when it has ended. Never polled again after a panic.
    future: Option<LocalBoxFuture<'static, T>>,
    name: Name,
}

/// A handler's name in the log.
struct Name {
    method: &'static str,
    target: ByteString,
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the handler of {} {}", self.method, Shown(&self.target))
    }
}

impl<T> Contained<T> {
    /// `method` and `target` are for the log.
    pub(crate) fn new(method: &'static str, target: ByteString, future: LocalBoxFuture<'static, T>) -> Self {
        Self { future: Some(future), name: Name { method, target } }
    }

    /// Drops the future. `Err` if that panicked.
    pub(crate) fn release(&mut self) -> Result<(), McpError> {
        let Some(future) = self.future.take() else { return Ok(()) };
        catch_panic(&self.name, || drop(future))
    }
}

impl<T> Future for Contained<T> {
    type Output = Result<T, McpError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { future, name } = &mut *self;
        let Some(future) = future else { return Poll::Ready(Err(McpError::internal())) };
        let output = match catch_panic(name, || future.as_mut().poll(cx)) {
            Ok(Poll::Pending) => return Poll::Pending,
            Ok(Poll::Ready(output)) => Ok(output),
            Err(error) => Err(error),
        };
        Poll::Ready(match self.release() {
            Ok(()) => output,
            Err(error) => Err(error),
        })
    }
}

impl<T> Drop for Contained<T> {
    fn drop(&mut self) {
        // already logged; nobody waits for an answer any more
        drop(self.release());
    }
}

/// Runs code that may panic; `what` names it in the log.
pub(crate) fn catch_panic<T>(what: impl fmt::Display, run: impl FnOnce() -> T) -> Result<T, McpError> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|payload| {
        log::error!("{what} panicked");
        discard(payload);
        McpError::internal()
    })
}

/// Drops a panic's payload, whose destructor may panic as well.
pub(crate) fn discard(payload: Box<dyn Any + Send>) {
    if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        std::mem::forget(again);
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    struct PanicsInDrop;

    impl Drop for PanicsInDrop {
        fn drop(&mut self) {
            panic!("SECRET");
        }
    }

    fn refused<T: std::fmt::Debug>(result: Result<T, McpError>) {
        let error = result.unwrap_err();
        assert_eq!((error.code.0, &*error.message), (-32603, "internal error"));
        assert!(error.data.is_none());
    }

    fn run<T>(future: impl Future<Output = T> + 'static) -> Result<T, McpError> {
        Contained::new("tools/call", "t".into(), Box::pin(future)).now_or_never().expect("it is ready")
    }

    #[test]
    fn what_a_handler_returns_comes_through() {
        assert_eq!(run(async { 7 }).unwrap(), 7);
    }

    #[test]
    fn a_panic_is_an_internal_error_without_its_text() {
        refused(run(async { panic!("SECRET") }));
    }

    #[test]
    fn a_panic_in_what_a_handler_drops_is_an_internal_error() {
        refused(run(async {
            let _guard = PanicsInDrop;
            7
        }));
    }

    #[test]
    fn a_panic_in_what_a_finished_future_leaves_is_an_internal_error() {
        struct Leaves(PanicsInDrop);
        impl Future for Leaves {
            type Output = i32;
            fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<i32> {
                Poll::Ready(7)
            }
        }
        refused(run(Leaves(PanicsInDrop)));
    }

    #[test]
    fn a_panic_whose_payload_panics_when_dropped_is_an_internal_error() {
        refused(run(async { std::panic::panic_any(PanicsInDrop) }));
    }

    #[test]
    fn dropping_a_pending_handler_contains_its_destructors() {
        let mut pending = Contained::new(
            "tools/call",
            "t".into(),
            Box::pin(async {
                let _guard = PanicsInDrop;
                std::future::pending::<()>().await;
            }),
        );
        assert!((&mut pending).now_or_never().is_none());
        drop(pending);
    }
}
