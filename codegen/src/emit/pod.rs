//! Emits `Pod`, the fields that the profile reads of a pod; `compile`, which reads them; and `compile_epoch`,
//! which changes when they become invalid.

use proc_macro2::TokenStream;
use quote::quote;

use super::member::Members;
use super::tokens::{doc, parameter};

pub(super) fn types(members: &Members<'_>) -> TokenStream {
    let fields = members.iter().map(|member| {
        let (field, ty) = (&member.field, &member.ty);
        let doc = doc(format!("The fields that `{}` reads.", member.name));
        quote! { #doc pub #field: <#ty as Plugin>::Pod, }
    });
    quote! {
        /// All fields that the plugins read of a pod: its signature.
        #[derive(PartialEq, Eq, Hash)]
        pub struct Pod {
            #(#fields)*
        }
    }
}

pub(super) fn functions(members: &Members<'_>) -> TokenStream {
    let fields = members.iter().map(|member| {
        let (field, ty, args) = (&member.field, &member.ty, member.args());
        let indexes = members.indexes(member, &quote! { &mut state });
        quote! { #field: <#ty as Plugin>::compile(#args, pod, CompileContext { interner, indexes: #indexes }), }
    });
    let body = quote! { Pod { #(#fields)* } };
    let state = parameter("state", &body);
    let epoch = epoch(members);
    let compared = members.iter().map(|member| {
        let (field, name) = (&member.field, member.name);
        quote! { (a.#field.ne(&b.#field), #name) }
    });
    quote! {
        fn compile(&self, pod: &PodSpec, interner: &mut Interner, #state: &mut State) -> Pod {
            #body
        }

        #epoch

        fn differing_plugins(a: &Pod, b: &Pod) -> Vec<&'static str> {
            let compared = [#(#compared),*];
            compared.into_iter().filter(|(differs, _)| *differs).map(|(_, plugin)| plugin).collect()
        }
    }
}

fn epoch(members: &Members<'_>) -> TokenStream {
    let epochs = members.iter().filter(|member| !member.entry.indexes.is_empty()).map(|member| {
        let ty = &member.ty;
        let indexes = members.indexes(member, &quote! { &state });
        quote! { Promises::<#ty>::compile_epoch(#indexes) }
    });
    let epochs: Vec<TokenStream> = epochs.collect();
    let body = if epochs.is_empty() {
        quote! { Some(0) }
    } else {
        quote! { [#(#epochs),*].into_iter().sum() }
    };
    let state = parameter("state", &body);
    quote! {
        fn compile_epoch(&self, #state: &State) -> Option<u64> {
            #body
        }
    }
}
