//! Emits `mod args` and `mod weight`: the settings of the profile as constants.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::docs::location;
use super::imports::Imports;
use super::member::Members;
use super::tokens::doc;
use crate::plan::{Node, Point, Value};
use crate::source::{Files, Span};

pub(super) fn emit(members: &Members<'_>) -> TokenStream {
    let mut written_any = false;
    let constants = members.iter().map(|member| {
        let (name, ty) = (&member.constant, &member.ty);
        let (written, value) = match &member.plugin.args {
            Some(node) => {
                let tree = tree(members.files, node);
                written_any = true;
                (format!("{}.", location(members.files, Some(node.span))), quote! { decode(&#tree) })
            }
            None => ("By default.".to_owned(), quote! { DEFAULT }),
        };
        let doc = doc(written);
        quote! {
            #doc
            pub const #name: <#ty as Plugin>::Args = <#ty as Plugin>::Args::#value;
        }
    });
    let constants: Vec<TokenStream> = constants.collect();
    let path = &members.plan.path;
    let at = written_any.then(|| {
        quote! {
            /// Creates a node from a value and its location in the profile.
            const fn at(line: u32, column: u32, value: Value) -> Node {
                Node { file: #path, line, column, value }
            }
        }
    });
    let body = quote! { #(#constants)* #at };
    let uses = Imports::new().declare(&body);
    let types = members.imports.borrow().used_in(&body);
    quote! {
        /// The arguments of the plugins.
        pub mod args {
            #uses
            use super::{#(#types),*};
            #body
        }
    }
}

pub(super) fn weights(members: &Members<'_>) -> Option<TokenStream> {
    let constants: Vec<TokenStream> = members
        .steps(Point::Score)
        .filter_map(|(step, member)| {
            let weight = step.weight.as_ref()?;
            let (name, value) = (&member.constant, Literal::i64_unsuffixed(weight.value));
            let doc = doc(match weight.span {
                Some(span) => format!("{}.", location(members.files, Some(span))),
                None => "By default.".to_owned(),
            });
            Some(quote! { #doc pub const #name: i64 = #value; })
        })
        .collect();
    (!constants.is_empty()).then(|| {
        quote! {
            /// The weights of the scores.
            pub mod weight {
                #(#constants)*
            }
        }
    })
}

/// Returns a value with its locations, as an expression of type `schedc_core::args::Node`.
fn tree(files: &Files, node: &Node) -> TokenStream {
    let value = match &node.value {
        Value::Bool(value) => quote! { Value::Bool(#value) },
        Value::Int(value) => {
            let value = Literal::i64_unsuffixed(*value);
            quote! { Value::Int(#value) }
        }
        Value::Str(value) => quote! { Value::Str(#value) },
        Value::List(entries) => {
            let entries = entries.iter().map(|entry| tree(files, entry));
            quote! { Value::List(&[#(#entries),*]) }
        }
        Value::Table(fields) => {
            let fields = fields.iter().map(|field| {
                let (key, value) = (&field.key.value, tree(files, &field.value));
                quote! { (#key, #value) }
            });
            quote! { Value::Table(&[#(#fields),*]) }
        }
    };
    let (line, column) = line_and_column(files, node.span);
    quote! { at(#line, #column, #value) }
}

/// Returns a location as literals.
pub(super) fn line_and_column(files: &Files, span: Span) -> (Literal, Literal) {
    let at = files.location(span);
    (number(at.line), number(at.column))
}

fn number(number: usize) -> Literal {
    Literal::usize_unsuffixed(number)
}
