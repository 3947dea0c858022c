//! The attribute macros of actix-mcp; use them through the facade crate.
//!
//! **Invariant:** the author's function is kept whole, so that rustc's errors in it are at the author's tokens.

use proc_macro::TokenStream;

mod options;
mod refuse;
mod tool;

/// Makes a tool of a free async function.
///
/// The function's name is the tool's, its documentation the description, its parameters the arguments, with the
/// documentation that is on them. Parameters that are extractors (`Progress`, `web::Data<T>`, `Args(x): Args<T>`, your
/// own) are no arguments. An `Option` need not be given.
///
/// ```ignore
/// /// Adds two integers.
/// #[tool(read_only)]
/// async fn add(
///     /// The one.
///     a: i64,
///     /// The other; 1 if absent.
///     b: Option<i64>,
/// ) -> i64 {
///     a + b.unwrap_or(1)
/// }
/// ```
///
/// What computes for long, or blocks, goes into `web::block(..).await`: without, everything else on the handler's thread
/// waits, pings and its own cancellation among it. The documentation of the facade crate says more ("Handlers that compute
/// or block").
///
/// The function stays what it is: `add(1, None).await` in a unit test, `.tool(add)` on the server.
///
/// Options: `name`, `title`, `description` (strings); `read_only`, `destructive`, `idempotent`, `open_world` (alone, or
/// `= false`); `crate = "path"` where `actix_mcp` has another name.
#[proc_macro_attribute]
pub fn tool(options: TokenStream, function: TokenStream) -> TokenStream {
    tool::expand(options.into(), function.into()).unwrap_or_else(|err| err.into_compile_error()).into()
}
