//! Emits `mod state`: the columns and indexes of all profiles, each once.

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::imports::{Imports, state_type};
use super::names::{IdentScope, constants, ident, snake_case};
use super::tokens::{doc, parameter};
use crate::catalog::{Column, State};
use crate::plan::{Node, Plan, PlanPlugin};

/// The union of the states that the plugins of all profiles declare.
pub(super) struct States {
    columns: Vec<Entry>,
    indexes: Vec<Entry>,
    node_info: bool,
}

struct Entry {
    state: State,
    field: Ident,
    /// The arguments, for a column that depends on them.
    args: Option<PluginArgs>,
}

/// The arguments of a plugin in a profile.
struct PluginArgs {
    /// The path of the plugin's type.
    plugin: String,
    /// The arguments as written in the profile, without locations.
    written: Option<serde_json::Value>,
    /// The constant of the first profile with these arguments, with its path from the state's module.
    constant: TokenStream,
}

impl PluginArgs {
    /// Returns whether these are the arguments of the plugin.
    fn belong_to(&self, plugin: &PlanPlugin) -> bool {
        self.plugin == plugin.entry.path && self.written == plugin.args.as_ref().map(Node::to_json)
    }
}

impl States {
    /// Collects the states. `modules` are those of the profiles.
    pub(super) fn of(plans: &[Plan], modules: &[Ident]) -> Self {
        let mut names = IdentScope::without(&[
            "at", "base", "info", "infos", "first", "index", "new", "node", "old", "pod", "slots",
        ]);
        let mut states = Self { columns: Vec::new(), indexes: Vec::new(), node_info: false };
        for (plan, module) in plans.iter().zip(modules) {
            for (plugin, constant) in plan.plugins.iter().zip(constants(plan)) {
                for column in &plugin.entry.columns {
                    match column {
                        Column::Declared(state) => add(&mut states.columns, state, &mut names),
                        Column::WithArgs(state) if states.find(state, plugin).is_none() => {
                            let constant = quote! { super::#module::args::#constant };
                            let (plugin, written) =
                                (plugin.entry.path.clone(), plugin.args.as_ref().map(Node::to_json));
                            let args = Some(PluginArgs { plugin, written, constant });
                            let field = names.ident(snake_case(&state.name));
                            states.columns.push(Entry { state: state.clone(), field, args });
                        }
                        Column::NodeInfo => states.node_info = true,
                        Column::WithArgs(_) | Column::NodeIndex => {}
                    }
                }
            }
        }
        for index in plans.iter().flat_map(|plan| &plan.plugins).flat_map(|plugin| &plugin.entry.indexes) {
            add(&mut states.indexes, index, &mut names);
        }
        states
    }

    /// Returns the index of a column that depends on the arguments of a plugin.
    fn find(&self, state: &State, plugin: &PlanPlugin) -> Option<usize> {
        self.columns.iter().position(|entry| {
            entry.state.path == state.path && entry.args.as_ref().is_some_and(|args| args.belong_to(plugin))
        })
    }

    /// Returns the field of a column or an index, by the path of its type.
    pub(super) fn field(&self, path: &str) -> &Ident {
        let mut entries = self.columns.iter().chain(&self.indexes);
        let found = entries.find(|entry| entry.state.path == path);
        &found.unwrap_or_else(|| unreachable!("the states are those of all plans")).field
    }

    /// Returns the field of a plugin's column in a profile's `Columns`.
    pub(super) fn column_field(&self, column: &Column, plugin: &PlanPlugin) -> Ident {
        match column {
            Column::Declared(state) => self.field(&state.path).clone(),
            Column::WithArgs(state) => {
                let found = self.find(state, plugin);
                let at = found.unwrap_or_else(|| unreachable!("the states are those of all plans"));
                self.columns[at].field.clone()
            }
            Column::NodeInfo => ident("infos"),
            Column::NodeIndex => ident("first"),
        }
    }

    /// Returns each column once: the node index, whole nodes, then the others in the order of the state.
    pub(super) fn sorted(&self, mut columns: Vec<(Column, Ident)>) -> Vec<(Column, Ident)> {
        columns.sort_by_key(|(column, field)| match column {
            Column::NodeIndex => 0,
            Column::NodeInfo => 1,
            Column::Declared(_) | Column::WithArgs(_) => {
                2 + self.columns.iter().position(|entry| entry.field == *field).unwrap_or_default()
            }
        });
        columns.dedup_by(|a, b| a.1 == b.1);
        columns
    }
}

/// Adds a state unless there is one with the same path. States of equal name get different fields.
fn add(entries: &mut Vec<Entry>, state: &State, names: &mut IdentScope) {
    if entries.iter().all(|entry| entry.state.path != state.path) {
        entries.push(Entry { state: state.clone(), field: names.ident(snake_case(&state.name)), args: None });
    }
}

/// Emits the structs of the state.
fn structs(states: &States, column_types: &[Ident], index_types: &[Ident]) -> TokenStream {
    let columns: Vec<&Ident> = states.columns.iter().map(|entry| &entry.field).collect();
    let indexes = states.indexes.iter().map(|entry| &entry.field);
    let column_docs = states.columns.iter().map(|entry| doc(format!("Column `{}`.", entry.state.name)));
    let index_docs = states.indexes.iter().map(|entry| doc(format!("Index `{}`.", entry.state.name)));
    let copied_docs = column_docs.clone();
    let info_field = states.node_info.then(|| {
        quote! {
            /// The whole node.
            pub info: NodeInfo,
        }
    });
    // A struct must use its lifetime.
    let nothing_field = columns.is_empty().then(|| {
        quote! {
            /// No column is borrowed.
            pub nothing: PhantomData<&'a ()>,
        }
    });
    quote! {
        /// One column for each kind of node state, and one index for each kind of cluster state.
        #[derive(Default)]
        pub struct State {
            #(#column_docs pub #columns: Vec<#column_types>,)*
            #(#index_docs pub #indexes: #index_types,)*
        }

        /// One node's entries, for hypothetical changes.
        #[derive(Clone)]
        pub struct Hypothetical<'a> {
            #info_field
            #(#copied_docs pub #columns: HypotheticalColumn<'a, #column_types>,)*
            #nothing_field
        }
    }
}

/// Emits the body of `set_node`.
fn set_node(states: &States) -> TokenStream {
    let indexes: Vec<&Ident> = states.indexes.iter().map(|entry| &entry.field).collect();
    let set_indexes = (!indexes.is_empty()).then(|| {
        quote! {
            let new = base.infos()[index.get()].node.as_deref();
            #(Index::set_node(&mut self.#indexes, index, old, new);)*
        }
    });
    // Readers of whole nodes observe every change.
    let always = states.node_info.then(|| quote! { true });
    let never = (states.columns.is_empty() && !states.node_info).then(|| quote! { false });
    let differs = states.columns.iter().map(|Entry { field, args, .. }| match args {
        None => quote! { rebuild_entry(&mut self.#field, base, index) },
        Some(PluginArgs { constant, .. }) => {
            quote! { rebuild_entry_with_args(&mut self.#field, &#constant, base, index) }
        }
    });
    let differs = differs.chain(always).chain(never);
    // With `|` instead of `||`, all entries are rebuilt.
    quote! { #set_indexes #(#differs)|* }
}

/// Emits the calls of a method of each column, for a node's entry.
fn column_calls(states: &States, method: &str) -> Vec<TokenStream> {
    let method = ident(method);
    let call = |Entry { field, args, .. }: &Entry| match args {
        None => quote! { Column::#method(&mut self.#field[index.get()], pod); },
        Some(PluginArgs { constant, .. }) => {
            quote! { ColumnWithArgs::#method(&mut self.#field[index.get()], &#constant, pod); }
        }
    };
    states.columns.iter().map(call).collect()
}

/// Emits the calls of a method of each column, for the entry of a hypothetical node.
fn hypothetical_calls(states: &States, method: &str) -> Vec<TokenStream> {
    let (method, with_args) = (ident(method), ident(&format!("{method}_with")));
    let call = |Entry { field, args, .. }: &Entry| match args {
        None => quote! { node.#field.#method(pod); },
        Some(PluginArgs { constant, .. }) => quote! { node.#field.#with_args(&#constant, pod); },
    };
    states.columns.iter().map(call).collect()
}

/// Emits the methods of hypothetical nodes.
fn hypothetical_methods(states: &States) -> TokenStream {
    let columns: Vec<&Ident> = states.columns.iter().map(|entry| &entry.field).collect();
    let info_value = states.node_info.then(|| quote! { info: base.infos()[index.get()].clone(), });
    let info_add = states.node_info.then(|| quote! { node.info.add_pod(Arc::clone(pod)); });
    let nothing_value = columns.is_empty().then(|| quote! { nothing: PhantomData, });
    let info_remove = states.node_info.then(|| quote! { node.info.remove_pod(pod); });
    let hypothetical = quote! {
        Hypothetical { #info_value #(#columns: HypotheticalColumn::Unchanged(&self.#columns[index.get()]),)* #nothing_value }
    };
    let (entry_adds, entry_removes) = (hypothetical_calls(states, "add_pod"), hypothetical_calls(states, "remove_pod"));
    let hypothetical_add = quote! { #(#entry_adds)* #info_add };
    let hypothetical_remove = quote! { #(#entry_removes)* #info_remove };
    let (h_base, h_index) = (parameter("base", &hypothetical), parameter("index", &hypothetical));
    let (h_node, h_pod) = (parameter("node", &hypothetical_add), parameter("pod", &hypothetical_add));
    quote! {
        fn hypothetical<'a>(&'a self, #h_base: &'a Base, #h_index: NodeIndex) -> Hypothetical<'a> {
            #hypothetical
        }

        fn hypothetical_add(#h_node: &mut Hypothetical<'_>, #h_pod: &Arc<model::Pod>) {
            #hypothetical_add
        }

        fn hypothetical_remove(#h_node: &mut Hypothetical<'_>, #h_pod: &Arc<model::Pod>) {
            #hypothetical_remove
        }
    }
}

pub(super) fn emit(states: &States) -> TokenStream {
    let mut imports = Imports::new();
    let mut types = |entries: &[Entry]| -> Vec<Ident> {
        entries.iter().map(|entry| state_type(&mut imports, &entry.state.path)).collect()
    };
    let (column_types, index_types) = (types(&states.columns), types(&states.indexes));
    let indexes: Vec<&Ident> = states.indexes.iter().map(|entry| &entry.field).collect();
    let structs = structs(states, &column_types, &index_types);
    let set_node = set_node(states);
    let (column_adds, column_removes) = (column_calls(states, "add_pod"), column_calls(states, "remove_pod"));
    let add_pod = quote! {
        #(#column_adds)*
        #(Index::add_pod(&mut self.#indexes, index, pod);)*
    };
    let remove_pod = quote! {
        #(#column_removes)*
        #(Index::remove_pod(&mut self.#indexes, index, pod);)*
    };
    let begin_columns = states.columns.iter().zip(&column_types).map(|(Entry { args, .. }, column)| match args {
        None => quote! { <#column as Column>::begin(interner); },
        Some(PluginArgs { constant, .. }) => quote! { <#column as ColumnWithArgs>::begin(&#constant, interner); },
    });
    let begin = quote! { #(#begin_columns)* #(Index::begin(&mut self.#indexes, interner);)* };
    let begin_interner = parameter("interner", &begin);
    let set_pending = quote! { #(Index::set_pending(&mut self.#indexes, old, new);)* };
    let set_object = quote! { #(Index::set_object(&mut self.#indexes, old, new);)* };
    let cache_sizes = (!states.indexes.is_empty()).then(|| {
        quote! {
            fn cache_sizes(&self) -> Vec<CacheSize> {
                [#(Index::cache_sizes(&self.#indexes)),*].concat()
            }
        }
    });
    let hypothetical_methods = hypothetical_methods(states);

    let set = |name: &str| parameter(name, &set_node);
    let (set_base, set_index, set_old) = (set("base"), set("index"), set("old"));
    let (add_index, add_other) = (parameter("index", &add_pod), parameter("pod", &add_pod));
    let (pending_old, pending_new) = (parameter("old", &set_pending), parameter("new", &set_pending));
    let (object_old, object_new) = (parameter("old", &set_object), parameter("new", &set_object));
    let body = quote! {
        #structs

        impl ::schedc_core::cache::State for State {
            type Hypothetical<'a> = Hypothetical<'a>;

            fn begin(&mut self, #begin_interner: &mut Interner) {
                #begin
            }

            fn set_node(&mut self, #set_base: &Base, #set_index: NodeIndex, #set_old: Option<&model::Node>) -> bool {
                #set_node
            }

            fn add_pod(&mut self, #add_index: NodeIndex, #add_other: &model::Pod) {
                #add_pod
            }

            fn remove_pod(&mut self, #add_index: NodeIndex, #add_other: &model::Pod) {
                #remove_pod
            }

            fn set_pending(&mut self, #pending_old: Option<&model::Pod>, #pending_new: Option<&model::Pod>) {
                #set_pending
            }

            fn set_object(&mut self, #object_old: Option<&model::Object>, #object_new: Option<&model::Object>) {
                #set_object
            }

            #cache_sizes

            #hypothetical_methods
        }

    };
    let uses = imports.declare(&body);
    quote! {
        /// The scheduler's cluster state, for all profiles.
        pub mod state {
            #uses
            #body
        }
    }
}
