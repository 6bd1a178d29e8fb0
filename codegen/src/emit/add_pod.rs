//! Emits `add_pod` and `remove_pod`, which notify PreFilter plugins of hypothetical pods.

use proc_macro2::TokenStream;
use quote::quote;

use super::member::Members;
use super::names::ident;
use super::tokens::parameter;
use crate::plan::Point;

pub(super) fn functions(members: &Members<'_>) -> TokenStream {
    let (add, remove) = (function(members, "add_pod"), function(members, "remove_pod"));
    quote! { #add #remove }
}

fn function(members: &Members<'_>, name: &str) -> TokenStream {
    let name = ident(name);
    let calls = members.at(Point::PreFilter).map(|member| {
        let (field, ty) = (&member.field, &member.ty);
        let view = members.view(member, Members::in_cycle);
        quote! {
            if !cycle.#field.skip {
                <#ty as PreFilterPlugin>::#name(&pod.#field, &mut cycle.#field.state, other, #view, node);
            }
        }
    });
    let body = quote! { #(#calls)* };
    let columns = Members::columns_if_used(&body);
    let body = quote! { #columns #body };
    let (pod, cycle, other) = (parameter("pod", &body), parameter("cycle", &body), parameter("other", &body));
    let (cache, node) = (parameter("cache", &body), parameter("node", &body));
    quote! {
        fn #name(#pod: &Pod, #cycle: &mut Cycle, #other: &model::Pod, #cache: &Cache<State>, #node: NodeIndex) {
            #body
        }
    }
}
