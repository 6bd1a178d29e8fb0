//! Emits `Cycle`, the filter states; `pre_filter`, which creates them; and `recycle_cycle`, which reclaims
//! their memory.

use std::cell::RefCell;

use proc_macro2::TokenStream;
use quote::quote;

use super::docs::steps;
use super::member::{Member, Members};
use super::tokens::{doc, parameter};
use crate::plan::Point;

/// Returns whether the profile runs the plugin's Filter, but not its PreFilter. Filter then reads the default state.
pub(super) fn runs_without_pre_filter(member: &Member<'_>) -> bool {
    !member.runs(Point::PreFilter) && member.runs(Point::Filter) && member.entry.implements(Point::PreFilter)
}

/// Returns an expression for the state of a plugin's Filter. It uses the variable `cycle`.
pub(super) fn state(member: &Member<'_>) -> TokenStream {
    let field = &member.field;
    if member.runs(Point::PreFilter) {
        quote! { &cycle.#field.state }
    } else if runs_without_pre_filter(member) {
        quote! { &cycle.#field }
    } else {
        quote! { &Default::default() }
    }
}

pub(super) fn types(members: &Members<'_>) -> TokenStream {
    let slots = members.at(Point::PreFilter).map(|member| {
        let (field, ty) = (&member.field, &member.ty);
        let doc = doc(format!("The state of `{}` after PreFilter.", member.name));
        quote! { #doc pub #field: CycleSlot<<#ty as PreFilterPlugin>::Cycle>, }
    });
    let default_states = members.iter().filter(|member| runs_without_pre_filter(member)).map(|member| {
        let (field, ty) = (&member.field, &member.ty);
        let doc = doc(format!("The default: the profile omits PreFilter of `{}`.", member.name));
        quote! { #doc pub #field: <#ty as PreFilterPlugin>::Cycle, }
    });
    quote! {
        /// The state of Filter plugins in a cycle.
        #[derive(Clone, PartialEq)]
        pub struct Cycle {
            #(#slots)*
            #(#default_states)*
        }
    }
}

pub(super) fn functions(members: &Members<'_>) -> TokenStream {
    let earlier = RefCell::new(Vec::new());
    let calls: Vec<TokenStream> = members
        .at(Point::PreFilter)
        .map(|member| {
            let (field, ty, args, name) = (&member.field, &member.ty, member.args(), member.name);
            let view = members.view(member, |read| {
                let field = &read.field;
                earlier.borrow().contains(&read.name).then(|| quote! { #field })
            });
            earlier.borrow_mut().push(name);
            quote! {
                let #field = run.take(
                    #name,
                    <#ty as PreFilterPlugin>::pre_filter(&self.#field, #args, &pod.#field, #view),
                )?;
            }
        })
        .collect();
    let running = members.at(Point::PreFilter).map(|member| &member.field);
    let default_states = members.iter().filter(|member| runs_without_pre_filter(member)).map(|member| &member.field);
    let body = quote! {
        #(#calls)*
        Ok(Cycle { #(#running,)* #(#default_states: Default::default()),* })
    };
    let columns = Members::columns_if_used(&body);
    let body = quote! { #columns #body };
    let (pod, cache, run) = (parameter("pod", &body), parameter("cache", &body), parameter("run", &body));
    let doc = steps(members, Point::PreFilter);
    let recycle = members.at(Point::PreFilter).map(|member| {
        let (field, ty) = (&member.field, &member.ty);
        quote! { <#ty as PreFilterPlugin>::recycle(&self.#field, cycle.#field.state); }
    });
    let recycle = quote! { #(#recycle)* };
    let cycle = parameter("cycle", &recycle);
    quote! {
        fn recycle_cycle(&self, #cycle: Cycle) {
            #recycle
        }

        #doc
        fn pre_filter(&self, #pod: &Pod, #cache: &Cache<State>, #run: &mut PreFilterRun) -> Result<Cycle, Status> {
            #body
        }
    }
}
