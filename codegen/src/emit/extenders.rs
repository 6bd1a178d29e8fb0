//! Emits the extenders: their settings as constants, and their client. A profile without extenders does not
//! refer to `schedc-extender`.

use std::time::Duration;

use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;

use super::docs::location;
use super::member::Members;
use super::tokens::doc;
use crate::plan::{ManagedResource, Plan, PlanExtender, PlanTls};

/// Returns the settings.
pub(super) fn constant(members: &Members<'_>) -> Option<TokenStream> {
    let extenders = &members.plan.extenders;
    if extenders.is_empty() {
        return None;
    }
    let list: Vec<String> = (1..)
        .zip(extenders)
        .map(|(at, extender)| {
            let location = location(members.files, Some(extender.at));
            format!("{at}. `{}`, {location}", extender.url_prefix)
        })
        .collect();
    let doc = doc(format!("Extenders in call order:\n\n{}", list.join("\n")));
    let count = Literal::usize_unsuffixed(extenders.len());
    let extenders = extenders.iter().map(extender);
    Some(quote! {
        #doc
        pub const EXTENDERS: [Extender; #count] = [#(#extenders),*];
    })
}

/// Returns the type of the client.
pub(super) fn ty(plan: &Plan) -> TokenStream {
    if plan.extenders.is_empty() {
        quote! { NoExtenders }
    } else {
        quote! { HttpExtenders }
    }
}

/// Returns the pipeline's field for the client.
pub(super) fn field(plan: &Plan) -> Option<TokenStream> {
    (!plan.extenders.is_empty()).then(|| {
        quote! {
            /// The extenders of the profile.
            pub extenders: HttpExtenders,
        }
    })
}

pub(super) fn start(plan: &Plan) -> Option<TokenStream> {
    (!plan.extenders.is_empty()).then(|| quote! { extenders: HttpExtenders::new(&EXTENDERS) })
}

pub(super) fn function(plan: &Plan) -> TokenStream {
    let (ty, extenders) = (
        ty(plan),
        if plan.extenders.is_empty() {
            quote! { NoExtenders }
        } else {
            quote! { self.extenders }
        },
    );
    quote! {
        fn extenders(&self) -> &#ty {
            &#extenders
        }
    }
}

/// Returns the kinds that the extenders of all profiles receive as original JSON, if there are extenders.
pub(super) fn originals(plans: &[Plan], modules: &[Ident]) -> Option<TokenStream> {
    let modules = plans.iter().zip(modules).filter(|(plan, _)| !plan.extenders.is_empty()).map(|(_, module)| module);
    let mut each = modules.map(|module| quote! { originals(&#module::EXTENDERS) });
    let first = each.next()?;
    Some(quote! { const ORIGINALS: RequiredOriginals = #first #(.or(#each))*; })
}

fn extender(extender: &PlanExtender) -> TokenStream {
    let url = &extender.url_prefix;
    let [filter, prioritize, preempt, bind, unreserve] = [
        &extender.filter_verb,
        &extender.prioritize_verb,
        &extender.preempt_verb,
        &extender.bind_verb,
        &extender.unreserve_verb,
    ]
    .map(text);
    let weight = Literal::i64_unsuffixed(extender.weight);
    let (https, cached, ignorable) = (extender.enable_https, extender.node_cache_capable, extender.ignorable);
    let tls = option(extender.tls.as_ref().map(tls));
    let timeout = duration(extender.http_timeout);
    let resources = extender.managed_resources.iter().map(|ManagedResource { name, ignored_by_scheduler, .. }| {
        quote! { ManagedResource { name: #name, ignored_by_scheduler: #ignored_by_scheduler } }
    });
    quote! {
        Extender {
            url_prefix: #url,
            filter_verb: #filter,
            prioritize_verb: #prioritize,
            preempt_verb: #preempt,
            bind_verb: #bind,
            unreserve_verb: #unreserve,
            weight: #weight,
            enable_https: #https,
            tls: #tls,
            http_timeout: #timeout,
            node_cache_capable: #cached,
            managed_resources: &[#(#resources),*],
            ignorable: #ignorable,
        }
    }
}

fn tls(tls: &PlanTls) -> TokenStream {
    let (insecure, server_name) = (tls.insecure, text(&tls.server_name));
    let ca = pem(&tls.ca_file, &tls.ca_data);
    let certificate = pem(&tls.cert_file, &tls.cert_data);
    let key = pem(&tls.key_file, &tls.key_data);
    quote! {
        Tls { insecure: #insecure, server_name: #server_name, ca: #ca, certificate: #certificate, key: #key }
    }
}

fn pem(file: &Option<String>, data: &Option<String>) -> TokenStream {
    let data = data.as_ref().map(|data| quote! { Pem::Text(#data) });
    option(data.or_else(|| file.as_ref().map(|file| quote! { Pem::File(#file) })))
}

fn text(text: &Option<String>) -> TokenStream {
    option(text.as_ref().map(|text| quote! { #text }))
}

fn option(value: Option<TokenStream>) -> TokenStream {
    value.map_or_else(|| quote! { None }, |value| quote! { Some(#value) })
}

fn duration(duration: Duration) -> TokenStream {
    if duration.subsec_nanos() == 0 {
        let seconds = Literal::u64_unsuffixed(duration.as_secs());
        quote! { Duration::from_secs(#seconds) }
    } else {
        let nanoseconds = Literal::u128_unsuffixed(duration.as_nanos());
        quote! { Duration::from_nanos(#nanoseconds) }
    }
}
