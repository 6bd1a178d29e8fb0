//! `reads_pod_alone`: whether what Filter says of a node depends on that node and the pod alone.

use proc_macro2::TokenStream;
use quote::quote;

use super::member::Members;
use super::tokens::parameter;
use crate::plan::Point;

pub(super) fn functions(members: &Members<'_>) -> TokenStream {
    let alone: Vec<_> = (members.at(Point::PreFilter))
        .map(|member| {
            let (field, ty) = (&member.field, &member.ty);
            quote! { cycle.#field.skip || <#ty as PreFilterPlugin>::READS_POD_ALONE }
        })
        .collect();
    let body = match &alone[..] {
        [] => quote! { true },
        [alone] => quote! { #alone },
        _ => quote! { #((#alone))&&* },
    };
    let cycle = parameter("cycle", &body);
    quote! {
        fn reads_pod_alone(#cycle: &Cycle) -> bool {
            #body
        }
    }
}
