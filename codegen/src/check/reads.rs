//! A plugin that reads another's cycle state runs together with it.

use super::Context;
use crate::diagnostic::Diagnostic;
use crate::messages;
use crate::plan::Point;

pub(super) fn check(cx: &Context<'_>, found: &mut Vec<Diagnostic>) {
    if Point::ALL.into_iter().any(|point| cx.in_doubt(point)) {
        return;
    }
    for plugin in &cx.plan.plugins {
        for read in &plugin.entry.reads {
            if cx.plan.find(read).is_none() {
                let at = plugin.named_at.unwrap_or(cx.start());
                found.push(messages::reads_missing_plugin(&plugin.entry, read, at));
            }
        }
    }
}
