//! Emits `Reserved`, `reserve`, `previews` and `unreserve`.

use proc_macro2::TokenStream;
use quote::quote;

use super::docs::steps;
use super::member::Members;
use super::tokens::{doc, parameter};
use crate::plan::Point;

pub(super) fn types(members: &Members<'_>) -> TokenStream {
    let fields = members.at(Point::Reserve).map(|member| {
        let (field, ty) = (&member.field, &member.ty);
        let doc = doc(format!("The Reserve state of `{}`; `None` if its Reserve did not run.", member.name));
        quote! { #doc pub #field: Option<<#ty as ReservePlugin>::Reserved>, }
    });
    quote! {
        /// The states of Reserve plugins.
        #[derive(Default)]
        pub struct Reserved {
            #(#fields)*
        }
    }
}

/// Emits `run_reserve`, a helper of the profile: it stops at the first plugin that fails.
pub(super) fn helper(members: &Members<'_>) -> Option<TokenStream> {
    let calls: Vec<TokenStream> = members
        .at(Point::Reserve)
        .map(|member| {
            let (field, ty, args, name) = (&member.field, &member.ty, member.args(), member.name);
            let view = members.view(member, Members::in_cycle);
            quote! {
                // The old value is `None`. An assignment would also compile code that drops it.
                reserved.#field.get_or_insert(
                    <#ty as ReservePlugin>::reserve(&self.#field, #args, placement, #view)
                        .map_err(|status| rejected_or_failed("Reserve plugin", #name, status))?
                );
            }
        })
        .collect();
    if calls.is_empty() {
        return None;
    }
    let body = quote! { #(#calls)* Ok(()) };
    let columns = Members::columns_if_used(&body);
    let body = quote! { #columns #body };
    let (cycle, cache) = (parameter("cycle", &body), parameter("cache", &body));
    Some(quote! {
        /// Runs Reserve up to the first plugin that fails.
        fn run_reserve(
            &self,
            #cycle: &Cycle,
            #cache: &Cache<State>,
            placement: &Placement,
            reserved: &mut Reserved,
        ) -> Result<(), Status> {
            #body
        }
    })
}

pub(super) fn functions(members: &Members<'_>) -> TokenStream {
    let body = if members.at(Point::Reserve).next().is_none() {
        quote! { Ok(Reserved::default()) }
    } else {
        quote! {
            let mut reserved = Reserved::default();
            match self.run_reserve(cycle, cache, placement, &mut reserved) {
                Ok(()) => Ok(reserved),
                Err(status) => {
                    self.unreserve(placement, &reserved);
                    Err(status)
                }
            }
        }
    };
    let previews = members.at(Point::Reserve).map(|member| {
        let (field, ty, args, name) = (&member.field, &member.ty, member.args(), member.name);
        let view = members.view(member, Members::in_cycle);
        quote! {
            let preview = <#ty as ReservePlugin>::preview(&self.#field, #args, placement, #view);
            previews.extend(preview.map(|resources| Preview { plugin: #name, resources }));
        }
    });
    let previews = quote! { #(#previews)* };
    let previews = (!previews.is_empty()).then(|| {
        let columns = Members::columns_if_used(&previews);
        let body = quote! { #columns #previews };
        let cycle = parameter("cycle", &body);
        quote! {
            fn previews(
                &self,
                #cycle: &Cycle,
                cache: &Cache<State>,
                placement: &Placement,
            ) -> Vec<Preview> {
                let mut previews = Vec::new();
                #body
                previews
            }
        }
    });
    let undo = members.at(Point::Reserve).rev().map(|member| {
        let (field, ty, args) = (&member.field, &member.ty, member.args());
        quote! { <#ty as ReservePlugin>::unreserve(&self.#field, #args, placement, reserved.#field.as_ref()); }
    });
    let undo = quote! { #(#undo)* };
    let (cycle, cache) = (parameter("cycle", &body), parameter("cache", &body));
    let placement = parameter("placement", &body);
    let (undo_placement, reserved) = (parameter("placement", &undo), parameter("reserved", &undo));
    let doc = steps(members, Point::Reserve);
    quote! {
        #doc
        fn reserve(
            &self,
            #cycle: &Cycle,
            #cache: &Cache<State>,
            #placement: &Placement,
        ) -> Result<Reserved, Status> {
            #body
        }

        #previews

        fn unreserve(&self, #undo_placement: &Placement, #reserved: &Reserved) {
            #undo
        }
    }
}
