//! What generated code does with one plugin's part of a kept answer: compiled once for all profiles that have the plugin.

use super::{FilterUpdate, NeedsFullEvaluation, NodeChanges, ScoreUpdate, UpdateScratch};
use crate::column::ColumnSet;
use crate::extension_points::{
    FilterPlugin, MAX_NODE_SCORE, PreFilterPlugin, PreScorePlugin, PrepareScore, ScoreError, ScorePlugin,
};
use crate::node_mask::{NodeMask, nodes_of};
use crate::node_set::NodeSet;
use crate::plugin::{CycleSlot, Slices, View};

/// Asks a filter about nodes, and takes its verdicts down in `passing`. `dirty` takes those whose verdict is another one.
///
/// # Errors
/// The filter failed with an error on one of them.
#[inline(always)]
pub fn evaluate_nodes<P: FilterPlugin>(
    args: &P::Args,
    pod: &P::Pod,
    cycle: &<P as FilterPlugin>::Cycle,
    columns: Slices<'_, P>,
    nodes: &NodeSet,
    passing: &mut NodeMask,
    dirty: &mut NodeSet,
) -> Result<(), NeedsFullEvaluation> {
    if nodes.is_empty() { Ok(()) } else { evaluate_nodes_some::<P>(args, pod, cycle, columns, nodes, passing, dirty) }
}

/// Asks a filter without PreFilter about changed nodes. Where pods came and went, a filter that reads nothing of pods has
/// the verdict that it had.
///
/// # Errors
/// The filter failed with an error on one of them.
#[inline(always)]
pub fn evaluate_changed_nodes<P: FilterPlugin>(
    args: &P::Args,
    pod: &P::Pod,
    cycle: &<P as FilterPlugin>::Cycle,
    columns: Slices<'_, P>,
    passing: &mut NodeMask,
    work: &mut UpdateScratch,
) -> Result<(), NeedsFullEvaluation> {
    let nodes = if P::Columns::READS_ONLY_NODE { &work.changed_node_objects } else { &work.changed_existing };
    evaluate_nodes::<P>(args, pod, cycle, columns, nodes, passing, &mut work.dirty)
}

fn evaluate_nodes_some<P: FilterPlugin>(
    args: &P::Args,
    pod: &P::Pod,
    cycle: &<P as FilterPlugin>::Cycle,
    columns: Slices<'_, P>,
    nodes: &NodeSet,
    passing: &mut NodeMask,
    dirty: &mut NodeSet,
) -> Result<(), NeedsFullEvaluation> {
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
        let feasibility_changed = (passing[word] ^ pass) & bits;
        passing[word] ^= feasibility_changed;
        dirty.insert_word(word, feasibility_changed);
    }
    if failed { Err(NeedsFullEvaluation) } else { Ok(()) }
}

/// Brings a filter's state and verdicts up to date.
///
/// # Errors
/// The plugin cannot, or its filter failed with an error.
#[inline(always)]
pub fn update_verdicts<'v, P, C>(
    plugin: &P,
    args: &P::Args,
    pod: &P::Pod,
    slot: &mut CycleSlot<C>,
    view: impl Fn() -> View<'v, P>,
    passing: &mut NodeMask,
    work: &mut UpdateScratch,
) -> Result<(), NeedsFullEvaluation>
where
    P: PreFilterPlugin<Cycle = C> + FilterPlugin<Cycle = C>,
{
    update_pre_filter_state(plugin, args, pod, slot, &view, passing, work)?;
    if slot.skip {
        return Ok(());
    }
    let of_node_alone = P::READS_ONLY_POD && P::Columns::READS_ONLY_NODE;
    let nodes = if of_node_alone { &work.changed_node_objects } else { &work.changed_existing };
    if work.reevaluate.is_empty() {
        return evaluate_nodes::<P>(args, pod, &slot.state, view().columns, nodes, passing, &mut work.dirty);
    }
    let alive = view().base.alive().words();
    work.reevaluate.retain(|word, bits| bits & alive.get(word).copied().unwrap_or(0));
    work.dirty.extend(&work.reevaluate);
    work.reevaluate.extend(nodes);
    evaluate_nodes::<P>(args, pod, &slot.state, view().columns, &work.reevaluate, passing, &mut work.dirty)?;
    work.reevaluate.clear();
    Ok(())
}

/// Brings the state of a plugin up to date. What its Filter would be asked about stays in `work.reevaluate`.
///
/// # Errors
/// It cannot.
#[inline(always)]
pub fn update_pre_filter_state<'v, P: PreFilterPlugin>(
    plugin: &P,
    args: &P::Args,
    pod: &P::Pod,
    slot: &mut CycleSlot<P::Cycle>,
    view: impl Fn() -> View<'v, P>,
    passing: &mut NodeMask,
    work: &mut UpdateScratch,
) -> Result<(), NeedsFullEvaluation> {
    if P::needs_no_update(pod, slot) {
        return Ok(());
    }
    let view = view();
    let changed = NodeChanges { nodes: &work.changed, node_objects: work.node_objects_changed };
    let mut verdicts = FilterUpdate::new(changed, passing, &mut work.reevaluate, &mut work.dirty, view.base.alive());
    plugin.update(args, pod, slot, view, &mut verdicts)
}

/// The nodes that a Score without PreScore is asked about: where pods came and went, one that sees nothing of pods says what
/// it said before.
#[inline(always)]
pub fn nodes_to_score<P: ScorePlugin>(work: &UpdateScratch) -> &NodeSet {
    if P::Columns::READS_ONLY_NODE { &work.to_score_ignoring_pods } else { &work.to_score }
}

/// The same for one whose state is PreScore's.
#[inline(always)]
pub fn nodes_to_score_after_pre_score<P: ScorePlugin + PreScorePlugin>(work: &UpdateScratch) -> &NodeSet {
    if P::READS_ONLY_POD { nodes_to_score::<P>(work) } else { &work.to_score }
}

/// Brings a score state up to date. Returns whether scores may be other ones: those of the nodes that are left in
/// `work.reevaluate`, to be cleared, and those of classes if `work.classes_changed` says so.
///
/// # Errors
/// The plugin cannot.
#[inline(always)]
pub fn update_pre_score_state<'v, P: PreScorePlugin>(
    plugin: &P,
    args: &P::Args,
    pod: &P::Pod,
    slot: &mut CycleSlot<P::Cycle>,
    view: impl Fn() -> View<'v, P>,
    feasible: &NodeMask,
    work: &mut UpdateScratch,
) -> Result<bool, NeedsFullEvaluation> {
    if P::needs_no_update(pod) {
        return Ok(false);
    }
    plugin.update(args, pod, slot, view(), &mut rescore(feasible, work))?;
    Ok(retain_to_rescore(feasible, work))
}

/// The same for facts that are looked up.
#[inline(always)]
pub fn update_prepared_state<'v, P: PrepareScore>(
    plugin: &P,
    args: &P::Args,
    pod: &P::Pod,
    facts: &mut <P as ScorePlugin>::Cycle,
    view: impl Fn() -> View<'v, P>,
    feasible: &NodeMask,
    work: &mut UpdateScratch,
) -> bool {
    plugin.update(args, pod, facts, view(), &mut rescore(feasible, work));
    retain_to_rescore(feasible, work)
}

#[inline(always)]
fn rescore<'a>(feasible: &'a NodeMask, work: &'a mut UpdateScratch) -> ScoreUpdate<'a> {
    work.classes_changed = false;
    let changed = NodeChanges { nodes: &work.changed, node_objects: work.node_objects_changed };
    ScoreUpdate::new(changed, feasible, &work.feasibility_changed, &mut work.reevaluate, &mut work.classes_changed)
}

#[inline(always)]
fn retain_to_rescore(feasible: &NodeMask, work: &mut UpdateScratch) -> bool {
    if work.reevaluate.is_empty() {
        return work.classes_changed;
    }
    work.retain_to_rescore(feasible);
    true
}

/// A score that needs no normalising, times its weight.
///
/// # Errors
/// It failed, or is out of range.
#[inline(always)]
pub fn weighted(score: Result<i64, ScoreError>, weight: i64) -> Result<i64, NeedsFullEvaluation> {
    match score {
        Ok(score) if (0..=MAX_NODE_SCORE).contains(&score) => Ok(score.wrapping_mul(weight)),
        _ => Err(NeedsFullEvaluation),
    }
}

/// Whether nodes are so few that a loop over them is not worth preparing.
#[inline(always)]
pub fn is_sparse(nodes: &NodeSet) -> bool {
    nodes.words().len() <= 4
}

/// Takes down what `score` says of nodes.
///
/// # Errors
/// As `score`.
#[inline(always)]
pub fn score_each(
    nodes: &NodeSet,
    scores: &mut [i64],
    mut score: impl FnMut(usize) -> Result<i64, NeedsFullEvaluation>,
) -> Result<(), NeedsFullEvaluation> {
    for (word, bits) in nodes.words() {
        for node in nodes_of(word, bits) {
            scores[node.get()] = score(node.get())?;
        }
    }
    Ok(())
}

/// The totals of the nodes of a whole word begin with these scores.
#[inline(always)]
pub fn init_totals(word: usize, scores: &[i64], totals: &mut [i64]) {
    let first = word * 64;
    totals[first..first + 64].copy_from_slice(&scores[first..first + 64]);
}

/// The same where there are none.
#[inline(always)]
pub fn reset_totals(word: usize, totals: &mut [i64]) {
    totals[word * 64..][..64].fill(0);
}

/// Sets the totals of the nodes `bits` of a word, one after the other.
#[inline(always)]
pub fn total_each(word: usize, bits: u64, totals: &mut [i64], total: impl Fn(usize) -> i64) {
    for node in nodes_of(word, bits) {
        totals[node.get()] = total(node.get());
    }
}
