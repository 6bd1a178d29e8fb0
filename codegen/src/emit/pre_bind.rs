//! PreBind, with a look ahead: the first part of `bind`.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::member::{Member, Members};
use crate::plan::Point;

/// All plugins look ahead, then those run that have something to do.
pub(super) fn statements(members: &Members<'_>) -> TokenStream {
    let reserved = members.at(Point::PreBind).filter(|member| member.runs(Point::Reserve)).map(|member| {
        let (field, name) = (&member.field, member.name);
        let missing = format!("nothing is reserved by plugin \"{name}\"");
        quote! {
            let Some(#field) = &reserved.#field else {
                return Err(Status::error(#missing).with_plugin(#name));
            };
        }
    });
    let look = members.at(Point::PreBind).map(|member| {
        let (field, ty, args, name) = (&member.field, &member.ty, member.args(), member.name);
        let (wanted, state) = (wanted(member), state(member));
        quote! {
            let #wanted = <#ty as PreBindPlugin>::pre_bind_pre_flight(&self.#field, #args, placement, #state)
                .map_err(|status| failed("PreBindPreFlight", #name, status))?;
        }
    });
    let run = members.at(Point::PreBind).map(|member| {
        let (field, ty, args, name) = (&member.field, &member.ty, member.args(), member.name);
        let (wanted, state) = (wanted(member), state(member));
        quote! {
            if #wanted == PreFlight::Run {
                <#ty as PreBindPlugin>::pre_bind(&self.#field, #args, client, placement, #state)
                    .await
                    .map_err(|status| rejected_or_failed("PreBind plugin", #name, status))?;
            }
        }
    });
    quote! { #(#reserved)* #(#look)* #(#run)* }
}

fn wanted(member: &Member<'_>) -> proc_macro2::Ident {
    format_ident!("{}_wanted", member.field)
}

/// What the plugin's Reserve left: `()` for a plugin without it.
fn state(member: &Member<'_>) -> TokenStream {
    let field = &member.field;
    if member.runs(Point::Reserve) {
        quote! { #field }
    } else {
        quote! { &Default::default() }
    }
}
