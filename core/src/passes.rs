//! The loops over nodes. Each is generic over the profile, so that the compiler sees through all of its kernels, and
//! compiled twice: for any pod, and for pods about which every plugin that can be idle is. Most are such, and their loop
//! asks nothing that is the same for all nodes.

use crate::mask::{Mask, nodes_of};
use crate::model::NodeIndex;
use crate::profile::{Profile, ScoreFailure, ScoreRange};
use crate::status::Code;

/// Narrows `nodes` to those that pass every filter. Returns the first node on which a filter failed with an error.
pub fn filter<P: Profile>(
    pod: &P::Pod,
    cycle: &P::Cycle,
    columns: P::Columns<'_>,
    nodes: &mut Mask,
) -> Option<NodeIndex> {
    match P::filters_idle(pod, cycle) {
        true => filter_nodes::<P, true>(pod, cycle, columns, nodes),
        false => filter_nodes::<P, false>(pod, cycle, columns, nodes),
    }
}

#[inline(never)]
fn filter_nodes<P: Profile, const IDLE: bool>(
    pod: &P::Pod,
    cycle: &P::Cycle,
    columns: P::Columns<'_>,
    nodes: &mut Mask,
) -> Option<NodeIndex> {
    let columns = P::aligned(columns);
    let mut failed = None;
    for (word, bits) in nodes.words_mut().iter_mut().enumerate() {
        let mut keep = *bits;
        for node in nodes_of(word, *bits) {
            if let Err(rejection) = P::filter::<IDLE>(pod, cycle, columns, node.get()) {
                keep &= !(1 << (node.0 % 64));
                // Folds away for profiles whose filters never fail with an error.
                if P::code(&rejection) == Code::Error && failed.is_none() {
                    failed = Some(node);
                }
            }
        }
        *bits = keep;
    }
    failed
}

/// Takes down the raw scores of the feasible nodes.
///
/// # Errors
/// The first score that failed.
pub fn score<P: Profile>(
    pod: &P::Pod,
    score: &P::Score,
    columns: P::Columns<'_>,
    feasible: &Mask,
    raw: &mut P::Raw,
) -> Result<P::Extents, ScoreFailure> {
    match P::scores_idle(score) {
        true => score_nodes::<P, true>(pod, score, columns, feasible, raw),
        false => score_nodes::<P, false>(pod, score, columns, feasible, raw),
    }
}

#[inline(never)]
fn score_nodes<P: Profile, const IDLE: bool>(
    pod: &P::Pod,
    score: &P::Score,
    columns: P::Columns<'_>,
    feasible: &Mask,
    raw: &mut P::Raw,
) -> Result<P::Extents, ScoreFailure> {
    let columns = P::aligned(columns);
    let mut extents = P::Extents::default();
    for (word, bits) in feasible.words().iter().enumerate() {
        for node in nodes_of(word, *bits) {
            P::score::<IDLE>(pod, score, columns, node.get(), raw, &mut extents)?;
        }
    }
    Ok(extents)
}

/// The highest total, and how many nodes have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Best {
    /// The total.
    pub total: i64,
    /// Number of nodes; 0 if no node is feasible.
    pub ties: usize,
}

/// Adds up the totals of the feasible nodes, from raw scores that were taken down.
pub fn total<P: Profile>(
    pod: &P::Pod,
    score: &P::Score,
    raw: &P::Raw,
    extents: &P::Extents,
    feasible: &Mask,
    totals: &mut [i64],
) -> (Best, ScoreRange) {
    match P::scores_idle(score) {
        true => total_nodes::<P, true>(pod, score, raw, extents, feasible, totals),
        false => total_nodes::<P, false>(pod, score, raw, extents, feasible, totals),
    }
}

#[inline(never)]
fn total_nodes<P: Profile, const IDLE: bool>(
    pod: &P::Pod,
    score: &P::Score,
    raw: &P::Raw,
    extents: &P::Extents,
    feasible: &Mask,
    totals: &mut [i64],
) -> (Best, ScoreRange) {
    let totals = &mut totals[..P::slots(raw)];
    let mut best = Best { total: i64::MIN, ties: 0 };
    let mut range = P::range(extents);
    for (word, bits) in feasible.words().iter().enumerate() {
        for node in nodes_of(word, *bits) {
            let total = P::total::<IDLE>(pod, score, raw, extents, node.get(), &mut range);
            totals[node.get()] = total;
            if total > best.total {
                best = Best { total, ties: 1 };
            } else if total == best.total {
                best.ties += 1;
            }
        }
    }
    (best, range)
}
