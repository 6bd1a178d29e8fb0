//! Emits `Columns`: the columns that the profile's plugins read. Its entries are those of all nodes of the cluster, or
//! the one of a hypothetical node.

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::member::{Member, Members};
use super::tokens::{parameter, tuple};
use crate::catalog::Column;

pub(super) fn types(members: &Members<'_>) -> TokenStream {
    let columns = members.columns();
    let fields = columns.iter().map(|(column, field)| {
        match column {
            Column::NodeIndex => quote! {
                /// The index of the first node.
                pub #field: NodeIndex,
            },
            Column::NodeInfo => quote! {
                /// Whole nodes.
                pub #field: &'a [NodeInfo],
            },
            Column::Declared(state) | Column::WithArgs(state) => {
                let ty = members.state_type(&state.path);
                let doc = super::tokens::doc(format!("Column `{}`.", state.name));
                quote! { #doc pub #field: &'a [#ty], }
            }
        }
    });
    let borrows = columns.iter().any(|(column, _)| *column != Column::NodeIndex);
    // A struct must use its lifetime.
    let marker = (!borrows).then(|| {
        quote! {
            /// No column is borrowed.
            pub nothing: PhantomData<&'a ()>,
        }
    });
    quote! {
        /// The columns that the plugins read.
        #[derive(Clone, Copy)]
        pub struct Columns<'a> {
            #(#fields)*
            #marker
        }
    }
}

pub(super) fn functions(members: &Members<'_>) -> TokenStream {
    let (columns, fields): (Vec<Column>, Vec<Ident>) = members.columns().into_iter().unzip();
    let borrows = columns.iter().any(|column| *column != Column::NodeIndex);
    let marker = (!borrows).then(|| quote! { nothing: PhantomData, });
    let of_cluster = columns.iter().zip(&fields).map(|(column, field)| match column {
        Column::NodeIndex => quote! { NodeIndex(0) },
        Column::NodeInfo => quote! { base.infos() },
        Column::Declared(_) | Column::WithArgs(_) => quote! { &state.#field },
    });
    let of_one_node = columns.iter().zip(&fields).map(|(column, field)| match column {
        Column::NodeIndex => quote! { index },
        Column::NodeInfo => quote! { std::slice::from_ref(&node.info) },
        Column::Declared(_) | Column::WithArgs(_) => quote! { std::slice::from_ref(node.#field.get()) },
    });
    let first = columns.iter().zip(&fields).find(|(column, _)| **column != Column::NodeIndex).map(|(_, field)| field);
    let slots = first.map(|field| quote! { let slots = columns.#field.len(); });
    let of_aligned = columns.iter().zip(&fields).map(|(column, field)| match column {
        Column::NodeIndex => quote! { columns.#field },
        _ => quote! { &columns.#field[..slots] },
    });
    let aligned = quote! { #slots Columns { #(#fields: #of_aligned,)* #marker } };
    let aligned_columns = parameter("columns", &aligned);
    let cluster = quote! { Columns { #(#fields: #of_cluster,)* #marker } };
    let hypothetical = quote! { Columns { #(#fields: #of_one_node,)* #marker } };
    let (state, base) = (parameter("state", &cluster), parameter("base", &cluster));
    let (node, index) = (parameter("node", &hypothetical), parameter("index", &hypothetical));
    quote! {
        fn columns<'a>(#state: &'a State, #base: &'a Base) -> Columns<'a> {
            #cluster
        }

        #[inline(always)]
        fn aligned<'a>(#aligned_columns: Self::Columns<'a>) -> Self::Columns<'a> {
            #aligned
        }

        fn hypothetical_columns<'a>(#node: &'a Hypothetical<'_>, #index: NodeIndex) -> Columns<'a> {
            #hypothetical
        }
    }
}

/// Returns a plugin's row: its columns at one node. `columns` and `index` are variables of the surrounding code.
pub(super) fn row(members: &Members<'_>, member: &Member<'_>) -> TokenStream {
    let part = |(column, field): (&Column, Ident)| match column {
        Column::NodeIndex => quote! { <Position as ColumnSet>::row(columns.#field, index) },
        Column::NodeInfo | Column::Declared(_) | Column::WithArgs(_) => quote! { &columns.#field[index] },
    };
    tuple(&members.column_fields(member).map(part).collect::<Vec<_>>())
}
