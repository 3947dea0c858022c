//! Refuses functions that cannot be tools, with an error at the token at fault.

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{
    Error, FnArg, ItemFn, Result, ReturnType, Type,
    visit::{self, Visit},
};

/// The maximum number of a handler's parameters.
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
            "a tool cannot use `Self`, which is unknown in the generated code: write the name of the type instead",
        ));
    }
    if signature.asyncness.is_none() {
        return Err(Error::new_spanned(signature.fn_token, "a tool must be an `async fn`: add `async`"));
    }
    if let Some(keyword) = &signature.unsafety {
        return Err(Error::new_spanned(keyword, "a tool cannot be `unsafe`: clients call it"));
    }
    if let Some(abi) = &signature.abi {
        return Err(Error::new_spanned(abi, "a tool must be a Rust function: remove `extern`"));
    }
    if let Some(generic) = signature.generics.params.first() {
        return Err(Error::new_spanned(
            generic,
            "a tool cannot have generic parameters: its types must be known when it is registered",
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
                "a tool must return a named type: write it instead of `impl Trait`",
            ));
        }
    }
    Ok(())
}

/// The place of the first `Self` in these tokens. Nested `impl` blocks and types have their own.
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
            "a tool's parameters must have named types: write one instead of `impl Trait`",
        ));
    }
    Ok(())
}

fn owned(borrowed: &Type) -> String {
    let borrowed = quote::quote!(#borrowed).to_string().replace(' ', "");
    match borrowed.as_str() {
        "str" => "a tool's parameters must be owned: write `String` instead of `&str`".to_owned(),
        "[u8]" => "a tool's parameters must be owned: write `Vec<u8>` instead of `&[u8]`".to_owned(),
        _ => format!("a tool's parameters must be owned: write `{borrowed}` without the reference"),
    }
}

/// Finds references that are not `'static`, and `impl Trait`, in a type; skips the signatures of function types.
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
