//! Handlers: async functions whose parameters are all extractors, as in actix-web.
//!
//! A handler is `Send + Sync`; its future need not be. It is stored with its types erased: as a `Run` of
//! a prompt's messages, a resource's contents or completion values, or, for a tool, as the `Invoke` of its own.

use std::{future::Future, sync::Arc};

use futures_util::future::LocalBoxFuture;

use crate::{call::Call, wire::error::McpError};

/// An async function of extractors: an `async fn` or a closure that returns a future, with at most 12 parameters.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an async function whose parameters are all extractors",
    label = "not a handler",
    note = "a handler is an `async fn` of at most 12 parameters, or a closure that returns a future",
    note = "it is kept in the server, so it must be `Send + Sync + 'static`; its future need not be `Send`"
)]
pub trait Handler<Args>: Send + Sync + 'static {
    /// The future's output.
    type Output;
    /// The future; it stays on its worker thread.
    type Future: Future<Output = Self::Output> + 'static;

    /// Calls the function.
    fn call(&self, args: Args) -> Self::Future;
}

/// Calls a macro once for each number of parameters that handlers and tuples may have, from none to 12.
macro_rules! each_arity {
    ($macro:ident) => {
        $macro! {}
        $macro! { A }
        $macro! { A B }
        $macro! { A B C }
        $macro! { A B C D }
        $macro! { A B C D E }
        $macro! { A B C D E F }
        $macro! { A B C D E F G }
        $macro! { A B C D E F G H }
        $macro! { A B C D E F G H I }
        $macro! { A B C D E F G H I J }
        $macro! { A B C D E F G H I J K }
        $macro! { A B C D E F G H I J K L }
    };
}
pub(crate) use each_arity;

macro_rules! handler {
    ($($param:ident)*) => {
        impl<Func, Fut, $($param,)*> Handler<($($param,)*)> for Func
        where
            Func: Fn($($param),*) -> Fut + Send + Sync + 'static,
            Fut: Future + 'static,
        {
            type Output = Fut::Output;
            type Future = Fut;

            #[inline]
            #[allow(non_snake_case, reason = "a parameter is named like its type")]
            fn call(&self, ($($param,)*): ($($param,)*)) -> Self::Future {
                (self)($($param,)*)
            }
        }
    };
}

each_arity! { handler }

/// A handler with its extractors and its output's conversion erased; `R` is what dispatch needs from it.
pub(crate) trait Run<R>: Send + Sync {
    /// Extracts, calls, converts. One allocation: the box.
    fn run(self: Arc<Self>, call: Call) -> LocalBoxFuture<'static, Result<R, McpError>>;
}
