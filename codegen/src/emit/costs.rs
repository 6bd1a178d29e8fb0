//! Emits `costs`: the work of each plugin separately, for measurements, and the sizes of columns.

use proc_macro2::TokenStream;
use quote::quote;

use super::incremental::unless_idle;
use super::member::{Member, Members};
use super::pre_score::{Source, stateful, unless_skipped};
use super::tokens::{parameter, uses};
use super::{pre_filter, pre_score};
use crate::catalog::Column;
use crate::plan::Point;

pub(super) fn constant(members: &Members<'_>) -> TokenStream {
    let columns = members.columns();
    let sizes = columns.iter().filter_map(|(column, _)| match column {
        Column::NodeIndex => None,
        Column::NodeInfo => Some(quote! { ("node-info", size_of::<NodeInfo>()) }),
        Column::Declared(state) | Column::WithArgs(state) => {
            let (name, ty) = (&state.name, members.state_type(&state.path));
            Some(quote! { (#name, size_of::<#ty>()) })
        }
    });
    quote! { const COLUMNS: &'static [(&'static str, usize)] = &[#(#sizes),*]; }
}

pub(super) fn functions(members: &Members<'_>) -> TokenStream {
    let parts: Vec<TokenStream> = [
        members.at(Point::PreFilter).map(|member| before_filter(members, member)).collect::<TokenStream>(),
        members.at(Point::Filter).map(|member| filter(members, member)).collect(),
        stateful(members).map(|(member, source)| before_score(members, member, source)).collect(),
        members.at(Point::Score).map(|member| score(members, member)).collect(),
    ]
    .into();
    let calls = quote! { #(#parts)* };
    let columns = uses(&calls, "columns").then(|| {
        quote! { let columns = Self::aligned(Self::columns(&cache.state, &cache.base)); }
    });
    let score = uses(&calls, "score").then(|| {
        quote! { let score = self.pre_score(pod, &cycle, cache, nodes)?; }
    });
    let nodes = (uses(&calls, "nodes") || score.is_some()).then(|| quote! { let nodes = cache.base.alive(); });
    let cycle = (uses(&calls, "cycle") || score.is_some()).then(|| {
        quote! { let cycle = self.pre_filter(pod, cache, &mut PreFilterRun::default())?; }
    });
    let body = quote! { #nodes #cycle #score #columns #calls Ok(()) };
    let (pod, cache, meter) = (parameter("pod", &body), parameter("cache", &body), parameter("meter", &body));
    quote! {
        fn costs(&self, #pod: &Pod, #cache: &Cache<State>, #meter: &mut impl Meter) -> Result<(), Status> {
            #body
        }
    }
}

fn before_filter(members: &Members<'_>, member: &Member<'_>) -> TokenStream {
    let (field, ty, args) = (&member.field, &member.ty, member.args());
    let view = members.view(member, Members::in_cycle);
    quote! { costs::pre_filter::<#ty>(&self.#field, #args, &pod.#field, #view, meter); }
}

fn filter(members: &Members<'_>, member: &Member<'_>) -> TokenStream {
    let (field, ty, args) = (&member.field, &member.ty, member.args());
    let (state, columns) = (pre_filter::state(member), members.column_slices(member));
    unless_idle(member, quote! { costs::filter::<#ty>(#args, &pod.#field, #state, #columns, nodes, meter); })
}

fn before_score(members: &Members<'_>, member: &Member<'_>, source: Source) -> TokenStream {
    let (field, ty, args) = (&member.field, &member.ty, member.args());
    let view = members.view(member, Members::in_cycle);
    match source {
        Source::PreScore => quote! {
            costs::pre_score::<#ty>(&self.#field, #args, &pod.#field, #view, nodes, meter);
        },
        Source::Prepared => quote! { costs::prepare::<#ty>(&self.#field, #args, &pod.#field, #view, meter); },
        Source::Omitted | Source::Stateless => TokenStream::new(),
    }
}

fn score(members: &Members<'_>, member: &Member<'_>) -> TokenStream {
    let (field, ty, args) = (&member.field, &member.ty, member.args());
    let (state, columns) = (pre_score::state(member), members.column_slices(member));
    let call = if member.entry.normalizes {
        quote! { costs::score_normalized::<#ty> }
    } else {
        quote! { costs::score::<#ty> }
    };
    unless_skipped(member, quote! { #call(#args, &pod.#field, #state, #columns, nodes, meter); })
}
