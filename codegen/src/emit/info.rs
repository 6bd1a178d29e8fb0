//! Emits `ProfileInfo`: a description of the profile for users.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::member::Members;
use crate::plan::{Budget, Point};

pub(super) fn emit(members: &Members<'_>) -> TokenStream {
    let plan = members.plan;
    let (name, source, scheduler_name) = (&plan.stem, &plan.path, &plan.scheduler_name.value);
    let percentage = Literal::u8_unsuffixed(plan.percentage_of_nodes_to_score.value);
    let initial = Literal::u64_unsuffixed(plan.pod_initial_backoff_seconds.value);
    let max = Literal::u64_unsuffixed(plan.pod_max_backoff_seconds.value);
    let budget = budget(plan.budget);
    let points = Point::ALL.into_iter().filter(|point| !plan.points[*point].is_empty()).map(|point| {
        let plugins = members.at(point).map(|member| {
            let (name, constant) = (member.name, &member.constant);
            if point == Point::Score {
                quote! { (#name, Some(weight::#constant)) }
            } else {
                quote! { (#name, None) }
            }
        });
        let point = point.name();
        quote! { PointInfo { point: #point, plugins: &[#(#plugins),*] } }
    });
    let args = members.iter().filter_map(|member| {
        let (name, json) = (member.name, member.plugin.args.as_ref()?.to_json().to_string());
        Some(quote! { (#name, #json) })
    });
    let extenders = plan.extenders.iter().map(|extender| extender.redacted_json().to_string());
    quote! {
        const INFO: ProfileInfo = ProfileInfo {
            name: #name,
            source: #source,
            scheduler_name: #scheduler_name,
            percentage_of_nodes_to_score: #percentage,
            pod_initial_backoff_seconds: #initial,
            pod_max_backoff_seconds: #max,
            budget: #budget,
            points: &[#(#points),*],
            args: &[#(#args),*],
            extenders: &[#(#extenders),*],
        };
    }
}

fn budget(budget: Budget) -> TokenStream {
    if budget == Budget::default() {
        return quote! { Budget::NONE };
    }
    let limit = |limit: Option<u64>| match limit.map(Literal::u64_unsuffixed) {
        Some(limit) => quote! { Some(#limit) },
        None => quote! { None },
    };
    let nanoseconds = limit(budget.nanoseconds_per_node);
    let instructions = limit(budget.instructions_per_decision);
    let allocations = limit(budget.allocations_per_decision);
    let bytes = limit(budget.bytes_per_node);
    let size = limit(budget.binary_size);
    quote! {
        Budget {
            nanoseconds_per_node: #nanoseconds,
            instructions_per_decision: #instructions,
            allocations_per_decision: #allocations,
            bytes_per_node: #bytes,
            binary_size: #size,
        }
    }
}
