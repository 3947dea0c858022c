//! Handlers of prompts, resources and completers, with their types erased.

use std::{marker::PhantomData, sync::Arc};

use futures_util::future::LocalBoxFuture;

use crate::{
    call::{
        Call,
        extract::{FromCall, told},
        failure::ended,
        handler::{Handler, Run},
    },
    catalog::{
        completion::{Completion, IntoCompletion},
        prompt::{IntoPromptResult, PromptResult},
        resource::{Contents, IntoContents},
    },
    wire::error::McpError,
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
                    let values = match A::from_call(&call).await {
                        Ok(values) => values,
                        Err(error) => return Err(told(&call, ended(&call, error))),
                    };
                    self.0.call(values).await.$convert(&call).map_err(|error| ended(&call, error))
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
