//! Emits `Scores`: the cached scores before normalization, and their update.

use proc_macro2::TokenStream;
use quote::quote;

use super::member::{Member, Members};
use super::pre_score::{Source, source, state, stateful, unless_skipped};
use super::promises::score_depends_on;
use super::score::{call, has_base, normalizing};
use super::tokens::{context, doc, expression_with_columns, parameter, with_columns};
use crate::plan::Point;

pub(super) fn types(members: &Members<'_>) -> TokenStream {
    let raw = normalizing(members).map(|member| {
        let field = &member.field;
        let doc = doc(format!("By `{}`.", member.name));
        quote! { #doc pub #field: NormalizedScores, }
    });
    quote! {
        /// The scores of all feasible nodes before normalization.
        #[derive(Default)]
        pub struct Scores {
            #(#raw)*
        }
    }
}

pub(super) fn functions(members: &Members<'_>) -> TokenStream {
    let parts = [
        resize(members),
        update(members),
        clear(members),
        remove_infeasible(members),
        score(members),
        total(members),
        parts_of_total(members),
    ];
    let find_normalized = find_normalized(members);
    quote! { #(#parts)* #find_normalized }
}

/// Returns expressions for the memory of the scores, in bytes.
pub(super) fn bytes<'m>(members: &'m Members<'_>) -> impl Iterator<Item = TokenStream> + 'm {
    normalizing(members).map(|member| {
        let field = &member.field;
        quote! { self.scores.#field.bytes() }
    })
}

fn resize(members: &Members<'_>) -> TokenStream {
    let raw = normalizing(members).map(|member| {
        let field = &member.field;
        unless_skipped(member, quote! { self.scores.#field.resize(slots); })
    });
    let body = quote! { #(#raw)* };
    let (score, slots) = (parameter("score", &body), parameter("slots", &body));
    quote! {
        fn resize_scores(&mut self, #score: &Score, #slots: usize) {
            #body
        }
    }
}

/// Emits private functions of `CachedAnswer`, which the emitted trait functions call.
pub(super) fn helpers(members: &Members<'_>) -> TokenStream {
    let (base, total) = (base_helpers(members), total_helpers(members));
    quote! {
        impl CachedAnswer {
            #base
            #total
        }
    }
}

/// Returns the helper for the sum of a node's weighted scores without normalization.
fn base_helpers(members: &Members<'_>) -> Option<TokenStream> {
    let parts = members.at(Point::Score).filter(|member| !member.entry.normalizes).map(|member| {
        let (call, constant) = (call(members, member), &member.constant);
        let code = quote! { base = base.wrapping_add(incremental::weighted(#call, weight::#constant)?); };
        unless_skipped(member, code)
    });
    let body = quote! { let mut base: i64 = 0; #(#parts)* Ok(base) };
    let (pod, score) = (parameter("pod", &body), parameter("score", &body));
    let (columns, index) = (parameter("columns", &body), parameter("index", &body));
    has_base(members).then(|| {
        quote! {
                /// Returns the sum of a node's weighted scores without normalization.
                #[inline(always)]
                fn base(
                    #pod: &Pod,
                    #score: &Score,
                    #columns: Columns<'_>,
                    #index: usize,
                ) -> Result<i64, NeedsFullEvaluation> {
                    #body
                }

                /// Returns the sum for one of a few nodes, without the preparation of a loop over many.
                #[inline(never)]
                fn base_of_one(
                    pod: &Pod,
                    score: &Score,
                    cache: &Cache<State>,
                    index: usize,
                ) -> Result<i64, NeedsFullEvaluation> {
                    CachedAnswer::base(pod, score, Pipeline::columns(&cache.state, &cache.base), index)
                }

                /// Sets the totals of many nodes to the sums, plus the part that all nodes have in common.
                #[inline(never)]
                fn score_base(
                    pod: &Pod,
                    score: &Score,
                    cache: &Cache<State>,
                    nodes: &NodeSet,
                    totals: &mut [i32],
                    common: i32,
                ) -> Result<(), NeedsFullEvaluation> {
                    let columns = Pipeline::aligned(Pipeline::columns(&cache.state, &cache.base));
                    incremental::score_each(nodes, totals, common, |index| {
                        CachedAnswer::base(pod, score, columns, index)
                    })
                }
        }
    })
}

/// Returns the plugin's `ClassKernel`: the inputs of its Score, and the two functions for score classes that replace
/// Score.
fn kernel(members: &Members<'_>, member: &Member<'_>) -> TokenStream {
    let (field, ty, args) = (&member.field, &member.ty, member.args());
    let (state, columns) = (state(member), members.column_slices(member));
    quote! {
        ClassKernel::<#ty, _, _> {
            args: #args,
            pod: &pod.#field,
            state: #state,
            columns: #columns,
            class: Promises::<#ty>::score_class,
            score: Promises::<#ty>::score_of_class,
        }
    }
}

fn score(members: &Members<'_>) -> TokenStream {
    let normalized = normalizing(members).map(|member| {
        let (field, ty, kernel) = (&member.field, &member.ty, kernel(members, member));
        let depends = match source(member) {
            Source::PreScore | Source::Prepared => score_depends_on(member),
            Source::Omitted | Source::Stateless => quote! { DependsOn::Node },
        };
        let nodes = quote! { work.scores.nodes_to_score::<#ty>(#depends, Promises::<#ty>::REPORTS_ALL_SCORES) };
        let with_new_class = quote! { work.scores.nodes_with_new_class(#depends) };
        let score =
            with_columns(quote! { self.scores.#field.score(#kernel, nodes, #with_new_class, feasible, totals)?; });
        unless_skipped(member, quote! { let nodes = #nodes; if !nodes.is_empty() { #score } })
    });
    let body = quote! { #(#normalized)* Ok(()) };
    let (score, work) = (parameter("score", &body), parameter("work", &body));
    let (feasible, totals) = (parameter("feasible", &body), parameter("totals", &body));
    let (context, cx) = context(&body);
    quote! {
        #[inline(always)]
        fn score(
            &mut self,
            #cx: &UpdateContext<'_, Pipeline>,
            #score: &Score,
            #feasible: &NodeMask,
            #totals: &mut [i32],
            #work: &UpdateScratch,
        ) -> Result<(), NeedsFullEvaluation> {
            #context
            #body
        }
    }
}

fn total(members: &Members<'_>) -> TokenStream {
    let normalized = normalizing(members).map(|member| {
        let (field, ty, args, constant) = (&member.field, &member.ty, member.args(), &member.constant);
        let normalize = quote! {
            self.scores.#field.normalize::<#ty>(#args, weight::#constant, feasible, totals, &mut work.scores.retotalled)?;
        };
        unless_skipped(member, normalize)
    });
    let body = quote! {
        #(#normalized)*
        self.set_totals(pod, score, cache, work.scores.nodes_to_score_base(), totals)?;
        if !work.scores.rescored_unnormalized.is_empty() {
            self.set_totals(pod, score, cache, &work.scores.rescored_unnormalized, totals)?;
        }
        Ok(())
    };
    let feasible = parameter("feasible", &body);
    let (context, cx) = context(&body);
    quote! {
        #[inline(always)]
        fn total(
            &mut self,
            #cx: &UpdateContext<'_, Pipeline>,
            score: &Score,
            #feasible: &NodeMask,
            totals: &mut [i32],
            work: &mut UpdateScratch,
        ) -> Result<(), NeedsFullEvaluation> {
            #context
            #body
        }
    }
}

fn update(members: &Members<'_>) -> TokenStream {
    let calls: Vec<TokenStream> = updated(members)
        .map(|(member, source)| {
            let (field, ty, args) = (&member.field, &member.ty, member.args());
            let (depends, view) =
                (score_depends_on(member), expression_with_columns(members.view(member, Members::in_cycle)));
            let inputs = quote! { &plugins.#field, #args, &pod.#field };
            let update = match source {
                Source::PreScore => quote! {
                    Promises::<#ty>::update_score(#inputs, &mut score.#field, #view, &mut update)?;
                },
                _ => quote! { Promises::<#ty>::update_prepared(#inputs, &mut score.#field.state, #view, &mut update); },
            };
            let rescore = if member.runs(Point::Score) && !member.entry.normalizes {
                quote! {
                    let is_unchanged = update.is_unchanged();
                    work.scores.rescore_unnormalized(feasible, is_unchanged);
                }
            } else {
                let rescore = member.runs(Point::Score).then(|| {
                    let kernel = kernel(members, member);
                    let update = quote! { self.scores.#field.update(#kernel, &work.scores, feasible, totals)?; };
                    unless_skipped(member, with_columns(update))
                });
                quote! {
                    if work.scores.have_changed(feasible, Promises::<#ty>::REPORTS_ALL_SCORES) {
                        #rescore
                        work.scores.reevaluate.clear();
                    }
                }
            };
            quote! {
                if idle_plugins::may_update(Promises::<#ty>::SKIPS, are_idle)
                    && let Some(mut update) = work.score_update(#depends, feasible)
                {
                    #update
                    #rescore
                }
            }
        })
        .collect();
    let read_idle = (!calls.is_empty()).then(|| quote! { let are_idle = self.are_scores_idle; });
    let body = quote! { #read_idle #(#calls)* Ok(()) };
    let (cycle, score) = (parameter("cycle", &body), parameter("score", &body));
    let (feasible, work) = (parameter("feasible", &body), parameter("work", &body));
    let totals = parameter("totals", &body);
    let (context, cx) = context(&body);
    quote! {
        #[inline(always)]
        fn update_scores(
            &mut self,
            #cx: &UpdateContext<'_, Pipeline>,
            (#cycle, #score): (&Cycle, &mut Score),
            #feasible: &NodeMask,
            #totals: &mut [i32],
            #work: &mut UpdateScratch,
        ) -> Result<(), NeedsFullEvaluation> {
            #context
            #body
        }
    }
}

/// Returns the plugins whose score states are updated.
pub(super) fn updated<'m, 'a>(members: &'m Members<'a>) -> impl Iterator<Item = (&'m Member<'a>, Source)> {
    stateful(members).filter(|(_, source)| matches!(source, Source::PreScore | Source::Prepared))
}

fn clear(members: &Members<'_>) -> TokenStream {
    let calls = normalizing(members).map(|member| {
        let field = &member.field;
        quote! { self.scores.#field.clear(); }
    });
    quote! {
        fn clear_scores(&mut self) {
            #(#calls)*
        }
    }
}

fn remove_infeasible(members: &Members<'_>) -> TokenStream {
    let calls = normalizing(members).map(|member| {
        let field = &member.field;
        unless_skipped(member, quote! { self.scores.#field.remove_infeasible(feasible, feasibility_changed, totals); })
    });
    let body = quote! { #(#calls)* };
    let (score, feasible) = (parameter("score", &body), parameter("feasible", &body));
    let (feasibility_changed, totals) = (parameter("feasibility_changed", &body), parameter("totals", &body));
    quote! {
        fn remove_infeasible(
            &mut self,
            #score: &Score,
            #feasible: &NodeMask,
            #feasibility_changed: &NodeSet,
            #totals: &mut [i32],
        ) {
            #body
        }
    }
}

fn parts_of_total(members: &Members<'_>) -> TokenStream {
    let normalized = normalizing(members).map(|member| {
        let (field, name) = (&member.field, member.name);
        let part = quote! {
            base = base.wrapping_sub(self.scores.#field.in_total(node.get()));
            parts.push((&[#name] as &[_], self.scores.#field.weighted(node.get()).into()));
        };
        unless_skipped(member, part)
    });
    let calls = quote! { #(#normalized)* };
    let names: Vec<_> =
        members.at(Point::Score).filter(|member| !member.entry.normalizes).map(|member| member.name).collect();
    let declare = if calls.is_empty() {
        quote! { let base }
    } else {
        quote! { let mut base }
    };
    let body = quote! {
        let mut parts = Vec::new();
        #declare: i32 = total;
        #calls
        parts.push((&[#(#names),*] as &[_], base.into()));
        parts
    };
    let (score, node) = (parameter("score", &body), parameter("node", &body));
    quote! {
        fn parts_of_total(
            &self,
            #score: &Score,
            #node: NodeIndex,
            total: i32,
        ) -> Vec<(&'static [&'static str], i64)> {
            #body
        }
    }
}

fn find_normalized(members: &Members<'_>) -> Option<TokenStream> {
    let fields: Vec<_> = normalizing(members).map(|member| &member.field).collect();
    (!fields.is_empty()).then(|| {
        quote! {
            fn find_normalized(
                &mut self,
                has_property: impl Fn(&NormalizedScores) -> bool,
            ) -> Option<&mut NormalizedScores> {
                #(if has_property(&self.scores.#fields) { return Some(&mut self.scores.#fields); })*
                None
            }
        }
    })
}

/// Emits `set_totals`.
fn total_helpers(members: &Members<'_>) -> TokenStream {
    let common: Vec<TokenStream> = normalizing(members)
        .map(|member| {
            let field = &member.field;
            let add = quote! { common = common.wrapping_add(self.scores.#field.common_in_total()); };
            unless_skipped(member, add)
        })
        .collect();
    let common = if common.is_empty() {
        quote! { let common = 0; }
    } else {
        quote! { let mut common: i32 = 0; #(#common)* }
    };
    let base = if has_base(members) {
        quote! {
            if incremental::is_sparse(nodes) {
                incremental::score_each(nodes, totals, common, |index| CachedAnswer::base_of_one(pod, score, cache, index))?;
            } else {
                CachedAnswer::score_base(pod, score, cache, nodes, totals, common)?;
            }
        }
    } else {
        quote! { incremental::score_each(nodes, totals, common, |_| Ok(0))?; }
    };
    let add = normalizing(members).map(|member| {
        let field = &member.field;
        unless_skipped(member, quote! { self.scores.#field.add_by_node(nodes, totals); })
    });
    let body = quote! { #common #base #(#add)* Ok(()) };
    let (pod, score, cache) = (parameter("pod", &body), parameter("score", &body), parameter("cache", &body));
    quote! {
        /// Runs Score of the plugins without normalization for nodes, and sets their totals.
        fn set_totals(
            &self,
            #pod: &Pod,
            #score: &Score,
            #cache: &Cache<State>,
            nodes: &NodeSet,
            totals: &mut [i32],
        ) -> Result<(), NeedsFullEvaluation> {
            #body
        }
    }
}
