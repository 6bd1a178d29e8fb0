//! Emits `bind`.

use proc_macro2::TokenStream;
use quote::quote;

use super::docs::steps;
use super::member::Members;
use crate::plan::Point;

pub(super) fn functions(members: &Members<'_>) -> TokenStream {
    let calls = members.at(Point::Bind).map(|member| {
        let (field, ty, args, name) = (&member.field, &member.ty, member.args(), member.name);
        quote! {
            <#ty as BindPlugin>::bind(&self.#field, #args, client, placement)
                .await
                .map_err(|status| rejected_or_failed("Bind plugin", #name, status))?
                == BindResult::Done
        }
    });
    let doc = steps(members, Point::Bind);
    quote! {
        #doc
        async fn bind<C: Client>(&self, client: &C, placement: &Placement) -> Result<(), Status> {
            let bound = #(#calls)||*;
            if bound { Ok(()) } else { Err(Status::new(Code::Skip, "")) }
        }
    }
}
