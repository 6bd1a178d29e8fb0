//! Emits functions that return properties of the filters for a pod:
//! - `reads_only_node`: a verdict on a node holds until the node changes.
//! - `is_constant`: no change of the cluster affects the states of PreFilter.
//! - `cannot_fail`: no filter can return an error. If a filter rejects a node, the later filters need not run for it.
//! - `leading_filters`: the first filters in order, up to one that reads more than the pod and the node. Pods that
//!   `have_equal_inputs` share the verdicts of these filters.
//! - `uniform_rejection`: the rejection of every node, if a filter rejects all nodes for the same reasons.

use proc_macro2::TokenStream;
use quote::quote;

use super::member::Members;
use super::pre_filter::{runs_without_pre_filter, state};
use super::promises;
use super::tokens::parameter;
use crate::plan::Point;

pub(super) fn functions(members: &Members<'_>) -> TokenStream {
    let parts = [reads_only_node, is_constant, cannot_fail, leading_filters, have_equal_inputs, uniform_rejection];
    let parts = parts.map(|function| function(members));
    quote! { #(#parts)* }
}

fn reads_only_node(members: &Members<'_>) -> TokenStream {
    let conditions = members.at(Point::PreFilter).map(|member| {
        let (field, depends) = (&member.field, promises::filter_depends_on(member));
        quote! { (cycle.#field.skip || #depends.is_per_node()) }
    });
    let body = all(conditions.collect());
    let (pod, cycle) = (parameter("pod", &body), parameter("cycle", &body));
    quote! {
        fn reads_only_node(#pod: &Pod, #cycle: &Cycle) -> bool {
            #body
        }
    }
}

fn is_constant(members: &Members<'_>) -> TokenStream {
    let conditions = members.at(Point::PreFilter).map(|member| {
        let depends = promises::filter_depends_on(member);
        quote! { !#depends.needs_update() }
    });
    let body = all(conditions.collect());
    let (pod, cycle) = (parameter("pod", &body), parameter("cycle", &body));
    quote! {
        fn is_constant(#pod: &Pod, #cycle: &Cycle) -> bool {
            #body
        }
    }
}

fn cannot_fail(members: &Members<'_>) -> TokenStream {
    let conditions = members.at(Point::Filter).map(|member| {
        let (field, ty) = (&member.field, &member.ty);
        if member.runs(Point::PreFilter) {
            quote! { (cycle.#field.skip || !Promises::<#ty>::FILTER_CAN_FAIL) }
        } else if runs_without_pre_filter(member) {
            quote! { false }
        } else {
            quote! { !Promises::<#ty>::FILTER_CAN_FAIL }
        }
    });
    let body = all(conditions.collect());
    let cycle = parameter("cycle", &body);
    quote! {
        fn cannot_fail(#cycle: &Cycle) -> bool {
            #body
        }
    }
}

fn leading_filters(members: &Members<'_>) -> TokenStream {
    let inputs = members.at(Point::Filter).map(|member| {
        let field = &member.field;
        if member.runs(Point::PreFilter) {
            let depends = promises::filter_depends_on(member);
            quote! { FilterInputs::new(cycle.#field.skip, #depends) }
        } else if runs_without_pre_filter(member) {
            quote! { FilterInputs::Cluster }
        } else {
            quote! { FilterInputs::Node }
        }
    });
    let body = quote! { LeadingFilters::new([#(#inputs),*]) };
    let (pod, cycle) = (parameter("pod", &body), parameter("cycle", &body));
    quote! {
        fn leading_filters(#pod: &Pod, #cycle: &Cycle) -> LeadingFilters {
            #body
        }
    }
}

fn have_equal_inputs(members: &Members<'_>) -> TokenStream {
    let mut places = 0_u32..;
    let conditions = members.at(Point::Filter).map(|member| {
        let (field, place) = (&member.field, places.next());
        quote! { (!filters.has_active(#place) || a.#field == b.#field) }
    });
    let body = all(conditions.collect());
    let (filters, a, b) = (parameter("filters", &body), parameter("a", &body), parameter("b", &body));
    quote! {
        fn have_equal_inputs(#filters: LeadingFilters, #a: &Pod, #b: &Pod) -> bool {
            #body
        }
    }
}

fn uniform_rejection(members: &Members<'_>) -> TokenStream {
    let mut places = 0_u32..;
    let arms = members.at(Point::Filter).filter_map(|member| {
        let (field, ty, variant, state) = (&member.field, &member.ty, &member.variant, state(member));
        let place = places.next();
        member.runs(Point::PreFilter).then(|| {
            quote! {
                #place if !cycle.#field.skip => {
                    Promises::<#ty>::uniform_rejection(&pod.#field, #state).map(Rejection::#variant)
                }
            }
        })
    });
    let arms: Vec<TokenStream> = arms.collect();
    let body = if arms.is_empty() {
        quote! { None }
    } else {
        quote! { match place { #(#arms)* _ => None } }
    };
    let (place, pod, cycle) = (parameter("place", &body), parameter("pod", &body), parameter("cycle", &body));
    quote! {
        fn uniform_rejection(#place: u32, #pod: &Pod, #cycle: &Cycle) -> Option<Rejection> {
            #body
        }
    }
}

/// Returns the conjunction of conditions.
fn all(conditions: Vec<TokenStream>) -> TokenStream {
    if conditions.is_empty() {
        quote! { true }
    } else {
        quote! { #(#conditions)&&* }
    }
}
