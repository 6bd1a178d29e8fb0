//! Emits the registry of in-tree plugins for programs that read profiles at run time (`schedc-interpret`):
//! the state of all plugins, and for each plugin, the state that it reads and its extension points.

use proc_macro2::TokenStream;
use quote::quote;

use super::columns;
use super::enqueue_extensions::events;
use super::member::{Member, Members};
use super::names::ident;
use super::promises;
use super::tokens::parameter;
use crate::plan::Point;

pub(super) fn emit(members: &Members<'_>) -> TokenStream {
    let (types, functions) = (columns::types(members), columns::functions(members));
    let reads = members.iter().map(|member| reads(members, member));
    let scores = members.at(Point::Score).count();
    let starts = members.iter().map(start);
    let (bind, pre_bind) = (bind(members), pre_bind(members));
    let body = quote! {
        #types

        impl AllColumns for InTreeColumns {
            type Columns<'a> = Columns<'a>;

            #functions
        }

        #(#reads)*

        /// Number of plugins with Score.
        pub(crate) const SCORES: usize = #scores;

        /// Creates a plugin. `None`: no plugin has this name.
        pub(crate) fn make(name: &str, args: &Node, handle: &Handle) -> Option<Result<PluginTraits,  StartError>> {
            Some(match name {
                #(#starts)*
                _ => return None,
            })
        }

        #bind
        #pre_bind
    };
    let mut uses = members.imports.borrow().declare(&body);
    uses.extend(promises::import(&body));
    quote! {
        /// The plugins, with their state and extension points.
        pub(crate) mod plugins {
            use super::state::{Hypothetical, State};
            use crate::erased::{InTreeColumns, AllColumns, AnyValue, Instance, PluginTraits,  Reads, PluginBuilder, downcast_value};
            #uses

            #body
        }
    }
}

fn reads(members: &Members<'_>, member: &Member<'_>) -> TokenStream {
    let ty = &member.ty;
    let of_columns = members.column_slices(member);
    let of_indexes = members.indexes(member, &quote! { &state });
    let to_register = members.indexes(member, &quote! { &mut state });
    let (columns, state) = (parameter("columns", &of_columns), parameter("state", &of_indexes));
    let epoch = if member.entry.indexes.is_empty() {
        quote! { Some(0) }
    } else {
        quote! { Promises::<#ty>::compile_epoch(Self::indexes(state)) }
    };
    let epoch_state = parameter("state", &epoch);
    quote! {
        impl Reads for #ty {
            fn columns<'a>(#columns: &Columns<'a>) -> ::schedc_core::plugin::Slices<'a, Self> {
                #of_columns
            }

            fn indexes(#state: &State) -> ::schedc_core::plugin::Refs<'_, Self> {
                #of_indexes
            }

            fn indexes_mut(#state: &mut State) -> <Self::Indexes as IndexSet>::Muts<'_> {
                #to_register
            }

            fn compile_epoch(#epoch_state: &State) -> Option<u64> {
                #epoch
            }
        }
    }
}

fn start(member: &Member<'_>) -> TokenStream {
    let (name, ty, events) = (member.name, &member.ty, events(member));
    // The generated `bind` selects Bind by the type of the plugin.
    let points = member.entry.points.iter().filter(|point| **point != Point::Bind);
    let points = points.map(|point| ident(point.snake_case()));
    let entry = member.entry;
    let flags = [
        (entry.normalizes, "normalizes"),
        (entry.prepares_score, "prepares_score"),
        (entry.enqueue_extensions, "enqueue_extensions"),
    ];
    let flags = flags.into_iter().filter(|(is_set, _)| *is_set).map(|(_, name)| ident(name));
    let points = points.chain(flags);
    quote! { #name => PluginBuilder::<#ty>::new(args, handle, #events).map(|plugin| plugin #(.#points())* .build()), }
}

/// Emits the calls of Bind. Its client is generic, so it cannot be called through a trait object.
fn bind(members: &Members<'_>) -> TokenStream {
    let calls = members.iter().filter(|member| member.entry.implements(Point::Bind)).map(|member| {
        let ty = &member.ty;
        quote! {
            if let Some(it) = plugin.downcast_ref::<Instance<#ty>>() {
                return <#ty as BindPlugin>::bind(&it.plugin, it.args, client, placement).await;
            }
        }
    });
    quote! {
        /// Runs Bind of a plugin that has it.
        pub(crate) async fn bind<C: Client>(
            plugin: &AnyValue,
            client: &C,
            placement: &Placement,
        ) -> Result<BindResult, Status> {
            #(#calls)*
            Ok(BindResult::Skip)
        }
    }
}

fn pre_bind(members: &Members<'_>) -> TokenStream {
    let calls = members.iter().filter(|member| member.entry.implements(Point::PreBind)).map(|member| {
        let ty = &member.ty;
        quote! {
            if let Some(it) = plugin.downcast_ref::<Instance<#ty>>() {
                let reserved = downcast_value::<<#ty as PreBindPlugin>::Reserved>(reserved);
                return <#ty as PreBindPlugin>::pre_bind(&it.plugin, it.args, client, placement, reserved).await;
            }
        }
    });
    quote! {
        /// Runs PreBind of a plugin that has it.
        pub(crate) async fn pre_bind<C: Client>(
            plugin: &AnyValue,
            client: &C,
            placement: &Placement,
            reserved: &AnyValue,
        ) -> Result<(), Status> {
            #(#calls)*
            Ok(())
        }
    }
}
