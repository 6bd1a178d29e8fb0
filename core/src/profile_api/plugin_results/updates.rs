//! Updates of one plugin's part of a cached answer, called by generated code: compiled once for all profiles with the
//! plugin.

use super::UpdateScratch;
use crate::model::node_mask::{NodeMask, nodes_of};
use crate::model::node_set::NodeSet;
use crate::plugin_api::column::ColumnSet;
use crate::plugin_api::extension_points::{
    FilterPlugin, MAX_NODE_SCORE, PreFilterPlugin, PreScorePlugin, PrepareScore, ScoreError, ScorePlugin,
};
use crate::plugin_api::incremental::{FilterUpdate, NeedsFullEvaluation, NodeChanges, ScoreUpdate};
use crate::plugin_api::plugin::{CycleSlot, Slices, View};

/// Runs a filter for nodes, and stores its verdicts in `passing`. `dirty` receives those whose verdict changed.
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

/// Runs a filter without PreFilter for changed nodes. If only pods were added or removed, the verdicts of a filter that
/// does not read pods stay.
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
                // The compiler removes this for plugins that never fail.
                Err(rejection) => failed |= !P::code(&rejection).is_rejected(),
            }
        }
        let feasibility_changed = (passing[word] ^ pass) & bits;
        passing[word] ^= feasibility_changed;
        dirty.insert_word(word, feasibility_changed);
    }
    if failed { Err(NeedsFullEvaluation) } else { Ok(()) }
}

/// Updates a filter's state and verdicts.
///
/// # Errors
/// The plugin's update failed, or its filter failed with an error.
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

/// Updates the state of a plugin. The nodes for which its Filter would run stay in `work.reevaluate`.
///
/// # Errors
/// The plugin's update failed.
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

/// Returns the nodes for which a Score without PreScore runs. If only pods were added or removed, the scores of a
/// plugin that does not read pods stay.
#[inline(always)]
pub fn nodes_to_score<P: ScorePlugin>(work: &UpdateScratch) -> &NodeSet {
    if P::Columns::READS_ONLY_NODE { &work.to_score_ignoring_pods } else { &work.to_score }
}

/// Returns the nodes for which a Score with a state from PreScore runs.
#[inline(always)]
pub fn nodes_to_score_after_pre_score<P: ScorePlugin + PreScorePlugin>(work: &UpdateScratch) -> &NodeSet {
    if P::READS_ONLY_POD { nodes_to_score::<P>(work) } else { &work.to_score }
}

/// Updates a score state. Returns whether scores may have changed: those of the nodes that are left in
/// `work.reevaluate`, which the caller clears, and those of classes if `work.classes_changed` is set.
///
/// # Errors
/// The plugin's update failed.
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

/// Updates the data of [`PrepareScore`], as [`update_pre_score_state`] does.
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

/// Returns a score without normalisation, times its weight.
///
/// # Errors
/// The score failed, or is out of range.
#[inline(always)]
pub fn weighted(score: Result<i64, ScoreError>, weight: i64) -> Result<i64, NeedsFullEvaluation> {
    match score {
        Ok(score) if (0..=MAX_NODE_SCORE).contains(&score) => Ok(score.wrapping_mul(weight)),
        _ => Err(NeedsFullEvaluation),
    }
}

/// Returns whether nodes are so few that preparing a loop over them does not pay.
#[inline(always)]
pub fn is_sparse(nodes: &NodeSet) -> bool {
    nodes.words().len() <= 4
}

/// Stores the results of `score` for nodes.
///
/// # Errors
/// As for `score`.
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

/// Initialises the totals of the nodes of a whole word with these scores.
#[inline(always)]
pub fn init_totals(word: usize, scores: &[i64], totals: &mut [i64]) {
    let first = word * 64;
    totals[first..first + 64].copy_from_slice(&scores[first..first + 64]);
}

/// Initialises the totals of the nodes of a whole word with 0.
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
