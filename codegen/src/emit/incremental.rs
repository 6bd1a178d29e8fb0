//! Emits `CachedAnswer`: the cached results of each plugin, and their update.

use std::cell::RefCell;

use proc_macro2::TokenStream;
use quote::quote;

use super::docs::doc;
use super::member::{Member, Members};
use super::tokens::{parameter, uses};
use super::{incremental_scores, pre_filter};
use crate::plan::Point;

pub(super) fn types(members: &Members<'_>) -> TokenStream {
    let masks = members.at(Point::Filter).map(|member| {
        let field = &member.field;
        let doc = doc(format!("`{}`.", member.name));
        quote! { #doc pub #field: NodeMask, }
    });
    let scores = incremental_scores::types(members);
    quote! {
        /// The cached results of the plugins.
        #[derive(Default)]
        pub struct CachedAnswer {
            /// Verdicts of filters.
            pub passing: Passing,
            /// Scores.
            pub scores: Scores,
        }

        /// The nodes that pass each filter. Filters that are idle for the pod have no entry.
        #[derive(Default)]
        pub struct Passing {
            #(#masks)*
        }

        #scores
    }
}

pub(super) fn implementation(members: &Members<'_>) -> TokenStream {
    let parts = [resize_filters(members), filter(members), update_filters(members), passing(members), bytes(members)];
    let scores = incremental_scores::functions(members);
    quote! {
        impl PluginResults<Pipeline> for CachedAnswer {
            #(#parts)*
            #scores
        }
    }
}

/// Skips a filter that is idle for the pod.
pub(super) fn unless_silent(member: &Member<'_>, code: TokenStream) -> TokenStream {
    let (field, ty) = (&member.field, &member.ty);
    if member.runs(Point::PreFilter) {
        quote! { if !cycle.#field.skip { #code } }
    } else {
        quote! { if idle_plugins::is_filter_active::<#ty>(&pod.#field) { #code } }
    }
}

fn resize_filters(members: &Members<'_>) -> TokenStream {
    let calls = members.at(Point::Filter).map(|member| {
        let field = &member.field;
        unless_silent(member, quote! { self.passing.#field.resize(slots); })
    });
    let body = quote! { #(#calls)* };
    let (pod, cycle, slots) = (parameter("pod", &body), parameter("cycle", &body), parameter("slots", &body));
    quote! {
        fn resize_filters(&mut self, #pod: &Pod, #cycle: &Cycle, #slots: usize) {
            #body
        }
    }
}

fn filter(members: &Members<'_>) -> TokenStream {
    let calls = members.at(Point::Filter).map(|member| {
        let (field, ty, args) = (&member.field, &member.ty, member.args());
        let (state, columns) = (pre_filter::state(member), super::columns::slices(members, member));
        let call = quote! {
            incremental::evaluate_nodes::<#ty>(#args, &pod.#field, #state, #columns, nodes, &mut self.passing.#field, dirty)?;
        };
        unless_silent(member, call)
    });
    let body = quote! { #(#calls)* Ok(()) };
    let (pod, cycle) = (parameter("pod", &body), parameter("cycle", &body));
    let (columns, nodes) = (parameter("columns", &body), parameter("nodes", &body));
    let dirty = parameter("dirty", &body);
    quote! {
        fn filter(
            &mut self,
            #pod: &Pod,
            #cycle: &Cycle,
            #columns: Columns<'_>,
            #nodes: &NodeSet,
            #dirty: &mut NodeSet,
        ) -> Result<(), NeedsFullEvaluation> {
            #body
        }
    }
}

fn update_filters(members: &Members<'_>) -> TokenStream {
    // As in PreFilter, a plugin can read the states of earlier plugins.
    let earlier = RefCell::new(Vec::new());
    let with_state = members.at(Point::PreFilter).map(|member| {
        let (field, ty, args) = (&member.field, &member.ty, member.args());
        let view = lazy_view(
            members
                .view(member, |read| earlier.borrow().contains(&read.name).then(|| Members::in_cycle(read)).flatten()),
        );
        earlier.borrow_mut().push(member.name);
        if member.runs(Point::Filter) {
            quote! {
                incremental::update_verdicts::<#ty, _>(
                    &plugins.#field, #args, &pod.#field, &mut cycle.#field, #view, &mut self.passing.#field, work,
                )?;
            }
        } else {
            quote! {
                incremental::update_pre_filter_state::<#ty>(
                    &plugins.#field, #args, &pod.#field, &mut cycle.#field, #view, &mut NodeMask::default(), work,
                )?;
                work.reevaluate.clear();
            }
        }
    });
    let without = members.at(Point::Filter).filter(|member| !member.runs(Point::PreFilter));
    let without = without.map(|member| {
        let (field, ty, args) = (&member.field, &member.ty, member.args());
        let (state, columns) = (pre_filter::state(member), super::columns::slices(members, member));
        let call = quote! {
            incremental::evaluate_changed_nodes::<#ty>(#args, &pod.#field, #state, #columns, &mut self.passing.#field, work)?;
        };
        unless_silent(member, with_columns(call))
    });
    let body = quote! { #(#without)* #(#with_state)* Ok(()) };
    let (plugins, pod) = (parameter("plugins", &body), parameter("pod", &body));
    let (cycle, cache, work) = (parameter("cycle", &body), parameter("cache", &body), parameter("work", &body));
    quote! {
        fn update_filters(
            &mut self,
            #plugins: &Pipeline,
            #pod: &Pod,
            #cycle: &mut Cycle,
            #cache: &Cache<State>,
            #work: &mut UpdateScratch,
        ) -> Result<(), NeedsFullEvaluation> {
            #body
        }
    }
}

fn passing(members: &Members<'_>) -> TokenStream {
    let masks = members.at(Point::Filter).map(|member| {
        let field = &member.field;
        unless_silent(member, quote! { passing &= self.passing.#field.words()[word]; })
    });
    let masks: Vec<TokenStream> = masks.collect();
    let body = if masks.is_empty() {
        quote! { u64::MAX }
    } else {
        quote! { let mut passing = u64::MAX; #(#masks)* passing }
    };
    let (pod, cycle, word) = (parameter("pod", &body), parameter("cycle", &body), parameter("word", &body));
    quote! {
        #[inline]
        fn passing(&self, #pod: &Pod, #cycle: &Cycle, #word: usize) -> u64 {
            #body
        }
    }
}

fn bytes(members: &Members<'_>) -> TokenStream {
    let masks = members.at(Point::Filter).map(|member| {
        let field = &member.field;
        quote! { self.passing.#field.bytes() }
    });
    let scores = incremental_scores::bytes(members);
    let parts: Vec<TokenStream> = masks.chain(scores).collect();
    let body = if parts.is_empty() {
        quote! { 0 }
    } else {
        quote! { #(#parts)+* }
    };
    quote! {
        fn bytes(&self) -> usize {
            #body
        }
    }
}

/// Returns code with the columns that it uses. They are created only where the code runs, which is rare.
pub(super) fn with_columns(code: TokenStream) -> TokenStream {
    if uses(&code, "columns") {
        quote! {
            let columns = Pipeline::columns(&cache.state, &cache.base);
            #code
        }
    } else {
        code
    }
}

/// Returns a closure that creates a view, because most plugins rarely read the cluster.
pub(super) fn lazy_view(view: TokenStream) -> TokenStream {
    if uses(&view, "columns") {
        let view = with_columns(view);
        quote! { || { #view } }
    } else {
        quote! { || #view }
    }
}
