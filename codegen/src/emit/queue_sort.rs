//! Emits `less`, the order of the queue, and `timestamp`, the time of a pod for this order.

use proc_macro2::TokenStream;
use quote::quote;

use super::docs::steps;
use super::member::Members;
use super::tokens::parameter;
use crate::plan::Point;

pub(super) fn functions(members: &Members<'_>) -> TokenStream {
    // The checks guarantee exactly one plugin.
    let body = members.at(Point::QueueSort).take(1).map(|member| {
        let (ty, args) = (&member.ty, member.args());
        quote! { <#ty as QueueSortPlugin>::less(#args, a, b) }
    });
    let timestamp = members.at(Point::QueueSort).take(1).map(|member| {
        let (field, ty, args) = (&member.field, &member.ty, member.args());
        let view = members.index_view(member);
        quote! { <#ty as QueueSortPlugin>::timestamp(&self.#field, #args, pod, timestamp, #view) }
    });
    let timestamp = quote! { #(#timestamp)* };
    let [pod, time, cache] = ["pod", "timestamp", "cache"].map(|name| parameter(name, &timestamp));
    let doc = steps(members, Point::QueueSort);
    quote! {
        #doc
        fn less(a: &QueuedPod, b: &QueuedPod) -> bool {
            #(#body)*
        }

        fn timestamp(&self, #pod: &model::Pod, #time: i64, #cache: &Cache<State>) -> i64 {
            #timestamp
        }
    }
}
