//! What generated code does with one plugin's part of a kept answer: compiled once for all profiles that have the plugin.

use super::parts::{FilterWork, ScoreWork};
use super::{Anew, Rescore, Verdicts};
use crate::column::ColumnSet;
use crate::extension_points::{
    FilterPlugin, MAX_NODE_SCORE, PreFilterPlugin, PreScorePlugin, PrepareScore, ScoreError, ScorePlugin,
};
use crate::mask::{Mask, nodes_of};
use crate::plugin::{Slices, Slot, View};
use crate::touched::Touched;

/// Asks a filter about nodes, and takes its verdicts down in `passing`.
///
/// # Errors
/// The filter failed with an error on one of them.
#[inline]
pub fn filter<P: FilterPlugin>(
    args: &P::Args,
    pod: &P::Pod,
    cycle: &<P as FilterPlugin>::Cycle,
    columns: Slices<'_, P>,
    nodes: &Touched,
    passing: &mut Mask,
) -> Result<(), Anew> {
    let passing = passing.words_mut();
    let mut failed = false;
    for (word, bits) in nodes.words() {
        let mut pass = 0;
        for node in nodes_of(word, bits) {
            match P::filter(args, pod, cycle, P::Columns::row(columns, node.get())) {
                Ok(()) => pass |= 1 << (node.0 % 64),
                // Folds away for plugins that never fail.
                Err(rejection) => failed |= !P::code(&rejection).is_rejected(),
            }
        }
        passing[word] = passing[word] & !bits | pass;
    }
    if failed { Err(Anew) } else { Ok(()) }
}

/// Brings a filter's state and verdicts up to date.
///
/// # Errors
/// The plugin cannot, or its filter failed with an error.
#[inline(always)]
pub fn update_filter<P, C>(
    plugin: &P,
    args: &P::Args,
    pod: &P::Pod,
    slot: &mut Slot<C>,
    view: View<'_, P>,
    passing: &mut Mask,
    work: &mut FilterWork<'_>,
) -> Result<(), Anew>
where
    P: PreFilterPlugin<Cycle = C> + FilterPlugin<Cycle = C>,
{
    update_state(plugin, args, pod, slot, view, passing, work)?;
    if slot.skip {
        return Ok(());
    }
    if work.again.is_empty() {
        return filter::<P>(args, pod, &slot.state, view.columns, work.touched, passing);
    }
    let alive = work.alive.words();
    work.again.retain(|word, bits| bits & alive.get(word).copied().unwrap_or(0));
    work.dirty.extend(work.again);
    work.again.extend(work.touched);
    filter::<P>(args, pod, &slot.state, view.columns, work.again, passing)?;
    work.again.reset(work.slots);
    Ok(())
}

/// Brings the state of a plugin up to date. What its Filter would be asked about stays in `work.again`.
///
/// # Errors
/// It cannot.
#[inline(always)]
pub fn update_state<P: PreFilterPlugin>(
    plugin: &P,
    args: &P::Args,
    pod: &P::Pod,
    slot: &mut Slot<P::Cycle>,
    view: View<'_, P>,
    passing: &mut Mask,
    work: &mut FilterWork<'_>,
) -> Result<(), Anew> {
    let mut verdicts = Verdicts::new(work.changed, passing, work.again, work.dirty, work.alive);
    plugin.update(args, pod, slot, view, &mut verdicts)
}

/// Brings a score state up to date, and leaves the nodes to be scored again in `work.again`.
///
/// # Errors
/// The plugin cannot.
#[inline(always)]
pub fn update_score<P: PreScorePlugin>(
    plugin: &P,
    args: &P::Args,
    pod: &P::Pod,
    slot: &mut Slot<P::Cycle>,
    view: View<'_, P>,
    work: &mut ScoreWork<'_>,
) -> Result<(), Anew> {
    plugin.update(args, pod, slot, view, &mut rescore(work))?;
    work.narrow();
    Ok(())
}

/// Brings looked-up facts up to date, and leaves the nodes to be scored again in `work.again`.
#[inline(always)]
pub fn update_facts<P: PrepareScore>(
    plugin: &P,
    args: &P::Args,
    pod: &P::Pod,
    facts: &mut <P as ScorePlugin>::Cycle,
    view: View<'_, P>,
    work: &mut ScoreWork<'_>,
) {
    plugin.update(args, pod, facts, view, &mut rescore(work));
    work.narrow();
}

#[inline(always)]
fn rescore<'a>(work: &'a mut ScoreWork<'_>) -> Rescore<'a> {
    work.again.reset(work.slots);
    work.moved = false;
    Rescore::new(work.changed, work.feasible, work.flipped, work.again, &mut work.moved)
}

/// A score that needs no normalising, times its weight.
///
/// # Errors
/// It failed, or is out of range.
#[inline(always)]
pub fn weighted(score: Result<i64, ScoreError>, weight: i64) -> Result<i64, Anew> {
    match score {
        Ok(score) if (0..=MAX_NODE_SCORE).contains(&score) => Ok(score.wrapping_mul(weight)),
        _ => Err(Anew),
    }
}

/// Takes down what `score` says of nodes.
///
/// # Errors
/// As `score`.
#[inline(always)]
pub fn score_each(
    nodes: &Touched,
    scores: &mut [i64],
    mut score: impl FnMut(usize) -> Result<i64, Anew>,
) -> Result<(), Anew> {
    nodes.iter().try_for_each(|node| {
        scores[node.get()] = score(node.get())?;
        Ok(())
    })
}

/// The totals of the nodes `bits` of a word begin with these scores.
#[inline]
pub fn begin_totals(word: usize, bits: u64, scores: &[i64], totals: &mut [i64]) {
    let first = word * 64;
    if bits == u64::MAX {
        totals[first..first + 64].copy_from_slice(&scores[first..first + 64]);
    } else {
        nodes_of(word, bits).for_each(|node| totals[node.get()] = scores[node.get()]);
    }
}

/// The same where there are none.
#[inline]
pub fn begin_totals_at_zero(word: usize, bits: u64, totals: &mut [i64]) {
    nodes_of(word, bits).for_each(|node| totals[node.get()] = 0);
}
