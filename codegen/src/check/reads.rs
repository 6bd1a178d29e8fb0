//! A plugin that reads another plugin's cycle state runs only together with it, and after it at `pre-filter`. Reads that
//! the catalog marks as optional (`?`) are exempt.

use super::Context;
use crate::diagnostic::Diagnostic;
use crate::messages;
use crate::plan::{PluginId, Point};

pub(super) fn check(cx: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    if Point::ALL.into_iter().any(|point| cx.has_earlier_error(point)) {
        return;
    }
    let pre_filter = &cx.plan.points[Point::PreFilter];
    let position = |id| pre_filter.iter().position(|step| step.plugin == id);
    for (index, plugin) in cx.plan.plugins.iter().enumerate() {
        for read in plugin.entry.reads.iter().filter(|read| !read.optional) {
            let at = plugin.named_at.unwrap_or(cx.start());
            let Some((read_id, _)) = cx.plan.find(&read.plugin) else {
                diagnostics.push(messages::reads_missing_plugin(&plugin.entry, &read.plugin, at));
                continue;
            };
            let reader_at = position(PluginId(index)).unwrap_or(usize::MAX);
            if position(read_id).is_none_or(|read_at| read_at > reader_at) {
                diagnostics.push(messages::reads_later_plugin(&plugin.entry, &read.plugin, at));
            }
        }
    }
}
