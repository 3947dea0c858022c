//! The attribute macros of actix-mcp; use them through the facade crate.
//!
//! **Invariant:** the author's function is kept whole, so that rustc reports its errors at the author's tokens.

use proc_macro::TokenStream;

mod options;
mod refuse;
mod tool;

/// The generated code refers to `::actix_mcp`. If that crate has another name, give its path: `crate = "path"`.
#[proc_macro_attribute]
pub fn tool(options: TokenStream, function: TokenStream) -> TokenStream {
    tool::expand(options.into(), function.into()).unwrap_or_else(|error| error.into_compile_error()).into()
}
