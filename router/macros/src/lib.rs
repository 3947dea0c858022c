//! The attribute macros of actix-mcp; use them through the facade crate.
//!
//! **Invariant:** the author's function is kept whole, so that rustc's errors in it are at the author's tokens.

use proc_macro::TokenStream;

mod options;
mod refuse;
mod tool;

/// The code that it writes names `::actix_mcp`; the option `crate = "path"` is for where that has another name.
#[proc_macro_attribute]
pub fn tool(options: TokenStream, function: TokenStream) -> TokenStream {
    tool::expand(options.into(), function.into()).unwrap_or_else(|error| error.into_compile_error()).into()
}
