//! Weights are at least 1, occur only where they have an effect, and cannot make the sum of scores overflow
//! (kube-scheduler's `getValidScoreWeights`, where 0 silently becomes 1). The sum includes the weights of
//! extenders.

use super::Context;
use crate::diagnostic::Diagnostic;
use crate::messages;
use crate::plan::Point;
use crate::source::Span;

/// The maximum score of a plugin.
const MAX_SCORE: i64 = 100;

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

/// Checks that the sum of weighted scores cannot overflow. The arguments are the weights of plugins and extenders, each
/// with its location and its owner, and the start of the profile.
pub fn check_weights(weights: Vec<(i64, Option<Span>, String)>, start: Span) -> Option<Diagnostic> {
    let total = weights.iter().try_fold(0_i64, |total, (weight, ..)| total.checked_add(weight.checked_mul(MAX_SCORE)?));
    if total.is_some() {
        return None;
    }
    let equal_share = i64::MAX / MAX_SCORE / i64::try_from(weights.len()).unwrap_or(i64::MAX);
    let mut written: Vec<(i64, Span, String)> =
        weights.into_iter().filter_map(|(weight, span, owner)| Some((weight, span?, owner))).collect();
    written.sort_by_key(|(weight, ..)| std::cmp::Reverse(*weight));
    let locations: Vec<(Span, String)> = written
        .into_iter()
        .enumerate()
        .filter(|(index, (weight, ..))| *index == 0 || *weight > equal_share)
        .map(|(_, (_, span, owner))| (span, owner))
        .collect();
    Some(messages::weights_overflow(&locations, start))
}
