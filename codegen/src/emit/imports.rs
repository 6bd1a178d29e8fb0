//! `use` declarations. The name of a type is the last part of its path or, if that is taken, another name.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::names::{IdentScope, camel_case, ident};
use super::tokens::idents;
use crate::catalog::PluginEntry;

/// The items of the framework and the standard library that generated code uses, by module.
const KNOWN: &[(&str, &[&str])] = &[
    ("::schedc_core::args", &["Node", "Value"]),
    ("::schedc_core::cache", &["Base", "Cache"]),
    ("::schedc_core::client", &["Client"]),
    (
        "::schedc_core::column",
        &[
            "CacheSize",
            "Column",
            "ColumnSet",
            "ColumnWithArgs",
            "Index",
            "IndexSet",
            "NodeInfo",
            "Position",
            "HypotheticalColumn",
            "WithArgs",
            "rebuild_entry",
            "rebuild_entry_with_args",
        ],
    ),
    ("::schedc_core::costs", &["Meter"]),
    ("::schedc_core::engine", &["Engine"]),
    ("::schedc_core::extenders", &["NoExtenders"]),
    ("::schedc_core::events", &["EventObject"]),
    (
        "::schedc_core::extension_points",
        &[
            "BindPlugin",
            "BindResult",
            "EnqueueExtensions",
            "Extent",
            "FilterPlugin",
            "HintContext",
            "HintError",
            "NormalizeScore",
            "OptionalStateOf",
            "PermitPlugin",
            "Placement",
            "PostBindPlugin",
            "PostFilterContext",
            "PostFilterPlugin",
            "PreBindPlugin",
            "PreEnqueuePlugin",
            "PreFilterPlugin",
            "PreScorePlugin",
            "PrepareScore",
            "Preview",
            "QueueSortPlugin",
            "QueuedPod",
            "QueueingHint",
            "ReservePlugin",
            "ScorePlugin",
            "StateOf",
        ],
    ),
    ("::schedc_core::handle", &["Handle", "WaitingPods"]),
    ("::schedc_core::hints", &["PluginEvents"]),
    ("::schedc_core::idle_plugins", &["IdlePlugins"]),
    ("::schedc_core::intern", &["Interner"]),
    ("::schedc_core::leading_filters", &["FilterInputs", "LeadingFilters"]),
    (
        "::schedc_core::incremental",
        &[
            "ClassKernel",
            "DependsOn",
            "FilterKernel",
            "NeedsFullEvaluation",
            "NormalizedScores",
            "PluginResults",
            "Promises",
            "UpdateContext",
            "UpdateScratch",
        ],
    ),
    ("::schedc_core::node_mask", &["NodeMask"]),
    ("::schedc_core", &["costs", "idle_plugins", "incremental", "model"]),
    ("::schedc_core::model", &["NodeIndex", "PodSpec"]),
    ("::schedc_core::originals", &["RequiredOriginals"]),
    ("::schedc_core::plugin", &["CompileContext", "CycleSlot", "IndexView", "Plugin", "View"]),
    (
        "::schedc_core::profile",
        &[
            "AccessRule",
            "Budget",
            "Bundle",
            "PermitRun",
            "PluginScore",
            "PointInfo",
            "PostFilterRun",
            "PreBindPlan",
            "PreFilterRun",
            "Profile",
            "ProfileInfo",
            "ProfileSource",
            "ScoreFailure",
            "ScoreRange",
            "StartError",
            "StartErrors",
            "Visitor",
            "failed",
            "rejected_or_failed",
            "reserved_by",
            "start",
            "try_join",
        ],
    ),
    ("::schedc_core::status", &["Code", "Reasons", "Status"]),
    ("::schedc_core::node_set", &["NodeSet"]),
    ("::schedc_extender", &["Extender", "HttpExtenders", "ManagedResource", "Pem", "Tls", "originals"]),
    ("::std::marker", &["PhantomData"]),
    ("::std::sync", &["Arc"]),
    ("::std::time", &["Duration"]),
];

/// Names of generated items (single letters are type parameters), and names of the prelude.
const RESERVED: &[&str] = &[
    "C",
    "Columns",
    "Cycle",
    "Default",
    "Err",
    "Extents",
    "Hypothetical",
    "I",
    "CachedAnswer",
    "None",
    "Ok",
    "Option",
    "P",
    "Passing",
    "Pipeline",
    "Pod",
    "Profiles",
    "R",
    "Raw",
    "RawScores",
    "Rejection",
    "Reserved",
    "Result",
    "Score",
    "Scores",
    "Self",
    "Some",
    "State",
    "V",
    "Vec",
];

/// The imported names of one module.
#[derive(Clone, Debug)]
pub(super) struct Imports {
    names: IdentScope,
    by_path: BTreeMap<String, Ident>,
}

impl Imports {
    /// Creates an empty set of imports.
    pub(super) fn new() -> Self {
        let known = KNOWN.iter().flat_map(|(_, items)| items.iter().copied());
        let reserved: Vec<&str> = RESERVED.iter().copied().chain(known).collect();
        Self { names: IdentScope::without(&reserved), by_path: BTreeMap::new() }
    }

    /// Returns the name of a type in this module: the last part of its path or, if that name is taken, the result of
    /// `otherwise`.
    pub(super) fn name(&mut self, path: &str, otherwise: impl FnOnce(&str) -> String) -> Ident {
        if let Some(name) = self.by_path.get(path) {
            return name.clone();
        }
        let last = last_name(path);
        let name = self.names.take(&last).unwrap_or_else(|| self.names.ident(otherwise(&last)));
        self.by_path.insert(path.to_owned(), name.clone());
        name
    }

    /// Returns the declarations that `body` needs.
    pub(super) fn declare(&self, body: &TokenStream) -> TokenStream {
        let used = idents(body);
        let mut modules: BTreeMap<String, BTreeSet<(String, Option<String>)>> = BTreeMap::new();
        for (module, items) in KNOWN {
            for item in items.iter().filter(|item| used.contains(**item)) {
                modules.entry((*module).to_owned()).or_default().insert(((*item).to_owned(), None));
            }
        }
        let mut aliases = Vec::new();
        for (path, name) in self.by_path.iter().filter(|(_, name)| used.contains(&name.to_string())) {
            let absolute = absolute(path);
            match absolute.rsplit_once("::") {
                Some((module, item)) if !path.contains('<') => {
                    let alias = (*name != item).then(|| name.to_string());
                    modules.entry(module.to_owned()).or_default().insert((item.to_owned(), alias));
                }
                _ => {
                    let path = parsed(&absolute);
                    aliases.push(quote! { type #name = #path; });
                }
            }
        }
        let uses = modules.iter().map(|(module, items)| {
            let module = parsed(module);
            let items = items.iter().map(|(item, alias)| {
                let item = ident(item);
                match alias.as_deref().map(ident) {
                    None => quote! { #item },
                    Some(alias) => quote! { #item as #alias },
                }
            });
            let items: Vec<TokenStream> = items.collect();
            match items.as_slice() {
                [only] => quote! { use #module::#only; },
                items => quote! { use #module::{#(#items),*}; },
            }
        });
        quote! { #(#uses)* #(#aliases)* }
    }

    /// Returns the imported names that `body` uses, for an inner module.
    pub(super) fn used_in(&self, body: &TokenStream) -> Vec<Ident> {
        let used = idents(body);
        let mut names: Vec<Ident> =
            self.by_path.values().filter(|name| used.contains(&name.to_string())).cloned().collect();
        names.sort();
        names
    }
}

/// Returns the last part of the path, without generic arguments.
fn last_name(path: &str) -> String {
    match syn::parse_str::<syn::Path>(path) {
        Ok(parsed) => parsed.segments.last().map_or_else(String::new, |segment| segment.ident.to_string()),
        Err(_) => path.rsplit("::").next().unwrap_or(path).to_owned(),
    }
}

fn absolute(path: &str) -> String {
    if path.starts_with("::") { path.to_owned() } else { format!("::{path}") }
}

/// Parses a path, which the catalog reader has checked. An invalid path becomes empty, which rustc rejects.
fn parsed(path: &str) -> TokenStream {
    path.parse().unwrap_or_default()
}

/// Returns the name of a plugin's type. If it is taken, the crate's name is prepended.
pub(super) fn plugin_type(imports: &mut Imports, entry: &PluginEntry) -> Ident {
    imports.name(&entry.path, |last| camel_case(&entry.crate_name) + last)
}

/// Returns the name of a column's or an index's type.
pub(super) fn state_type(imports: &mut Imports, path: &str) -> Ident {
    imports.name(path, |last| {
        let crate_name = path.trim_start_matches("::").split("::").next().unwrap_or_default();
        camel_case(crate_name) + last + "State"
    })
}
