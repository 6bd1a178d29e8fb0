//! Weights are at least 1, stand where they count, and cannot make the sum of scores overflow (kube-scheduler's
//! `getValidScoreWeights`, where 0 silently becomes 1).

use super::Context;
use crate::diagnostic::Diagnostic;
use crate::messages;
use crate::plan::Point;
use crate::source::Span;

/// The greatest score of a plugin.
const MAX_SCORE: i64 = 100;

pub(super) fn check(cx: &Context<'_>, found: &mut Vec<Diagnostic>) {
    for (point, set) in cx.raw.sets() {
        for plugin in &set.enabled {
            let Some(weight) = &plugin.weight else { continue };
            let name = plugin.name.value.as_str();
            let entry = cx.catalogs.plugin(name);
            match point {
                Some(point) if point != Point::Score => {
                    let scores = entry.is_some_and(|entry| entry.implements(Point::Score));
                    found.push(messages::weight_not_at_score(weight, name, point, scores));
                }
                _ => match entry {
                    Some(entry) if point.is_none() && !entry.implements(Point::Score) => {
                        found.push(messages::weight_without_score(weight, entry));
                    }
                    _ if weight.value < 1 => found.push(messages::weight_too_small(weight, name)),
                    _ => {}
                },
            }
        }
    }
    overflow(cx, found);
}

fn overflow(cx: &Context<'_>, found: &mut Vec<Diagnostic>) {
    let weights = || cx.plan.at(Point::Score).filter_map(|(step, plugin)| Some((step.weight.as_ref()?, plugin)));
    let total = weights().try_fold(0_i64, |total, (weight, _)| total.checked_add(weight.value.checked_mul(MAX_SCORE)?));
    if total.is_some() {
        return;
    }
    let mut written: Vec<(i64, Span, String)> = weights()
        .filter_map(|(weight, plugin)| Some((weight.value, weight.span?, plugin.entry.name.clone())))
        .collect();
    written.sort_by_key(|(weight, ..)| std::cmp::Reverse(*weight));
    let large = i64::MAX / MAX_SCORE / i64::try_from(weights().count()).unwrap_or(i64::MAX);
    let places: Vec<(Span, String)> = written
        .into_iter()
        .enumerate()
        .filter(|(index, (weight, ..))| *index == 0 || *weight > large)
        .map(|(_, (_, span, name))| (span, name))
        .collect();
    found.push(messages::weights_overflow(&places, cx.start()));
}
