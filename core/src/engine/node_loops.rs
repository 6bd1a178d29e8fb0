//! The loops over nodes. Each is generic over the profile: rustc inlines all kernels (`filter` and `score` of plugins).
//! Each loop is compiled in three variants, one for each value of [`IdlePlugins`]. A variant omits the checks that have
//! the same result for all nodes.

use crate::model::NodeIndex;
use crate::model::node_mask::{NodeMask, nodes_of};
use crate::profile_api::idle_plugins::IdlePlugins;
use crate::profile_api::profile::{Profile, ScoreFailure, ScoreRange};

/// Runs Filter on one node. All callers without a loop share this function: the kernels are compiled once for them.
///
/// # Errors
/// The rejection of the first plugin.
#[inline(never)]
pub fn filter_node<P: Profile>(
    pod: &P::Pod,
    cycle: &P::Cycle,
    columns: P::Columns<'_>,
    index: usize,
) -> Result<(), P::Rejection> {
    P::filter::<{ IdlePlugins::Unknown as u8 }>(pod, cycle, columns, index)
}

/// Removes the nodes that a filter rejects from `nodes`. Returns the first node on which a filter failed with an error.
pub fn filter_nodes<P: Profile>(
    pod: &P::Pod,
    cycle: &P::Cycle,
    columns: P::Columns<'_>,
    nodes: &mut NodeMask,
) -> Option<NodeIndex> {
    match P::idle_filters(pod, cycle) {
        IdlePlugins::All => filter_nodes_in_form::<P, { IdlePlugins::All as u8 }>(pod, cycle, columns, nodes),
        IdlePlugins::Usual => filter_nodes_in_form::<P, { IdlePlugins::Usual as u8 }>(pod, cycle, columns, nodes),
        IdlePlugins::Unknown => filter_nodes_in_form::<P, { IdlePlugins::Unknown as u8 }>(pod, cycle, columns, nodes),
    }
}

#[inline(never)]
fn filter_nodes_in_form<P: Profile, const IDLE: u8>(
    pod: &P::Pod,
    cycle: &P::Cycle,
    columns: P::Columns<'_>,
    nodes: &mut NodeMask,
) -> Option<NodeIndex> {
    let columns = P::aligned(columns);
    let mut failed = None;
    for (word, bits) in nodes.words_mut().iter_mut().enumerate() {
        let mut keep = *bits;
        for node in nodes_of(word, *bits) {
            if let Err(rejection) = P::filter::<IDLE>(pod, cycle, columns, node.get()) {
                keep &= !(1 << (node.0 % 64));
                // As the first operand, this check lets rustc remove the statement for profiles whose filters never
                // fail.
                if !P::code(&rejection).is_rejected() && failed.is_none() {
                    failed = Some(node);
                }
            }
        }
        *bits = keep;
    }
    failed
}

/// Stores the raw scores of the feasible nodes.
///
/// # Errors
/// The first score that failed.
pub fn score_nodes<P: Profile>(
    pod: &P::Pod,
    score: &P::Score,
    columns: P::Columns<'_>,
    feasible: &NodeMask,
    raw: &mut P::Raw,
) -> Result<P::Extents, ScoreFailure> {
    match P::idle_scores(score) {
        IdlePlugins::All => score_nodes_in_form::<P, { IdlePlugins::All as u8 }>(pod, score, columns, feasible, raw),
        IdlePlugins::Usual => {
            score_nodes_in_form::<P, { IdlePlugins::Usual as u8 }>(pod, score, columns, feasible, raw)
        }
        IdlePlugins::Unknown => {
            score_nodes_in_form::<P, { IdlePlugins::Unknown as u8 }>(pod, score, columns, feasible, raw)
        }
    }
}

#[inline(never)]
fn score_nodes_in_form<P: Profile, const IDLE: u8>(
    pod: &P::Pod,
    score: &P::Score,
    columns: P::Columns<'_>,
    feasible: &NodeMask,
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

/// The highest total, and the number of nodes with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BestTotal {
    /// The total.
    pub total: i64,
    /// Number of nodes with it; 0 if no node is feasible.
    pub ties: usize,
}

/// Computes the total of each feasible node from the stored raw scores. Returns the best total, and whether the scores
/// are in range.
pub fn total_nodes<P: Profile>(
    pod: &P::Pod,
    score: &P::Score,
    raw: &P::Raw,
    extents: &P::Extents,
    feasible: &NodeMask,
    totals: &mut [i64],
) -> (BestTotal, ScoreRange) {
    match P::idle_scores(score) {
        IdlePlugins::All => {
            total_nodes_in_form::<P, { IdlePlugins::All as u8 }>(pod, score, raw, extents, feasible, totals)
        }
        IdlePlugins::Usual => {
            total_nodes_in_form::<P, { IdlePlugins::Usual as u8 }>(pod, score, raw, extents, feasible, totals)
        }
        IdlePlugins::Unknown => {
            total_nodes_in_form::<P, { IdlePlugins::Unknown as u8 }>(pod, score, raw, extents, feasible, totals)
        }
    }
}

#[inline(never)]
fn total_nodes_in_form<P: Profile, const IDLE: u8>(
    pod: &P::Pod,
    score: &P::Score,
    raw: &P::Raw,
    extents: &P::Extents,
    feasible: &NodeMask,
    totals: &mut [i64],
) -> (BestTotal, ScoreRange) {
    let totals = &mut totals[..P::slots(raw)];
    let mut best = BestTotal { total: i64::MIN, ties: 0 };
    let mut range = P::range(extents);
    for (word, bits) in feasible.words().iter().enumerate() {
        for node in nodes_of(word, *bits) {
            let total = P::total::<IDLE>(pod, score, raw, extents, node.get(), &mut range);
            totals[node.get()] = total;
            if total > best.total {
                best = BestTotal { total, ties: 1 };
            } else if total == best.total {
                best.ties += 1;
            }
        }
    }
    (best, range)
}
