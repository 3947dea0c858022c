//! What cannot be a tool, told in words at the place.

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{
    Error, FnArg, ItemFn, Result, ReturnType, Type,
    visit::{self, Visit},
};

/// The most parameters a handler has.
const PARAMETERS: usize = 12;

/// # Errors
///
/// The first reason why the function cannot be a tool.
pub(crate) fn refuse(function: &ItemFn) -> Result<()> {
    let signature = &function.sig;
    if let Some(FnArg::Receiver(this)) = signature.inputs.first() {
        return Err(Error::new_spanned(
            this,
            "a method cannot be a tool: write a function without `self`, and take the value as `web::Data<T>`",
        ));
    }
    if let Some(this) = self_type(function.to_token_stream()) {
        return Err(Error::new(
            this,
            "the function of a tool is moved to where `Self` is not known: write the name of the type in its place",
        ));
    }
    if signature.asyncness.is_none() {
        return Err(Error::new_spanned(signature.fn_token, "a tool is an `async fn`: add `async`"));
    }
    if let Some(keyword) = &signature.unsafety {
        return Err(Error::new_spanned(keyword, "a tool is called by clients: it cannot be `unsafe`"));
    }
    if let Some(abi) = &signature.abi {
        return Err(Error::new_spanned(abi, "a tool is a Rust function: remove `extern`"));
    }
    if let Some(generic) = signature.generics.params.first() {
        return Err(Error::new_spanned(
            generic,
            "a tool has no generic parameters: what it takes and returns is known when it is registered",
        ));
    }
    if let Some(extra) = signature.inputs.iter().nth(PARAMETERS) {
        return Err(Error::new_spanned(
            extra,
            "a tool has at most 12 parameters: put the arguments into a struct and take it as `Args<T>`",
        ));
    }
    signature.inputs.iter().try_for_each(parameter)?;
    if let ReturnType::Type(_, output) = &signature.output {
        let mut seen = Unfit::default();
        seen.visit_type(output);
        if let Some(impl_trait) = seen.impl_trait {
            return Err(Error::new_spanned(
                impl_trait,
                "a tool returns a type that has a name: write it in place of `impl Trait`",
            ));
        }
    }
    Ok(())
}

/// Where `Self` stands in these tokens. An `impl` within has its own.
fn self_type(tokens: TokenStream) -> Option<Span> {
    let mut within_impl = false;
    tokens.into_iter().find_map(|token| match token {
        TokenTree::Ident(ident) => {
            within_impl |= ident == "impl" || ident == "trait" || ident == "struct" || ident == "enum";
            (ident == "Self" && !within_impl).then(|| ident.span())
        }
        TokenTree::Group(group) if !within_impl => self_type(group.stream()),
        TokenTree::Group(group) => {
            within_impl &= group.delimiter() != Delimiter::Brace;
            None
        }
        TokenTree::Punct(_) | TokenTree::Literal(_) => None,
    })
}

fn parameter(input: &FnArg) -> Result<()> {
    let FnArg::Typed(parameter) = input else { return Ok(()) };
    if let Type::Reference(reference) = &*parameter.ty {
        return Err(Error::new_spanned(reference, owned(&reference.elem)));
    }
    let mut seen = Unfit::default();
    seen.visit_type(&parameter.ty);
    if let Some(reference) = seen.reference {
        return Err(Error::new_spanned(reference, owned(&reference.elem)));
    }
    if let Some(impl_trait) = seen.impl_trait {
        return Err(Error::new_spanned(
            impl_trait,
            "a tool's parameters are types that have a name: write one in place of `impl Trait`",
        ));
    }
    Ok(())
}

fn owned(borrowed: &Type) -> String {
    let borrowed = quote::quote!(#borrowed).to_string().replace(' ', "");
    match borrowed.as_str() {
        "str" => "a tool's parameters are owned: write `String` instead of `&str`".to_owned(),
        "[u8]" => "a tool's parameters are owned: write `Vec<u8>` instead of `&[u8]`".to_owned(),
        _ => format!("a tool's parameters are owned: write `{borrowed}` without the reference"),
    }
}

/// Finds what has no place in a parameter's type; does not look into the signatures of functions.
#[derive(Default)]
struct Unfit<'a> {
    reference: Option<&'a syn::TypeReference>,
    impl_trait: Option<&'a syn::TypeImplTrait>,
}

impl<'a> Visit<'a> for Unfit<'a> {
    fn visit_type_reference(&mut self, reference: &'a syn::TypeReference) {
        let lasting = reference.lifetime.as_ref().is_some_and(|lifetime| lifetime.ident == "static");
        if !lasting {
            self.reference.get_or_insert(reference);
        }
        visit::visit_type_reference(self, reference);
    }

    fn visit_type_impl_trait(&mut self, impl_trait: &'a syn::TypeImplTrait) {
        self.impl_trait.get_or_insert(impl_trait);
    }

    fn visit_type_bare_fn(&mut self, _: &'a syn::TypeBareFn) {}

    fn visit_parenthesized_generic_arguments(&mut self, _: &'a syn::ParenthesizedGenericArguments) {}
}
