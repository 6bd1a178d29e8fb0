//! Emits `post_filter`.

use proc_macro2::TokenStream;
use quote::quote;

use super::docs::steps;
use super::member::{Member, Members};
use super::tokens::parameter;
use crate::plan::Point;

pub(super) fn functions(members: &Members<'_>) -> TokenStream {
    let count = members.at(Point::PostFilter).count();
    let calls = members.at(Point::PostFilter).enumerate().map(|(at, member)| {
        let (field, ty, args, name) = (&member.field, &member.ty, member.args(), member.name);
        let view = view(members, member);
        let call =
            |cx| quote! { run.take(#name, <#ty as PostFilterPlugin>::post_filter(&self.#field, #args, #cx, #view)) };
        // A plugin with a required read runs only if there are filter states.
        let reads = member.entry.reads.iter().any(|read| !read.optional);
        let last = at + 1 == count;
        // The context contains only references, so it can be passed more than once.
        let call = call(if last {
            quote! { cx }
        } else {
            quote! { PostFilterContext { ..cx } }
        });
        match (last, reads) {
            (true, false) => quote! { #call; },
            (true, true) => quote! { if let Some(cycle) = cx.cycle { #call; } },
            (false, false) => quote! { if #call { return; } },
            (false, true) => quote! { if let Some(cycle) = cx.cycle && #call { return; } },
        }
    });
    let body = quote! { #(#calls)* };
    let columns = Members::columns_if_used(&body);
    let body = quote! { #columns #body };
    let cache = super::tokens::uses(&body, "cache").then(|| quote! { let cache = cx.cache; });
    let body = quote! { #cache #body };
    let (run, cx) = (parameter("run", &body), parameter("cx", &body));
    let doc = steps(members, Point::PostFilter);
    quote! {
        #doc
        fn post_filter(&self, #run: &mut PostFilterRun, #cx: PostFilterContext<'_, Self>) {
            #body
        }
    }
}

/// Returns the plugin's view of the cluster. It has no filter states if PreFilter rejected the pod as
/// unresolvable.
fn view(members: &Members<'_>, member: &Member<'_>) -> TokenStream {
    members.view_that_reads(member, |read, optional| {
        let Some(read) = read.filter(|read| read.runs(Point::PreFilter)) else { return quote! { None } };
        let field = &read.field;
        if optional {
            quote! { cx.cycle.map(|cycle| &cycle.#field) }
        } else {
            quote! { &cycle.#field }
        }
    })
}
