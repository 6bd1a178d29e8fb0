//! Emits expressions for the promises of plugins (`schedc_core::incremental::Incremental`). Promises are optional: a
//! plugin without `Incremental` has default promises.

use proc_macro2::TokenStream;
use quote::quote;

use super::member::Member;
use super::pre_filter::{self, runs_without_pre_filter};
use super::tokens::uses;
use crate::plan::Point;

/// Returns the import of the defaults, for code that reads promises.
pub(super) fn import(body: &TokenStream) -> Option<TokenStream> {
    uses(body, "Promises").then(|| {
        quote! {
            #[allow(unused_imports, reason = "unused if every plugin implements Incremental")]
            use ::schedc_core::incremental::DefaultPromises as _;
        }
    })
}

/// Returns an expression for the dependencies of the plugin's Filter. It uses the variables `pod` and `cycle`.
pub(super) fn filter_depends_on(member: &Member<'_>) -> TokenStream {
    let (field, ty, state) = (&member.field, &member.ty, pre_filter::state(member));
    if member.entry.implements(Point::Filter) {
        quote! { Promises::<#ty>::filter_depends_on(&pod.#field, #state) }
    } else {
        quote! { DependsOn::Cluster }
    }
}

/// Returns an expression for the dependencies of the plugin's Score. It uses the variable `pod`.
pub(super) fn score_depends_on(member: &Member<'_>) -> TokenStream {
    let (field, ty) = (&member.field, &member.ty);
    if member.entry.implements(Point::Score) {
        quote! { Promises::<#ty>::score_depends_on(&pod.#field) }
    } else {
        quote! { DependsOn::Cluster }
    }
}

/// Returns an expression for whether the plugin's Filter passes on every node. It uses the variable `pod`. `None` for a
/// plugin with PreFilter.
pub(super) fn is_filter_idle(member: &Member<'_>) -> Option<TokenStream> {
    let (field, ty) = (&member.field, &member.ty);
    let has_no_pre_filter = !member.runs(Point::PreFilter) && !runs_without_pre_filter(member);
    has_no_pre_filter.then(|| quote! { Promises::<#ty>::is_filter_idle(&pod.#field) })
}
