//! Emits `PLUGINS` and `queueing_hint`: the events that the plugins register, and their hints.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::member::{Member, Members};
use super::tokens::{doc, parameter};
use crate::plan::Point;

/// Extension points at which a rejection makes the pod wait for events.
const REJECTING: [Point; 5] = [Point::PreEnqueue, Point::PreFilter, Point::Filter, Point::Reserve, Point::Permit];

pub(super) fn constant(members: &Members<'_>) -> TokenStream {
    let plugins = members.iter().map(events);
    quote! { const PLUGINS: &'static [PluginEvents] = &[#(#plugins),*]; }
}

/// Returns the events that a plugin registers.
pub(super) fn events(member: &Member<'_>) -> TokenStream {
    let ty = &member.ty;
    if member.entry.enqueue_extensions {
        quote! { PluginEvents::of::<#ty>() }
    } else if REJECTING.into_iter().any(|point| member.entry.implements(point)) {
        quote! { PluginEvents::every::<#ty>() }
    } else {
        quote! { PluginEvents::none::<#ty>() }
    }
}

pub(super) fn functions(members: &Members<'_>) -> TokenStream {
    let arms = members.iter().enumerate().filter(|(_, member)| member.entry.enqueue_extensions);
    let arms: Vec<TokenStream> = arms.map(|(at, member)| arm(members, at, member)).collect();
    let body = if arms.is_empty() {
        quote! { Ok(QueueingHint::Queue) }
    } else {
        quote! {
            match plugin {
                #(#arms)*
                _ => Ok(QueueingHint::Queue),
            }
        }
    };
    let [plugin, pod, object, cache] = ["plugin", "pod", "object", "cache"].map(|name| parameter(name, &body));
    let doc = doc("Returns the hint of the plugin at an index of `PLUGINS`.".to_owned());
    quote! {
        #doc
        fn queueing_hint(
            &self,
            #plugin: usize,
            #pod: &model::Pod,
            #object: EventObject<'_>,
            #cache: &Cache<State>,
        ) -> Result<QueueingHint, HintError> {
            #body
        }
    }
}

fn arm(members: &Members<'_>, at: usize, member: &Member<'_>) -> TokenStream {
    let (field, ty, args) = (&member.field, &member.ty, member.args());
    let (at, view) = (Literal::usize_unsuffixed(at), members.index_view(member));
    quote! {
        #at => {
            let cx = HintContext { rejected: pod, object, view: #view };
            <#ty as EnqueueExtensions>::queueing_hint(&self.#field, #args, cx)
        }
    }
}
