//! Handlers of prompts, resources and completers, with their types erased.

use std::{any::Any, fmt::Display, marker::PhantomData, sync::Arc};

use futures_util::future::LocalBoxFuture;

use crate::{
    call::Call,
    completion::{Completion, IntoCompletion},
    elicit::ElicitError,
    error::{McpError, Shown},
    extract::{FromCall, told},
    handler::{Handler, Run},
    prompt::{IntoPromptResult, PromptResult},
    resource::{Contents, IntoContents},
    result::within,
    roots::RootsError,
    sample::SampleError,
};

/// A handler whose parameters are all extractors. `fn(A)` is `Send + Sync` whatever `A` is.
pub(crate) struct Erased<F, A>(F, PhantomData<fn(A)>);

/// Erases a handler's types, once it is known what it results in.
pub(crate) fn erase<R, F, A: 'static>(handler: F) -> Arc<dyn Run<R>>
where
    Erased<F, A>: Run<R>,
    F: 'static,
{
    Arc::new(Erased(handler, PhantomData))
}

macro_rules! run {
    ($($output:ident as $into:ident :: $convert:ident;)*) => {$(
        impl<F, A> Run<$output> for Erased<F, A>
        where
            F: Handler<A>,
            F::Output: $into,
            A: FromCall,
        {
            fn run(self: Arc<Self>, call: Call) -> LocalBoxFuture<'static, Result<$output, McpError>> {
                Box::pin(async move {
                    let values = A::from_call(&call).await.map_err(|error| told(&call, error))?;
                    self.0.call(values).await.$convert(&call)
                })
            }
        }
    )*};
}

run! {
    PromptResult as IntoPromptResult::into_prompt_result;
    Contents as IntoContents::into_contents;
    Completion as IntoCompletion::into_completion;
}

/// What the client is told of an error that a prompt, a reader or a completer returned: an [`McpError`] is the answer, and
/// so is what a question came to; any other is ours, and its text goes to the log. Only a tool's failure is for the model
/// to read.
// MCP 2025-11-25 server/prompts and server/resources, Error Handling: internal errors are -32603
pub(crate) fn failed(call: &Call, error: &(impl Display + 'static)) -> McpError {
    if let Some(error) = within::<McpError>(error).cloned().or_else(|| unanswered(error)) {
        return error;
    }
    log::error!("{} failed: {error:#}", Shown(call.target()));
    McpError::internal()
}

/// The error that stands for a question without an answer.
fn unanswered(error: &dyn Any) -> Option<McpError> {
    within::<ElicitError>(error)
        .map(ElicitError::told)
        .or_else(|| within::<SampleError>(error).map(SampleError::told))
        .or_else(|| within::<RootsError>(error).map(RootsError::told))
        .flatten()
}
