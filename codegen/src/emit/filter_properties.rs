//! Emits properties of filter states. `reads_only_node`: a verdict on a node holds until the node changes.
//! `cannot_fail`: no filter can return an error, so the later filters of a rejected node need not run.

use proc_macro2::TokenStream;
use quote::quote;

use super::member::Members;
use super::pre_filter::runs_without_pre_filter;
use super::promises;
use super::tokens::parameter;
use crate::plan::Point;

pub(super) fn functions(members: &Members<'_>) -> TokenStream {
    let (reads_only_node, cannot_fail) = (reads_only_node(members), cannot_fail(members));
    quote! { #reads_only_node #cannot_fail }
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

/// Returns the conjunction of conditions.
fn all(conditions: Vec<TokenStream>) -> TokenStream {
    if conditions.is_empty() {
        quote! { true }
    } else {
        quote! { #(#conditions)&&* }
    }
}
