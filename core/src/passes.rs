//! The loops over nodes. Each is generic over the profile, so that the compiler sees through all of its kernels, and
//! compiled in three forms, by what is known of the pod before ([`Idle`]): most loops ask nothing, or little, that is the
//! same for all nodes.

use crate::ask::Idle;
use crate::mask::{Mask, nodes_of};
use crate::model::NodeIndex;
use crate::profile::{Profile, ScoreFailure, ScoreRange};

/// Runs Filter on one node. All who do not loop over nodes share this, so that the kernels are compiled once for them.
///
/// # Errors
/// The first plugin that rejects it.
#[inline(never)]
pub fn filter_one<P: Profile>(
    pod: &P::Pod,
    cycle: &P::Cycle,
    columns: P::Columns<'_>,
    index: usize,
) -> Result<(), P::Rejection> {
    P::filter::<{ Idle::Unknown as u8 }>(pod, cycle, columns, index)
}

/// Narrows `nodes` to those that pass every filter. Returns the first node on which a filter failed with an error.
pub fn filter<P: Profile>(
    pod: &P::Pod,
    cycle: &P::Cycle,
    columns: P::Columns<'_>,
    nodes: &mut Mask,
) -> Option<NodeIndex> {
    match P::idle_filters(pod, cycle) {
        Idle::All => filter_nodes::<P, { Idle::All as u8 }>(pod, cycle, columns, nodes),
        Idle::Usual => filter_nodes::<P, { Idle::Usual as u8 }>(pod, cycle, columns, nodes),
        Idle::Unknown => filter_nodes::<P, { Idle::Unknown as u8 }>(pod, cycle, columns, nodes),
    }
}

#[inline(never)]
fn filter_nodes<P: Profile, const IDLE: u8>(
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
                // Folds away for profiles whose filters never fail with an error, if it is asked first.
                if !P::code(&rejection).is_rejected() && failed.is_none() {
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
    match P::idle_scores(score) {
        Idle::All => score_nodes::<P, { Idle::All as u8 }>(pod, score, columns, feasible, raw),
        Idle::Usual => score_nodes::<P, { Idle::Usual as u8 }>(pod, score, columns, feasible, raw),
        Idle::Unknown => score_nodes::<P, { Idle::Unknown as u8 }>(pod, score, columns, feasible, raw),
    }
}

#[inline(never)]
fn score_nodes<P: Profile, const IDLE: u8>(
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
    match P::idle_scores(score) {
        Idle::All => total_nodes::<P, { Idle::All as u8 }>(pod, score, raw, extents, feasible, totals),
        Idle::Usual => total_nodes::<P, { Idle::Usual as u8 }>(pod, score, raw, extents, feasible, totals),
        Idle::Unknown => total_nodes::<P, { Idle::Unknown as u8 }>(pod, score, raw, extents, feasible, totals),
    }
}

#[inline(never)]
fn total_nodes<P: Profile, const IDLE: u8>(
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
