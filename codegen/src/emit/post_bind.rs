//! PostBind: the last part of `bind`.

use proc_macro2::TokenStream;
use quote::quote;

use super::member::Members;
use crate::plan::Point;

pub(super) fn statements(members: &Members<'_>) -> TokenStream {
    let calls = members.at(Point::PostBind).map(|member| {
        let (field, ty, args) = (&member.field, &member.ty, member.args());
        quote! { <#ty as PostBindPlugin>::post_bind(&self.#field, #args, placement); }
    });
    quote! { #(#calls)* }
}
