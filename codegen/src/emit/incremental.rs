//! Emits `CachedAnswer`: the cached results of each plugin, and their update.

use std::cell::RefCell;

use proc_macro2::TokenStream;
use quote::quote;

use super::member::{Member, Members};
use super::tokens::{context, doc, expression_with_columns, parameter, with_columns};
use super::{incremental_scores, pre_filter, promises};
use crate::plan::Point;

pub(super) fn types(members: &Members<'_>) -> TokenStream {
    let masks = members.at(Point::Filter).map(|member| {
        let field = &member.field;
        let doc = doc(format!("`{}`.", member.name));
        quote! { #doc pub #field: NodeMask, }
    });
    let scores = incremental_scores::types(members);
    let idle_filters = members.filters_with_state().next().map(|_| {
        quote! {
            /// Whether the filters that most pods skip are idle.
            pub are_filters_idle: bool,
        }
    });
    let idle_scores = incremental_scores::updated(members).next().map(|_| {
        quote! {
            /// Whether the scores that most pods skip are idle.
            pub are_scores_idle: bool,
        }
    });
    quote! {
        /// The cached results of the plugins.
        #[derive(Default)]
        pub struct CachedAnswer {
            /// Verdicts of filters.
            pub passing: Passing,
            /// Scores.
            pub scores: Scores,
            #idle_filters
            #idle_scores
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
    let parts =
        [resize_filters, update_filters, find_active, rejectors, passing, bytes].map(|function| function(members));
    let scores = incremental_scores::functions(members);
    quote! {
        impl PluginResults<Pipeline> for CachedAnswer {
            #(#parts)*
            #scores
        }
    }
}

/// Makes `code` conditional: it runs unless the filter is idle for the pod.
pub(super) fn unless_idle(member: &Member<'_>, code: TokenStream) -> TokenStream {
    let field = &member.field;
    if member.runs(Point::PreFilter) {
        return quote! { if !cycle.#field.skip { #code } };
    }
    match promises::is_filter_idle(member) {
        Some(is_idle) => quote! { if !#is_idle { #code } },
        None => quote! { { #code } },
    }
}

fn resize_filters(members: &Members<'_>) -> TokenStream {
    let calls = members.at(Point::Filter).map(|member| {
        let field = &member.field;
        unless_idle(member, quote! { self.passing.#field.resize(slots); })
    });
    let body = quote! { #(#calls)* };
    let (pod, cycle, slots) = (parameter("pod", &body), parameter("cycle", &body), parameter("slots", &body));
    quote! {
        fn resize_filters(&mut self, #pod: &Pod, #cycle: &Cycle, #slots: usize) {
            #body
        }
    }
}

/// Returns the plugin's Filter with its inputs, for the evaluation of nodes.
fn kernel(members: &Members<'_>, member: &Member<'_>) -> TokenStream {
    let (field, ty, args) = (&member.field, &member.ty, member.args());
    let (state, columns) = (pre_filter::state(member), members.column_slices(member));
    quote! { FilterKernel::<#ty> { args: #args, pod: &pod.#field, state: #state, columns: #columns } }
}

fn update_filters(members: &Members<'_>) -> TokenStream {
    // As in PreFilter, a plugin can read the states of earlier plugins.
    let earlier = RefCell::new(Vec::new());
    let with_state = members.at(Point::PreFilter).map(|member| {
        let (field, ty, args) = (&member.field, &member.ty, member.args());
        let view = expression_with_columns(
            members
                .view(member, |read| earlier.borrow().contains(&read.name).then(|| Members::in_cycle(read)).flatten()),
        );
        earlier.borrow_mut().push(member.name);
        let depends = promises::filter_depends_on(member);
        let update = quote! {
            Promises::<#ty>::update_filter(&plugins.#field, #args, &pod.#field, &mut cycle.#field, #view, &mut verdicts)?;
        };
        if member.runs(Point::Filter) {
            let kernel = kernel(members, member);
            let evaluate = with_columns(quote! {
                work.evaluate(#kernel, (depends, reports_all), &mut self.passing.#field, cache.base.alive())?;
            });
            quote! {
                if idle_plugins::may_update(Promises::<#ty>::SKIPS, are_idle) {
                    let depends = #depends;
                    if let Some(mut verdicts) = work.filter_update(depends, &mut self.passing.#field, &cache.base) {
                        #update
                    }
                    let reports_all = Promises::<#ty>::REPORTS_ALL_VERDICTS;
                    if !cycle.#field.skip && work.affects_filter::<#ty>(depends, reports_all) {
                        #evaluate
                    }
                }
            }
        } else {
            quote! {
                if let Some(mut verdicts) = work.filter_update(#depends, &mut NodeMask::default(), &cache.base) {
                    #update
                    work.verdicts.reevaluate.clear();
                }
            }
        }
    });
    let without_state = members.at(Point::Filter).filter(|member| !member.runs(Point::PreFilter)).map(|member| {
        let (field, ty, kernel) = (&member.field, &member.ty, kernel(members, member));
        let evaluate = with_columns(quote! {
            work.evaluate(#kernel, (DependsOn::Node, false), &mut self.passing.#field, cache.base.alive())?;
        });
        unless_idle(member, quote! { if work.changes.affect_filter::<#ty>(DependsOn::Node) { #evaluate } })
    });
    let read_idle = members.filters_with_state().next().map(|_| quote! { let are_idle = self.are_filters_idle; });
    let body = quote! { #(#without_state)* #read_idle #(#with_state)* Ok(()) };
    let (cycle, work) = (parameter("cycle", &body), parameter("work", &body));
    let (context, cx) = context(&body);
    quote! {
        fn update_filters(
            &mut self,
            #cx: &UpdateContext<'_, Pipeline>,
            #cycle: &mut Cycle,
            #work: &mut UpdateScratch,
        ) -> Result<(), NeedsFullEvaluation> {
            #context
            #body
        }
    }
}

/// Emits `find_active`, which records whether all plugins that most pods skip are idle for this pod. Idle plugins need
/// no updates.
fn find_active(members: &Members<'_>) -> TokenStream {
    let filters: Vec<TokenStream> = members
        .filters_with_state()
        .map(|member| {
            let (field, ty, depends) = (&member.field, &member.ty, promises::filter_depends_on(member));
            quote! { idle_plugins::is_idle_or_not_usual(Promises::<#ty>::SKIPS, cycle.#field.skip, #depends) }
        })
        .collect();
    let scores: Vec<TokenStream> = incremental_scores::updated(members)
        .map(|(member, _)| {
            let (field, ty, depends) = (&member.field, &member.ty, promises::score_depends_on(member));
            quote! { idle_plugins::is_idle_or_not_usual(Promises::<#ty>::SKIPS, score.#field.skip, #depends) }
        })
        .collect();
    let filters = (!filters.is_empty()).then(|| quote! { self.are_filters_idle = #(#filters)&&*; });
    let scores =
        (!scores.is_empty()).then(|| quote! { self.are_scores_idle = score.is_some_and(|score| #(#scores)&&*); });
    let body = quote! { #filters #scores };
    let (pod, cycle, score) = (parameter("pod", &body), parameter("cycle", &body), parameter("score", &body));
    quote! {
        fn find_active(&mut self, #pod: &Pod, #cycle: &Cycle, #score: Option<&Score>) {
            #body
        }
    }
}

fn rejectors(members: &Members<'_>) -> TokenStream {
    let calls = members.at(Point::Filter).map(|member| {
        let (field, name) = (&member.field, member.name);
        unless_idle(member, quote! { if !self.passing.#field.contains(node) { rejectors.push(#name); } })
    });
    let calls: Vec<TokenStream> = calls.collect();
    let body = if calls.is_empty() {
        quote! { Vec::new() }
    } else {
        quote! { let mut rejectors = Vec::new(); #(#calls)* rejectors }
    };
    let (pod, cycle, node) = (parameter("pod", &body), parameter("cycle", &body), parameter("node", &body));
    quote! {
        fn rejectors(&self, #pod: &Pod, #cycle: &Cycle, #node: NodeIndex) -> Vec<&'static str> {
            #body
        }
    }
}

fn passing(members: &Members<'_>) -> TokenStream {
    let masks = members.at(Point::Filter).map(|member| {
        let field = &member.field;
        unless_idle(member, quote! { passing &= self.passing.#field.words()[word]; })
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
