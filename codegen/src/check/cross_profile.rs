//! Profiles of one scheduler have unique names. They share one queue, so they also have the same queue order
//! (kube-scheduler's `validateCommonQueueSort`) and the same backoff (kube-scheduler has one setting for all profiles).

use crate::diagnostic::Diagnostic;
use crate::messages;
use crate::plan::{Node, Plan, PlanPlugin, Point, Setting, Value};
use crate::source::Span;

/// Checks that all profiles have different names, in Kubernetes and in Rust.
pub(crate) fn names(plans: &[Plan], diagnostics: &mut Vec<Diagnostic>) {
    for (index, plan) in plans.iter().enumerate() {
        let earlier = &plans[..index];
        if let Some(first) = earlier.iter().find(|first| first.scheduler_name.value == plan.scheduler_name.value) {
            diagnostics.push(messages::same_scheduler_name(
                &plan.scheduler_name.value,
                (location(plan.scheduler_name.span, plan), &plan.path),
                (location(first.scheduler_name.span, first), &first.path),
            ));
        }
        if let Some(first) = earlier.iter().find(|first| first.module == plan.module) {
            diagnostics.push(messages::same_module(
                &plan.module,
                (start(plan), &plan.path),
                (start(first), &first.path),
            ));
        }
    }
}

/// Checks that all profiles have the same queue order and backoff. `plans` are those without errors; the
/// plans of other profiles are uncertain.
pub(crate) fn queue(plans: &[&Plan], diagnostics: &mut Vec<Diagnostic>) {
    let Some((first, others)) = plans.split_first() else { return };
    for plan in others {
        queue_sort(first, plan, diagnostics);
        let backoff = |key, setting: fn(&Plan) -> &Setting<u64>, diagnostics: &mut Vec<Diagnostic>| {
            let (a, b) = (setting(first), setting(plan));
            if a.value != b.value {
                diagnostics.push(messages::different_backoffs(
                    key,
                    (location(b.span, plan), &plan.path, b.value, b.span.is_none()),
                    (location(a.span, first), &first.path, a.value, a.span.is_none()),
                ));
            }
        };
        backoff("pod-initial-backoff-seconds", |plan| &plan.pod_initial_backoff_seconds, diagnostics);
        backoff("pod-max-backoff-seconds", |plan| &plan.pod_max_backoff_seconds, diagnostics);
    }
}

fn queue_sort(first: &Plan, second: &Plan, diagnostics: &mut Vec<Diagnostic>) {
    let (Some((first_step, a)), Some((second_step, b))) = (sorter(first), sorter(second)) else { return };
    let same_plugin = a.entry.name == b.entry.name;
    let same_args = match (&a.args, &b.args) {
        (None, None) => true,
        (Some(a), Some(b)) => same_value(a, b),
        _ => false,
    };
    if same_plugin && same_args {
        return;
    }
    let sorter_place = |named_at: Option<Span>, plugin: &PlanPlugin, plan: &Plan| {
        let args = plugin.args.as_ref().map(|args| args.span).filter(|_| same_plugin);
        location(args.or(named_at), plan)
    };
    diagnostics.push(messages::different_queue_sorts(
        (sorter_place(second_step, b, second), &second.path, &b.entry.name),
        (sorter_place(first_step, a, first), &first.path, &a.entry.name),
        same_plugin,
    ));
}

fn sorter(plan: &Plan) -> Option<(Option<Span>, &PlanPlugin)> {
    plan.at(Point::QueueSort).next().map(|(step, plugin)| (step.named_at, plugin))
}

/// Returns whether values are equal, except for locations and the order of fields.
fn same_value(a: &Node, b: &Node) -> bool {
    match (&a.value, &b.value) {
        (Value::List(a), Value::List(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_value(a, b)),
        (Value::Table(a), Value::Table(b)) => {
            a.len() == b.len()
                && a.iter().all(|field| {
                    b.iter().any(|other| other.key.value == field.key.value && same_value(&other.value, &field.value))
                })
        }
        (a, b) => a == b,
    }
}

/// Returns the location of a setting, otherwise the profile's start.
fn location(written: Option<Span>, plan: &Plan) -> Span {
    written.unwrap_or(start(plan))
}

fn start(plan: &Plan) -> Span {
    Span { file: plan.file, start: 0, end: 0 }
}
