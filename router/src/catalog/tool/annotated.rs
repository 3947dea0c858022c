//! Functions with `#[tool]` on them: the types that the code of the macro uses.
//!
//! The macro keeps the function and changes its return type to [`ToolCall<M, _>`](ToolCall), a future like the one it
//! was. `M` carries the name, the documentation and the parameters; it is found through the return type, so that
//! `.tool(add)` needs nothing but the function. `M` is declared within the function, so that it remains one item, which
//! can also be in an `impl`.

use std::{
    error::Error,
    future::Future,
    marker::PhantomData,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use futures_util::future::LocalBoxFuture;
use pin_project_lite::pin_project;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::{
    IntoTool, Tool,
    handler::{Causes, HandlerTool, Source},
};
use crate::{
    call::{
        Call,
        extract::{self, Fields, FromCall, HandlerSpec},
        handler::{Handler, each_arity},
        result::IntoToolResult,
    },
    wire::error::McpError,
};

pin_project! {
    /// The future of a function with `#[tool]` on it.
    pub struct ToolCall<M, F> {
        #[pin]
        future: F,
        meta: PhantomData<fn() -> M>,
    }
}

impl<M, F> ToolCall<M, F> {
    /// The future that the function would have returned.
    #[inline]
    pub fn new(future: F) -> Self {
        Self { future, meta: PhantomData }
    }
}

impl<M, F: Future> Future for ToolCall<M, F> {
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        self.project().future.poll(cx)
    }
}

impl<M, F> std::fmt::Debug for ToolCall<M, F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ToolCall").finish_non_exhaustive()
    }
}

/// The information that `#[tool]` collects about a function.
pub trait ToolFn: 'static {
    /// The tool's name.
    const NAME: &'static str;
    /// The output of the function, awaited.
    type Output: IntoToolResult;
    /// Its parameters.
    type Params: 'static;

    /// How each parameter is extracted. The one place where the macro names their types, so that each mistake is
    /// reported once.
    fn params() -> impl Params<Values = Self::Params>;

    /// The error in the output, if its type is an [`Error`]. Its causes go to the log.
    fn cause(output: &Self::Output) -> Option<&(dyn Error + 'static)> {
        let _ = output;
        None
    }

    /// Adds the description and the options of the attribute.
    fn define(tool: Tool) -> Tool {
        tool
    }
}

/// Marks functions with `#[tool]` on them, for [`IntoTool`].
#[derive(Debug)]
pub struct Annotated<T>(PhantomData<T>);

/// A parameter: an argument of the call, or an extractor. `Kind` says which, and is found by the compiler.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a parameter of a tool: it is neither an extractor nor a tool argument",
    label = "neither an extractor nor an argument",
    note = "what the server knows is taken by an extractor: `FromMiddleware<T>` for what middleware put into the request, `Http` in place of `HttpRequest`, `web::Data<T>` for what the app holds; or implement `FromCall` for your type",
    note = "a tuple or an `Option` is of one kind, all arguments or all extractors: make each part a parameter of its own",
    note = "to make it an argument, add `#[derive(serde::Deserialize, schemars::JsonSchema)]` to your type: `{Self}`, or what is in it; then the *client* sends it, and may send anything"
)]
pub trait ToolParam<Kind>: Sized + 'static {
    /// Whether it is read from the arguments.
    const IS_ARGUMENT: bool;

    /// Describes what it needs.
    fn describe(spec: &mut HandlerSpec, name: &'static str, doc: &'static str);

    /// Extracts its value.
    fn take<'a>(call: &'a Call, fields: &Arguments<'_>, name: &str) -> Taken<'a, Self>;
}

/// A parameter whose type has the name of an actix-web extractor. Like [`ToolParam`], but its error does not suggest an
/// argument.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a parameter of a tool: it is not an extractor of tools",
    label = "not an extractor",
    note = "take what middleware put into the request as `FromMiddleware<T>` in place of `web::ReqData<T>`, and the request as `Http` in place of `HttpRequest`"
)]
pub trait RequestParam<Kind>: ToolParam<Kind> {}

#[diagnostic::do_not_recommend]
impl<T: ToolParam<Kind>, Kind> RequestParam<Kind> for T {}

/// The value of a parameter: at once for an argument, later for an extractor.
#[expect(missing_debug_implementations, reason = "holds a future")]
pub enum Taken<'a, T> {
    /// The value, or the error.
    Now(Result<T, McpError>),
    /// A future of the value.
    Later(LocalBoxFuture<'a, Result<T, McpError>>),
}

/// The members of a call's arguments.
#[derive(Debug)]
pub struct Arguments<'a>(Fields<'a>);

/// The kind of a parameter that is an argument.
#[derive(Debug)]
pub struct Argument;

/// The kind of a parameter that is an extractor.
#[derive(Debug)]
pub struct Extractor;

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema + 'static> ToolParam<Argument> for T {
    const IS_ARGUMENT: bool = true;

    fn describe(spec: &mut HandlerSpec, name: &'static str, doc: &'static str) {
        // an argument is required if serde cannot make its value from nothing
        spec.argument::<T>(name, doc, extract::of_nothing::<T>().is_none());
    }

    fn take<'a>(_: &'a Call, fields: &Arguments<'_>, name: &str) -> Taken<'a, T> {
        Taken::Now(extract::argument(&fields.0, name))
    }
}

#[diagnostic::do_not_recommend]
impl<T: FromCall> ToolParam<Extractor> for T {
    const IS_ARGUMENT: bool = false;

    fn describe(spec: &mut HandlerSpec, _: &'static str, _: &'static str) {
        T::describe(spec);
    }

    fn take<'a>(call: &'a Call, _: &Arguments<'_>, _: &str) -> Taken<'a, T> {
        Taken::Later(Box::pin(T::from_call(call)))
    }
}

/// One parameter; its kind is erased.
///
/// The type has no bounds. If it had, a type that is not a [`ToolParam`] would be reported three times, at the
/// parameter and at the attribute.
#[expect(missing_debug_implementations, reason = "the macro's code only passes it on")]
pub struct Param<T> {
    name: &'static str,
    doc: &'static str,
    /// The header that repeats it; empty if there is none.
    header: &'static str,
    is_argument: bool,
    describe: fn(&mut HandlerSpec, &'static str, &'static str),
    take: for<'a> fn(&'a Call, &Arguments<'_>, &str) -> Taken<'a, T>,
}

/// A parameter with a name, which is an argument or an extractor by its type.
#[must_use]
pub fn param<T: ToolParam<Kind>, Kind>(name: &'static str, doc: &'static str) -> Param<T> {
    Param { name, doc, header: "", is_argument: T::IS_ARGUMENT, describe: T::describe, take: T::take }
}

/// The same, for a type with the name of an actix-web extractor.
#[must_use]
pub fn request_param<T: RequestParam<Kind>, Kind>(name: &'static str, doc: &'static str) -> Param<T> {
    param::<T, Kind>(name, doc)
}

/// A parameter that is a pattern: an extractor.
#[must_use]
pub fn extractor<T: FromCall>() -> Param<T> {
    param::<T, Extractor>("", "")
}

impl<T> Param<T> {
    /// The same, repeated by clients in the header `Mcp-Param-` and this name.
    #[must_use]
    pub fn header(self, header: &'static str) -> Self {
        Self { header, ..self }
    }

    fn describe(&self, spec: &mut HandlerSpec) {
        (self.describe)(spec, self.name, self.doc);
        if !self.header.is_empty() {
            spec.header(self.name, self.header, self.is_argument);
        }
    }

    async fn take(&self, call: &Call, fields: &Arguments<'_>) -> Result<T, McpError> {
        match (self.take)(call, fields, self.name) {
            Taken::Now(value) => value,
            Taken::Later(value) => value.await,
        }
    }
}

/// All parameters of a function.
pub trait Params {
    /// Their values.
    type Values;

    /// Describes what they need.
    fn describe(&self, spec: &mut HandlerSpec);

    /// Extracts their values.
    fn extract(&self, call: &Call) -> impl Future<Output = Result<Self::Values, McpError>>;
}

/// The parameters come from the arguments and from extractors, as [`ToolFn::params`] says.
struct Named<M>(PhantomData<M>);

impl<M: ToolFn> Source for Named<M> {
    type Values = M::Params;

    async fn extract(call: &Call) -> Result<M::Params, McpError> {
        M::params().extract(call).await
    }
}

impl<M: ToolFn> Causes<M::Output> for Named<M> {
    fn cause(output: &M::Output) -> Option<&(dyn Error + 'static)> {
        M::cause(output)
    }
}

fn tool<M: ToolFn, F: Handler<M::Params, Output = M::Output>>(handler: F) -> Tool {
    let mut spec = HandlerSpec::new();
    M::params().describe(&mut spec);
    let run = HandlerTool { handler, _source: PhantomData::<fn(Named<M>)> };
    M::define(Tool::of(M::NAME.to_owned(), spec, M::Output::output_schema(), Arc::new(run)))
}

macro_rules! annotated {
    ($($param:ident)*) => {
        #[diagnostic::do_not_recommend]
        impl<Func, M, Fut, $($param,)*> IntoTool<Annotated<(M, Fut, $($param,)*)>> for Func
        where
            Func: Fn($($param),*) -> ToolCall<M, Fut> + Send + Sync + 'static,
            M: ToolFn<Params = ($($param,)*)>,
            Fut: Future<Output = M::Output> + 'static,
        {
            fn into_tool(self) -> Tool {
                tool::<M, _>(self)
            }
        }

        impl<$($param,)*> Params for ($(Param<$param>,)*) {
            type Values = ($($param,)*);

            #[allow(
                non_snake_case,
                unused_variables,
                reason = "a parameter is named like its type; the empty tuple describes nothing"
            )]
            fn describe(&self, spec: &mut HandlerSpec) {
                let ($($param,)*) = self;
                $($param.describe(spec);)*
            }

            #[allow(
                non_snake_case,
                unused_variables,
                clippy::unused_unit,
                reason = "a parameter is named like its type; the empty tuple takes nothing"
            )]
            async fn extract(&self, call: &Call) -> Result<Self::Values, McpError> {
                let ($($param,)*) = self;
                let fields = if false $(|| $param.is_argument)* { Fields::read(call)? } else { Fields::default() };
                let fields = Arguments(fields);
                Ok(($($param.take(call, &fields).await?,)*))
            }
        }
    };
}

each_arity! { annotated }
