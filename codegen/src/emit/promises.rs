//! Emits the promises of plugins (`schedc_core::incremental::Incremental`), which a plugin need not make.

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

/// Returns the dependencies of the plugin's Filter, as an expression. `pod` and `cycle` are variables of the code
/// around it.
pub(super) fn filter_depends_on(member: &Member<'_>) -> TokenStream {
    let (field, ty, state) = (&member.field, &member.ty, pre_filter::state(member));
    if member.entry.implements(Point::Filter) {
        quote! { Promises::<#ty>::filter_depends_on(&pod.#field, #state) }
    } else {
        quote! { DependsOn::Cluster }
    }
}

/// Returns the dependencies of the plugin's Score, as an expression. `pod` is a variable of the code around it.
pub(super) fn score_depends_on(member: &Member<'_>) -> TokenStream {
    let (field, ty) = (&member.field, &member.ty);
    if member.entry.implements(Point::Score) {
        quote! { Promises::<#ty>::score_depends_on(&pod.#field) }
    } else {
        quote! { DependsOn::Cluster }
    }
}

/// Returns whether the plugin's Filter passes on every node, as an expression; `None` for a plugin with PreFilter. `pod`
/// is a variable of the code around it.
pub(super) fn is_filter_idle(member: &Member<'_>) -> Option<TokenStream> {
    let (field, ty) = (&member.field, &member.ty);
    let has_no_pre_filter = !member.runs(Point::PreFilter) && !runs_without_pre_filter(member);
    has_no_pre_filter.then(|| quote! { Promises::<#ty>::is_filter_idle(&pod.#field) })
}
