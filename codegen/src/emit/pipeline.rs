//! Emits a profile's module: its constants and types, and the implementation of `Profile`.

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::member::Members;
use super::tokens::doc;
use super::{
    add_pod, args, bind, columns, costs, enqueue_extensions, extenders, filter, filter_properties, incremental,
    incremental_scores, info, permit, pod, post_bind, post_filter, pre_bind, pre_enqueue, pre_filter, pre_score,
    promises, queue_sort, reserve, score, view,
};

pub(super) fn emit(members: &Members<'_>, module: &Ident) -> TokenStream {
    let plan = members.plan;
    let (args, weights, view) = (args::emit(members), args::weights(members), view::emit(members));
    let types = [
        plugins(members),
        pod::types(members),
        columns::types(members),
        pre_filter::types(members),
        filter::types(members),
        pre_score::types(members),
        score::types(members),
        reserve::types(members),
        incremental::types(members),
    ];
    let functions = [
        lifecycle(members),
        pod::functions(members),
        pre_enqueue::functions(members),
        enqueue_extensions::functions(members),
        queue_sort::functions(members),
        pre_filter::functions(members),
        filter_properties::functions(members),
        columns::functions(members),
        filter::functions(members),
        add_pod::functions(members),
        post_filter::functions(members),
        pre_score::functions(members),
        score::functions(members),
        reserve::functions(members),
        permit::functions(members),
        pre_bind::functions(members),
        bind::functions(members),
        post_bind::functions(members),
        costs::functions(members),
    ];
    let (info, events) = (info::emit(members), enqueue_extensions::constant(members));
    let sizes = costs::constant(members);
    let (extenders, extenders_type) = (extenders::constant(members), extenders::ty(plan));
    let helper = reserve::helper(members).map(|helper| quote! { impl Pipeline { #helper } });
    let (incremental, incremental_helpers) =
        (incremental::implementation(members), incremental_scores::helpers(members));
    let body = quote! {
        #extenders
        #(#types)*

        impl Profile for Pipeline {
            #info
            #events
            #sizes
            type State = State;
            type Pod = Pod;
            type Cycle = Cycle;
            type Score = Score;
            type Columns<'a> = Columns<'a>;
            type Raw = Raw;
            type Extents = Extents;
            type Rejection = Rejection;
            type Reserved = Reserved;
            type Extenders = #extenders_type;
            type PluginResults = CachedAnswer;

            #(#functions)*
        }

        #helper

        #incremental
        #incremental_helpers
    };
    let mut uses = members.imports.borrow().declare(&body);
    uses.extend(promises::import(&body));
    let doc = doc(format!(
        "Profile `{}`, from {}, for pods of scheduler `{}`.",
        plan.stem, plan.path, plan.scheduler_name.value
    ));
    quote! {
        #doc
        pub mod #module {
            use super::state::{Hypothetical, State};
            #uses

            #args
            #weights
            #view
            #body
        }
    }
}

fn plugins(members: &Members<'_>) -> TokenStream {
    let fields = members.iter().map(|member| {
        let (field, ty) = (&member.field, &member.ty);
        let doc = match member.entry.description.as_str() {
            "" => doc(format!("`{}`.", member.name)),
            description => doc(format!("{}.", description.trim_end_matches('.'))),
        };
        quote! { #doc pub #field: #ty, }
    });
    let extenders = extenders::field(members.plan);
    quote! {
        /// The plugins, one instance of each.
        pub struct Pipeline {
            #(#fields)*
            #extenders
        }
    }
}

fn lifecycle(members: &Members<'_>) -> TokenStream {
    let fields: Vec<&Ident> = members.iter().map(|member| &member.field).collect();
    let starts = members.iter().map(|member| {
        let (field, args) = (&member.field, member.args());
        quote! { let #field = start(#args, handle, &mut errors); }
    });
    let closes = members.iter().map(|member| {
        let (field, ty) = (&member.field, &member.ty);
        quote! { <#ty as Plugin>::close(&self.#field); }
    });
    let (start, extenders) = (extenders::start(members.plan), extenders::function(members.plan));
    quote! {
        fn new(handle: &Handle) -> Result<Self, StartErrors> {
            let mut errors = Vec::new();
            #(#starts)*
            let (#(Some(#fields),)*) = (#(#fields,)*) else { return Err(StartErrors::from(errors)) };
            Ok(Pipeline { #(#fields,)* #start })
        }

        fn close(&self) {
            #(#closes)*
        }

        #extenders
    }
}
