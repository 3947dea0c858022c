//! Extractors: the types of a handler's parameters, as in actix-web.
//!
//! An extractor reads the [`Call`] and nothing else. Those that need actix-web are in `web.rs`, those about the client
//! in `session.rs`; a handler's own arguments are [`Args`].

use std::future::{Future, ready};

use crate::{
    call::{Call, cancelled::Cancelled, handler::each_arity},
    wire::error::{ErrorCode, McpError, Shown},
};

mod args;
mod members;
mod probe;
mod session;
mod spec;
mod trace;
mod web;
mod whole;

pub use args::{Args, Arguments};
pub(crate) use args::{Fields, argument, bad, cut, of_nothing, sentence};
pub(crate) use members::{Takes, Unmatched};
pub use session::{Meta, Session};
pub use spec::HandlerSpec;
pub(crate) use spec::Requirements;
pub use trace::TraceContext;
pub use web::{FromMiddleware, Http};
pub(crate) use whole::rewritten;

/// A value that is extracted from a call: a parameter of a handler.
///
/// ```
/// # mod actix_mcp { pub use actix_mcp_router::*; }
/// use actix_mcp::{Call, FromCall, McpError};
///
/// /// What the client calls itself.
/// struct ClientName(String);
///
/// impl FromCall for ClientName {
///     async fn from_call(call: &Call) -> Result<Self, McpError> {
///         Ok(Self(call.peer().info.name.clone()))
///     }
/// }
/// ```
///
/// To unit-test an extractor, create a call with `testing::TestCall` of the facade.
///
/// Do not implement both `Deserialize` and `JsonSchema` for an extractor: with `#[tool]` it could then be an argument
/// as well, and the compiler reports an ambiguity.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be extracted from a call",
    label = "not an extractor",
    note = "extractors are `Args<T>`, `web::Data<T>`, `Http`, `FromMiddleware<T>`, `Progress`, `Log`, `Client`, `Cancelled`, `Session`, `Principal`, `Meta`, `Handle`, `Uri`, an `Option` or a tuple of them, and types of your own that implement `FromCall`",
    note = "`FromMiddleware<T>` takes the place of `web::ReqData<T>`, and `Http` that of `HttpRequest`",
    note = "an argument of a tool: put `#[tool]` on the function, or take all arguments as one `Args<T>`",
    note = "an argument of a prompt, or a variable of a resource template: take all of them as one `Args<T>`; a completer takes a `CompletionRequest`"
)]
pub trait FromCall: Sized + 'static {
    /// Declares, when the handler is registered, what this extractor needs. An extractor that uses others passes on
    /// their needs: `Args::<T>::describe(spec)`.
    ///
    /// By default, an extractor needs nothing but may log, since it could take a [`Log`](crate::call::log::Log) from
    /// the call: the server then declares the capability `logging`. If yours does not log, implement an empty
    /// `describe`.
    fn describe(spec: &mut HandlerSpec) {
        spec.logs();
    }

    /// Extracts the value from the call.
    ///
    /// # Errors
    ///
    /// The handler does not run. -32602 is the client's fault: for a tool, it becomes a result with `isError` whose
    /// text is the message, so that the model can correct its call; for everything else it is the answer. -32603 is the
    /// server's fault: its message goes to the log, and the client gets "internal error". Any other error is the
    /// answer.
    fn from_call(call: &Call) -> impl Future<Output = Result<Self, McpError>>;
}

/// `None` if the value cannot be extracted, for any reason.
impl<T: FromCall> FromCall for Option<T> {
    fn describe(spec: &mut HandlerSpec) {
        spec.optional(T::describe);
    }

    async fn from_call(call: &Call) -> Result<Self, McpError> {
        Ok(T::from_call(call).await.ok())
    }
}

/// Gives the call a grace period when it is cancelled.
impl FromCall for Cancelled {
    fn describe(_: &mut HandlerSpec) {}

    fn from_call(call: &Call) -> impl Future<Output = Result<Self, McpError>> {
        call.cancelled().listen();
        ready(Ok(call.cancelled().clone()))
    }
}

/// The client's error for a failed extractor: the text of an internal error goes only to the log.
pub(crate) fn client_error(call: &Call, error: McpError) -> McpError {
    if error.code != ErrorCode::INTERNAL_ERROR {
        return error;
    }
    log::error!("extractor of {} failed: {}", Shown(call.target()), error.message);
    McpError::internal()
}

macro_rules! tuple {
    ($($param:ident)*) => {
        /// Extracted in order.
        impl<$($param: FromCall,)*> FromCall for ($($param,)*) {
            #[allow(unused_variables, reason = "the empty tuple needs nothing")]
            fn describe(spec: &mut HandlerSpec) {
                $($param::describe(spec);)*
            }

            #[allow(
                unused_variables,
                clippy::unused_async,
                clippy::unused_unit,
                reason = "the empty tuple takes nothing"
            )]
            async fn from_call(call: &Call) -> Result<Self, McpError> {
                Ok(($($param::from_call(call).await?,)*))
            }
        }
    };
}

each_arity! { tuple }
