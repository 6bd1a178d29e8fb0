//! Every enabled name is the name of a plugin.

use super::{Context, key};
use crate::diagnostic::Diagnostic;
use crate::messages;
use crate::plan::Point;
use crate::source::Spanned;

pub(super) fn check(cx: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    for (point, set) in cx.raw.sets() {
        for plugin in &set.enabled {
            if plugin.name.value == "*" {
                diagnostics.push(messages::star_enabled(&plugin.name, key(point)));
            } else {
                check_name(cx, &plugin.name, point, true, diagnostics);
            }
        }
    }
}

/// Returns whether a catalog contains the name. Reports a plugin that schedc does not have yet, and, if all catalogs could
/// be read, an unknown name.
pub(super) fn check_name(
    cx: &Context<'_>,
    name: &Spanned<String>,
    point: Option<Point>,
    in_quotes: bool,
    diagnostics: &mut Vec<Diagnostic>,
) -> bool {
    if cx.catalogs.plugin(&name.value).is_some() {
        return true;
    }
    if cx.catalogs.is_planned(&name.value) {
        diagnostics.push(messages::planned_plugin(name));
    } else if cx.catalogs_complete {
        diagnostics.push(messages::unknown_plugin(name, point, in_quotes, &cx.fitting(point)));
    }
    false
}
