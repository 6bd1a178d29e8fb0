//! Emits `permit`.

use proc_macro2::TokenStream;
use quote::quote;

use super::docs::steps;
use super::member::Members;
use super::tokens::parameter;
use crate::plan::Point;

pub(super) fn functions(members: &Members<'_>) -> TokenStream {
    let calls = members.at(Point::Permit).map(|member| {
        let (field, ty, args, name) = (&member.field, &member.ty, member.args(), member.name);
        quote! { run.take(#name, <#ty as PermitPlugin>::permit(&self.#field, #args, placement, waiting))?; }
    });
    let body = quote! { #(#calls)* Ok(()) };
    let (placement, waiting) = (parameter("placement", &body), parameter("waiting", &body));
    let run = parameter("run", &body);
    let doc = steps(members, Point::Permit);
    quote! {
        #doc
        fn permit(
            &self,
            #placement: &Placement,
            #waiting: &mut WaitingPods<'_>,
            #run: &mut PermitRun,
        ) -> Result<(), Status> {
            #body
        }
    }
}
