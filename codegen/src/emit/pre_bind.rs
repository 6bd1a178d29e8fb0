//! Emits `pre_bind_pre_flight` and `pre_bind`.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::docs::steps;
use super::member::{Member, Members};
use super::tokens::parameter;
use crate::plan::Point;

pub(super) fn functions(members: &Members<'_>) -> TokenStream {
    let (pre_flight, pre_bind) = (pre_flight(members), pre_bind(members));
    quote! { #pre_flight #pre_bind }
}

/// Emits the pre-flight of all plugins.
fn pre_flight(members: &Members<'_>) -> TokenStream {
    let calls: Vec<TokenStream> = members
        .at(Point::PreBind)
        .enumerate()
        .map(|(index, member)| {
            let index = Literal::usize_unsuffixed(index);
            let (field, ty, args, name) = (&member.field, &member.ty, member.args(), member.name);
            let state = state(member);
            quote! {
                plan.take(
                    #index,
                    #name,
                    <#ty as PreBindPlugin>::pre_bind_pre_flight(&self.#field, #args, placement, #state),
                )?;
            }
        })
        .collect();
    let body = if calls.is_empty() {
        quote! { Ok(PreBindPlan::default()) }
    } else {
        quote! { let mut plan = PreBindPlan::default(); #(#calls)* Ok(plan) }
    };
    let (placement, reserved) = (parameter("placement", &body), parameter("reserved", &body));
    let doc = steps(members, Point::PreBind);
    quote! {
        #doc
        fn pre_bind_pre_flight(
            &self,
            #placement: &Placement,
            #reserved: &Reserved,
        ) -> Result<PreBindPlan, Status> {
            #body
        }
    }
}

/// Emits PreBind. Plugins that skipped in pre-flight do not run. The others run in the groups of the plan, one group after
/// the other; the plugins of a group run concurrently.
fn pre_bind(members: &Members<'_>) -> TokenStream {
    let calls: Vec<TokenStream> = members.at(Point::PreBind).map(call).collect();
    let body = match calls.as_slice() {
        [] => quote! { Ok(()) },
        [only] => quote! { if plan.runs(0) { #only } Ok(()) },
        [calls @ .., last] => {
            let indexes: Vec<_> = (0..=calls.len()).map(Literal::usize_unsuffixed).collect();
            let in_group = |index: usize, call: &TokenStream| {
                let index = &indexes[index];
                quote! { async { if group.contains(#index) { #call } Ok(()) } }
            };
            let together = calls.iter().enumerate().rev().fold(in_group(calls.len(), last), |after, (index, call)| {
                let this = in_group(index, call);
                quote! { try_join(#this, #after) }
            });
            quote! { for group in plan.groups() { #together.await?; } Ok(()) }
        }
    };
    let [client, placement, reserved, plan] =
        ["client", "placement", "reserved", "plan"].map(|name| parameter(name, &body));
    quote! {
        async fn pre_bind<C: Client>(
            &self,
            #client: &C,
            #placement: &Placement,
            #reserved: &Reserved,
            #plan: PreBindPlan,
        ) -> Result<(), Status> {
            #body
        }
    }
}

fn call(member: &Member<'_>) -> TokenStream {
    let (field, ty, args, name) = (&member.field, &member.ty, member.args(), member.name);
    let state = state(member);
    quote! {
        <#ty as PreBindPlugin>::pre_bind(&self.#field, #args, client, placement, #state)
            .await
            .map_err(|status| rejected_or_failed("PreBind plugin", #name, status))?;
    }
}

/// Returns the plugin's Reserve state; the default value if the profile does not run its Reserve.
fn state(member: &Member<'_>) -> TokenStream {
    let (field, name) = (&member.field, member.name);
    if member.runs(Point::Reserve) {
        quote! { reserved_by(#name, &reserved.#field)? }
    } else {
        quote! { &Default::default() }
    }
}
