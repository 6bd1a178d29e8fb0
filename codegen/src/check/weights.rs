//! Weights are at least 1, occur only where they have an effect, and cannot make the sum of scores overflow
//! (kube-scheduler's `getValidScoreWeights`, where 0 silently becomes 1). The sum includes the weights of
//! extenders.

use schedc_profile_rules::check_weights;

use super::Context;
use crate::diagnostic::Diagnostic;
use crate::messages;
use crate::plan::Point;

pub(super) fn check(cx: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    for (point, set) in cx.raw.sets() {
        for plugin in &set.enabled {
            let Some(weight) = &plugin.weight else { continue };
            let name = plugin.name.value.as_str();
            let entry = cx.catalogs.plugin(name);
            match point {
                Some(point) if point != Point::Score => {
                    let scores = entry.is_some_and(|entry| entry.implements(Point::Score));
                    diagnostics.push(messages::weight_not_at_score(weight, name, point, scores));
                }
                _ => match entry {
                    Some(entry) if point.is_none() && !entry.implements(Point::Score) => {
                        diagnostics.push(messages::weight_without_score(weight, entry));
                    }
                    _ if weight.value < 1 => diagnostics.push(messages::weight_too_small(weight, name)),
                    _ => {}
                },
            }
        }
    }
    overflow(cx, diagnostics);
}

fn overflow(cx: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let plugins = cx.plan.at(Point::Score).filter_map(|(step, plugin)| {
        let weight = step.weight.as_ref()?;
        Some((weight.value, weight.span, format!("`{}`", plugin.entry.name)))
    });
    let extenders = cx.raw.extenders.iter().filter_map(|extender| extender.weight.as_ref()).map(|weight| {
        // A weight beyond 64 bits makes the sum overflow, as for plugins.
        let value = i64::try_from(weight.value.max(0)).unwrap_or(i64::MAX);
        (value, Some(weight.span), "an extender".to_owned())
    });
    diagnostics.extend(check_weights(plugins.chain(extenders).collect(), cx.start()));
}
