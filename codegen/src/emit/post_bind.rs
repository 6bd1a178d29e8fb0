//! Emits `post_bind`.

use proc_macro2::TokenStream;
use quote::quote;

use super::docs::steps;
use super::member::Members;
use super::tokens::parameter;
use crate::plan::Point;

pub(super) fn functions(members: &Members<'_>) -> TokenStream {
    let calls = members.at(Point::PostBind).map(|member| {
        let (field, ty, args) = (&member.field, &member.ty, member.args());
        quote! { <#ty as PostBindPlugin>::post_bind(&self.#field, #args, placement); }
    });
    let body = quote! { #(#calls)* };
    let placement = parameter("placement", &body);
    let doc = steps(members, Point::PostBind);
    quote! {
        #doc
        fn post_bind(&self, #placement: &Placement) {
            #body
        }
    }
}
