//! The trace that a request belongs to.

use std::future::{Future, ready};

use crate::{
    call::{
        Call,
        extract::{FromCall, HandlerSpec, Meta},
    },
    wire::error::McpError,
};

/// The trace that a request belongs to, from its `_meta`: W3C Trace Context and Baggage, at every revision.
///
/// The values come from the client and are not parsed. A value that is invalid in an HTTP header counts as absent, so
/// that you can pass all of them on unchanged.
///
/// ```
/// use actix_mcp_router::TraceContext;
///
/// async fn tool(trace: TraceContext) {
///     for (name, value) in trace.headers() {
///         // request = request.insert_header((name, value));
///         # let _ = (name, value);
///     }
/// }
/// ```
// MCP 2026-07-28 basic, _meta: OpenTelemetry trace context
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TraceContext {
    /// The trace, and the span in it that is the request's parent.
    pub traceparent: Option<String>,
    /// Additions of tracing systems.
    pub tracestate: Option<String>,
    /// Values that the application passes along the trace.
    pub baggage: Option<String>,
}

impl TraceContext {
    /// The values as headers, for a request of your own that belongs to the same trace.
    ///
    /// A `tracestate` without a `traceparent` means nothing and is omitted (W3C Trace Context, 3.3).
    pub fn headers(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let state = self.tracestate.as_deref().filter(|_| self.traceparent.is_some());
        let all = [
            ("traceparent", self.traceparent.as_deref()),
            ("tracestate", state),
            ("baggage", self.baggage.as_deref()),
        ];
        all.into_iter().filter_map(|(name, value)| Some((name, value?)))
    }
}

impl Meta {
    /// The trace that the request belongs to.
    #[must_use]
    pub fn trace(&self) -> TraceContext {
        let text = |key| {
            let text = self.get::<String>(key).ok().flatten();
            text.filter(|text| !text.is_empty() && text.bytes().all(|byte| matches!(byte, b' '..=b'~')))
        };
        TraceContext {
            traceparent: text("traceparent"),
            tracestate: text("tracestate"),
            baggage: text("baggage"),
        }
    }
}

impl FromCall for TraceContext {
    fn describe(_: &mut HandlerSpec) {}

    fn from_call(call: &Call) -> impl Future<Output = Result<Self, McpError>> {
        ready(Ok(Meta::of(call).trace()))
    }
}
