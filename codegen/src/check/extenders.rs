//! Checks of extenders that depend on plugins. `schedc-profile-rules` has all others.

use schedc_profile_rules::check_extenders;

use super::Context;
use crate::catalog::IN_TREE_CRATE;
use crate::diagnostic::Diagnostic;
use crate::messages;
use crate::plan::Point;

pub(super) fn check(cx: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    diagnostics.extend(check_extenders(&cx.raw.extenders));
    check_preempt_verb(cx, diagnostics);
}

/// Checks that preempt verbs of extenders have an effect: a plugin must send victims to extenders. DefaultPreemption
/// does; a PostFilter plugin of another crate may.
fn check_preempt_verb(cx: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let mut plugins = cx.plan.at(Point::PostFilter).map(|(_, plugin)| &plugin.entry);
    if plugins.any(|entry| entry.name == "DefaultPreemption" || entry.crate_name != IN_TREE_CRATE)
        || cx.has_earlier_error(Point::PostFilter)
    {
        return;
    }
    let verbs = cx.raw.extenders.iter().filter_map(|extender| extender.preempt_verb.as_ref());
    diagnostics.extend(verbs.map(|verb| messages::no_preemption_plugin(verb.span, cx.location_of(Point::PostFilter))));
}
