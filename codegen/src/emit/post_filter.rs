//! `post_filter`.

use proc_macro2::TokenStream;
use quote::quote;

use super::docs::steps;
use super::member::Members;
use super::tokens::parameter;
use crate::plan::Point;

pub(super) fn functions(members: &Members<'_>) -> TokenStream {
    let count = members.at(Point::PostFilter).count();
    let calls = members.at(Point::PostFilter).enumerate().map(|(at, member)| {
        let (field, ty, args, name) = (&member.field, &member.ty, member.args(), member.name);
        if at + 1 == count {
            quote! { run.take(#name, <#ty as PostFilterPlugin>::post_filter(&self.#field, #args, cx)); }
        } else {
            // All in it is borrowed, so that it can be given away more than once.
            quote! {
                let copy = PostFilterContext { ..cx };
                if run.take(#name, <#ty as PostFilterPlugin>::post_filter(&self.#field, #args, copy)) {
                    return;
                }
            }
        }
    });
    let body = quote! { #(#calls)* };
    let (run, cx) = (parameter("run", &body), parameter("cx", &body));
    let doc = steps(members, Point::PostFilter);
    quote! {
        #doc
        fn post_filter(&self, #run: &mut PostFilterRun, #cx: PostFilterContext<'_, Self>) {
            #body
        }
    }
}
