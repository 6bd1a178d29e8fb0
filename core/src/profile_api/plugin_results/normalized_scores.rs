//! The cached raw scores of a plugin that normalises.

use std::ops::Range;

use super::ScoreChanges;
use super::score_levels::ScoreLevels;
use crate::model::NodeIndex;
use crate::model::node_mask::{NodeMask, nodes_of};
use crate::model::node_set::NodeSet;
use crate::plugin_api::column::ColumnSet;
use crate::plugin_api::extension_points::{NormalizeScore, ScoreClass, ScoreError, ScorePlugin};
use crate::plugin_api::incremental::NeedsFullEvaluation;
use crate::plugin_api::plugin::{Row, Slices};

/// All that a plugin's Score needs for one pod, except the node, and the two functions for score classes.
pub struct ClassKernel<'a, P: NormalizeScore, C, S> {
    /// The plugin's arguments.
    pub args: &'a P::Args,
    /// The compiled pod.
    pub pod: &'a P::Pod,
    /// The state of PreScore.
    pub state: &'a <P as ScorePlugin>::Cycle,
    /// The plugin's columns of all nodes.
    pub columns: Slices<'a, P>,
    /// Returns the class of a node ([`Incremental::score_class`](crate::incremental::Incremental::score_class)).
    pub class: C,
    /// Returns the raw score of a class ([`Incremental::score_of_class`](crate::incremental::Incremental::score_of_class)).
    pub score: S,
}

/// Cached scores by level. Nodes of one score class share a level, which has their raw score and the plugin's part of
/// their totals. If the scores of many nodes change, or if the extremes change, the cost depends on the number of
/// levels, not of nodes. Totals change only for nodes of levels whose normalised score changed.
///
/// As long as all feasible nodes have one class, as with a plugin for taints in a cluster without taints, levels are
/// not stored by node. Then a node that becomes feasible or infeasible costs nothing.
///
/// A node's total includes the weighted score of its level. If levels are stored by node, infeasible nodes have a level
/// with the score 0. A changed level changes the total by the difference, because the other parts are not stored.
///
/// If the plugin has only a few levels whose scores change again and again, the totals include none of its scores
/// (`NormalizedScores::separate`). A change of scores then has a cost for each level, but none for each node.
#[derive(Debug, Default)]
pub struct NormalizedScores {
    /// Number of node slots.
    slots: usize,
    /// Whether nodes have different classes.
    is_by_node: bool,
    /// Whether the totals do not include the scores.
    is_separate: bool,
    /// Number of normalisations that changed the weighted scores of levels, if `is_by_node`.
    moves: u32,
    /// The level of all feasible nodes, unless `is_by_node`. [`ScoreLevels::INFEASIBLE`] before the first one is scored.
    uniform: u32,
    /// The level of each node, if `is_by_node`; otherwise empty. 16 bits, because memory access dominates updates of
    /// rarely used answers.
    level_of: Vec<u16>,
    levels: ScoreLevels,
    /// The levels whose weighted score changed, and the difference.
    moved: Vec<(u32, i32)>,
    /// The difference for each level, if many levels changed.
    by_level: Vec<i32>,
    /// For each word of a node mask, the levels that its nodes may have: bit `n` for levels whose number is `n` modulo
    /// 64.
    present: Vec<u64>,
}

/// If at most this number of levels changed, one loop over the nodes for each changed level is fastest; otherwise, one
/// loop with a table of the differences.
const MAX_SINGLE_LEVELS: usize = 3;

/// Value of [`NormalizedScores::moves`] from which the scores are separated from the totals.
const MOVES_BEFORE_SEPARATION: u32 = 2;

/// The level of each node, and the score of each level, of a plugin whose scores are not included in the totals.
#[derive(Clone, Copy, Debug)]
pub struct SeparateLevels<'a> {
    /// The level of each node; 0 for infeasible nodes, and for the entries that fill the last word of a node mask.
    pub of_node: &'a [u16],
    /// The weighted normalised score of each level.
    pub scores: &'a [i32],
}

impl SeparateLevels<'_> {
    /// Maximum number of levels, including that of infeasible nodes.
    pub const MAX: usize = if cfg!(debug_assertions) { 6 } else { 16 };
}

/// Adds the differences of the levels to the totals of a word's nodes. A branch for each node would save nothing: words
/// without changed levels are not visited. Returns 0 if no total changes.
#[inline(always)]
fn add_to_totals(totals: &mut [i32], levels: &[u16; 64], by: impl Fn(u16) -> i32) -> i32 {
    let mut any = 0;
    for (total, &level) in totals.iter_mut().zip(levels) {
        let by = by(level);
        *total = total.wrapping_add(by);
        any |= by;
    }
    any
}

/// Returns the bit of a level in [`NormalizedScores::present`].
#[inline(always)]
fn bit(level: u32) -> u64 {
    1 << (level % 64)
}

impl NormalizedScores {
    /// Resizes to this number of node slots.
    pub fn resize(&mut self, slots: usize) {
        self.slots = self.slots.max(slots);
        let words = self.slots.div_ceil(64);
        if self.is_by_node && self.present.len() < words {
            self.present.resize(words, 0);
            self.level_of.resize(words * 64, ScoreLevels::INFEASIBLE as u16);
        }
    }

    /// Removes all scores.
    pub fn clear(&mut self) {
        (self.is_by_node, self.uniform) = (false, ScoreLevels::INFEASIBLE);
        (self.is_separate, self.moves) = (false, 0);
        self.level_of.clear();
        self.present.clear();
        self.levels.clear();
    }

    /// Returns its size in bytes.
    pub fn bytes(&self) -> usize {
        (self.present.capacity() + self.by_level.capacity() + 2 * self.moved.capacity()) * size_of::<u64>()
            + self.level_of.capacity() * size_of::<u16>()
            + self.levels.bytes()
    }

    /// Runs Score for nodes, which must be feasible, and updates their totals. `with_new_class`: the nodes among them
    /// whose class may have changed since their last Score.
    ///
    /// # Errors
    /// Score failed, or there are more than 65,535 classes.
    #[inline(never)]
    pub fn score<P, C, S>(
        &mut self,
        kernel: ClassKernel<'_, P, C, S>,
        nodes: &NodeSet,
        with_new_class: &NodeSet,
        feasible: &NodeMask,
        totals: &mut [i32],
    ) -> Result<(), NeedsFullEvaluation>
    where
        P: NormalizeScore,
        C: Fn(&P::Args, &P::Pod, &<P as ScorePlugin>::Cycle, Row<'_, P>) -> Result<ScoreClass, ScoreError>,
        S: Fn(&P::Args, &P::Pod, &<P as ScorePlugin>::Cycle, ScoreClass) -> i64,
    {
        let ClassKernel { args, pod, state, columns, class, score } = kernel;
        let class_of = |node: NodeIndex| {
            class(args, pod, state, P::Columns::row(columns, node.get())).map_err(|_| NeedsFullEvaluation)
        };
        if !self.is_by_node {
            let is_uniform =
                self.have_uniform_class(nodes, with_new_class, class_of, |class| score(args, pod, state, class))?;
            if is_uniform {
                return Ok(());
            }
            self.split(feasible, totals);
        }
        for (word, bits) in nodes.words() {
            for node in nodes_of(word, bits) {
                let class = class_of(node)?;
                let before = self.level_of[node.get()].into();
                if self.levels.has_class(before, class) {
                    continue;
                }
                let level = self.levels.add_node(class, || score(args, pod, state, class));
                self.levels.remove_node(before);
                self.level_of[node.get()] = u16::try_from(level).map_err(|_| NeedsFullEvaluation)?;
                self.present[word] |= bit(level);
                self.change_total(&mut totals[node.get()], before, level);
            }
        }
        Ok(())
    }

    /// Changes the total of a node whose level changed. A new level has the score 0 until it is normalised.
    #[inline(always)]
    fn change_total(&self, total: &mut i32, before: u32, level: u32) {
        if !self.is_separate {
            let weighted = self.levels.weighted();
            *total = total.wrapping_add(weighted[level as usize]).wrapping_sub(weighted[before as usize]);
        }
    }

    /// Returns whether `nodes` have the one class of all feasible nodes. The first node that is scored determines this
    /// class.
    #[inline(always)]
    fn have_uniform_class(
        &mut self,
        nodes: &NodeSet,
        with_new_class: &NodeSet,
        class_of: impl Fn(NodeIndex) -> Result<ScoreClass, NeedsFullEvaluation>,
        score: impl Fn(ScoreClass) -> i64,
    ) -> Result<bool, NeedsFullEvaluation> {
        for (word, bits) in nodes.words() {
            for node in nodes_of(word, bits & with_new_class.word(word)) {
                let class = class_of(node)?;
                if self.uniform == ScoreLevels::INFEASIBLE {
                    self.uniform = self.levels.add_node(class, || score(class));
                } else if !self.levels.has_class(self.uniform, class) {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Stores the level of each node, because some are about to get other classes.
    #[cold]
    #[inline(never)]
    fn split(&mut self, feasible: &NodeMask, totals: &mut [i32]) {
        self.is_by_node = true;
        self.resize(self.slots);
        let uniform = self.levels.weighted()[self.uniform as usize];
        for (word, totals) in totals.chunks_mut(64).enumerate() {
            let bits = feasible.words().get(word).copied().unwrap_or(0);
            for (at, total) in totals.iter_mut().enumerate() {
                *total = total.wrapping_sub(if bits >> at & 1 == 0 { uniform } else { 0 });
            }
        }
        for (word, bits) in feasible.words().iter().enumerate().filter(|(_, bits)| **bits != 0) {
            nodes_of(word, *bits).for_each(|node| self.level_of[node.get()] = self.uniform as u16);
            self.present[word] |= bit(self.uniform);
        }
        self.levels.set_nodes(self.uniform, feasible.count());
    }

    /// Applies the update of a plugin's state.
    ///
    /// # Errors
    /// As for [`NormalizedScores::score`].
    #[inline]
    pub fn update<P, C, S>(
        &mut self,
        kernel: ClassKernel<'_, P, C, S>,
        changes: &ScoreChanges,
        feasible: &NodeMask,
        totals: &mut [i32],
    ) -> Result<(), NeedsFullEvaluation>
    where
        P: NormalizeScore,
        C: Fn(&P::Args, &P::Pod, &<P as ScorePlugin>::Cycle, Row<'_, P>) -> Result<ScoreClass, ScoreError>,
        S: Fn(&P::Args, &P::Pod, &<P as ScorePlugin>::Cycle, ScoreClass) -> i64,
    {
        let ClassKernel { args, pod, state, ref score, .. } = kernel;
        if changes.classes_changed {
            self.levels.update_raw_scores(|class| score(args, pod, state, class));
        }
        self.score(kernel, &changes.reevaluate, &changes.reevaluate, feasible, totals)
    }

    /// Removes the scores of nodes that are no longer feasible.
    #[inline]
    pub fn remove_infeasible(&mut self, feasible: &NodeMask, feasibility_changed: &NodeSet, totals: &mut [i32]) {
        if !self.is_by_node {
            return;
        }
        for (word, bits) in feasibility_changed.words() {
            for node in nodes_of(word, bits & !feasible.words()[word]) {
                let level = std::mem::replace(&mut self.level_of[node.get()], ScoreLevels::INFEASIBLE as u16);
                self.levels.remove_node(level.into());
                self.change_total(&mut totals[node.get()], level.into(), ScoreLevels::INFEASIBLE);
            }
        }
    }

    /// Normalises new and changed scores, after all nodes have their raw scores, and updates the totals. Adds the nodes
    /// of levels whose score changed to `retotalled`, possibly with further nodes. Nodes of new levels were scored, and
    /// are not added.
    ///
    /// # Errors
    /// A normalised score is out of range.
    #[inline]
    pub fn normalize<P: NormalizeScore>(
        &mut self,
        args: &P::Args,
        weight: i64,
        feasible: &NodeMask,
        totals: &mut [i32],
        retotalled: &mut NodeSet,
    ) -> Result<(), NeedsFullEvaluation> {
        if self.levels.is_normalized() {
            return Ok(());
        }
        self.normalize_changed::<P>(args, weight, feasible, totals, retotalled)
    }

    #[inline(never)]
    fn normalize_changed<P: NormalizeScore>(
        &mut self,
        args: &P::Args,
        weight: i64,
        feasible: &NodeMask,
        totals: &mut [i32],
        retotalled: &mut NodeSet,
    ) -> Result<(), NeedsFullEvaluation> {
        let new = self.levels.normalize::<P>(args, weight, &mut self.moved)?;
        if self.is_separate {
            return Ok(());
        }
        if new > 0 {
            self.add_moved_levels(0..new, totals, |_| ());
        }
        if new < self.moved.len() {
            self.moves += u32::from(self.is_by_node);
            let feasible = feasible.words();
            self.add_moved_levels(new..self.moved.len(), totals, |word| {
                retotalled.insert_word(word, feasible[word]);
            });
        }
        Ok(())
    }

    /// Returns whether [`NormalizedScores::separate`] is worth its cost: if the scores of a few levels change often.
    pub(crate) fn should_be_separate(&self) -> bool {
        self.moves >= MOVES_BEFORE_SEPARATION && !self.is_separate && self.levels.len() <= SeparateLevels::MAX
    }

    /// Removes the scores from the totals. From now on, the caller adds the score of a node's level.
    pub(crate) fn separate(&mut self, totals: &mut [i32]) -> Option<SeparateLevels<'_>> {
        self.is_separate = true;
        let scores = self.levels.weighted();
        for (total, &level) in totals.iter_mut().zip(&self.level_of) {
            *total = total.wrapping_sub(scores[level as usize]);
        }
        self.few_separate_levels()
    }

    /// Returns whether nodes have different scores, or had them.
    #[inline]
    pub fn is_by_node(&self) -> bool {
        self.is_by_node
    }

    /// Returns whether the totals do not include the scores.
    pub(crate) fn is_separate(&self) -> bool {
        self.is_separate
    }

    /// Returns the levels of separate scores, unless there are too many.
    pub(crate) fn few_separate_levels(&self) -> Option<SeparateLevels<'_>> {
        let scores = self.levels.weighted();
        (self.is_separate && scores.len() <= SeparateLevels::MAX)
            .then_some(SeparateLevels { of_node: &self.level_of, scores })
    }

    /// Adds the scores to the totals again, because there are too many levels. They are not separated again soon.
    pub(crate) fn merge(&mut self, totals: &mut [i32]) {
        (self.is_separate, self.moves) = (false, 0);
        let scores = self.levels.weighted();
        for (total, &level) in totals.iter_mut().zip(&self.level_of) {
            *total = total.wrapping_add(scores[level as usize]);
        }
    }

    /// Adds the differences of some of the levels in `moved` to totals. `on_change` gets the words of the nodes.
    fn add_moved_levels(&mut self, range: Range<usize>, totals: &mut [i32], mut on_change: impl FnMut(usize)) {
        let NormalizedScores { level_of, levels, moved, by_level, present, is_by_node, .. } = self;
        let moved = &moved[range];
        if !*is_by_node {
            let by = moved.iter().fold(0, |sum: i32, (_, by)| sum.wrapping_add(*by));
            totals.iter_mut().for_each(|total| *total = total.wrapping_add(by));
            return (0..totals.len().div_ceil(64)).for_each(on_change);
        }
        let moving = moved.iter().fold(0, |bits, &(level, _)| bits | bit(level));
        // For few levels, one after the other is faster than a lookup for each node.
        let has_few_levels = moved.len() <= MAX_SINGLE_LEVELS;
        if !has_few_levels {
            by_level.clear();
            by_level.resize(levels.len(), 0);
            moved.iter().for_each(|&(level, by)| by_level[level as usize] = by);
        }
        let words = present.iter_mut().zip(level_of.as_chunks().0).zip(totals.chunks_mut(64)).enumerate();
        for (word, ((present, of_node), totals)) in words {
            if *present & moving == 0 {
                continue;
            }
            let mut any = 0;
            if has_few_levels {
                for &(moved, by) in moved.iter().filter(|(level, _)| *present & bit(*level) != 0) {
                    any |= add_to_totals(totals, of_node, |level| if u32::from(level) == moved { by } else { 0 });
                }
            } else {
                any = add_to_totals(totals, of_node, |level| by_level[usize::from(level)]);
            }
            if any == 0 {
                // No node of this word has one of these levels any more.
                *present = of_node.iter().fold(0, |bits, &level| bits | bit(level.into()));
            } else {
                on_change(word);
            }
        }
    }

    /// Returns the part that the totals of all nodes have in common: the score of the uniform class.
    #[inline(always)]
    pub fn common_in_total(&self) -> i32 {
        if self.is_by_node { 0 } else { self.levels.weighted()[self.uniform as usize] }
    }

    /// Adds the scores of nodes to their totals, except scores that are common or separate.
    #[inline(always)]
    pub fn add_by_node(&self, nodes: &NodeSet, totals: &mut [i32]) {
        if self.is_by_node && !self.is_separate {
            self.add_levels(nodes, totals);
        }
    }

    #[inline(never)]
    fn add_levels(&self, nodes: &NodeSet, totals: &mut [i32]) {
        let weighted = self.levels.weighted();
        for (word, bits) in nodes.words() {
            for node in nodes_of(word, bits) {
                let total = &mut totals[node.get()];
                *total = total.wrapping_add(weighted[usize::from(self.level_of[node.get()])]);
            }
        }
    }

    /// Returns the plugin's part of a node's total: the weighted normalised score, or 0 if the scores are separate.
    pub fn in_total(&self, node: usize) -> i32 {
        if self.is_separate { 0 } else { self.weighted(node) }
    }

    /// Returns the weighted normalised score of a node.
    pub fn weighted(&self, node: usize) -> i32 {
        let level = if self.is_by_node { self.level_of[node].into() } else { self.uniform };
        self.levels.weighted()[level as usize]
    }
}
