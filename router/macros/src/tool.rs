//! Expands `#[tool]` on a free function, or on an associated function without `self`.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{Attribute, FnArg, Ident, ItemFn, LitStr, Pat, PatType, ReturnType, Type, spanned::Spanned};

use crate::{
    options::{Options, description, doc},
    refuse::refuse,
};

/// A parameter, as the outer function and the metadata see it.
struct Parameter {
    /// Its name in the outer function.
    ident: Ident,
    ty: Type,
    /// The expression that describes it in the metadata.
    source: TokenStream,
}

/// Generates the function and its metadata. The function's return type leads to the metadata.
pub(crate) fn expand(options: TokenStream, function: TokenStream) -> syn::Result<TokenStream> {
    let Ok(mut function) = syn::parse2::<ItemFn>(function.clone()) else {
        return Err(syn::Error::new_spanned(function, "`#[tool]` goes on an `async fn` with a body"));
    };
    refuse(&function)?;
    let options = Options::parse(options)?;
    let krate = &options.krate;
    let private = quote!(#krate::__private);

    let vis = function.vis.clone();
    let ident = function.sig.ident.clone();
    let name =
        options.name.as_ref().map_or_else(|| unraw(&ident).into_token_stream(), ToTokens::to_token_stream);
    let description = description(&options, &function.attrs)?;
    let calls = &options.calls;
    let output = match &function.sig.output {
        ReturnType::Default => quote_spanned!(ident.span()=> ()),
        ReturnType::Type(_, output) => output.to_token_stream(),
    };
    let output_span = output.span();

    let inputs = function.sig.inputs.iter_mut().enumerate();
    let parameters = inputs.filter_map(|(index, input)| parameter(index, input, &private).transpose());
    let parameters = parameters.collect::<syn::Result<Vec<_>>>()?;
    let idents: Vec<_> = parameters.iter().map(|each| &each.ident).collect();
    let types: Vec<_> = parameters.iter().map(|each| &each.ty).collect();
    let passed = (0..parameters.len()).map(|index| format_ident!("__mcp_passed_{index}")).collect::<Vec<_>>();
    let sources = parameters.iter().map(|each| &each.source);

    let (outer, inner): (Vec<_>, Vec<_>) = function.attrs.drain(..).partition(belongs_outside);
    function.attrs = inner;
    function.vis = syn::Visibility::Inherited;
    let output_type = quote_spanned!(output_span=> type Output = #output;);

    // a single item, so that it works in an `impl` as well; no other code needs to name the metadata
    Ok(quote! {
        #(#outer)*
        #[allow(clippy::too_many_arguments)]
        #vis fn #ident(#(#idents: #types),*) -> #private::ToolCall<
            impl #private::ToolFn<Output = #output, Params = (#(#types,)*)>,
            impl ::core::future::Future<Output = #output>,
        > {
            #[allow(missing_debug_implementations)]
            struct Metadata;

            #[automatically_derived]
            impl #private::ToolFn for Metadata {
                const NAME: &'static str = #name;
                #output_type
                type Params = (#(#types,)*);

                #[allow(clippy::unused_unit)]
                fn params() -> impl #private::Params<Values = Self::Params> {
                    (#(#sources,)*)
                }

                fn cause(
                    output: &Self::Output,
                ) -> ::core::option::Option<&(dyn ::core::error::Error + 'static)> {
                    #[allow(unused_imports)]
                    use #private::{WithCauses as _, WithoutCauses as _};
                    (&#private::Probe(output)).cause()
                }

                fn define(tool: #private::Tool) -> #private::Tool {
                    tool #description #calls
                }
            }

            let (#(#passed,)*) = (#(#idents,)*);
            #private::ToolCall::<Metadata, _>::new({
                // in its own block: outside it, a parameter may have the function's name
                #[allow(clippy::unused_async, clippy::too_many_arguments)]
                #function
                #ident(#(#passed),*)
            })
        }
    })
}

/// Describes a parameter and removes its documentation and header, which rustc does not allow there.
fn parameter(index: usize, input: &mut FnArg, private: &TokenStream) -> syn::Result<Option<Parameter>> {
    let FnArg::Typed(PatType { attrs, pat, ty, .. }) = input else { return Ok(None) };
    refuse_attributes(attrs)?;
    let doc = doc(attrs)?;
    let header = header(attrs)?;
    attrs.retain(|attribute| !attribute.path().is_ident("doc") && !attribute.path().is_ident("header"));
    let ty = Type::clone(ty);
    // so that errors about the type are reported at the type
    let private = respanned(private, ty.span());
    let (ident, source) = if let Pat::Ident(pattern) = &**pat
        && pattern.subpat.is_none()
    {
        let name = unraw(&pattern.ident);
        let header = header.map(|header| quote!(.header(#header)));
        let param = if is_of_request(&ty) { quote!(request_param) } else { quote!(param) };
        let param = respanned(&param, ty.span());
        let param = quote_spanned!(ty.span()=> #private::#param::<#ty, _>(#name, #doc));
        (pattern.ident.clone(), quote!(#param #header))
    } else {
        if let Some(header) = header {
            return Err(syn::Error::new_spanned(header, "`#[header]` goes on an argument with a name"));
        }
        let ident = Ident::new(&format!("__mcp_{index}"), pat.span());
        (ident, quote_spanned!(ty.span()=> #private::extractor::<#ty>()))
    };
    Ok(Some(Parameter { ident, ty, source }))
}

/// Whether a type has the name of one that actix-web's handlers take from the request. The compiler then does not
/// suggest making it an argument. Only that hint depends on the name: another type with this name works as usual.
fn is_of_request(ty: &Type) -> bool {
    let Type::Path(path) = ty else { return false };
    path.path.segments.last().is_some_and(|last| last.ident == "ReqData" || last.ident == "HttpRequest")
}

/// Refuses attributes that have an effect on a field of a struct but none on a parameter.
fn refuse_attributes(attributes: &[Attribute]) -> syn::Result<()> {
    let known = ["serde", "schemars", "validate", "garde"];
    let derives = |attribute: &&Attribute| known.iter().any(|name| attribute.path().is_ident(name));
    let Some(attribute) = attributes.iter().find(derives) else { return Ok(()) };
    let name = attribute.path().to_token_stream();
    let message = format!(
        "`#[{name}(..)]` goes on a field of a struct, not on a parameter: put the arguments into a struct that derives \
         `Deserialize` and `JsonSchema`, and take it as `Args<T>`"
    );
    Err(syn::Error::new_spanned(attribute, message))
}

/// The name in `#[header("Region")]`.
fn header(attributes: &[Attribute]) -> syn::Result<Option<LitStr>> {
    let mut headers = attributes.iter().filter(|attribute| attribute.path().is_ident("header"));
    let header = headers.next().map(|attribute| {
        let wrong =
            |_| syn::Error::new_spanned(attribute, "write `#[header(\"Region\")]`, for `Mcp-Param-Region`");
        attribute.parse_args::<LitStr>().map_err(wrong)
    });
    match headers.next() {
        Some(second) => Err(syn::Error::new_spanned(second, "an argument can have only one header")),
        None => header.transpose(),
    }
}

/// The same tokens with another span. Only for paths, which contain no groups.
fn respanned(path: &TokenStream, span: Span) -> TokenStream {
    let tokens = path.clone().into_iter().map(|mut token| {
        token.set_span(span);
        token
    });
    tokens.collect()
}

/// The name without `r#`.
fn unraw(ident: &Ident) -> String {
    let name = ident.to_string();
    name.strip_prefix("r#").map(str::to_owned).unwrap_or(name)
}

/// Attributes for callers and readers; all others (`#[instrument]`, lints) belong to the body.
fn belongs_outside(attribute: &Attribute) -> bool {
    ["doc", "cfg", "deprecated", "must_use"].iter().any(|name| attribute.path().is_ident(name))
}
