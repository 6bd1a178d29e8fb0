//! Updates of one plugin's part of a cached answer. Generated code calls these functions, which are compiled once for
//! all profiles with the plugin.

use super::UpdateScratch;
use super::scratch::ChangeExtent;
use crate::model::cache::Base;
use crate::model::node_mask::{NodeMask, nodes_of};
use crate::model::node_set::NodeSet;
use crate::plugin_api::column::ColumnSet;
use crate::plugin_api::extension_points::{FilterPlugin, MAX_NODE_SCORE, ScoreError};
use crate::plugin_api::incremental::{DependsOn, FilterUpdate, NeedsFullEvaluation, ScoreUpdate};
use crate::plugin_api::plugin::Slices;

/// Filter of one plugin for one pod: all its inputs except the node.
pub struct FilterKernel<'a, P: FilterPlugin> {
    /// The plugin's arguments.
    pub args: &'a P::Args,
    /// The compiled pod.
    pub pod: &'a P::Pod,
    /// The state of PreFilter.
    pub state: &'a <P as FilterPlugin>::Cycle,
    /// The plugin's columns of all nodes.
    pub columns: Slices<'a, P>,
}

impl<P: FilterPlugin> FilterKernel<'_, P> {
    /// Runs Filter for nodes, and stores its verdicts in `passing`. Adds the nodes whose verdict changed to `dirty`.
    #[inline(never)]
    fn evaluate(self, nodes: &NodeSet, passing: &mut NodeMask, dirty: &mut NodeSet) -> Result<(), NeedsFullEvaluation> {
        let FilterKernel { args, pod, state, columns } = self;
        let passing = passing.words_mut();
        let mut failed = false;
        for (word, bits) in nodes.words() {
            let mut pass = 0;
            for node in nodes_of(word, bits) {
                match P::filter(args, pod, state, P::Columns::row(columns, node.get())) {
                    Ok(()) => pass |= 1 << (node.0 % 64),
                    // rustc removes this check for plugins that never fail.
                    Err(rejection) => failed |= !P::code(&rejection).is_rejected(),
                }
            }
            let changed = (passing[word] ^ pass) & bits;
            passing[word] ^= changed;
            dirty.insert_word(word, changed);
        }
        if failed { Err(NeedsFullEvaluation) } else { Ok(()) }
    }
}

impl UpdateScratch {
    /// Begins the update of a plugin's state of PreFilter and its verdicts. `None`: the state is current.
    #[inline(always)]
    pub fn filter_update<'a>(
        &'a mut self,
        depends: DependsOn,
        passing: &'a mut NodeMask,
        base: &'a Base,
    ) -> Option<FilterUpdate<'a>> {
        if !depends.needs_update() || self.changes.extent == ChangeExtent::New {
            return None;
        }
        let UpdateScratch { changes, verdicts, .. } = self;
        let (reevaluate, dirty) = (&mut verdicts.reevaluate, &mut verdicts.dirty);
        Some(FilterUpdate::new(changes.of_nodes(), passing, reevaluate, dirty, base.alive()))
    }

    /// Returns whether there are nodes for which a filter runs: changed ones that may get another verdict, and those
    /// that the update of its state reported. `reports_all`: the plugin promises `Incremental::REPORTS_ALL_VERDICTS`.
    #[inline(always)]
    pub fn affects_filter<P: FilterPlugin>(&self, depends: DependsOn, reports_all: bool) -> bool {
        !self.changes.affecting::<P::Columns>(depends, reports_all).is_empty() || !self.verdicts.reevaluate.is_empty()
    }

    /// Runs a filter for the nodes that [`UpdateScratch::affects_filter`] finds, and stores its verdicts in `passing`.
    ///
    /// # Errors
    /// The filter failed with an error on one of them.
    #[inline(always)]
    pub fn evaluate<P: FilterPlugin>(
        &mut self,
        filter: FilterKernel<'_, P>,
        (depends, reports_all): (DependsOn, bool),
        passing: &mut NodeMask,
        alive: &NodeMask,
    ) -> Result<(), NeedsFullEvaluation> {
        let nodes = self.changes.affecting::<P::Columns>(depends, reports_all);
        let (reevaluate, dirty) = (&mut self.verdicts.reevaluate, &mut self.verdicts.dirty);
        if reevaluate.is_empty() {
            return filter.evaluate(nodes, passing, dirty);
        }
        reevaluate.retain(|word, bits| bits & alive.words().get(word).copied().unwrap_or(0));
        dirty.extend(reevaluate);
        reevaluate.extend(nodes);
        filter.evaluate(reevaluate, passing, dirty)?;
        reevaluate.clear();
        Ok(())
    }

    /// Begins the update of a plugin's state of PreScore or PrepareScore. `None`: the state is current.
    #[inline(always)]
    pub fn score_update<'a>(&'a mut self, depends: DependsOn, feasible: &'a NodeMask) -> Option<ScoreUpdate<'a>> {
        if !depends.needs_update() {
            return None;
        }
        let UpdateScratch { changes, feasibility_changed, scores, .. } = self;
        scores.classes_changed = false;
        let (reevaluate, classes_changed) = (&mut scores.reevaluate, &mut scores.classes_changed);
        Some(ScoreUpdate::new(changes.of_nodes(), feasible, feasibility_changed, reevaluate, classes_changed))
    }
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

/// Maximum part of a cached total: the sum of the scores without normalisation, or the score of one plugin that
/// normalises. The sum of up to 256 parts fits a total.
const MAX_PART: i64 = i32::MAX as i64 >> 8;

/// Converts a part of a total.
///
/// # Errors
/// It is too large, because of large weights. Such a profile has no cached answers.
#[inline(always)]
pub(super) fn to_part(score: i64) -> Result<i32, NeedsFullEvaluation> {
    if (0..=MAX_PART).contains(&score) { Ok(score as i32) } else { Err(NeedsFullEvaluation) }
}

/// Returns whether nodes are so few that preparing a loop over them is not worth its cost.
#[inline(always)]
pub fn is_sparse(nodes: &NodeSet) -> bool {
    nodes.words().len() <= 4
}

/// Sets the totals of nodes: the results of `score`, plus the part that all nodes have in common.
///
/// # Errors
/// As for `score`, or a result is too large for a total.
#[inline(always)]
pub fn score_each(
    nodes: &NodeSet,
    totals: &mut [i32],
    common: i32,
    mut score: impl FnMut(usize) -> Result<i64, NeedsFullEvaluation>,
) -> Result<(), NeedsFullEvaluation> {
    for (word, bits) in nodes.words() {
        for node in nodes_of(word, bits) {
            totals[node.get()] = to_part(score(node.get())?)?.wrapping_add(common);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_256_parts_fit_a_total() {
        assert_eq!(to_part(MAX_PART).map(|part| i64::from(part) * 256 <= i64::from(i32::MAX)), Ok(true));
        assert_eq!(to_part(MAX_PART + 1), Err(NeedsFullEvaluation));
        assert_eq!(to_part(i64::MIN), Err(NeedsFullEvaluation));
    }
}
