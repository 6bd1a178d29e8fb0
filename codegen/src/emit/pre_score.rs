//! Emits `Score`, the score states; `pre_score`, which creates them; and `recycle_score`, which reclaims
//! their memory.

use proc_macro2::TokenStream;
use quote::quote;

use super::docs::steps;
use super::member::{Member, Members};
use super::promises::score_depends_on;
use super::tokens::{doc, parameter};
use crate::plan::Point;

/// Origin of a plugin's score state.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// The plugin's PreScore.
    PreScore,
    /// PrepareScore, which runs with Score.
    Prepared,
    /// The default value, because the profile omits the plugin's PreScore.
    Omitted,
    /// No state: the plugin has no PreScore, or the profile runs neither its PreScore nor its Score.
    Stateless,
}

pub(super) fn source(member: &Member<'_>) -> Source {
    if member.runs(Point::PreScore) {
        Source::PreScore
    } else if !member.runs(Point::Score) {
        Source::Stateless
    } else if member.entry.prepares_score {
        Source::Prepared
    } else if member.entry.implements(Point::PreScore) {
        Source::Omitted
    } else {
        Source::Stateless
    }
}

/// Returns an expression for the state of a plugin's Score. It uses the variable `score`.
pub(super) fn state(member: &Member<'_>) -> TokenStream {
    let field = &member.field;
    match source(member) {
        Source::PreScore | Source::Prepared => quote! { &score.#field.state },
        Source::Omitted => quote! { &score.#field },
        Source::Stateless => quote! { &Default::default() },
    }
}

/// Returns whether a plugin's Score can be skipped: by its PreScore, or because it depends on nothing.
pub(super) fn can_be_skipped(member: &Member<'_>) -> bool {
    matches!(source(member), Source::PreScore | Source::Prepared)
}

/// Makes `code` conditional: it runs unless the plugin's Score is skipped.
pub(super) fn unless_skipped(member: &Member<'_>, code: TokenStream) -> TokenStream {
    let field = &member.field;
    if can_be_skipped(member) {
        quote! { if !score.#field.skip { #code } }
    } else {
        code
    }
}

/// Makes `code` in a loop over nodes conditional: it runs unless the const parameter `IDLE` of the loop excludes the
/// plugin, because its Score is idle.
pub(super) fn unless_idle(member: &Member<'_>, code: TokenStream) -> TokenStream {
    let (field, ty) = (&member.field, &member.ty);
    if can_be_skipped(member) {
        quote! { if idle_plugins::runs(Promises::<#ty>::SKIPS, score.#field.skip, IDLE) { #code } }
    } else {
        code
    }
}

/// Returns the plugins with PreScore in order, then the other plugins with a score state in the order of Score.
pub(super) fn stateful<'m, 'a>(members: &'m Members<'a>) -> impl Iterator<Item = (&'m Member<'a>, Source)> {
    let others = members.at(Point::Score).filter(|member| !member.runs(Point::PreScore));
    let all = members.at(Point::PreScore).chain(others);
    all.map(|member| (member, source(member))).filter(|(_, source)| *source != Source::Stateless)
}

pub(super) fn types(members: &Members<'_>) -> TokenStream {
    let fields = stateful(members).map(|(member, source)| {
        let (field, ty, name) = (&member.field, &member.ty, member.name);
        let (text, ty) = match source {
            Source::PreScore => {
                (format!("The state of `{name}` after PreScore."), quote! { CycleSlot<<#ty as PreScorePlugin>::Cycle> })
            }
            Source::Prepared => (
                format!("The state of `{name}` after PrepareScore."),
                quote! { CycleSlot<<#ty as ScorePlugin>::Cycle> },
            ),
            _ => (
                format!("The default: the profile omits PreScore of `{name}`."),
                quote! { <#ty as ScorePlugin>::Cycle },
            ),
        };
        let doc = doc(text);
        quote! { #doc pub #field: #ty, }
    });
    quote! {
        /// The state of Score plugins in a cycle.
        pub struct Score {
            #(#fields)*
        }
    }
}

pub(super) fn functions(members: &Members<'_>) -> TokenStream {
    let calls = stateful(members).map(|(member, source)| {
        let (field, ty, args, name) = (&member.field, &member.ty, member.args(), member.name);
        let view = members.view(member, Members::in_cycle);
        match source {
            Source::PreScore => quote! {
                let #field = <#ty as PreScorePlugin>::pre_score(&self.#field, #args, &pod.#field, #view, feasible)
                    .map_err(|status| failed("PreScore plugin", #name, status))?;
            },
            Source::Prepared => {
                let depends = score_depends_on(member);
                quote! {
                    let #field = CycleSlot {
                        state: <#ty as PrepareScore>::prepare(&self.#field, #args, &pod.#field, #view),
                        skip: #depends == DependsOn::Nothing,
                    };
                }
            }
            _ => quote! { let #field = Default::default(); },
        }
    });
    let fields = stateful(members).map(|(member, _)| &member.field);
    let body = quote! {
        #(#calls)*
        Ok(Score { #(#fields),* })
    };
    let columns = Members::columns_if_used(&body);
    let body = quote! { #columns #body };
    let (pod, cycle) = (parameter("pod", &body), parameter("cycle", &body));
    let (cache, feasible) = (parameter("cache", &body), parameter("feasible", &body));
    let doc = steps(members, Point::PreScore);
    let recycle = stateful(members).map(|(member, source)| {
        let (field, ty) = (&member.field, &member.ty);
        match source {
            Source::PreScore => quote! { <#ty as PreScorePlugin>::recycle(&self.#field, score.#field.state); },
            Source::Prepared => quote! { <#ty as PrepareScore>::recycle(&self.#field, score.#field.state); },
            Source::Omitted | Source::Stateless => quote! {},
        }
    });
    let recycle = quote! { #(#recycle)* };
    let score = parameter("score", &recycle);
    quote! {
        fn recycle_score(&self, #score: Score) {
            #recycle
        }

        #doc
        fn pre_score(
            &self,
            #pod: &Pod,
            #cycle: &Cycle,
            #cache: &Cache<State>,
            #feasible: &NodeMask,
        ) -> Result<Score, Status> {
            #body
        }
    }
}
