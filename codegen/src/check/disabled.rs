//! Every name in `disabled` disables a plugin. kube-scheduler ignores other names, including typos.
//!
//! A default plugin of kube-scheduler that schedc does not have yet may be disabled: the effect of the profile then
//! remains the same when schedc adds the plugin.

use super::{Context, key};
use crate::diagnostic::Diagnostic;
use crate::messages;
use crate::plan::Point;
use crate::resolve::merged_multi_point;

pub(super) fn check(cx: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    for (point, set) in cx.raw.sets() {
        let enabled = enabled_by_default(cx, point);
        let enabled: Vec<&str> = enabled.iter().map(String::as_str).collect();
        let planned = cx.catalogs.in_tree().planned.iter().map(|name| name.value.as_str());
        let suggestions: Vec<&str> = enabled.iter().copied().chain(planned).collect();
        for name in &set.disabled {
            let text = name.value.as_str();
            if text == "*" || enabled.contains(&text) || cx.catalogs.is_planned(text) {
                continue;
            }
            match (cx.catalogs.plugin(text), point) {
                (None, _) if !cx.catalogs_complete => {}
                (None, _) => diagnostics.push(messages::disabled_unknown(name, key(point), &enabled, &suggestions)),
                (Some(entry), Some(point)) if !entry.implements(point) => {
                    diagnostics.push(messages::disabled_where_not_implemented(name, entry, point));
                }
                (Some(_), Some(point)) if cx.has_earlier_error(point) => {}
                (Some(_), _) => diagnostics.push(messages::disabled_without_effect(name, key(point), &enabled)),
            }
        }
    }
}

/// Returns the plugins that the `disabled` list of a set can remove. At `multi-point`, these are the plugins of the
/// default list; at an extension point, those of `multi-point`.
fn enabled_by_default(cx: &Context<'_>, point: Option<Point>) -> Vec<String> {
    match point {
        None => cx.catalogs.in_tree().default.iter().map(|name| name.value.clone()).collect(),
        Some(point) => merged_multi_point(cx.raw, cx.catalogs)
            .into_iter()
            .filter(|plugin| plugin.entry.implements(point))
            .map(|plugin| plugin.entry.name.clone())
            .collect(),
    }
}
