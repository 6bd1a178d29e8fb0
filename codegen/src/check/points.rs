//! A profile names a plugin only at extension points that it implements (kube-scheduler's
//! `updatePluginList`).

use super::Context;
use crate::diagnostic::Diagnostic;
use crate::messages;

pub(super) fn check(cx: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    for (point, set) in cx.raw.sets() {
        let Some(point) = point else { continue };
        for plugin in &set.enabled {
            if let Some(entry) = cx.catalogs.plugin(&plugin.name.value).filter(|entry| !entry.implements(point)) {
                diagnostics.push(messages::not_implemented(&plugin.name, entry, point));
            }
        }
    }
}
