//! The phases of an update of a cached answer.

use std::sync::Arc;

use super::CachedAnswer;
use super::best_by_group::BestByGroup;
use super::best_tree::BestTree;
use super::flipping_nodes::are_many;
use crate::engine::observer::{Observer, Point};
use crate::engine::phases::{Choice, Phases};
use crate::engine::pre_filtered_pod::PreFilteredPod;
use crate::model::cache::Cache;
use crate::model::{NodeIndex, Pod};
use crate::plugin_api::incremental::NeedsFullEvaluation;
use crate::plugin_api::status::Code;
use crate::profile_api::plugin_results::{NormalizedScores, PluginResults, UpdateContext, UpdateScratch};
use crate::profile_api::profile::Profile;

/// An update of a cached answer for a pod with its signature.
pub(super) struct AnswerUpdate<'a, P: Profile, O> {
    pub(super) cached: &'a mut CachedAnswer<P>,
    pub(super) cx: &'a UpdateContext<'a, P>,
    pub(super) work: &'a mut UpdateScratch,
    pub(super) observer: &'a mut O,
    /// Whether the answer is new: all nodes are evaluated.
    pub(super) is_new: bool,
}

impl<P: Profile, O: Observer> Phases for AnswerUpdate<'_, P, O> {
    type Failure = NeedsFullEvaluation;

    #[inline(always)]
    fn changes(&mut self) -> Result<(), NeedsFullEvaluation> {
        self.observer.point_started(Point::Filter);
        let base = &self.cx.cache.base;
        self.work.begin(base.infos().len());
        if self.is_new {
            self.work.add_all(base.alive());
            return Ok(());
        }
        self.cached.read_changes(self.cx.cache, self.work)
    }

    #[inline(always)]
    fn verdicts(&mut self) -> Result<(), NeedsFullEvaluation> {
        let AnswerUpdate { cached, cx, work, .. } = self;
        let slots = cx.cache.base.infos().len();
        if self.is_new || !Arc::ptr_eq(&cached.attempt.compiled, cx.compiled) {
            cached.attempt.compiled = cx.compiled.clone();
            cached.parts.find_active(cx.compiled, &cached.attempt.cycle, cached.score.as_ref());
        }
        if cached.feasible.words().len() < slots.div_ceil(64) {
            cached.feasible.resize(slots);
            cached.parts.resize_filters(cx.compiled, &cached.attempt.cycle, slots);
            cached.bytes = 0;
        }
        cached.parts.update_filters(cx, &mut cached.attempt.cycle, work)
    }

    #[inline(always)]
    fn feasible_nodes(&mut self) -> Result<(), NeedsFullEvaluation> {
        let AnswerUpdate { cached, cx, work, .. } = self;
        cached.exclude_for_nominated_pods(cx.pod, cx.cache, work)?;
        if let Some(diagnosis) = &mut cached.diagnosis {
            // Filter may reject a changed node again, but for another reason.
            let slots = cx.cache.base.infos().len();
            diagnosis.mark_stale(&work.changes.existing, slots);
            diagnosis.mark_stale(&work.verdicts.dirty, slots);
        }
        if !work.verdicts.dirty.is_empty() {
            cached.combine_verdicts(cx.cache, work);
        }
        let code = if self.cached.count == 0 { Code::Unschedulable } else { Code::Success };
        self.observer.point_ended(Point::Filter, code);
        Ok(())
    }

    #[inline(always)]
    fn scores(&mut self) -> Result<(), NeedsFullEvaluation> {
        let AnswerUpdate { cached, cx, work, .. } = self;
        if cached.count < 2 {
            if let Some(score) = cached.score.take() {
                cx.plugins.recycle_score(score);
            }
            return Ok(());
        }
        self.observer.point_started(Point::Score);
        match cached.score {
            Some(_) => cached.update_scores(cx, work)?,
            None => cached.begin_scores(cx, work)?,
        }
        let Some(score) = &cached.score else { return Ok(()) };
        cached.parts.score(cx, score, &cached.feasible, &mut cached.totals, work)
    }

    #[inline(always)]
    fn totals(&mut self) -> Result<(), NeedsFullEvaluation> {
        let AnswerUpdate { cached, cx, work, .. } = self;
        if let Some(score) = &cached.score {
            cached.parts.total(cx, score, &cached.feasible, &mut cached.totals, work)?;
            let scores = &mut work.scores;
            // Usually, these sets are empty.
            if !scores.rescored.is_empty() {
                scores.to_score.extend(&scores.rescored);
            }
            let mut are_many_lost = false;
            if !work.feasibility_changed.is_empty() {
                scores.to_score.extend(&work.feasibility_changed);
                let lost = |(word, bits): (usize, u64)| bits & !cached.feasible.words()[word];
                are_many_lost = are_many(work.feasibility_changed.words().map(lost), cached.totals.len());
            }
            if scores.retotalled.is_empty() && cached.best_by_group.is_none() && !are_many_lost {
                cached.best.refresh(&scores.to_score, &cached.totals, &cached.feasible);
            } else {
                cached.refresh_groups(work, are_many_lost);
            }
            self.observer.point_ended(Point::Score, Code::Success);
        }
        if cached.bytes == 0 {
            cached.update_bytes();
        }
        Ok(())
    }

    #[inline(always)]
    fn choice(&self) -> Choice {
        let AnswerUpdate { cached, cx, .. } = self;
        let nominated = cx.pod.nominated_node.and_then(|name| cx.cache.base.node(name));
        match nominated.filter(|&node| cached.feasible.contains(node)) {
            Some(node) => Choice::Node(node),
            None => Choice::of(&cached.feasible, cached.count, || cached.best().ties as usize),
        }
    }
}

impl<P: Profile> CachedAnswer<P> {
    /// Reads the changes in the cluster log since the last update.
    #[inline(always)]
    fn read_changes(&mut self, cache: &Cache<P::State>, work: &mut UpdateScratch) -> Result<(), NeedsFullEvaluation> {
        let alive = cache.base.alive();
        for entries in cache.log.slices_since(self.seen).ok_or(NeedsFullEvaluation)? {
            for entry in entries {
                let node = entry.slot();
                if entry.is_node_change() || !alive.contains(node) {
                    work.add_changed_node(node, alive, entry.is_node_change());
                } else {
                    work.add_changed_pods(node);
                }
            }
        }
        work.changes.existing.sort_if_many();
        self.seen = cache.log.end();
        Ok(())
    }

    /// Finds the nodes that pass without their nominated pods, but not with them. Evaluates nodes whose nominations
    /// changed, and other nodes with nominations whose verdict may have changed.
    #[inline(always)]
    fn exclude_for_nominated_pods(
        &mut self,
        pod: &Arc<Pod>,
        cache: &Cache<P::State>,
        work: &mut UpdateScratch,
    ) -> Result<(), NeedsFullEvaluation> {
        if cache.nominator.is_empty() && self.nominations.is_empty() {
            return Ok(());
        }
        self.update_excluded_for_nominated(pod, cache, work)
    }

    #[inline(never)]
    fn update_excluded_for_nominated(
        &mut self,
        pod: &Arc<Pod>,
        cache: &Cache<P::State>,
        work: &mut UpdateScratch,
    ) -> Result<(), NeedsFullEvaluation> {
        self.excluded_for_nominated.resize(cache.base.infos().len());
        let UpdateScratch { changes, verdicts, .. } = work;
        let (reevaluate, dirty) = (&mut verdicts.reevaluate, &mut verdicts.dirty);
        changes.nodes.iter().for_each(|&node| reevaluate.insert(node));
        self.nominations.update(pod, &cache.nominator, &cache.base, reevaluate);
        let is_per_node = P::reads_only_node(&self.attempt.compiled, &self.attempt.cycle);
        if std::mem::replace(&mut self.nominated_node_only, is_per_node) && is_per_node {
            let nominated = |word| self.nominations.nodes().words().get(word).copied().unwrap_or(0);
            dirty.words().for_each(|(word, bits)| reevaluate.insert_word(word, bits & nominated(word)));
        } else {
            // With the nominated pods, a verdict may depend on other nodes.
            reevaluate.insert_all(self.nominations.nodes());
        }
        dirty.extend(reevaluate);
        for node in reevaluate.iter() {
            let PreFilteredPod { compiled, cycle, .. } = &self.attempt;
            let passes = self.parts.passing(compiled, cycle, node.get() / 64) >> (node.0 % 64) & 1 == 1;
            self.excluded_for_nominated.remove(node);
            if !self.nominations.contains(node) {
                continue;
            }
            if self.is_rejected_with_nominated_pods(node, pod, cache)? && passes {
                self.excluded_for_nominated.insert(node);
            }
        }
        reevaluate.clear();
        Ok(())
    }

    /// Returns whether a node is rejected with its nominated pods. An error of a plugin has precedence, even if the node
    /// is also rejected without them.
    fn is_rejected_with_nominated_pods(
        &mut self,
        node: NodeIndex,
        pod: &Pod,
        cache: &Cache<P::State>,
    ) -> Result<bool, NeedsFullEvaluation> {
        match self.attempt.with_pods(&cache.nominated_on(node, pod), cache, node).filter() {
            Ok(()) => Ok(false),
            Err(rejection) if P::code(&rejection).is_rejected() => Ok(true),
            Err(_) => Err(NeedsFullEvaluation),
        }
    }

    /// Combines the verdicts of all filters for the nodes whose verdict may have changed.
    #[inline(always)]
    fn combine_verdicts(&mut self, cache: &Cache<P::State>, work: &mut UpdateScratch) {
        let PreFilteredPod { compiled, cycle, .. } = &self.attempt;
        let alive = cache.base.alive().words();
        let feasible = self.feasible.words_mut();
        for (word, _) in work.verdicts.dirty.words() {
            let mut passing = self.parts.passing(compiled, cycle, word) & alive[word];
            passing &= !self.excluded_for_nominated.words().get(word).copied().unwrap_or(0);
            let before = std::mem::replace(&mut feasible[word], passing);
            work.feasibility_changed.insert_word(word, before ^ passing);
            self.count = self.count + passing.count_ones() as usize - before.count_ones() as usize;
        }
    }

    /// Creates the score states. All feasible nodes are scored.
    #[inline(never)]
    fn begin_scores(&mut self, cx: &UpdateContext<'_, P>, work: &mut UpdateScratch) -> Result<(), NeedsFullEvaluation> {
        self.bytes = 0;
        let PreFilteredPod { compiled, cycle, .. } = &self.attempt;
        let slots = cx.cache.base.infos().len();
        let score = cx.plugins.pre_score(compiled, cycle, cx.cache, &self.feasible).map_err(|_| NeedsFullEvaluation)?;
        work.scores.score_all(&self.feasible);
        self.parts.find_active(compiled, cycle, Some(&score));
        self.parts.clear_scores();
        self.reusable_scores.clear();
        self.parts.resize_scores(&score, slots);
        self.totals.resize(slots, 0);
        self.best_by_group = None;
        self.flipping.clear();
        self.best.resize(slots);
        self.best.clear();
        self.score = Some(score);
        Ok(())
    }

    /// Finds the best nodes after changes that groups of nodes may have in common: changed scores of levels, or
    /// many nodes that became infeasible together. `are_many_lost`: whether there are such nodes.
    #[inline(never)]
    fn refresh_groups(&mut self, work: &mut UpdateScratch, are_many_lost: bool) {
        let CachedAnswer { parts, totals, feasible, best, best_by_group, flipping, bytes, .. } = self;
        let UpdateScratch { feasibility_changed: flipped, scores, .. } = work;
        let is_uniform = parts.find_normalized(NormalizedScores::is_by_node).is_none();
        let can_flip = is_uniform && scores.retotalled.is_empty();
        // If many nodes change anyway, trees of levels do not pay off.
        let are_few = cfg!(debug_assertions) || !BestTree::are_many(&scores.to_score, totals.len());
        scores.to_score.extend(&scores.retotalled);
        if let Some(by_group) = best_by_group {
            let separate = parts.find_normalized(NormalizedScores::is_separate);
            let levels = separate.as_ref().and_then(|scores| scores.few_separate_levels());
            let is_larger = if flipping.are_grouped() {
                can_flip.then(|| flipping.refresh(by_group, totals, feasible, flipped, scores))
            } else {
                levels.map(|levels| by_group.refresh(&scores.to_score, totals, levels.into()))
            };
            if let Some(is_larger) = is_larger {
                *bytes = if is_larger { 0 } else { *bytes };
                return;
            }
            // There are too many levels, or scores by node.
            if let Some(scores) = separate {
                scores.merge(totals);
            }
            flipping.clear();
            (*best_by_group, *bytes) = (None, 0);
            best.resize(totals.len());
            best.clear();
            scores.to_score.insert_all(feasible);
        } else if can_flip && are_many_lost && flipping.should_be_grouped_after_flip() {
            let mut by_group = flipping.begin(totals, feasible, flipped);
            flipping.refresh(&mut by_group, totals, feasible, flipped, scores);
            (*best_by_group, *best, *bytes) = (Some(Box::new(by_group)), BestTree::default(), 0);
            return;
        } else if are_few
            && let Some(scores) = parts.find_normalized(NormalizedScores::should_be_separate)
            && let Some(levels) = scores.separate(totals)
        {
            let by_group = BestByGroup::new(totals, feasible, levels.into());
            (*best_by_group, *best, *bytes) = (Some(Box::new(by_group)), BestTree::default(), 0);
            return;
        }
        best.refresh(&scores.to_score, totals, feasible);
    }

    /// Updates the score states, and finds the nodes to score.
    #[inline(always)]
    fn update_scores(
        &mut self,
        cx: &UpdateContext<'_, P>,
        work: &mut UpdateScratch,
    ) -> Result<(), NeedsFullEvaluation> {
        let Some(score) = &mut self.score else { return Ok(()) };
        let slots = cx.cache.base.infos().len();
        if self.totals.len() < slots {
            self.parts.resize_scores(score, slots);
            self.totals.resize(slots, 0);
            self.best.resize(slots);
        }
        work.find_nodes_to_score(&self.feasible);
        self.parts.update_scores(cx, (&self.attempt.cycle, score), &self.feasible, &mut self.totals, work)?;
        if !work.feasibility_changed.is_empty() {
            self.parts.remove_infeasible(score, &self.feasible, &work.feasibility_changed, &mut self.totals);
        }
        self.reusable_scores.update(slots, &self.feasible, work);
        Ok(())
    }
}
