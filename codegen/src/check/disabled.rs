//! Every name in `disabled` disables something. kube-scheduler ignores one that does not, typos included.
//!
//! A plugin of kube-scheduler's default that schedc does not have yet may be disabled: the profile then means the same
//! when schedc has it.

use super::{Context, key};
use crate::diagnostic::Diagnostic;
use crate::messages;
use crate::plan::Point;
use crate::resolve::merged_multi_point;

pub(super) fn check(cx: &Context<'_>, found: &mut Vec<Diagnostic>) {
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
                (None, _) => found.push(messages::disabled_unknown(name, key(point), &enabled, &suggestions)),
                (Some(entry), Some(point)) if !entry.implements(point) => {
                    found.push(messages::disabled_where_not_implemented(name, entry, point));
                }
                (Some(_), Some(point)) if cx.has_earlier_error(point) => {}
                (Some(_), _) => found.push(messages::disabled_without_effect(name, key(point), &enabled)),
            }
        }
    }
}

/// What a set's `disabled` can take away: from `multi-point` the default list, from a point what `multi-point` has.
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
