//! Emits `mod catalog_checks`: `schedc_core::catalog_checks` compares the catalog entries of all plugins with
//! the plugins.

use std::collections::BTreeMap;

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};

use super::args::line_and_column;
use super::imports::{Imports, plugin_type, state_type};
use super::names::{ident, snake_case};
use super::tokens::{doc, tuple};
use crate::catalog::{Column, CustomKind, IN_TREE_CRATE, PluginEntry, StateRead};
use crate::plan::{Plan, Point};
use crate::source::Files;

/// Returns the extension points and the flags that a catalog entry lists, as written there.
fn listed(entry: &PluginEntry) -> impl Iterator<Item = &'static str> {
    let points = Point::ALL.into_iter().filter(|point| entry.implements(*point)).map(Point::name);
    let flags = [
        (entry.normalizes, "normalizes"),
        (entry.prepares_score, "prepares-score"),
        (entry.enqueue_extensions, "enqueue-extensions"),
    ];
    points.chain(flags.into_iter().filter(|(listed, _)| *listed).map(|(_, name)| name))
}

pub(super) fn emit(files: &Files, plans: &[Plan]) -> TokenStream {
    let mut entries: BTreeMap<&str, &PluginEntry> = BTreeMap::new();
    for plugin in plans.iter().flat_map(|plan| &plan.plugins) {
        entries.entry(&plugin.entry.path).or_insert(&plugin.entry);
    }
    let mut imports = Imports::new();
    let checks: Vec<TokenStream> =
        entries.values().map(|entry| checks_of(files, entry, &entries, &mut imports)).collect();
    let body = quote! { #(#checks)* };
    let uses = imports.declare(&body);
    quote! {
        /// Compares catalog entries with plugins.
        mod catalog_checks {
            use ::schedc_core::{catalog_checks, implemented};
            #uses
            #body
        }
    }
}

fn checks_of(
    files: &Files,
    entry: &PluginEntry,
    entries: &BTreeMap<&str, &PluginEntry>,
    imports: &mut Imports,
) -> TokenStream {
    let ty = plugin_type(imports, entry);
    let name = &entry.name;
    let (line, column) = line_and_column(files, entry.declared_at);
    let file = files.path(entry.declared_at.file);
    let columns = tuple(&columns(entry, imports));
    let indexes = tuple(&indexes(entry, imports));
    let reads = reads(entry, entries, imports).map_or_else(|| quote! { <#ty as Plugin>::Reads }, |reads| tuple(&reads));
    let names: Vec<&str> = listed(entry).collect();
    let bounds = names.iter().map(|name| ident(&snake_case(name)));
    let doc = doc(format!("The catalog entry `{name}`."));
    // In-tree plugins watch built-in kinds only, so they need no check of the kinds that a catalog declares.
    let watches = (entry.crate_name != IN_TREE_CRATE).then(|| {
        let kinds: Vec<String> = entry.kinds.iter().map(CustomKind::full_name).collect();
        let checks = [("check_index_kinds", !entry.indexes.is_empty()), ("check_event_kinds", entry.enqueue_extensions)];
        let checks = checks.into_iter().filter(|(_, applies)| *applies).map(|(check, _)| {
            let check = ident(check);
            quote! { catalog_checks::#check::<#ty>(&catalog_checks::entry_at(#file, #line, #column), #name, &[#(#kinds),*]); }
        });
        quote! { #(#checks)* }
    });
    quote! {
        #doc
        const _: () = {
            catalog_checks::check_declared_types::<#ty, #columns, #indexes, #reads>();
            #(catalog_checks::#bounds::<#ty>();)*
            catalog_checks::check_plugin(&catalog_checks::entry_at(#file, #line, #column), #name, &[#(#names),*], <#ty as Plugin>::NAME, implemented!(#ty));
            #watches
        };
    }
}

fn columns(entry: &PluginEntry, imports: &mut Imports) -> Vec<TokenStream> {
    let column = |column: &Column| match column {
        Column::NodeInfo => quote! { NodeInfo },
        Column::NodeIndex => quote! { Position },
        Column::Declared(state) => state_type(imports, &state.path).to_token_stream(),
        Column::WithArgs(state) => {
            let ty = state_type(imports, &state.path);
            quote! { WithArgs<#ty> }
        }
    };
    entry.columns.iter().map(column).collect()
}

fn indexes(entry: &PluginEntry, imports: &mut Imports) -> Vec<TokenStream> {
    entry.indexes.iter().map(|index| state_type(imports, &index.path).to_token_stream()).collect()
}

/// Returns the types of the cycle states that the plugin reads. `None`: a plugin with such a state is in no profile.
fn reads(
    entry: &PluginEntry,
    entries: &BTreeMap<&str, &PluginEntry>,
    imports: &mut Imports,
) -> Option<Vec<TokenStream>> {
    let read = |read: &StateRead| {
        let other = entries.values().find(|other| other.name == read.plugin)?;
        let ty = plugin_type(imports, other);
        Some(if read.optional {
            quote! { OptionalStateOf<#ty> }
        } else {
            quote! { StateOf<#ty> }
        })
    };
    entry.reads.iter().map(read).collect()
}
