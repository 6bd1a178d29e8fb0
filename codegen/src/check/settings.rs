//! Percentage, backoff and scheduler name: the ranges that kube-scheduler validates
//! (`ValidateKubeSchedulerConfiguration`), and a name that is valid in pods. Also the ranges of the budget's limits,
//! which kube-scheduler does not have.

use super::Context;
use crate::diagnostic::Diagnostic;
use crate::format;
use crate::messages;
use crate::settings::{PERCENTAGE_OF_NODES_TO_SCORE, POD_INITIAL_BACKOFF_SECONDS, POD_MAX_BACKOFF_SECONDS};
use crate::source::Spanned;

pub(super) fn check(cx: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    if let Some(percentage) = &cx.raw.percentage_of_nodes_to_score
        && !PERCENTAGE_OF_NODES_TO_SCORE.range().contains(&percentage.value)
    {
        diagnostics.push(messages::percentage_out_of_range(percentage));
    }
    backoff(cx, diagnostics);
    budget(cx, diagnostics);
    if let Some(name) = &cx.raw.scheduler_name {
        scheduler_name(name, diagnostics);
    }
}

fn backoff(cx: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let found_before = diagnostics.len();
    for (key, written) in [
        (POD_INITIAL_BACKOFF_SECONDS, &cx.raw.pod_initial_backoff_seconds),
        (POD_MAX_BACKOFF_SECONDS, &cx.raw.pod_max_backoff_seconds),
    ] {
        let range = key.range();
        if let Some(seconds) = written.as_ref().filter(|seconds| !range.contains(&seconds.value)) {
            diagnostics.push(messages::number_out_of_range(key.name, seconds, &range));
        }
    }
    let initial = &cx.plan.pod_initial_backoff_seconds;
    let max = &cx.plan.pod_max_backoff_seconds;
    if diagnostics.len() == found_before && max.value < initial.value {
        diagnostics.extend(messages::backoff_shrinks(initial.value, initial.span, max.value, max.span));
    }
}

fn budget(cx: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    for (key, written) in cx.raw.budget.limits() {
        let range = key.range();
        diagnostics.extend(
            written
                .filter(|limit| !range.contains(&limit.value))
                .map(|limit| messages::limit_out_of_range(key.name, limit, &range)),
        );
    }
}

fn scheduler_name(name: &Spanned<String>, diagnostics: &mut Vec<Diagnostic>) {
    if name.value.is_empty() {
        diagnostics.push(messages::empty_scheduler_name(name));
    } else if !format::is_dns_subdomain(&name.value) {
        let valid = name.value.to_lowercase().replace([' ', '_'], "-");
        let suggestion = format::is_dns_subdomain(&valid).then_some(valid);
        diagnostics.push(messages::bad_scheduler_name(name, suggestion.as_deref()));
    }
}
