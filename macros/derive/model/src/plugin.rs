//! `#[plugin]`: completes an implementation of a plugin trait with the items that have a default.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Attribute, Error, Ident, ImplItem, Item, ItemImpl, Result, Type, parse_quote, parse_quote_spanned};

const TARGETS: &str =
    "`#[plugin]` belongs on `impl Plugin for ...`, `impl SimpleFilter for ...` or `impl SimpleScore for ...`";

/// Returns the completed implementation, or the error at its location.
pub fn plugin(attribute: TokenStream, item: TokenStream) -> TokenStream {
    complete(attribute, item).unwrap_or_else(Error::into_compile_error)
}

fn complete(attribute: TokenStream, item: TokenStream) -> Result<TokenStream> {
    if !attribute.is_empty() {
        return Err(Error::new(attribute.span(), "`#[plugin]` takes no arguments: write the items in the `impl`"));
    }
    let item = match syn::parse2(item)? {
        Item::Impl(item) => item,
        other => {
            let error = Error::new_spanned(&other, TARGETS).into_compile_error();
            return Ok(quote! { #other #error });
        }
    };
    let of_trait = item.trait_.as_ref().map(|(path, _)| path);
    match of_trait.and_then(|path| path.segments.last()).map(|last| last.ident.to_string()).as_deref() {
        Some("Plugin") => complete_plugin(item),
        Some("SimpleFilter") => complete_simple(item, "filter"),
        Some("SimpleScore") => complete_simple(item, "score"),
        _ => Err(of_trait
            .map_or_else(|| Error::new_spanned(&item.self_ty, TARGETS), |path| Error::new_spanned(path, TARGETS))),
    }
}

fn complete_plugin(mut item: ItemImpl) -> Result<TokenStream> {
    let reads_pod = reads_pod(
        &item,
        "compile",
        "`type Pod` needs `fn compile(args: &Self::Args, pod: &PodSpec, cx: CompileContext<'_, Self>) -> Self::Pod`",
    )?;
    let (name, span) = (plugin_name(&item)?, item.self_ty.span());
    let defaults: [ImplItem; 6] = [
        parse_quote! { const NAME: &'static str = #name; },
        parse_quote! { type Args = ::schedc_core::args::NoArgs; },
        parse_quote! { type Columns = (); },
        parse_quote! { type Indexes = (); },
        parse_quote! { type Reads = (); },
        parse_quote_spanned! {span=>
            fn new(
                _: &'static Self::Args,
                _: &::schedc_core::handle::Handle,
            ) -> ::core::result::Result<Self, ::std::string::String> {
                ::core::result::Result::Ok(<Self as ::core::default::Default>::default())
            }
        },
    ];
    defaults.into_iter().for_each(|default| add(&mut item, default));
    if !reads_pod {
        item.items.push(parse_quote! { type Pod = (); });
        item.items.push(parse_quote! {
            fn compile(
                _: &Self::Args,
                _: &::schedc_core::model::PodSpec,
                _: ::schedc_core::plugin::CompileContext<'_, Self>,
            ) {}
        });
    }
    Ok(item.into_token_stream())
}

/// Completes an implementation of `SimpleFilter` or `SimpleScore`, and adds one of `Plugin`. `kernel` is the name of
/// the function that runs for each node.
fn complete_simple(mut item: ItemImpl, kernel: &str) -> Result<TokenStream> {
    for written in &item.items {
        let (name, ident) = match item_ident(written) {
            Some(ident) => (ident.to_string(), ident),
            None => continue,
        };
        let advice = match name.as_str() {
            "NAME" => "the name of this plugin is the name of its type; `impl Plugin` can have another one",
            "Args" => "the arguments of this plugin are the fields of its struct, with `#[derive(Clone, Copy, Args)]`",
            "Indexes" | "Reads" => "this plugin reads only the pod and the node; `impl Plugin` can read more",
            _ => continue,
        };
        return Err(Error::new_spanned(ident, advice));
    }
    let reads_pod = reads_pod(
        &item,
        "read",
        "`type Pod` needs `fn read(&self, pod: &PodSpec, interner: &mut Interner) -> Self::Pod`",
    )?;
    add(&mut item, parse_quote! { type Columns = ::schedc_core::column::NodeInfo; });
    if kernel == "score" {
        add(&mut item, parse_quote! { type Normalization = ::schedc_core::simple::Unnormalized; });
    }
    if !reads_pod {
        item.items.push(parse_quote! { type Pod = (); });
        item.items.push(parse_quote! {
            fn read(&self, _: &::schedc_core::model::PodSpec, _: &mut ::schedc_core::intern::Interner) {}
        });
    }
    for function in &mut item.items {
        // Without `#[inline]`, rustc does not inline the function into the loop over nodes, which is in another crate.
        if let ImplItem::Fn(function) = function
            && function.sig.ident == kernel
            && !function.attrs.iter().any(|attribute: &Attribute| attribute.path().is_ident("inline"))
        {
            function.attrs.push(parse_quote! { #[inline] });
        }
    }
    let (name, ty) = (plugin_name(&item)?, &item.self_ty);
    let of_trait = item.trait_.as_ref().map(|(path, _)| path);
    let (generics, _, conditions) = item.generics.split_for_impl();
    let plugin = quote_spanned! {ty.span()=>
        #[automatically_derived]
        impl #generics ::schedc_core::simple::Completed for #ty #conditions {}

        #[automatically_derived]
        impl #generics ::schedc_core::Plugin for #ty #conditions {
            const NAME: &'static str = #name;
            type Args = Self;
            type Columns = <Self as #of_trait>::Columns;
            type Indexes = ();
            type Reads = ();
            type Pod = <Self as #of_trait>::Pod;

            fn new(
                args: &'static Self,
                _: &::schedc_core::handle::Handle,
            ) -> ::core::result::Result<Self, ::std::string::String> {
                ::core::result::Result::Ok(*args)
            }

            fn compile(
                args: &Self,
                pod: &::schedc_core::model::PodSpec,
                cx: ::schedc_core::plugin::CompileContext<'_, Self>,
            ) -> <Self as #of_trait>::Pod {
                <Self as #of_trait>::read(args, pod, cx.interner)
            }
        }
    };
    Ok(quote! { #item #plugin })
}

/// Returns whether the implementation has both `type Pod` and the function that returns it. Returns an error if it has
/// only one of them.
fn reads_pod(item: &ItemImpl, function: &str, advice: &str) -> Result<bool> {
    match (find(item, "Pod"), find(item, function)) {
        (Some(pod), None) => Err(Error::new_spanned(pod, advice)),
        (None, Some(found)) => {
            Err(Error::new_spanned(found, format!("`{function}` needs `type Pod = ...;`, the type of its result")))
        }
        (pod, _) => Ok(pod.is_some()),
    }
}

/// Returns the name of the type, which is the default name of the plugin.
fn plugin_name(item: &ItemImpl) -> Result<String> {
    let ty = match &*item.self_ty {
        Type::Path(ty) => ty.path.segments.last(),
        _ => None,
    };
    let named = ty.map(|ty| ty.ident.to_string());
    named.ok_or_else(|| Error::new_spanned(&item.self_ty, "a plugin is a struct"))
}

/// Adds an item, unless the implementation has it.
fn add(item: &mut ItemImpl, default: ImplItem) {
    if item_ident(&default).is_none_or(|name| find(item, &name.to_string()).is_none()) {
        item.items.push(default);
    }
}

fn find<'a>(item: &'a ItemImpl, name: &str) -> Option<&'a Ident> {
    item.items.iter().filter_map(item_ident).find(|ident| *ident == name)
}

fn item_ident(item: &ImplItem) -> Option<&Ident> {
    match item {
        ImplItem::Const(item) => Some(&item.ident),
        ImplItem::Type(item) => Some(&item.ident),
        ImplItem::Fn(item) => Some(&item.sig.ident),
        _ => None,
    }
}
