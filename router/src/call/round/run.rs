//! Running a handler for one round.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use futures_util::future::LocalBoxFuture;

use super::End;
use crate::{
    call::{Call, catch_panic::Contained},
    wire::error::McpError,
};

/// How a round ended.
#[derive(Debug)]
pub(crate) enum Ended<T> {
    /// With the handler's result.
    Complete(T),
    /// With questions. The handler is dropped.
    Interrupted(Box<Interrupted>),
}

/// A call whose handler has questions.
#[derive(Debug)]
pub(crate) struct Interrupted {
    pub(crate) call: Call,
    pub(crate) end: End,
}

/// Runs a handler until it has a result or a question. Dropping it drops the handler.
pub(crate) struct RunningRound<T> {
    handler: Contained<Result<T, McpError>>,
    call: Call,
}

impl<T> RunningRound<T> {
    /// `method` is for the log.
    pub(crate) fn new(
        method: &'static str,
        call: Call,
        handler: LocalBoxFuture<'static, Result<T, McpError>>,
    ) -> Self {
        Self { handler: Contained::new(method, call.target().clone(), handler), call }
    }

    fn interrupted(&self, end: End) -> Ended<T> {
        Ended::Interrupted(Box::new(Interrupted { call: self.call.clone(), end }))
    }
}

impl<T> Future for RunningRound<T> {
    type Output = Result<Ended<T>, McpError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let polled = Pin::new(&mut self.handler).poll(cx);
        // most handlers ask nothing
        let Some(round) = self.call.shared_round() else {
            return polled.map(|result| Ok(Ended::Complete(result??)));
        };
        match polled {
            // a result takes precedence over a question, and an invalid answer of the client over a result
            Poll::Ready(result) => {
                let end = round.end();
                Poll::Ready(end.and_then(|end| match result?? {
                    value if end.input.is_none() => Ok(Ended::Complete(value)),
                    _ => Ok(self.interrupted(End { questions: Vec::new(), ..end })),
                }))
            }
            Poll::Pending if round.is_over(cx.waker()) => {
                // before the handler is dropped, which withdraws its questions
                let end = round.end();
                let released = self.handler.release();
                Poll::Ready(released.and(end).map(|end| self.interrupted(end)))
            }
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<T> Drop for RunningRound<T> {
    fn drop(&mut self) {
        if let Some(round) = self.call.shared_round() {
            // parts that ask from elsewhere get `Gone`; nobody waits for an answer any more
            drop(round.end());
        }
    }
}
