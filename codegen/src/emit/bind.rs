//! `bind`: PreBind, Bind and PostBind.

use proc_macro2::TokenStream;
use quote::quote;

use super::docs::steps;
use super::member::Members;
use super::tokens::parameter;
use super::{post_bind, pre_bind};
use crate::plan::Point;

pub(super) fn functions(members: &Members<'_>) -> TokenStream {
    let calls = members.at(Point::Bind).map(|member| {
        let (field, ty, args, name) = (&member.field, &member.ty, member.args(), member.name);
        quote! {
            <#ty as BindPlugin>::bind(&self.#field, #args, client, placement)
                .await
                .map_err(|status| rejected_or_failed("Bind plugin", #name, status))?
                == Binding::Done
        }
    });
    let (before, after) = (pre_bind::statements(members), post_bind::statements(members));
    let body = quote! {
        #before
        let bound = #(#calls)||*;
        if !bound {
            return Err(Status::new(Code::Skip, ""));
        }
        #after
        Ok(())
    };
    let reserved = parameter("reserved", &body);
    let docs = [Point::PreBind, Point::Bind, Point::PostBind].map(|point| steps(members, point));
    let [first, second, third] = docs;
    quote! {
        #first
        ///
        #second
        ///
        #third
        async fn bind<C: Client>(
            &self,
            client: &C,
            placement: &Placement,
            #reserved: &Reserved,
        ) -> Result<(), Status> {
            #body
        }
    }
}
