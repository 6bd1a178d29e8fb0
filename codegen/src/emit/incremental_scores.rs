//! Emits `Scores`: the cached scores before normalization, and their update.

use proc_macro2::TokenStream;
use quote::quote;

use super::columns::slices;
use super::docs::doc;
use super::incremental::{lazy_view, with_columns};
use super::member::{Member, Members};
use super::pre_score::{Source, source, state, stateful, unless_skipped};
use super::score::{call, has_base, normalizing};
use super::tokens::parameter;
use crate::plan::Point;

pub(super) fn types(members: &Members<'_>) -> TokenStream {
    let base = has_base(members).then(|| {
        quote! {
            /// By node, the sum of the weighted scores without normalization.
            pub base: Vec<i64>,
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
    let parts = [resize(members), score(members), update(members), clear(members), retire(members)];
    quote! { #(#parts)* }
}

/// Returns the memory of scores, in bytes.
pub(super) fn bytes<'m>(members: &'m Members<'_>) -> impl Iterator<Item = TokenStream> + 'm {
    let base = has_base(members).then(|| quote! { self.scores.base.capacity() * size_of::<i64>() });
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

/// Returns helpers of the other functions.
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
        }
    })
}

fn score_base(nodes: &TokenStream) -> TokenStream {
    quote! {
        if incremental::is_sparse(#nodes) {
            incremental::score_each(#nodes, &mut self.scores.base, |index| CachedAnswer::base_of_one(pod, score, cache, index))?;
        } else {
            let columns = Pipeline::aligned(Pipeline::columns(&cache.state, &cache.base));
            incremental::score_each(#nodes, &mut self.scores.base, |index| CachedAnswer::base(pod, score, columns, index))?;
        }
    }
}

/// Returns the fresh nodes for which a plugin's result may change.
fn fresh(member: &Member<'_>) -> TokenStream {
    let ty = &member.ty;
    match source(member) {
        Source::PreScore => quote! { incremental::nodes_to_score_after_pre_score::<#ty>(work) },
        Source::Prepared => quote! { &work.to_score },
        Source::Omitted | Source::Stateless => quote! { incremental::nodes_to_score::<#ty>(work) },
    }
}

fn score(members: &Members<'_>) -> TokenStream {
    let normalized = normalizing(members).map(|member| {
        let (field, ty, args, constant) = (&member.field, &member.ty, member.args(), &member.constant);
        let (state, columns, fresh) = (state(member), slices(members, member), fresh(member));
        let score =
            with_columns(quote! { self.scores.#field.score::<#ty>(#args, &pod.#field, #state, #columns, #fresh)?; });
        let settle = quote! {
            self.scores.#field.normalize::<#ty>(#args, weight::#constant, feasible, totals, &mut work.reevaluate)?;
        };
        unless_skipped(member, quote! { #score #settle })
    });
    let base = has_base(members).then(|| score_base(&quote! { &work.to_score }));
    let body = quote! {
        #(#normalized)*
        #base
        self.total(score, &work.to_score, totals);
        if !work.rescored.is_empty() {
            self.total(score, &work.rescored, totals);
        }
        Ok(())
    };
    let (pod, cache, feasible) = (parameter("pod", &body), parameter("cache", &body), parameter("feasible", &body));
    quote! {
        fn score(
            &mut self,
            #pod: &Pod,
            score: &Score,
            #cache: &Cache<State>,
            #feasible: &NodeMask,
            totals: &mut [i64],
            work: &mut UpdateScratch,
        ) -> Result<(), NeedsFullEvaluation> {
            #body
        }
    }
}

fn update(members: &Members<'_>) -> TokenStream {
    let mut touches_base = false;
    let calls: Vec<TokenStream> = stateful(members)
        .filter(|(_, source)| matches!(source, Source::PreScore | Source::Prepared))
        .map(|(member, source)| {
            let (field, ty, args) = (&member.field, &member.ty, member.args());
            let view = lazy_view(members.view(member, Members::in_cycle));
            let arguments = quote! { &plugins.#field, #args, &pod.#field, &mut score.#field, #view, feasible, work };
            let update = match source {
                Source::PreScore => quote! { incremental::update_pre_score_state::<#ty>(#arguments)? },
                _ => quote! { incremental::update_prepared_state::<#ty>(#arguments) },
            };
            let rescore = if !member.runs(Point::Score) {
                quote! {}
            } else if member.entry.normalizes {
                let (state, columns) = (state(member), slices(members, member));
                let update = quote! { self.scores.#field.update::<#ty>(#args, &pod.#field, #state, #columns, work)?; };
                unless_skipped(member, with_columns(update))
            } else {
                touches_base = true;
                quote! { work.rescored_unnormalized.extend(&work.reevaluate); }
            };
            quote! {
                if #update {
                    #rescore
                    work.reevaluate.clear();
                }
            }
        })
        .collect();
    let base = touches_base.then(|| {
        let score = score_base(&quote! { &work.rescored_unnormalized });
        quote! {
            if !work.rescored_unnormalized.is_empty() {
                #score
            }
        }
    });
    let body = quote! { #(#calls)* #base Ok(()) };
    let (plugins, pod, cycle) = (parameter("plugins", &body), parameter("pod", &body), parameter("cycle", &body));
    let (score, cache, work) = (parameter("score", &body), parameter("cache", &body), parameter("work", &body));
    let feasible = parameter("feasible", &body);
    quote! {
        fn update_scores(
            &mut self,
            #plugins: &Pipeline,
            #pod: &Pod,
            #cycle: &Cycle,
            #score: &mut Score,
            #cache: &Cache<State>,
            #feasible: &NodeMask,
            #work: &mut UpdateScratch,
        ) -> Result<(), NeedsFullEvaluation> {
            #body
        }
    }
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

fn retire(members: &Members<'_>) -> TokenStream {
    let calls = normalizing(members).map(|member| {
        let field = &member.field;
        unless_skipped(member, quote! { self.scores.#field.remove_infeasible(feasible, feasibility_changed); })
    });
    let body = quote! { #(#calls)* };
    let (score, feasible) = (parameter("score", &body), parameter("feasible", &body));
    let flipped = parameter("feasibility_changed", &body);
    quote! {
        fn remove_infeasible(&mut self, #score: &Score, #feasible: &NodeMask, #flipped: &NodeSet) {
            #body
        }
    }
}

/// Emits `total`, and its helpers for a mask word and for a node.
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
            unless_skipped(member, quote! { total = total.wrapping_add(self.scores.#field.weighted(node)); })
        })
        .collect();
    let one = if add_one.is_empty() {
        base
    } else {
        quote! { let mut total: i64 = #base; #(#add_one)* total }
    };
    let whole = quote! { #begin #(#add)* };
    let (score_of_one, node) = (parameter("score", &one), parameter("node", &one));
    let score_of_word = parameter("score", &whole);
    quote! {
        /// Sets the totals of nodes.
        fn total(&self, score: &Score, nodes: &NodeSet, totals: &mut [i64]) {
            // The combined loop needs more preparation than a few nodes justify.
            for (word, bits) in nodes.words() {
                if bits == u64::MAX {
                    self.total_word(score, word, totals);
                } else {
                    incremental::total_each(word, bits, totals, |node| self.total_of(score, node));
                }
            }
        }

        /// Sets the totals of all nodes of a mask word.
        #[inline(never)]
        fn total_word(&self, #score_of_word: &Score, word: usize, totals: &mut [i64]) {
            #whole
        }

        /// Sets the total of a node.
        #[inline(never)]
        fn total_of(&self, #score_of_one: &Score, #node: usize) -> i64 {
            #one
        }
    }
}
