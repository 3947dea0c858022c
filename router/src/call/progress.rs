//! Progress of a call, on the call's own stream.
//!
//! **Invariant:** nothing is sent for a call whose client gave no token, and the values on the wire strictly increase,
//! however many clones report concurrently.

use std::{
    fmt,
    future::Future,
    pin::{Pin, pin},
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use futures_util::future;
use serde::{Serialize, Serializer};
use tokio::task::consume_budget;

use crate::{
    call::{
        Call,
        extract::{FromCall, HandlerSpec},
        lazy::{Lazy, Start},
        link::{Link, Permit},
    },
    wire::{era::Feature, error::McpError, id::ProgressToken, jsonrpc::encode_notification},
};

/// Reports the progress of a call to its client.
///
/// ```
/// # mod actix_mcp { pub use actix_mcp_router::*; pub use actix_mcp_router as progress; }
/// use actix_mcp::{Progress, progress::ProgressError};
///
/// async fn reticulate(progress: Progress) -> Result<&'static str, ProgressError> {
///     for spline in 1..=10 {
///         progress.report(spline).total(10).message("reticulating splines").await?;
///     }
///     Ok("reticulated")
/// }
/// ```
///
/// If the client sent no progress token, a report does nothing and is `Ok`. `Send` and cheap to clone; clones share the
/// last value.
#[derive(Clone)]
pub struct Progress(Option<Arc<Wanted>>);

/// A call whose client wants progress.
struct Wanted {
    link: Arc<dyn Link>,
    token: ProgressToken,
    has_message: bool,
    /// The last value given to the link. Locked while a notification is handed over, so that the order of claims is the
    /// order on the wire; never locked across an await.
    last: Mutex<Option<Amount>>,
}

impl Progress {
    pub(crate) fn new(call: &Call) -> Self {
        Self(call.progress_token().map(|token| {
            Arc::new(Wanted {
                link: call.link().clone(),
                token: token.clone(),
                has_message: call.peer().revision.has(Feature::ProgressMessage),
                last: Mutex::new(None),
            })
        }))
    }

    /// Whether the client asked for progress. If not, reports are discarded.
    #[must_use]
    pub fn is_wanted(&self) -> bool {
        self.0.is_some()
    }

    /// A report of this value: an integer of up to 64 bits, or a float. Await it, or send it with [`Report::now`].
    ///
    /// When awaited, it waits until the call's stream has room, so a client that keeps reading, however slowly, gets
    /// every report.
    ///
    /// # Errors
    ///
    /// Awaiting the report can fail with a [`ProgressError`]; nothing was sent then. Use `.ok()` if that does not
    /// matter.
    ///
    /// # Cancellation
    ///
    /// A report that is dropped before it is ready has sent nothing, and its value can be reported again.
    pub fn report(&self, value: impl Into<Amount>) -> Report {
        Report(Lazy::Idle(Parts { wanted: self.0.clone(), value: value.into(), total: None, message: None }))
    }

    /// Reports this value at once; `report(value).now()`.
    ///
    /// # Errors
    ///
    /// See [`ProgressError`]; nothing was sent then.
    pub fn try_report(&self, value: impl Into<Amount>) -> Result<(), ProgressError> {
        self.report(value).now()
    }
}

impl FromCall for Progress {
    fn describe(_: &mut HandlerSpec) {}

    fn from_call(call: &Call) -> impl Future<Output = Result<Self, McpError>> {
        future::ready(Ok(Self::new(call)))
    }
}

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Progress").field("wanted", &self.is_wanted()).finish_non_exhaustive()
    }
}

/// Why a report was not sent.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ProgressError {
    /// The value is not greater than the last one sent. If clones report concurrently, the slower one can get this
    /// error.
    // MCP 2025-11-25 basic/utilities/progress: MUST increase with each notification
    #[error("progress must increase: {value} is not greater than {last}")]
    NotIncreasing {
        /// The value that was refused.
        value: Amount,
        /// The last value that was sent.
        last: Amount,
    },
    /// The value or the total is infinite or not a number.
    #[error("progress must be a finite number, not {0}")]
    NotFinite(Amount),
    /// The call has ended or was cancelled. Only a handler in its grace period gets this error, or code that outlives
    /// its handler, such as a spawned task.
    #[error("the call has ended")]
    Gone,
}

/// A report to be sent: complete it, then await it or call [`Report::now`].
#[must_use = "a report is sent when it is awaited, or by `.now()`"]
#[derive(Debug)]
pub struct Report(Lazy<Parts, Result<(), ProgressError>>);

struct Parts {
    wanted: Option<Arc<Wanted>>,
    value: Amount,
    total: Option<Amount>,
    message: Option<String>,
}

impl fmt::Debug for Parts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Report")
            .field("value", &self.value)
            .field("total", &self.total)
            .finish_non_exhaustive()
    }
}

impl Report {
    /// The value at which the work is done.
    pub fn total(mut self, total: impl Into<Amount>) -> Self {
        if let Some(parts) = self.0.idle() {
            parts.total = Some(total.into());
        }
        self
    }

    /// A message for people to read. Omitted at revision 2024-11-05, which has none.
    pub fn message(mut self, message: impl Into<String>) -> Self {
        if let Some(parts) = self.0.idle() {
            parts.message = Some(message.into());
        }
        self
    }

    /// Sends the report without waiting. If the stream has no room, the oldest notification in it is dropped.
    ///
    /// # Errors
    ///
    /// See [`ProgressError`]; nothing was sent then.
    pub fn now(mut self) -> Result<(), ProgressError> {
        let Some(parts) = self.0.idle() else { return Ok(()) };
        let Some(wanted) = parts.wanted.take() else { return Ok(()) };
        let json = wanted.check(parts)?;
        let room = wanted.link.try_reserve(json.len());
        wanted.send(parts.value, json, room)
    }
}

impl Future for Report {
    type Output = Result<(), ProgressError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // yields now and then even if nothing waits for room (no reader, or no token), so that other tasks run, such as
        // the one that ends this call
        ready!(pin!(consume_budget()).poll(cx));
        self.0.poll(cx, |mut parts| {
            let Some(wanted) = parts.wanted.take() else { return Start::Done(Ok(())) };
            let json = match wanted.check(&parts) {
                Ok(json) => json,
                Err(error) => return Start::Done(Err(error)),
            };
            // usually there is room, and no future has to be boxed
            let room = wanted.link.try_reserve(json.len());
            if room.0.is_some() {
                return Start::Done(wanted.send(parts.value, json, room));
            }
            Start::Work(Box::pin(async move {
                let room = wanted.link.reserve(json.len()).await;
                wanted.send(parts.value, json, room)
            }))
        })
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Params<'a> {
    progress_token: &'a ProgressToken,
    progress: Amount,
    #[serde(skip_serializing_if = "Option::is_none")]
    total: Option<Amount>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
}

impl Wanted {
    /// Refuses an invalid report before it waits for room; encodes a valid one.
    fn check(&self, parts: &Parts) -> Result<Bytes, ProgressError> {
        for amount in [Some(parts.value), parts.total].into_iter().flatten() {
            if !amount.is_finite() {
                return Err(ProgressError::NotFinite(amount));
            }
        }
        above(parts.value, *self.last.lock().unwrap_or_else(PoisonError::into_inner))?;
        let params = Params {
            progress_token: &self.token,
            progress: parts.value,
            total: parts.total,
            message: parts.message.as_deref().filter(|_| self.has_message),
        };
        Ok(encode_notification("notifications/progress", &params))
    }

    /// Claims the value and hands over the notification in one step: a clone that waited longer for room finds a
    /// greater value and sends nothing.
    fn send(&self, value: Amount, json: Bytes, room: Permit) -> Result<(), ProgressError> {
        if !self.link.is_live() {
            return Err(ProgressError::Gone);
        }
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        above(value, *last)?;
        *last = Some(value);
        self.link.emit(json, room);
        Ok(())
    }
}

fn above(value: Amount, last: Option<Amount>) -> Result<(), ProgressError> {
    match last {
        Some(last) if !value.is_above(last) => Err(ProgressError::NotIncreasing { value, last }),
        Some(_) | None => Ok(()),
    }
}

/// A progress value. Whole numbers are sent as integers: `3`, never `3.0`.
#[derive(Clone, Copy, PartialEq)]
pub struct Amount(Number);

#[derive(Clone, Copy, PartialEq)]
enum Number {
    /// All of `i64` and `u64`.
    Whole(i128),
    Float(f64),
}

impl Amount {
    fn is_finite(self) -> bool {
        match self.0 {
            Number::Whole(_) => true,
            Number::Float(float) => float.is_finite(),
        }
    }

    fn is_above(self, other: Self) -> bool {
        match (self.0, other.0) {
            (Number::Whole(this), Number::Whole(that)) => this > that,
            (this, that) => this.rounded() > that.rounded(),
        }
    }
}

impl Number {
    fn rounded(self) -> f64 {
        match self {
            Self::Whole(whole) => whole as f64,
            Self::Float(float) => float,
        }
    }
}

impl From<f64> for Amount {
    fn from(float: f64) -> Self {
        /// 2^63: below it, a float without a fraction is an `i64` exactly.
        const WHOLE: f64 = 9_223_372_036_854_775_808.0;
        if float.fract() == 0.0 && float.abs() < WHOLE {
            #[expect(clippy::cast_possible_truncation, reason = "it is whole and below 2^63")]
            return Self(Number::Whole(i128::from(float as i64)));
        }
        Self(Number::Float(float))
    }
}

impl From<f32> for Amount {
    fn from(float: f32) -> Self {
        f64::from(float).into()
    }
}

macro_rules! from_integers {
    ($($int:ty)*) => {$(
        impl From<$int> for Amount {
            fn from(whole: $int) -> Self {
                Self(Number::Whole(i128::from(whole)))
            }
        }
    )*};
}

from_integers! { i8 i16 i32 i64 u8 u16 u32 u64 }

impl From<usize> for Amount {
    fn from(whole: usize) -> Self {
        (whole as u64).into()
    }
}

impl From<isize> for Amount {
    fn from(whole: isize) -> Self {
        (whole as i64).into()
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Number::Whole(whole) => whole.fmt(f),
            Number::Float(float) => float.fmt(f),
        }
    }
}

impl fmt::Debug for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Amount {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Number::Whole(whole) => serializer.serialize_i128(whole),
            Number::Float(float) => serializer.serialize_f64(float),
        }
    }
}

#[cfg(test)]
#[path = "progress_tests.rs"]
mod tests;
