//! Exactly one plugin sorts the queue (kube-scheduler's `NewFramework`).

use super::Context;
use crate::diagnostic::Diagnostic;
use crate::messages;
use crate::plan::Point;
use crate::source::Span;

pub(super) fn check(cx: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let sorters: Vec<(String, Option<Span>)> =
        cx.plan.at(Point::QueueSort).map(|(step, plugin)| (plugin.entry.name.clone(), step.named_at)).collect();
    match sorters.len() {
        0 if cx.has_earlier_error(Point::QueueSort) => {}
        0 => diagnostics.push(messages::no_queue_sort(cx.location_of(Point::QueueSort))),
        1 => {}
        _ => diagnostics.push(messages::several_queue_sorts(&sorters, cx.start())),
    }
}
