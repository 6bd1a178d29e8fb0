//! Emits `Rejection`, and the functions that call the plugins' Filter, one plugin after the other.

use proc_macro2::TokenStream;
use quote::quote;

use super::columns::row;
use super::docs::steps;
use super::member::{Member, Members};
use super::pre_filter::state;
use super::promises;
use super::tokens::{doc, idle, parameter};
use crate::plan::Point;

pub(super) fn types(members: &Members<'_>) -> TokenStream {
    let variants = members.at(Point::Filter).map(|member| {
        let (variant, ty) = (&member.variant, &member.ty);
        let doc = doc(format!("`{}` rejected it.", member.name));
        quote! { #doc #variant(<#ty as FilterPlugin>::Rejection), }
    });
    quote! {
        /// Reason why a node was rejected.
        #[derive(Clone, Copy)]
        pub enum Rejection {
            #(#variants)*
        }
    }
}

pub(super) fn functions(members: &Members<'_>) -> TokenStream {
    let parts = [
        idle_filters(members),
        filter(members),
        filter_all(members),
        code(members),
        rejector(members),
        place(members),
        reasons_key(members),
        explain(members),
    ];
    quote! { #(#parts)* }
}

/// Returns the call of one plugin's Filter. The error of the call is the plugin's rejection.
fn call(members: &Members<'_>, member: &Member<'_>) -> TokenStream {
    let (field, ty, args) = (&member.field, &member.ty, member.args());
    let (state, row) = (state(member), row(members, member));
    quote! { <#ty as FilterPlugin>::filter(#args, &pod.#field, #state, #row) }
}

/// Makes `code` conditional: it runs unless the plugin's PreFilter skipped.
fn unless_skipped(member: &Member<'_>, code: TokenStream) -> TokenStream {
    let field = &member.field;
    if member.runs(Point::PreFilter) {
        quote! { if !cycle.#field.skip { #code } }
    } else {
        code
    }
}

/// Makes `code` conditional: it runs unless the plugin's PreFilter skipped, or the plugin is idle according to `IDLE`.
fn unless_idle(member: &Member<'_>, code: TokenStream) -> TokenStream {
    let (field, ty) = (&member.field, &member.ty);
    if member.runs(Point::PreFilter) {
        quote! { if idle_plugins::runs(Promises::<#ty>::SKIPS, cycle.#field.skip, IDLE) { #code } }
    } else if promises::is_filter_idle(member).is_some() {
        quote! { if idle_plugins::filter_runs(Promises::<#ty>::SKIPS, IDLE) { #code } }
    } else {
        code
    }
}

fn idle_filters(members: &Members<'_>) -> TokenStream {
    let answers = members.at(Point::Filter).filter_map(|member| {
        let (field, ty) = (&member.field, &member.ty);
        if member.runs(Point::PreFilter) {
            Some(quote! { IdlePlugins::after(Promises::<#ty>::SKIPS, cycle.#field.skip) })
        } else {
            promises::is_filter_idle(member)
                .map(|is_idle| quote! { IdlePlugins::of_filter(Promises::<#ty>::SKIPS, #is_idle) })
        }
    });
    let body = idle(answers);
    let (pod, cycle) = (parameter("pod", &body), parameter("cycle", &body));
    quote! {
        fn idle_filters(#pod: &Pod, #cycle: &Cycle) -> IdlePlugins {
            #body
        }
    }
}

fn filter(members: &Members<'_>) -> TokenStream {
    let calls = members.at(Point::Filter).map(|member| {
        let (call, variant) = (call(members, member), &member.variant);
        unless_idle(member, quote! { #call.map_err(Rejection::#variant)?; })
    });
    let body = quote! { #(#calls)* Ok(()) };
    let (pod, cycle) = (parameter("pod", &body), parameter("cycle", &body));
    let (columns, index) = (parameter("columns", &body), parameter("index", &body));
    let doc = steps(members, Point::Filter);
    quote! {
        #doc
        #[inline(always)]
        fn filter<const IDLE: u8>(
            #pod: &Pod,
            #cycle: &Cycle,
            #columns: Columns<'_>,
            #index: usize,
        ) -> Result<(), Rejection> {
            #body
        }
    }
}

fn filter_all(members: &Members<'_>) -> TokenStream {
    let calls = members.at(Point::Filter).map(|member| {
        let (call, variant) = (call(members, member), &member.variant);
        let evaluate = quote! {
            if let Err(rejection) = #call {
                reject(Rejection::#variant(rejection));
            }
        };
        unless_skipped(member, evaluate)
    });
    let body = quote! { #(#calls)* };
    let (pod, cycle) = (parameter("pod", &body), parameter("cycle", &body));
    let (columns, index) = (parameter("columns", &body), parameter("index", &body));
    let reject = parameter("reject", &body);
    quote! {
        fn filter_all(
            #pod: &Pod,
            #cycle: &Cycle,
            #columns: Columns<'_>,
            #index: usize,
            #reject: &mut impl FnMut(Rejection),
        ) {
            #body
        }
    }
}

/// Returns `match rejection { .. }`, also for a profile without filters.
fn by_plugin(members: &Members<'_>, arm: impl FnMut(&Member<'_>) -> TokenStream) -> TokenStream {
    let arms: Vec<TokenStream> = members.at(Point::Filter).map(arm).collect();
    if arms.is_empty() {
        quote! { match *rejection {} }
    } else {
        quote! { match rejection { #(#arms)* } }
    }
}

fn code(members: &Members<'_>) -> TokenStream {
    let body = by_plugin(members, |member| {
        let (variant, ty) = (&member.variant, &member.ty);
        quote! { Rejection::#variant(rejection) => <#ty as FilterPlugin>::code(rejection), }
    });
    quote! {
        #[inline(always)]
        fn code(rejection: &Rejection) -> Code {
            #body
        }
    }
}

fn rejector(members: &Members<'_>) -> TokenStream {
    let body = by_plugin(members, |member| {
        let (variant, name) = (&member.variant, member.name);
        quote! { Rejection::#variant(_) => #name, }
    });
    quote! {
        fn rejector(rejection: &Rejection) -> &'static str {
            #body
        }
    }
}

fn place(members: &Members<'_>) -> TokenStream {
    let mut places = 0_u32..;
    let body = by_plugin(members, |member| {
        let (variant, place) = (&member.variant, places.next());
        quote! { Rejection::#variant(_) => #place, }
    });
    quote! {
        fn place(rejection: &Rejection) -> u32 {
            #body
        }
    }
}

fn reasons_key(members: &Members<'_>) -> TokenStream {
    let mut places = 0_u32..;
    let body = by_plugin(members, |member| {
        let (variant, ty) = (&member.variant, &member.ty);
        let place = places.next();
        quote! { Rejection::#variant(rejection) => Some((#place, Promises::<#ty>::reasons_key(rejection)?)), }
    });
    quote! {
        fn reasons_key(rejection: &Rejection) -> Option<(u32, u32)> {
            #body
        }
    }
}

fn explain(members: &Members<'_>) -> TokenStream {
    let arms: Vec<TokenStream> = members
        .at(Point::Filter)
        .map(|member| {
            let (variant, field, ty, args) = (&member.variant, &member.field, &member.ty, member.args());
            let (state, row) = (state(member), row(members, member));
            quote! {
                Rejection::#variant(rejection) => {
                    <#ty as FilterPlugin>::explain(#args, &pod.#field, #state, #row, rejection, out);
                }
            }
        })
        .collect();
    let body = quote! { match rejection { #(#arms)* } };
    let (pod, cycle) = (parameter("pod", &body), parameter("cycle", &body));
    let (columns, index, out) = (parameter("columns", &body), parameter("index", &body), parameter("out", &body));
    quote! {
        fn explain(
            #pod: &Pod,
            #cycle: &Cycle,
            #columns: Columns<'_>,
            #index: usize,
            rejection: Rejection,
            #out: &mut Reasons<'_>,
        ) {
            #body
        }
    }
}
