//! `less`: the order of the queue.

use proc_macro2::TokenStream;
use quote::quote;

use super::docs::steps;
use super::member::Members;
use crate::plan::Point;

pub(super) fn functions(members: &Members<'_>) -> TokenStream {
    // Exactly one plugin, by the checks.
    let body = members.at(Point::QueueSort).take(1).map(|member| {
        let (ty, args) = (&member.ty, member.args());
        quote! { <#ty as QueueSortPlugin>::less(#args, a, b) }
    });
    let doc = steps(members, Point::QueueSort);
    quote! {
        #doc
        fn less(a: &QueuedPod, b: &QueuedPod) -> bool {
            #(#body)*
        }
    }
}
