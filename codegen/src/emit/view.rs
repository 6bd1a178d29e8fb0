//! Emits `mod view`: the cluster for plugins that read it once in a cycle.

use proc_macro2::TokenStream;
use quote::quote;

use super::docs::doc;
use super::imports::Imports;
use super::member::{Member, Members};
use super::tokens::tuple;
use crate::catalog::Column;
use crate::plan::Point;

/// Returns whether the plugin's view in this profile is always the same: a view without states of other
/// plugins.
pub(super) fn is_shared(member: &Member<'_>) -> bool {
    let reads_cluster = [Point::PreFilter, Point::PostFilter, Point::PreScore, Point::Reserve]
        .into_iter()
        .any(|point| member.runs(point));
    member.entry.reads.is_empty() && (reads_cluster || member.entry.prepares_score && member.runs(Point::Score))
}

pub(super) fn emit(members: &Members<'_>) -> Option<TokenStream> {
    let functions: Vec<TokenStream> =
        members.iter().filter(|member| is_shared(member)).map(|member| function(members, member)).collect();
    if functions.is_empty() {
        return None;
    }
    let body = quote! { #(#functions)* };
    let uses = Imports::new().declare(&body);
    let types = members.imports.borrow().used_in(&body);
    Some(quote! {
        /// The cluster for plugins that read it once in a cycle.
        mod view {
            use super::State;
            #uses
            use super::{#(#types),*};
            #body
        }
    })
}

fn function(members: &Members<'_>, member: &Member<'_>) -> TokenStream {
    let (field, ty) = (&member.field, &member.ty);
    let columns: Vec<TokenStream> = member
        .entry
        .columns
        .iter()
        .map(|column| match column {
            Column::NodeIndex => quote! { NodeIndex(0) },
            Column::NodeInfo => quote! { cache.base.infos() },
            Column::Declared(_) | Column::WithArgs(_) => {
                let field = members.states.column_field(column, member.plugin);
                quote! { cache.state.#field.as_slice() }
            }
        })
        .collect();
    let columns = tuple(&columns);
    let indexes = members.indexes(member, &quote! { &cache.state });
    let doc = doc(format!("For `{}`.", member.name));
    quote! {
        #doc
        pub(super) fn #field(cache: &Cache<State>) -> View<'_, #ty> {
            View { columns: #columns, indexes: #indexes, reads: (), base: &cache.base }
        }
    }
}
