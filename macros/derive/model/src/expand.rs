//! Generated code of a declaration.

use super::model::{Field, Kind, Model, Variant};
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::{Path, Visibility};

pub(crate) fn expand(model: &Model) -> TokenStream {
    let Model { name, vis, kind } = model;
    let (items, outside) = match kind {
        Kind::Struct { fields, check } => {
            let outside = fields.iter().map(|field| field.shape.assertions()).collect();
            (table(vis, fields, check.as_ref()), outside)
        }
        Kind::Enum { variants } => (choice(vis, variants), TokenStream::new()),
    };
    quote! {
        #[automatically_derived]
        #[allow(dead_code, unreachable_pub, reason = "not every type of arguments is used in every way")]
        impl #name {
            #items
        }

        #[automatically_derived]
        impl ::schedc_core::args::Decode for #name {
            const SCHEMA: ::schedc_core::args::Schema = #name::SCHEMA;

            fn decode_value(
                node: &::schedc_core::args::Node,
                errors: &mut ::schedc_core::args::Errors,
            ) -> Self {
                #name::decode_into(node, errors)
            }
        }

        #outside
    }
}

/// Generates code for a struct, which is a table in the profile.
fn table(vis: &Visibility, fields: &[Field], check: Option<&Path>) -> TokenStream {
    let (default, placeholder) = (default(vis, fields), placeholder(vis, fields));
    let schemas = fields.iter().map(|field| {
        let Field { key, doc, shape, .. } = field;
        let (required, schema) = (field.default.is_none(), shape.schema());
        quote! { ::schedc_core::args::Field { name: #key, required: #required, doc: #doc, schema: #schema } }
    });
    let decode_into = decode_into(vis, fields, check);
    quote! {
        #default
        #placeholder

        /// Schema of these arguments in a profile.
        #vis const SCHEMA: ::schedc_core::args::Schema = ::schedc_core::args::Schema::Table(&[#(#schemas),*]);

        /// Decodes the arguments of a profile.
        ///
        /// # Panics
        /// If they are wrong, with every error and its location: a compile error in a constant.
        #[track_caller]
        #vis const fn decode(node: &::schedc_core::args::Node) -> Self {
            let mut errors = ::schedc_core::args::Errors::new();
            let value = Self::decode_into(node, &mut errors);
            errors.finish();
            value
        }

        #decode_into
    }
}

fn default(vis: &Visibility, fields: &[Field]) -> TokenStream {
    let mut values = Vec::new();
    for Field { member, default, .. } in fields {
        // With a required field, there is no value for a profile without arguments.
        let Some(default) = default else { return TokenStream::new() };
        values.push(quote_spanned!(member.span()=> #member: #default));
    }
    quote! {
        /// The arguments of a profile without arguments.
        #vis const DEFAULT: Self = Self { #(#values),* };
    }
}

fn placeholder(vis: &Visibility, fields: &[Field]) -> TokenStream {
    let values = fields.iter().map(|Field { member, shape, .. }| {
        let value = shape.placeholder();
        quote!(#member: #value)
    });
    quote! {
        #[doc(hidden)]
        #vis const PLACEHOLDER: Self = Self { #(#values),* };
    }
}

fn decode_into(vis: &Visibility, fields: &[Field], check: Option<&Path>) -> TokenStream {
    if fields.is_empty() && check.is_none() {
        return quote! {
            /// Accepts an empty table, and adds errors to `errors`.
            #vis const fn decode_into(
                node: &::schedc_core::args::Node,
                errors: &mut ::schedc_core::args::Errors,
            ) -> Self {
                ::schedc_core::args::NoArgs::decode_into(node, errors);
                Self {}
            }
        };
    }
    let locals: Vec<Ident> = (0..fields.len()).map(|index| format_ident!("__field_{index}")).collect();
    let keys = fields.iter().map(|field| &field.key);
    let types = fields.iter().map(|field| &field.ty);
    let arms = fields.iter().zip(&locals).enumerate().map(|(index, (field, local))| {
        let (key, decode) = (&field.key, field.shape.decode(&field.key));
        quote! {
            ::core::option::Option::Some(#index) => {
                let __outer = __errors.enter(::schedc_core::args::decode::Decoding::Field(#key));
                #local = ::core::option::Option::Some(#decode);
                __errors.enter(__outer);
            }
        }
    });
    let values = fields.iter().zip(&locals).map(|(field, local)| {
        let Field { member, key, default, shape, .. } = field;
        let otherwise = match default {
            Some(default) => default.clone(),
            None => {
                let placeholder = shape.placeholder();
                quote!({ ::schedc_core::args::decode::missing(__node, #key, __errors); #placeholder })
            }
        };
        quote_spanned! {member.span()=>
            #member: match #local {
                ::core::option::Option::Some(__value) => __value,
                ::core::option::Option::None => #otherwise,
            }
        }
    });
    let check = check.map(|check| {
        quote! {
            if __errors.count() == __before {
                #check(&__decoded, __node, __errors);
            }
        }
    });
    quote! {
        /// Decodes the arguments, and adds errors to `errors`; with errors, the returned value is meaningless.
        #vis const fn decode_into(
            __node: &::schedc_core::args::Node,
            __errors: &mut ::schedc_core::args::Errors,
        ) -> Self {
            let __before = __errors.count();
            #(let mut #locals: ::core::option::Option<#types> = ::core::option::Option::None;)*
            let __entries = ::schedc_core::args::decode::table(__node, __errors);
            let mut __index = 0;
            while __index < __entries.len() {
                let __value = &__entries[__index].1;
                match ::schedc_core::args::decode::field(__entries, __index, &[#(#keys),*], __errors) {
                    #(#arms)*
                    _ => {}
                }
                __index += 1;
            }
            let __decoded = Self { #(#values),* };
            #check
            __decoded
        }
    }
}

/// Generates code for an enum, which is a string in the profile.
fn choice(vis: &Visibility, variants: &[Variant]) -> TokenStream {
    let values: Vec<&String> = variants.iter().map(|variant| &variant.value).collect();
    let first = variants.first().map(|variant| &variant.ident);
    let others =
        variants.iter().enumerate().skip(1).map(|(index, Variant { ident, .. })| quote!(#index => Self::#ident,));
    let default = variants.iter().find(|variant| variant.is_default).map(|Variant { ident, .. }| {
        quote! {
            /// The value in a profile without this argument.
            #vis const DEFAULT: Self = Self::#ident;
        }
    });
    quote! {
        #default

        #[doc(hidden)]
        #vis const PLACEHOLDER: Self = Self::#first;

        /// Schema of this value in a profile.
        #vis const SCHEMA: ::schedc_core::args::Schema = ::schedc_core::args::Schema::Enum(&[#(#values),*]);

        /// Decodes the value, and adds errors to `errors`; with errors, the returned value is meaningless.
        #vis const fn decode_into(
            node: &::schedc_core::args::Node,
            errors: &mut ::schedc_core::args::Errors,
        ) -> Self {
            match ::schedc_core::args::decode::variant(node, &[#(#values),*], errors) {
                #(#others)*
                _ => Self::#first,
            }
        }
    }
}
