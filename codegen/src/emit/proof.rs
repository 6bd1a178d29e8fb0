//! `mod proof`: the catalog entries of all plugins, held against the plugins.
//!
//! That a plugin implements what its entry lists is a bound. That it implements nothing else is found with constants: one
//! of a type for all plugins, and one of the same name for those that implement the point, which wins.

use std::collections::BTreeMap;

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote};

use super::args::line_and_column;
use super::docs::doc;
use super::imports::Imports;
use super::member::{plugin_type, state_type};
use super::names::{ident, snake_case};
use super::tokens::tuple;
use crate::catalog::{Column, PluginEntry, Read};
use crate::plan::{Plan, Point};
use crate::source::Files;

/// A trait that a catalog entry speaks about.
struct Claim {
    /// As in catalogs: `pre-filter`.
    name: &'static str,
    /// `PreFilterPlugin`.
    plugin_trait: Ident,
    claimed: fn(&PluginEntry) -> bool,
}

fn claims() -> Vec<Claim> {
    macro_rules! points {
        ($($point:ident),*) => {
            vec![$(Claim {
                name: Point::$point.name(),
                plugin_trait: ident(Point::$point.trait_name()),
                claimed: |entry| entry.implements(Point::$point),
            }),*]
        };
    }
    let mut claims = points![
        PreEnqueue, QueueSort, PreFilter, Filter, PostFilter, PreScore, Score, Reserve, Permit, PreBind, Bind, PostBind
    ];
    let mut claim =
        |name, plugin_trait, claimed| claims.push(Claim { name, plugin_trait: ident(plugin_trait), claimed });
    claim("normalizes", "NormalizeScore", |entry| entry.normalizes);
    claim("prepares-score", "PrepareScore", |entry| entry.prepares_score);
    claim("enqueue-extensions", "EnqueueExtensions", |entry| entry.enqueue_extensions);
    claims
}

impl Claim {
    /// A type with a constant that tells whether a plugin implements the trait.
    fn probe(&self) -> Ident {
        format_ident!("Probe{}", self.plugin_trait)
    }

    /// A function that only plugins which implement the trait can be given to.
    fn bound(&self) -> Ident {
        ident(&snake_case(self.name))
    }
}

pub(super) fn emit(files: &Files, plans: &[Plan]) -> TokenStream {
    let mut entries: BTreeMap<&str, &PluginEntry> = BTreeMap::new();
    for plugin in plans.iter().flat_map(|plan| &plan.plugins) {
        entries.entry(&plugin.entry.path).or_insert(&plugin.entry);
    }
    let claims = claims();
    let mut imports = Imports::new();
    let proofs: Vec<TokenStream> =
        entries.values().map(|entry| proof(files, entry, &entries, &claims, &mut imports)).collect();
    let claimed = claims.iter().filter(|claim| entries.values().any(|entry| (claim.claimed)(entry)));
    let bounds = claimed.map(|claim| {
        let (name, plugin_trait) = (claim.bound(), &claim.plugin_trait);
        quote! { const fn #name<P: #plugin_trait>() {} }
    });
    let (names, probes): (Vec<&str>, Vec<Ident>) = claims.iter().map(|claim| (claim.name, claim.probe())).unzip();
    let traits = claims.iter().map(|claim| &claim.plugin_trait);
    let body = quote! {
        /// What a catalog entry can list, each with whether the plugin implements it.
        macro_rules! implemented {
            ($plugin:ty) => {
                &[#((#names, #probes::<$plugin>::IMPLEMENTED)),*]
            };
        }

        #(#proofs)*

        /// The plugin's associated types are those that its entry names.
        const fn declares<P, C, I, R>()
        where
            P: Plugin<Columns = C, Indexes = I, Reads = R>,
        {
        }

        #(#bounds)*

        /// The plugin is called as its entry is, and implements nothing that the entry does not list.
        const fn agrees(entry: &Node, name: &str, listed: &[&str], actual: &str, implemented: &[(&str, bool)]) {
            let mut errors = Errors::new();
            if !same(name, actual) {
                let complaint = [Part::Text("the plugin calls itself "), Part::Name(actual), Part::Text(", not "), Part::Name(name)];
                errors.complain(entry, &complaint);
            }
            let mut at = 0;
            while at < implemented.len() {
                let (point, is_implemented) = implemented[at];
                if is_implemented && !contains(listed, point) {
                    let complaint = [
                        Part::Name(name),
                        Part::Text(" implements "),
                        Part::Name(point),
                        Part::Text(", which its catalog entry does not list"),
                    ];
                    errors.complain(entry, &complaint);
                }
                at += 1;
            }
            errors.finish();
        }

        const fn contains(list: &[&str], text: &str) -> bool {
            let mut at = 0;
            while at < list.len() {
                if same(list[at], text) {
                    return true;
                }
                at += 1;
            }
            false
        }

        const fn same(a: &str, b: &str) -> bool {
            let (a, b) = (a.as_bytes(), b.as_bytes());
            let mut at = 0;
            while at < a.len() && at < b.len() && a[at] == b[at] {
                at += 1;
            }
            at == a.len() && at == b.len()
        }

        /// The place of a catalog entry.
        const fn at(file: &'static str, line: u32, column: u32) -> Node {
            Node { file, line, column, value: Value::Bool(true) }
        }

        /// The constant of all plugins. One of the same name that a probe has for plugins with a trait comes before it.
        trait Absent {
            const IMPLEMENTED: bool = false;
        }

        #(
            struct #probes<P>(PhantomData<P>);
            impl<P> Absent for #probes<P> {}
            impl<P: #traits> #probes<P> {
                const IMPLEMENTED: bool = true;
            }
        )*
    };
    let uses = imports.declare(&body);
    quote! {
        /// Holds catalog entries against plugins: what one says must be true of the other.
        #[allow(dead_code, reason = "which of two constants is used depends on the plugin")]
        mod proof {
            #uses
            #body
        }
    }
}

fn proof(
    files: &Files,
    entry: &PluginEntry,
    entries: &BTreeMap<&str, &PluginEntry>,
    claims: &[Claim],
    imports: &mut Imports,
) -> TokenStream {
    let ty = plugin_type(imports, entry);
    let name = &entry.name;
    let (line, column) = line_and_column(files, entry.declared_at);
    let file = files.path(entry.declared_at.file);
    let columns = tuple(&columns(entry, imports));
    let indexes = tuple(&indexes(entry, imports));
    let reads = reads(entry, entries, imports).map_or_else(|| quote! { <#ty as Plugin>::Reads }, |reads| tuple(&reads));
    let listed: Vec<&Claim> = claims.iter().filter(|claim| (claim.claimed)(entry)).collect();
    let bounds = listed.iter().map(|claim| claim.bound());
    let names = listed.iter().map(|claim| claim.name);
    let doc = doc(format!("The catalog entry `{name}`."));
    quote! {
        #doc
        const _: () = {
            declares::<#ty, #columns, #indexes, #reads>();
            #(#bounds::<#ty>();)*
            agrees(&at(#file, #line, #column), #name, &[#(#names),*], <#ty as Plugin>::NAME, implemented!(#ty));
        };
    }
}

fn columns(entry: &PluginEntry, imports: &mut Imports) -> Vec<TokenStream> {
    let column = |column: &Column| match column {
        Column::NodeInfo => quote! { NodeInfo },
        Column::NodeIndex => quote! { Position },
        Column::Declared(state) => state_type(imports, &state.path).to_token_stream(),
    };
    entry.columns.iter().map(column).collect()
}

fn indexes(entry: &PluginEntry, imports: &mut Imports) -> Vec<TokenStream> {
    entry.indexes.iter().map(|index| state_type(imports, &index.path).to_token_stream()).collect()
}

/// What it reads of others, if all of them are in some profile and so known.
fn reads(
    entry: &PluginEntry,
    entries: &BTreeMap<&str, &PluginEntry>,
    imports: &mut Imports,
) -> Option<Vec<TokenStream>> {
    let read = |read: &Read| {
        let other = entries.values().find(|other| other.name == read.plugin)?;
        let ty = plugin_type(imports, other);
        Some(if read.optional {
            quote! { MaybeStateOf<#ty> }
        } else {
            quote! { StateOf<#ty> }
        })
    };
    entry.reads.iter().map(read).collect()
}
