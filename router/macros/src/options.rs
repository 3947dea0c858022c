//! The options in the parentheses of `#[tool(..)]`.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Ident, LitBool, LitStr, Path, Token, meta::ParseNestedMeta, parse::Parser};

/// The options, as given.
pub(crate) struct Options {
    /// The path of the facade, or of a crate with the same `__private` module.
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
        return Err(syn::Error::new(name.span(), "a tool's name must not be empty"));
    }
    Ok(name)
}

fn unknown(meta: &ParseNestedMeta<'_>) -> syn::Error {
    meta.error(
        "unknown option of `#[tool]`: the options are `name`, `title`, `description`, `read_only`, `destructive`, \
         `idempotent`, `open_world` and `crate`",
    )
}

/// The documentation in these attributes, as an expression of type `&'static str`; `None` if there is none.
///
/// # Errors
///
/// If an attribute's value is neither a string literal nor a macro call.
pub(crate) fn documentation(attributes: &[syn::Attribute]) -> syn::Result<Option<TokenStream>> {
    let docs = attributes.iter().filter(|attribute| attribute.path().is_ident("doc"));
    let lines = docs.filter_map(|attribute| line(attribute).transpose()).collect::<syn::Result<Vec<_>>>()?;
    let texts = lines.iter().map(|line| match line {
        Line::Text(text) => Some(text.as_str()),
        Line::Macro(_) => None,
    });
    if let Some(texts) = texts.collect::<Option<Vec<_>>>() {
        let text = texts.join("\n").trim().to_owned();
        return Ok((!text.is_empty()).then(|| quote!(#text)));
    }
    // such as `#[doc = include_str!("..")]`: the compiler knows the text, this macro does not
    let parts = lines.iter().map(|line| match line {
        Line::Text(text) => quote!(#text),
        Line::Macro(text) => quote!(#text),
    });
    Ok(Some(quote!(::core::concat!(#(#parts, "\n"),*).trim_ascii())))
}

/// Like [`documentation`], but empty if there is none.
pub(crate) fn doc(attributes: &[syn::Attribute]) -> syn::Result<TokenStream> {
    Ok(documentation(attributes)?.unwrap_or_else(|| quote!("")))
}

/// A line of documentation, or the macro call that expands to it.
enum Line {
    Text(String),
    Macro(syn::ExprMacro),
}

/// A line of documentation, without the space that `///` leaves before it; `None` for `#[doc(hidden)]` and the like.
fn line(attribute: &syn::Attribute) -> syn::Result<Option<Line>> {
    let syn::Meta::NameValue(pair) = &attribute.meta else { return Ok(None) };
    if let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) = &pair.value {
        let text = text.value();
        let lines = text.lines().map(|line| line.strip_prefix(' ').unwrap_or(line).trim_end());
        return Ok(Some(Line::Text(lines.collect::<Vec<_>>().join("\n"))));
    }
    if let syn::Expr::Macro(text) = &pair.value {
        return Ok(Some(Line::Macro(text.clone())));
    }
    Err(syn::Error::new_spanned(
        &pair.value,
        "documentation must be a string or a macro that expands to one, such as `include_str!(\"..\")`",
    ))
}

/// The call of `Tool::description`; empty if the tool has no description.
pub(crate) fn description(options: &Options, attributes: &[syn::Attribute]) -> syn::Result<TokenStream> {
    let text = match &options.description {
        Some(text) => Some(quote!(#text)),
        None => documentation(attributes)?,
    };
    Ok(text.map(|text| quote!(.description(#text))).unwrap_or_default())
}
