//! Emits `Raw`, `Extents`, and the functions of Score and NormalizeScore.
//!
//! Scores without normalization are weighted and summed directly. The others are stored, because
//! normalization requires the extremes over all nodes.

use proc_macro2::TokenStream;
use quote::quote;

use super::columns::row;
use super::docs::steps;
use super::member::{Member, Members};
use super::pre_score::{self, Source, state, unless_idle, unless_skipped};
use super::tokens::{doc, idle, parameter};
use crate::plan::Point;

/// Returns the plugins that normalize.
pub(super) fn normalizing<'m, 'a>(members: &'m Members<'a>) -> impl Iterator<Item = &'m Member<'a>> {
    members.at(Point::Score).filter(|member| member.entry.normalizes)
}

/// Returns whether there are scores without normalization.
pub(super) fn has_base(members: &Members<'_>) -> bool {
    members.at(Point::Score).any(|member| !member.entry.normalizes)
}

pub(super) fn types(members: &Members<'_>) -> TokenStream {
    let base = has_base(members).then(|| {
        quote! {
            /// The sum of the weighted scores without normalization.
            pub base: i64,
        }
    });
    let range = has_base(members).then(|| {
        quote! {
            /// Range of the scores without normalization.
            pub range: ScoreRange,
        }
    });
    let raw = normalizing(members).map(|member| {
        let field = &member.field;
        let doc = doc(format!("By `{}`.", member.name));
        quote! { #doc pub #field: i64, }
    });
    let extents = normalizing(members).map(|member| {
        let field = &member.field;
        let doc = doc(format!("Of `{}`.", member.name));
        quote! { #doc pub #field: Extent, }
    });
    quote! {
        /// The scores of all nodes before normalization.
        #[derive(Default)]
        pub struct Raw {
            /// One entry for each slot.
            pub nodes: Vec<RawScores>,
        }

        /// The scores of a node before normalization.
        #[derive(Clone, Copy, Default)]
        pub struct RawScores {
            #base
            #(#raw)*
        }

        /// The extremes that normalization requires.
        #[derive(Clone, Copy, Default)]
        pub struct Extents {
            #range
            #(#extents)*
        }
    }
}

pub(super) fn functions(members: &Members<'_>) -> TokenStream {
    let parts = [score(members), total(members), scores(members)];
    let range = if has_base(members) {
        quote! { extents.range }
    } else {
        quote! { ScoreRange::default() }
    };
    let extents = parameter("extents", &range);
    let skipping = members.at(Point::Score).filter(|member| pre_score::can_be_skipped(member)).map(|member| {
        let (field, ty) = (&member.field, &member.ty);
        quote! { IdlePlugins::after(Promises::<#ty>::SKIPS, score.#field.skip) }
    });
    let idle = idle(skipping);
    let score_parameter = parameter("score", &idle);
    quote! {
        fn idle_scores(#score_parameter: &Score) -> IdlePlugins {
            #idle
        }

        fn range(#extents: &Extents) -> ScoreRange {
            #range
        }

        #[inline(always)]
        fn slots(raw: &Raw) -> usize {
            raw.nodes.len()
        }

        fn resize(raw: &mut Raw, nodes: usize) {
            raw.nodes.resize(nodes, RawScores::default());
        }

        #(#parts)*
    }
}

/// Returns the call of one plugin's Score.
pub(super) fn call(members: &Members<'_>, member: &Member<'_>) -> TokenStream {
    let (field, ty, args) = (&member.field, &member.ty, member.args());
    let (state, row) = (state(member), row(members, member));
    quote! { <#ty as ScorePlugin>::score(#args, &pod.#field, #state, #row) }
}

fn score(members: &Members<'_>) -> TokenStream {
    let calls: Vec<TokenStream> = members
        .at(Point::Score)
        .map(|member| {
            let (call, name) = (call(members, member), member.name);
            let (field, ty, constant) = (&member.field, &member.ty, &member.constant);
            let value = quote! { let value = #call.map_err(|error| ScoreFailure { plugin: #name, error })?; };
            let code = if member.entry.normalizes {
                quote! {
                    #value
                    extents.#field.include_for::<#ty>(value);
                    node.#field = value;
                }
            } else {
                quote! {
                    #value
                    base = base.wrapping_add(extents.range.check(value).wrapping_mul(weight::#constant));
                }
            };
            unless_idle(member, code)
        })
        .collect();
    let (declare, keep) = if has_base(members) {
        (quote! { let mut base: i64 = 0; }, quote! { node.base = base; })
    } else {
        Default::default()
    };
    let node = (!calls.is_empty()).then(|| quote! { let node = &mut raw.nodes[index]; });
    let body = quote! { #node #declare #(#calls)* #keep Ok(()) };
    let (pod, score, columns) = (parameter("pod", &body), parameter("score", &body), parameter("columns", &body));
    let (index, raw, extents) = (parameter("index", &body), parameter("raw", &body), parameter("extents", &body));
    let doc = steps(members, Point::Score);
    quote! {
        #doc
        #[inline(always)]
        fn score<const IDLE: u8>(
            #pod: &Pod,
            #score: &Score,
            #columns: Columns<'_>,
            #index: usize,
            #raw: &mut Raw,
            #extents: &mut Extents,
        ) -> Result<(), ScoreFailure> {
            #body
        }
    }
}

fn total(members: &Members<'_>) -> TokenStream {
    let calls: Vec<TokenStream> = normalizing(members)
        .map(|member| {
            let (field, ty, args, constant) = (&member.field, &member.ty, member.args(), &member.constant);
            let code = quote! {
                let value = <#ty as NormalizeScore>::normalize(#args, extents.#field, node.#field);
                total = total.wrapping_add(range.check(value).wrapping_mul(weight::#constant));
            };
            unless_idle(member, code)
        })
        .collect();
    let first = if has_base(members) {
        quote! { node.base }
    } else {
        quote! { 0 }
    };
    let node = (has_base(members) || !calls.is_empty()).then(|| quote! { let node = &raw.nodes[index]; });
    let body = if calls.is_empty() {
        quote! { #node #first }
    } else {
        quote! { #node let mut total: i64 = #first; #(#calls)* total }
    };
    let (score, raw, extents) = (parameter("score", &body), parameter("raw", &body), parameter("extents", &body));
    let (index, range) = (parameter("index", &body), parameter("range", &body));
    quote! {
        #[inline(always)]
        fn total<const IDLE: u8>(
            _pod: &Pod,
            #score: &Score,
            #raw: &Raw,
            #extents: &Extents,
            #index: usize,
            #range: &mut ScoreRange,
        ) -> i64 {
            #body
        }
    }
}

fn scores(members: &Members<'_>) -> TokenStream {
    let calls: Vec<TokenStream> = members
        .at(Point::Score)
        .map(|member| {
            let (field, ty, args) = (&member.field, &member.ty, member.args());
            let (name, constant) = (member.name, &member.constant);
            let code = if member.entry.normalizes {
                quote! {
                    let value = node.#field;
                    scores.push(PluginScore {
                        plugin: #name,
                        raw: value,
                        normalized: <#ty as NormalizeScore>::normalize(#args, extents.#field, value),
                        weight: weight::#constant,
                    });
                }
            } else {
                let call = call(members, member);
                quote! {
                    if let Ok(value) = #call {
                        scores.push(PluginScore {
                            plugin: #name,
                            raw: value,
                            normalized: value,
                            weight: weight::#constant,
                        });
                    }
                }
            };
            match pre_score::source(member) {
                // kube-scheduler always runs Score of a plugin whose PreScore does not run, so the list must contain
                // its score. The score is 0 if schedc skips Score because it depends on nothing.
                Source::Prepared => quote! {
                    if score.#field.skip {
                        scores.push(PluginScore { plugin: #name, raw: 0, normalized: 0, weight: weight::#constant });
                    } else {
                        #code
                    }
                },
                _ => unless_skipped(member, code),
            }
        })
        .collect();
    let node = normalizing(members).next().map(|_| quote! { let node = &raw.nodes[index]; });
    let body = if calls.is_empty() {
        quote! { Vec::new() }
    } else {
        quote! { #node let mut scores = Vec::new(); #(#calls)* scores }
    };
    let (pod, score, raw) = (parameter("pod", &body), parameter("score", &body), parameter("raw", &body));
    let (extents, columns) = (parameter("extents", &body), parameter("columns", &body));
    let index = parameter("index", &body);
    quote! {
        fn scores(
            #pod: &Pod,
            #score: &Score,
            #raw: &Raw,
            #extents: &Extents,
            #columns: Columns<'_>,
            #index: usize,
        ) -> Vec<PluginScore> {
            #body
        }
    }
}
