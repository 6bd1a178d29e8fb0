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
    let base = has_base(members).then(|| {
        quote! {
            /// By node, the sum of the weighted scores without normalization.
            pub base: Vec<i32>,
        }
    });
    let raw = normalizing(members).map(|member| {
        let field = &member.field;
        let doc = doc(format!("By `{}`.", member.name));
        quote! { #doc pub #field: NormalizedScores, }
    });
    quote! {
        /// The scores of all feasible nodes before normalization.
        #[derive(Default)]
        pub struct Scores {
            #base
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
    let base = has_base(members).then(|| quote! { self.scores.base.capacity() * size_of::<i32>() });
    base.into_iter().chain(normalizing(members).map(|member| {
        let field = &member.field;
        quote! { self.scores.#field.bytes() }
    }))
}

fn resize(members: &Members<'_>) -> TokenStream {
    let base = has_base(members).then(|| quote! { self.scores.base.resize(slots, 0); });
    let raw = normalizing(members).map(|member| {
        let field = &member.field;
        unless_skipped(member, quote! { self.scores.#field.resize(slots); })
    });
    let body = quote! { #base #(#raw)* };
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

                /// Stores the sums for many nodes.
                #[inline(never)]
                fn score_base(
                    &mut self,
                    pod: &Pod,
                    score: &Score,
                    cache: &Cache<State>,
                    nodes: &NodeSet,
                ) -> Result<(), NeedsFullEvaluation> {
                    let columns = Pipeline::aligned(Pipeline::columns(&cache.state, &cache.base));
                    incremental::score_each(nodes, &mut self.scores.base, |index| {
                        CachedAnswer::base(pod, score, columns, index)
                    })
                }
        }
    })
}

fn score_base(nodes: &TokenStream) -> TokenStream {
    quote! {
        if incremental::is_sparse(#nodes) {
            incremental::score_each(#nodes, &mut self.scores.base, |index| CachedAnswer::base_of_one(pod, score, cache, index))?;
        } else {
            self.score_base(pod, score, cache, #nodes)?;
        }
    }
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
        let nodes = quote! { work.scores.nodes_to_score::<#ty>(#depends) };
        let with_new_class = quote! { work.scores.nodes_with_new_class(#depends) };
        let score = with_columns(quote! { self.scores.#field.score(#kernel, nodes, #with_new_class, feasible)?; });
        unless_skipped(member, quote! { let nodes = #nodes; if !nodes.is_empty() { #score } })
    });
    let base = has_base(members).then(|| {
        let score = score_base(&quote! { nodes });
        quote! { let nodes = work.scores.nodes_to_score_base(); #score }
    });
    let body = quote! { #(#normalized)* #base Ok(()) };
    let (score, work) = (parameter("score", &body), parameter("work", &body));
    let feasible = parameter("feasible", &body);
    let (context, cx) = context(&body);
    quote! {
        #[inline(always)]
        fn score(
            &mut self,
            #cx: &UpdateContext<'_, Pipeline>,
            #score: &Score,
            #feasible: &NodeMask,
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
        let is_uniform =
            work.scores.is_base_limited() && self.find_normalized(NormalizedScores::is_by_node).is_none();
        self.set_totals(score, work.scores.nodes_to_total(is_uniform), totals);
        if !work.scores.rescored.is_empty() {
            self.set_totals(score, &work.scores.rescored, totals);
        }
        Ok(())
    };
    let feasible = parameter("feasible", &body);
    quote! {
        #[inline(always)]
        fn total(
            &mut self,
            score: &Score,
            #feasible: &NodeMask,
            totals: &mut [i32],
            work: &mut UpdateScratch,
        ) -> Result<(), NeedsFullEvaluation> {
            #body
        }
    }
}

fn update(members: &Members<'_>) -> TokenStream {
    let mut touches_base = false;
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
                touches_base = true;
                quote! {
                    let is_unchanged = update.is_unchanged();
                    work.scores.rescore_unnormalized(feasible, is_unchanged);
                }
            } else {
                let rescore = member.runs(Point::Score).then(|| {
                    let kernel = kernel(members, member);
                    let update = quote! { self.scores.#field.update(#kernel, &work.scores, feasible)?; };
                    unless_skipped(member, with_columns(update))
                });
                quote! {
                    if work.scores.have_changed(feasible) {
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
    let base = touches_base.then(|| {
        let score = score_base(&quote! { &work.scores.rescored_unnormalized });
        quote! {
            if !work.scores.rescored_unnormalized.is_empty() {
                #score
            }
        }
    });
    let read_idle = (!calls.is_empty()).then(|| quote! { let are_idle = self.are_scores_idle; });
    let body = quote! { #read_idle #(#calls)* #base Ok(()) };
    let (cycle, score) = (parameter("cycle", &body), parameter("score", &body));
    let (feasible, work) = (parameter("feasible", &body), parameter("work", &body));
    let (context, cx) = context(&body);
    quote! {
        #[inline(always)]
        fn update_scores(
            &mut self,
            #cx: &UpdateContext<'_, Pipeline>,
            #cycle: &Cycle,
            #score: &mut Score,
            #feasible: &NodeMask,
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
        unless_skipped(member, quote! { self.scores.#field.remove_infeasible(feasible, feasibility_changed); })
    });
    let body = quote! { #(#calls)* };
    let (score, feasible) = (parameter("score", &body), parameter("feasible", &body));
    let feasibility_changed = parameter("feasibility_changed", &body);
    quote! {
        fn remove_infeasible(&mut self, #score: &Score, #feasible: &NodeMask, #feasibility_changed: &NodeSet) {
            #body
        }
    }
}

fn parts_of_total(members: &Members<'_>) -> TokenStream {
    let base = has_base(members).then(|| {
        let names = members.at(Point::Score).filter(|member| !member.entry.normalizes).map(|member| member.name);
        quote! { parts.push((&[#(#names),*] as &[_], self.scores.base[node.get()].into())); }
    });
    let normalized = normalizing(members).map(|member| {
        let (field, name) = (&member.field, member.name);
        unless_skipped(
            member,
            quote! { parts.push((&[#name] as &[_], self.scores.#field.weighted(node.get()).into())); },
        )
    });
    let calls = quote! { #base #(#normalized)* };
    let body = if calls.is_empty() {
        quote! { Vec::new() }
    } else {
        quote! { let mut parts = Vec::new(); #calls parts }
    };
    let (score, node) = (parameter("score", &body), parameter("node", &body));
    quote! {
        fn parts_of_total(&self, #score: &Score, #node: NodeIndex) -> Vec<(&'static [&'static str], i64)> {
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

/// Emits `set_totals`, and its helpers for a mask word and for a node.
fn total_helpers(members: &Members<'_>) -> TokenStream {
    let (begin, base) = if has_base(members) {
        (quote! { incremental::init_totals(word, &self.scores.base, totals); }, quote! { self.scores.base[node] })
    } else {
        (quote! { incremental::reset_totals(word, totals); }, quote! { 0 })
    };
    let add = normalizing(members).map(|member| {
        let field = &member.field;
        unless_skipped(member, quote! { self.scores.#field.add(word, totals); })
    });
    let add_one: Vec<TokenStream> = normalizing(members)
        .map(|member| {
            let field = &member.field;
            unless_skipped(member, quote! { total = total.wrapping_add(self.scores.#field.in_total(node)); })
        })
        .collect();
    let one = if add_one.is_empty() {
        base
    } else {
        quote! { let mut total: i32 = #base; #(#add_one)* total }
    };
    let whole = quote! { #begin #(#add)* };
    let (score_of_one, node) = (parameter("score", &one), parameter("node", &one));
    let score_of_word = parameter("score", &whole);
    quote! {
        /// Sets the totals of nodes.
        fn set_totals(&self, score: &Score, nodes: &NodeSet, totals: &mut [i32]) {
            // For a few nodes, the loops of `total_word` over a whole word are slower than one sum for each node.
            for (word, bits) in nodes.words() {
                if incremental::is_dense(word, bits, totals) {
                    self.total_word(score, word, totals);
                } else {
                    incremental::total_each(word, bits, totals, |node| self.total_of(score, node));
                }
            }
        }

        /// Sets the totals of all nodes of a mask word.
        #[inline(never)]
        fn total_word(&self, #score_of_word: &Score, word: usize, totals: &mut [i32]) {
            #whole
        }

        /// Sets the total of a node.
        #[inline(never)]
        fn total_of(&self, #score_of_one: &Score, #node: usize) -> i32 {
            #one
        }
    }
}
