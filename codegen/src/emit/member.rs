//! The plugins of a profile under the names that they have in generated code.

use std::cell::RefCell;

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::columns::slices;
use super::imports::Imports;
use super::names::{IdentScope, camel_case, ident, snake_case};
use super::state::States;
use super::tokens::tuple;
use super::view;
use crate::catalog::{Column, PluginEntry};
use crate::plan::{Plan, PlanPlugin, Point, Step};
use crate::source::Files;

/// Local variables and fields of generated code that a plugin's field must not be called by.
const RESERVED: &[&str] = &[
    "a",
    "ask",
    "b",
    "base",
    "bits",
    "bound",
    "cache",
    "client",
    "columns",
    "costs",
    "cx",
    "cycle",
    "errors",
    "event",
    "extenders",
    "extents",
    "feasible",
    "first",
    "handle",
    "index",
    "infos",
    "interner",
    "kept",
    "meter",
    "moved",
    "node",
    "nodes",
    "object",
    "other",
    "passing",
    "placement",
    "plugin",
    "plugins",
    "pod",
    "range",
    "raw",
    "reason",
    "reasons",
    "reject",
    "rejection",
    "reserved",
    "run",
    "score",
    "scores",
    "slots",
    "state",
    "status",
    "total",
    "totals",
    "touched",
    "value",
    "view",
    "waiting",
    "weight",
    "word",
    "work",
];

/// The plugins of a profile.
pub(super) struct Members<'a> {
    pub(super) files: &'a Files,
    pub(super) plan: &'a Plan,
    pub(super) states: &'a States,
    /// Parallel to [`Plan::plugins`].
    list: Vec<Member<'a>>,
    /// The types that the profile's module calls by name.
    pub(super) imports: RefCell<Imports>,
}

/// A plugin of a profile.
pub(super) struct Member<'a> {
    pub(super) plugin: &'a PlanPlugin,
    pub(super) entry: &'a PluginEntry,
    /// In profiles: `NodeName`.
    pub(super) name: &'a str,
    /// The type: `NodeName`.
    pub(super) ty: Ident,
    /// In structs: `node_name`.
    pub(super) field: Ident,
    /// In `args` and `weight`: `NODE_NAME`.
    pub(super) constant: Ident,
    /// In `Rejection`: `NodeName`.
    pub(super) variant: Ident,
    /// Where it runs.
    points: Vec<Point>,
}

impl Member<'_> {
    /// Whether the profile runs it at an extension point.
    pub(super) fn runs(&self, point: Point) -> bool {
        self.points.contains(&point)
    }

    /// Its arguments, as an expression.
    pub(super) fn args(&self) -> TokenStream {
        let constant = &self.constant;
        quote! { &args::#constant }
    }
}

impl<'a> Members<'a> {
    pub(super) fn of(files: &'a Files, plan: &'a Plan, states: &'a States) -> Self {
        let mut imports = Imports::new();
        let mut fields = IdentScope::without(RESERVED);
        let constants = constants(plan);
        let mut list = Vec::new();
        for (at, plugin) in plan.plugins.iter().enumerate() {
            let entry = &*plugin.entry;
            list.push(Member {
                plugin,
                entry,
                name: &entry.name,
                ty: plugin_type(&mut imports, entry),
                field: fields.ident(snake_case(&entry.name)),
                constant: constants[at].clone(),
                variant: ident(&entry.name),
                points: plan.points_of(crate::plan::PluginId(at)).collect(),
            });
        }
        Self { files, plan, states, list, imports: RefCell::new(imports) }
    }

    /// All plugins.
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = &Member<'a>> {
        self.list.iter()
    }

    /// The steps of an extension point, in order.
    pub(super) fn steps(&self, point: Point) -> impl DoubleEndedIterator<Item = (&Step, &Member<'a>)> {
        self.plan.points[point].iter().map(|step| (step, &self.list[step.plugin.0]))
    }

    /// The plugins of an extension point, in order.
    pub(super) fn at(&self, point: Point) -> impl DoubleEndedIterator<Item = &Member<'a>> {
        self.steps(point).map(|(_, member)| member)
    }

    /// What a column's or an index's type is called in the profile's module.
    pub(super) fn state_type(&self, path: &str) -> Ident {
        state_type(&mut self.imports.borrow_mut(), path)
    }

    /// The cluster as the plugin sees it, where `cache` and, if the plugin has columns, `columns` are variables.
    /// `available` tells where the filter state of a plugin is, if it is known at this point.
    pub(super) fn view(
        &self,
        member: &Member<'_>,
        available: impl Fn(&Member<'_>) -> Option<TokenStream>,
    ) -> TokenStream {
        self.view_that_reads(member, |read, optional| match (read.and_then(&available), optional) {
            (Some(state), false) => quote! { &#state },
            (Some(state), true) => quote! { Some(&#state) },
            // What must be there is there, by the checks.
            (None, _) => quote! { None },
        })
    }

    /// The same. `state` is the reference to a plugin's filter state, given the plugin, if the profile has it, and whether
    /// it may be missing.
    pub(super) fn view_that_reads(
        &self,
        member: &Member<'_>,
        state: impl Fn(Option<&Member<'_>>, bool) -> TokenStream,
    ) -> TokenStream {
        if view::is_shared(member) {
            let field = &member.field;
            return quote! { view::#field(cache) };
        }
        let (columns, indexes) = (slices(self, member), self.indexes(member, &quote! { &cache.state }));
        let reads: Vec<TokenStream> = member
            .entry
            .reads
            .iter()
            .map(|read| state(self.list.iter().find(|other| other.name == read.plugin), read.optional))
            .collect();
        let reads = tuple(&reads);
        quote! { View { columns: #columns, indexes: #indexes, reads: #reads, base: &cache.base } }
    }

    /// The plugin's indexes, as references; `borrowed` is the state, borrowed: `&cache.state`.
    pub(super) fn indexes(&self, member: &Member<'_>, borrowed: &TokenStream) -> TokenStream {
        let fields = member.entry.indexes.iter().map(|index| self.states.field(&index.path));
        tuple(&fields.map(|field| quote! { #borrowed.#field }).collect::<Vec<_>>())
    }

    /// The cluster as the plugin sees it outside of cycles, where `cache` is a variable.
    pub(super) fn index_view(&self, member: &Member<'_>) -> TokenStream {
        let indexes = self.indexes(member, &quote! { &cache.state });
        quote! { IndexView { indexes: #indexes, base: &cache.base } }
    }

    /// The filter state of a plugin in `cycle`, if its PreFilter runs.
    pub(super) fn in_cycle(member: &Member<'_>) -> Option<TokenStream> {
        let field = &member.field;
        member.runs(Point::PreFilter).then(|| quote! { cycle.#field })
    }

    /// `let columns = ..;`, if the code after it uses them.
    pub(super) fn columns_if_used(code: &TokenStream) -> TokenStream {
        if super::tokens::uses(code, "columns") {
            quote! { let columns = Self::columns(&cache.state, &cache.base); }
        } else {
            TokenStream::new()
        }
    }

    /// All columns that plugins of the profile read, each with its field, in the order of the state.
    pub(super) fn columns(&self) -> Vec<(Column, Ident)> {
        let of = |member: &Member<'a>| {
            let plugin = member.plugin;
            plugin.entry.columns.iter().map(|column| (column.clone(), self.states.column_field(column, plugin)))
        };
        self.states.sorted(self.list.iter().flat_map(of).collect())
    }
}

/// The names of the constants for the arguments of a profile's plugins, parallel to [`Plan::plugins`].
pub(super) fn constants(plan: &Plan) -> Vec<Ident> {
    let mut constants = IdentScope::default();
    plan.plugins.iter().map(|plugin| constants.ident(snake_case(&plugin.entry.name).to_uppercase())).collect()
}

/// What a plugin's type is called: another crate's name comes before one that is taken.
pub(super) fn plugin_type(imports: &mut Imports, entry: &PluginEntry) -> Ident {
    imports.name(&entry.path, |last| camel_case(&entry.crate_name) + last)
}

/// What a column's or an index's type is called.
pub(super) fn state_type(imports: &mut Imports, path: &str) -> Ident {
    imports.name(path, |last| {
        let crate_name = path.trim_start_matches("::").split("::").next().unwrap_or_default();
        camel_case(crate_name) + last + "State"
    })
}
