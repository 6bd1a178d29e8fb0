//! The code that `#[derive(Symbols)]` generates: it visits the symbols of every field of every variant.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::{Data, DataEnum, DataStruct, DeriveInput, Error, Fields, Index};

/// Returns the expansion, or a compile error for a union.
pub(crate) fn derive(input: &DeriveInput) -> TokenStream {
    let name = &input.ident;
    let body = match &input.data {
        Data::Struct(DataStruct { fields, .. }) => {
            let (pattern, visits) = pattern(fields);
            quote! { let Self #pattern = self; #visits }
        }
        Data::Enum(DataEnum { variants, .. }) => {
            let arms = variants.iter().map(|variant| {
                let (name, (pattern, visits)) = (&variant.ident, pattern(&variant.fields));
                quote! { Self::#name #pattern => { #visits } }
            });
            quote! { match self { #(#arms)* } }
        }
        Data::Union(_) => return Error::new_spanned(name, "a union has no symbols").into_compile_error(),
    };
    quote! {
        impl crate::model::symbols::Symbols for #name {
            #[allow(unused_variables, reason = "types without fields have no symbols")]
            fn visit(&self, visitor: &mut impl crate::model::symbols::SymbolVisitor) {
                #body
            }
        }
    }
}

/// Returns a pattern that binds all fields, and code that visits their symbols.
fn pattern(fields: &Fields) -> (TokenStream, TokenStream) {
    let bindings: Vec<Ident> =
        (0..fields.len()).map(|at| Ident::new(&format!("field_{at}"), Span::call_site())).collect();
    let names = fields.iter().enumerate().map(|(at, field)| match &field.ident {
        Some(name) => quote!(#name),
        None => {
            let index = Index::from(at);
            quote!(#index)
        }
    });
    let visits = quote! { #(crate::model::symbols::Symbols::visit(#bindings, visitor);)* };
    (quote! { { #(#names: #bindings),* } }, visits)
}
