//! The sum of weighted scores (kube-scheduler's `getValidScoreWeights`).

use crate::diagnostic::Diagnostic;
use crate::messages;
use crate::source::Span;

/// The maximum score of a plugin.
const MAX_SCORE: i64 = 100;

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
