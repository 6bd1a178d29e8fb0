//! Emits `mod view`. It has a function for each plugin that reads the cluster at an extension point that runs once in a
//! cycle, and that reads no states of other plugins. The function returns the plugin's view.

use proc_macro2::TokenStream;
use quote::quote;

use super::imports::Imports;
use super::member::{Member, Members};
use super::tokens::{doc, tuple};
use crate::catalog::Column;

pub(super) fn emit(members: &Members<'_>) -> Option<TokenStream> {
    let functions: Vec<TokenStream> =
        members.iter().filter(|member| member.has_shared_view()).map(|member| function(members, member)).collect();
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
