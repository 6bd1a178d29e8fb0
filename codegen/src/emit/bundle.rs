//! Emits `Profiles`: all profiles of a program, selected by one `match`.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;

use super::extenders;
use super::imports::Imports;
use super::names::IdentScope;
use super::tokens::doc;
use crate::catalog::{CustomKind, Write};
use crate::permissions;
use crate::plan::{Plan, PlanCrate};
use crate::source::Files;

/// Returns the modules of the profiles. They have the names of the files, with an underscore if a name is taken.
pub(super) fn modules(plans: &[Plan]) -> Vec<Ident> {
    let mut names = IdentScope::without(&[
        "errors",
        "handle",
        "catalog_checks",
        "profile",
        "schedc_core",
        "state",
        "std",
        "visitor",
    ]);
    plans.iter().map(|plan| names.ident(plan.module.clone())).collect()
}

pub(super) fn emit(files: &Files, plans: &[Plan], modules: &[Ident], digest: u64) -> TokenStream {
    let Some((first, _)) = modules.split_first() else { return TokenStream::new() };
    let docs = plans.iter().map(|plan| doc(format!("From {}.", plan.path)));
    let arms = modules.iter().enumerate().map(|(at, module)| {
        let pattern = if at + 1 == modules.len() {
            quote! { _ }
        } else {
            let at = Literal::usize_unsuffixed(at);
            quote! { #at }
        };
        quote! { #pattern => visitor.visit(&mut self.#module), }
    });
    let with = match modules {
        [only] => quote! { visitor.visit(&mut self.#only) },
        _ => quote! { match profile { #(#arms)* } },
    };
    let profile = super::tokens::parameter("profile", &with);
    let hash = format!("{digest:016x}");
    let watches = permissions::watches(plans);
    let kinds: Vec<TokenStream> = permissions::kinds(plans).into_iter().map(kind).collect();
    let kinds = (!kinds.is_empty()).then(|| quote! { const KINDS: &'static [model::CustomKind] = &[#(#kinds),*]; });
    let originals = extenders::originals(plans, modules);
    let writes = permissions::writes(plans).into_iter().map(access);
    let sources = plans.iter().map(|plan| source(files, plan));
    let body = quote! {
        /// All profiles, over one state.
        pub struct Profiles {
            #(#docs pub #modules: Engine<#modules::Pipeline>,)*
        }

        impl Bundle for Profiles {
            const PROFILES: &'static [ProfileInfo] = &[#(<#modules::Pipeline as Profile>::INFO),*];
            const SOURCES: &'static [ProfileSource] = &[#(#sources),*];
            const HASH: &'static str = #hash;
            const WATCHES: &'static [&'static str] = &[#(#watches),*];
            #kinds
            const WRITES: &'static [AccessRule] = &[#(#writes),*];
            #originals
            type State = state::State;

            fn new(handle: &Handle) -> Result<Self, StartErrors> {
                let mut errors = Vec::new();
                #(let #modules = Engine::new(handle).map_err(|reasons| errors.extend(reasons));)*
                let (#(Ok(#modules),)*) = (#(#modules,)*) else { return Err(StartErrors::from(errors)) };
                Ok(Profiles { #(#modules),* })
            }

            fn less(a: &QueuedPod, b: &QueuedPod) -> bool {
                <#first::Pipeline as Profile>::less(a, b)
            }

            fn with<V: Visitor<state::State>>(&mut self, #profile: usize, visitor: V) -> V::Output {
                #with
            }
        }
    };
    let uses = Imports::new().declare(&body);
    quote! {
        #uses
        #body
    }
}

/// Emits the texts of a profile and of its catalogs, as lines.
fn source(files: &Files, plan: &Plan) -> TokenStream {
    let path = &plan.path;
    let lines = |file| {
        let lines = files.text(file).split('\n');
        quote! { &[#(#lines),*] }
    };
    let text = lines(plan.file);
    let catalogs = plan.crates.iter().map(|PlanCrate { written, catalog }| {
        let text = lines(*catalog);
        quote! { (#written, #text) }
    });
    quote! { ProfileSource { path: #path, lines: #text, catalogs: &[#(#catalogs),*] } }
}

fn kind(kind: &CustomKind) -> TokenStream {
    let CustomKind { api_version, kind: name, resource, namespaced, .. } = kind;
    let full_name = kind.full_name();
    quote! {
        model::CustomKind {
            name: #full_name,
            api_version: #api_version,
            kind: #name,
            plural: #resource,
            is_namespaced: #namespaced,
        }
    }
}

fn access(write: Write) -> TokenStream {
    let Write { group, resource, verbs, namespace } = write;
    let namespace = match namespace {
        Some(namespace) => quote! { Some(#namespace) },
        None => quote! { None },
    };
    quote! { AccessRule { group: #group, resource: #resource, verbs: &[#(#verbs),*], namespace: #namespace } }
}
