//! Handlers of prompts, resources and completers, with their types erased.

use std::{marker::PhantomData, sync::Arc};

use futures_util::future::LocalBoxFuture;

use crate::{
    call::{
        Call,
        extract::{FromCall, client_error},
        failure::ended,
        handler::{Handler, Run},
    },
    wire::error::McpError,
};

/// A handler whose parameters are all extractors, and the conversion of its output. `fn(A)` is `Send + Sync` whatever
/// `A` is.
struct Erased<F: Handler<A>, A, R> {
    handler: F,
    convert: fn(F::Output, &Call) -> Result<R, McpError>,
    _args: PhantomData<fn(A)>,
}

/// Erases a handler's types.
pub(crate) fn erase<R, F, A>(
    handler: F,
    convert: fn(F::Output, &Call) -> Result<R, McpError>,
) -> Arc<dyn Run<R>>
where
    R: 'static,
    F: Handler<A>,
    A: FromCall,
{
    Arc::new(Erased { handler, convert, _args: PhantomData })
}

impl<F, A, R> Run<R> for Erased<F, A, R>
where
    R: 'static,
    F: Handler<A>,
    A: FromCall,
{
    fn run(self: Arc<Self>, call: Call) -> LocalBoxFuture<'static, Result<R, McpError>> {
        Box::pin(async move {
            let values = match A::from_call(&call).await {
                Ok(values) => values,
                Err(error) => return Err(client_error(&call, ended(&call, error))),
            };
            let output = self.handler.call(values).await;
            (self.convert)(output, &call).map_err(|error| ended(&call, error))
        })
    }
}
