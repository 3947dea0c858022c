//! Type-erased handlers of tools.

use std::{error::Error, future::Future, marker::PhantomData, sync::Arc};

use futures_util::future::LocalBoxFuture;

use super::{Tool, refusal};
use crate::{
    call::{
        Call,
        extract::{FromCall, HandlerSpec},
        failure,
        handler::Handler,
        result::IntoToolResult,
    },
    wire::{error::McpError, tool_result::ToolResult},
};

/// A handler that can be a tool: its parameters are extractors, and it returns a result.
///
/// One bound instead of three, so that the compiler's error points at the function.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an async function whose parameters are all extractors",
    label = "not a handler",
    note = "a handler is an `async fn` of at most 12 parameters, or a closure that returns a future",
    note = "it is kept in the server, so it must be `Send + Sync + 'static`; its future need not be `Send`"
)]
pub trait ToolHandler<Args>: Send + Sync + 'static {
    #[doc(hidden)]
    fn into_tool(self, name: String) -> Tool;
}

impl<F, A> ToolHandler<A> for F
where
    F: Handler<A>,
    F::Output: IntoToolResult,
    A: FromCall,
{
    fn into_tool(self, name: String) -> Tool {
        let run = HandlerTool { handler: self, _source: PhantomData::<fn(Plain<A>)> };
        Tool::of(name, HandlerSpec::of::<A>(), F::Output::output_schema(), Arc::new(run))
    }
}

/// Where a handler's parameters come from.
pub(super) trait Source: 'static {
    type Values;

    fn extract(call: &Call) -> impl Future<Output = Result<Self::Values, McpError>>;
}

/// Finds the cause of an error in a handler's output `O`.
pub(super) trait Causes<O> {
    /// The error in the output, if its type can have causes.
    fn cause(_: &O) -> Option<&(dyn Error + 'static)> {
        None
    }
}

/// Each parameter is an extractor.
pub(super) struct Plain<A>(PhantomData<A>);

impl<A, O> Causes<O> for Plain<A> {}

impl<A: FromCall> Source for Plain<A> {
    type Values = A;

    fn extract(call: &Call) -> impl Future<Output = Result<A, McpError>> {
        A::from_call(call)
    }
}

/// A type-erased handler.
pub(super) trait Invoke: Send + Sync {
    /// The whole call, in a single allocation (the box).
    fn invoke(
        self: Arc<Self>,
        tool: Arc<Tool>,
        call: Call,
    ) -> LocalBoxFuture<'static, Result<ToolResult, McpError>>;
}

pub(super) struct HandlerTool<F, S> {
    pub(super) handler: F,
    /// `fn(S)` is `Send + Sync` whatever `S` is.
    pub(super) _source: PhantomData<fn(S)>,
}

impl<F, S> Invoke for HandlerTool<F, S>
where
    F: Handler<S::Values>,
    F::Output: IntoToolResult,
    S: Source + Causes<F::Output>,
{
    fn invoke(
        self: Arc<Self>,
        tool: Arc<Tool>,
        call: Call,
    ) -> LocalBoxFuture<'static, Result<ToolResult, McpError>> {
        Box::pin(async move {
            if !call.arguments().trim_start().starts_with('{') {
                return Err(McpError::invalid_params("arguments: not an object"));
            }
            let values = match S::extract(&call).await {
                Ok(values) => values,
                Err(error) => return refusal(&call, failure::ended(&call, error)),
            };
            if let Err(error) = tool.check_arguments(&call) {
                return refusal(&call, error);
            }
            let output = self.handler.call(values).await;
            let failed = S::cause(&output).map(failure::causes).or_else(|| output.failure());
            let result = output.into_tool_result(&call);
            if call.requires_input() {
                return result;
            }
            let result = result.map(|result| tool.finish(result));
            match failed {
                None => result,
                Some(why) => failure::of_tool(&call, &why, result),
            }
        })
    }
}
