//! Emits `pre_enqueue`.

use proc_macro2::TokenStream;
use quote::quote;

use super::docs::steps;
use super::member::Members;
use super::tokens::parameter;
use crate::plan::Point;

pub(super) fn functions(members: &Members<'_>) -> TokenStream {
    let calls = members.at(Point::PreEnqueue).map(|member| {
        let (field, ty, args, name) = (&member.field, &member.ty, member.args(), member.name);
        let view = members.index_view(member);
        quote! {
            <#ty as PreEnqueuePlugin>::pre_enqueue(&self.#field, #args, pod, #view)
                .map_err(|status| status.with_plugin(#name))?;
        }
    });
    let body = quote! { #(#calls)* Ok(()) };
    let (pod, cache) = (parameter("pod", &body), parameter("cache", &body));
    let doc = steps(members, Point::PreEnqueue);
    quote! {
        #doc
        fn pre_enqueue(&self, #pod: &model::Pod, #cache: &Cache<State>) -> Result<(), Status> {
            #body
        }
    }
}
