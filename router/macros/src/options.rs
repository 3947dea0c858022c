//! What stands in the parentheses of `#[tool(..)]`.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Ident, LitBool, LitStr, Path, Token, meta::ParseNestedMeta, parse::Parser};

/// The options, as given.
pub(crate) struct Options {
    /// The path of the facade, or of a crate that has its `__private`.
    pub(crate) krate: Path,
    pub(crate) name: Option<LitStr>,
    pub(crate) description: Option<LitStr>,
    /// Calls of `Tool`'s builder methods.
    pub(crate) calls: TokenStream,
}

impl Options {
    pub(crate) fn parse(tokens: TokenStream) -> syn::Result<Self> {
        let krate = Path { leading_colon: Some(Token![::](Span::call_site())), segments: facade() };
        let mut options = Self { krate, name: None, description: None, calls: TokenStream::new() };
        syn::meta::parser(|meta| options.take(&meta)).parse2(tokens)?;
        Ok(options)
    }

    fn take(&mut self, meta: &ParseNestedMeta<'_>) -> syn::Result<()> {
        let Some(option) = meta.path.get_ident() else { return Err(unknown(meta)) };
        match option.to_string().as_str() {
            "name" => self.name = Some(name(meta)?),
            "description" => self.description = Some(meta.value()?.parse()?),
            "crate" => self.krate = meta.value()?.parse::<LitStr>()?.parse()?,
            "title" => {
                let title: LitStr = meta.value()?.parse()?;
                self.call(option, &title);
            }
            "read_only" | "destructive" | "idempotent" | "open_world" => {
                let hint = if meta.input.peek(Token![=]) {
                    meta.value()?.parse()?
                } else {
                    LitBool::new(true, option.span())
                };
                self.call(option, &hint);
            }
            _ => return Err(unknown(meta)),
        }
        Ok(())
    }

    fn call(&mut self, option: &Ident, value: &impl quote::ToTokens) {
        self.calls.extend(quote_spanned!(option.span()=> .#option(#value)));
    }
}

fn facade() -> syn::punctuated::Punctuated<syn::PathSegment, Token![::]> {
    std::iter::once(syn::PathSegment::from(Ident::new("actix_mcp", Span::call_site()))).collect()
}

fn name(meta: &ParseNestedMeta<'_>) -> syn::Result<LitStr> {
    let name: LitStr = meta.value()?.parse()?;
    if name.value().is_empty() {
        return Err(syn::Error::new(name.span(), "a tool's name is not empty"));
    }
    Ok(name)
}

fn unknown(meta: &ParseNestedMeta<'_>) -> syn::Error {
    meta.error(
        "no option of `#[tool]`: there are `name`, `title`, `description`, `read_only`, `destructive`, `idempotent`, \
         `open_world` and `crate`",
    )
}

/// The documentation in these attributes, as text.
pub(crate) fn doc(attributes: &[syn::Attribute]) -> String {
    let lines = attributes.iter().filter(|attribute| attribute.path().is_ident("doc")).filter_map(line);
    let lines: Vec<_> = lines.collect();
    lines.join("\n").trim().to_owned()
}

/// A line of documentation, without the space that `///` leaves before it.
fn line(attribute: &syn::Attribute) -> Option<String> {
    let syn::Meta::NameValue(pair) = &attribute.meta else { return None };
    // `#[doc = concat!(..)]` is no literal here: it has no text yet
    let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) = &pair.value else { return None };
    let text = text.value();
    let lines = text.lines().map(|line| line.strip_prefix(' ').unwrap_or(line).trim_end());
    Some(lines.collect::<Vec<_>>().join("\n"))
}

/// `Some(..)` as code, for the definition.
pub(crate) fn description(options: &Options, attributes: &[syn::Attribute]) -> TokenStream {
    let text = match &options.description {
        Some(text) => quote!(#text),
        None => match doc(attributes) {
            text if text.is_empty() => return TokenStream::new(),
            text => quote!(#text),
        },
    };
    quote!(.description(#text))
}
