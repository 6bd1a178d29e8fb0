//! The plugins of a profile, with their names in generated code.

use std::cell::RefCell;

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::imports::{Imports, plugin_type, state_type};
use super::names::{IdentScope, constants, ident, snake_case};
use super::state::States;
use super::tokens::tuple;
use crate::catalog::{Column, PluginEntry};
use crate::plan::{Plan, PlanPlugin, Point, Step};
use crate::source::Files;

/// Names of local variables and fields in generated code. The fields of plugins have other names.
const RESERVED: &[&str] = &[
    "a",
    "are_idle",
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
    "depends",
    "errors",
    "extenders",
    "extents",
    "feasible",
    "filters",
    "first",
    "handle",
    "index",
    "infos",
    "interner",
    "meter",
    "node",
    "nodes",
    "object",
    "other",
    "parts",
    "passing",
    "place",
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
    "rejectors",
    "reserved",
    "run",
    "score",
    "scores",
    "slots",
    "state",
    "status",
    "total",
    "totals",
    "update",
    "value",
    "verdicts",
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
    /// The types that the profile's module refers to by name.
    pub(super) imports: RefCell<Imports>,
}

/// A plugin of a profile.
pub(super) struct Member<'a> {
    pub(super) plugin: &'a PlanPlugin,
    pub(super) entry: &'a PluginEntry,
    /// Name in profiles: `NodeName`.
    pub(super) name: &'a str,
    /// Name of the type: `NodeName`.
    pub(super) ty: Ident,
    /// Name in structs: `node_name`.
    pub(super) field: Ident,
    /// Name in `args` and `weight`: `NODE_NAME`.
    pub(super) constant: Ident,
    /// Name in `Rejection`: `NodeName`.
    pub(super) variant: Ident,
    /// Its extension points in the profile.
    points: Vec<Point>,
}

impl Member<'_> {
    /// Returns whether the profile runs the plugin at an extension point.
    pub(super) fn runs(&self, point: Point) -> bool {
        self.points.contains(&point)
    }

    /// Returns whether `mod view` has a function that creates the plugin's view, for all extension points. The
    /// condition is that the plugin reads the cluster in this profile, and reads no states of other plugins.
    pub(super) fn has_shared_view(&self) -> bool {
        let reads_cluster = [Point::PreFilter, Point::PostFilter, Point::PreScore, Point::Reserve]
            .into_iter()
            .any(|point| self.runs(point));
        self.entry.reads.is_empty() && (reads_cluster || self.entry.prepares_score && self.runs(Point::Score))
    }

    /// Returns its arguments as an expression.
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

    /// Returns all plugins.
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = &Member<'a>> {
        self.list.iter()
    }

    /// Returns the steps of an extension point, in order.
    pub(super) fn steps(&self, point: Point) -> impl DoubleEndedIterator<Item = (&Step, &Member<'a>)> {
        self.plan.points[point].iter().map(|step| (step, &self.list[step.plugin.0]))
    }

    /// Returns the plugins of an extension point, in order.
    pub(super) fn at(&self, point: Point) -> impl DoubleEndedIterator<Item = &Member<'a>> {
        self.steps(point).map(|(_, member)| member)
    }

    /// Returns the plugins with PreFilter and Filter, in order.
    pub(super) fn filters_with_state(&self) -> impl Iterator<Item = &Member<'a>> {
        self.at(Point::PreFilter).filter(|member| member.runs(Point::Filter))
    }

    /// Returns an expression for a plugin's columns in a loop over nodes. It uses the variable `columns`.
    pub(super) fn column_slices(&self, member: &Member<'_>) -> TokenStream {
        tuple(&self.column_fields(member).map(|(_, field)| quote! { columns.#field }).collect::<Vec<_>>())
    }

    /// Returns a plugin's columns, with their fields.
    pub(super) fn column_fields<'m>(&'m self, member: &'m Member<'_>) -> impl Iterator<Item = (&'m Column, Ident)> {
        member.entry.columns.iter().map(|column| (column, self.states.column_field(column, member.plugin)))
    }

    /// Returns the name of a column's or an index's type in the profile's module.
    pub(super) fn state_type(&self, path: &str) -> Ident {
        state_type(&mut self.imports.borrow_mut(), path)
    }

    /// Returns an expression for the plugin's view of the cluster. It uses the variable `cache` and, if the plugin has
    /// columns, the variable `columns`. `available` returns the expression for the filter state of a plugin that this
    /// plugin reads; `None` if that state does not exist at this point.
    pub(super) fn view(
        &self,
        member: &Member<'_>,
        available: impl Fn(&Member<'_>) -> Option<TokenStream>,
    ) -> TokenStream {
        self.view_that_reads(member, |read, optional| match (read.and_then(&available), optional) {
            (Some(state), false) => quote! { &#state },
            (Some(state), true) => quote! { Some(&#state) },
            // The checks guarantee that a required state exists.
            (None, _) => quote! { None },
        })
    }

    /// Returns the same expression as [`Self::view`], but with the given references to filter states. `state` returns
    /// such a reference for each plugin that this plugin reads. Its arguments are that plugin (`None`: not in the
    /// profile), and whether the read is optional.
    pub(super) fn view_that_reads(
        &self,
        member: &Member<'_>,
        state: impl Fn(Option<&Member<'_>>, bool) -> TokenStream,
    ) -> TokenStream {
        if member.has_shared_view() {
            let field = &member.field;
            return quote! { view::#field(cache) };
        }
        let (columns, indexes) = (self.column_slices(member), self.indexes(member, &quote! { &cache.state }));
        let reads: Vec<TokenStream> = member
            .entry
            .reads
            .iter()
            .map(|read| state(self.list.iter().find(|other| other.name == read.plugin), read.optional))
            .collect();
        let reads = tuple(&reads);
        quote! { View { columns: #columns, indexes: #indexes, reads: #reads, base: &cache.base } }
    }

    /// Returns references to the plugin's indexes. `borrowed` is the borrowed state: `&cache.state`.
    pub(super) fn indexes(&self, member: &Member<'_>, borrowed: &TokenStream) -> TokenStream {
        let fields = member.entry.indexes.iter().map(|index| self.states.field(&index.path));
        tuple(&fields.map(|field| quote! { #borrowed.#field }).collect::<Vec<_>>())
    }

    /// Returns an expression for the plugin's view of the cluster outside of cycles. It uses the variable `cache`.
    pub(super) fn index_view(&self, member: &Member<'_>) -> TokenStream {
        let indexes = self.indexes(member, &quote! { &cache.state });
        quote! { IndexView { indexes: #indexes, base: &cache.base } }
    }

    /// Returns the filter state of a plugin in `cycle`, if its PreFilter runs.
    pub(super) fn in_cycle(member: &Member<'_>) -> Option<TokenStream> {
        let field = &member.field;
        member.runs(Point::PreFilter).then(|| quote! { cycle.#field })
    }

    /// Returns `let columns = ..;` if `code`, which follows this statement, uses the variable.
    pub(super) fn columns_if_used(code: &TokenStream) -> TokenStream {
        if super::tokens::uses(code, "columns") {
            quote! { let columns = Self::columns(&cache.state, &cache.base); }
        } else {
            TokenStream::new()
        }
    }

    /// Returns all columns that plugins of the profile read, each with its field, in the order of the state.
    pub(super) fn columns(&self) -> Vec<(Column, Ident)> {
        let columns_of = |member: &Member<'a>| {
            let plugin = member.plugin;
            plugin.entry.columns.iter().map(|column| (column.clone(), self.states.column_field(column, plugin)))
        };
        self.states.sorted(self.list.iter().flat_map(columns_of).collect())
    }
}
