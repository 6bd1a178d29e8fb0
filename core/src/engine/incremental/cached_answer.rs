//! A cached answer: created once, then updated.

use std::sync::Arc;

use super::best_tree::{BLOCK, BestTree, BlockBest};
use super::{CachedDiagnosis, NominatedNodes};
use crate::engine::pre_filtered_pod::PreFilteredPod;
use crate::model::cache::Cache;
use crate::model::node_mask::{NodeMask, nodes_of};
use crate::model::{NodeIndex, Pod};
use crate::plugin_api::diagnosis::Diagnosis;
use crate::plugin_api::incremental::NeedsFullEvaluation;
use crate::profile_api::plugin_results::{PluginResults, UpdateScratch};
use crate::profile_api::profile::Profile;

/// The answer for all pods with one signature.
pub(crate) struct CachedAnswer<P: Profile> {
    pub(crate) attempt: PreFilteredPod<P>,
    /// Position in the cluster's change log up to which it is current.
    seen: u64,
    parts: P::PluginResults,
    /// The nodes that pass every filter, also with their nominated pods.
    pub(crate) feasible: NodeMask,
    /// Number of feasible nodes.
    pub(crate) count: usize,
    nominations: NominatedNodes,
    /// The nodes that pass without their nominated pods, but not with them.
    excluded_for_nominated: NodeMask,
    /// Whether these depend on each node alone, for the pod of the last update.
    nominated_node_only: bool,
    /// Verdicts for the signature's last pod without a feasible node.
    diagnosis: Option<Box<CachedDiagnosis<P>>>,
    /// The score state; `None` while there are too few feasible nodes for scoring.
    score: Option<P::Score>,
    totals: Vec<i64>,
    best: BestTree,
    /// Size in bytes when it was created, or grew last.
    bytes: usize,
}

impl<P: Profile> CachedAnswer<P> {
    /// Filters every node for a pod; [`CachedAnswer::score_all`] must follow.
    ///
    /// # Errors
    /// A plugin failed, and there is no answer to cache. The attempt is lost.
    pub(crate) fn filtered(
        attempt: PreFilteredPod<P>,
        pod: &Arc<Pod>,
        cache: &Cache<P::State>,
        work: &mut UpdateScratch,
    ) -> Result<Self, NeedsFullEvaluation> {
        let mut cached = CachedAnswer {
            attempt,
            seen: cache.log.end(),
            parts: P::PluginResults::default(),
            feasible: NodeMask::default(),
            count: 0,
            nominations: NominatedNodes::default(),
            excluded_for_nominated: NodeMask::default(),
            nominated_node_only: false,
            diagnosis: None,
            score: None,
            totals: Vec::new(),
            best: BestTree::default(),
            bytes: 0,
        };
        let slots = cache.base.infos().len();
        cached.feasible.resize(slots);
        work.begin(slots);
        work.changed_existing.insert_all(cache.base.alive());
        let PreFilteredPod { compiled, cycle, .. } = &cached.attempt;
        let columns = P::columns(&cache.state, &cache.base);
        cached.parts.resize_filters(compiled, cycle, slots);
        cached.parts.filter(compiled, cycle, columns, &work.changed_existing, &mut work.dirty)?;
        work.dirty.extend(&work.changed_existing);
        cached.exclude_for_nominated_pods(pod, cache, work)?;
        cached.find_feasible(cache, work);
        Ok(cached)
    }

    /// Scores the feasible nodes.
    ///
    /// # Errors
    /// As for [`CachedAnswer::filtered`].
    pub(crate) fn score_all(
        &mut self,
        plugins: &P,
        cache: &Cache<P::State>,
        work: &mut UpdateScratch,
    ) -> Result<(), NeedsFullEvaluation> {
        self.score(plugins, cache, work)?;
        self.update_bytes();
        Ok(())
    }

    /// Updates the answer, for a pod with its signature.
    ///
    /// # Errors
    /// The answer cannot be updated; discard it.
    pub(crate) fn update(
        &mut self,
        plugins: &P,
        compiled: &Arc<P::Pod>,
        pod: &Arc<Pod>,
        cache: &Cache<P::State>,
        work: &mut UpdateScratch,
    ) -> Result<(), NeedsFullEvaluation> {
        if !Arc::ptr_eq(&self.attempt.compiled, compiled) {
            self.attempt.compiled = compiled.clone();
        }
        let slots = cache.base.infos().len();
        let alive = cache.base.alive();
        work.begin(slots);
        for entry in cache.log.since(self.seen).ok_or(NeedsFullEvaluation)? {
            let node = entry.slot();
            if entry.is_node_change() || !alive.contains(node) {
                work.node_objects_changed |= entry.is_node_change();
                work.add_changed_node(node, alive);
            } else {
                work.add_changed_pods(node);
            }
        }
        self.seen = cache.log.end();
        let PreFilteredPod { compiled, cycle, .. } = &mut self.attempt;
        if self.feasible.words().len() < slots.div_ceil(64) {
            self.feasible.resize(slots);
            self.parts.resize_filters(compiled, cycle, slots);
            self.bytes = 0;
        }
        self.parts.update_filters(plugins, compiled, cycle, cache, work)?;
        self.exclude_for_nominated_pods(pod, cache, work)?;
        if let Some(diagnosed) = &mut self.diagnosis {
            // Where Filter rejects as before, the reason may be another one.
            diagnosed.mark_stale(&work.changed_existing, slots);
            diagnosed.mark_stale(&work.dirty, slots);
        }
        if !work.dirty.is_empty() {
            self.find_feasible(cache, work);
        }
        self.rescore(plugins, cache, work)?;
        if self.bytes == 0 {
            self.update_bytes();
        }
        Ok(())
    }

    /// Finds the nodes that pass without their nominated pods, but not with them. Evaluates nodes whose nominations
    /// changed, and other nodes with nominations whose verdict may have changed.
    #[inline]
    fn exclude_for_nominated_pods(
        &mut self,
        pod: &Arc<Pod>,
        cache: &Cache<P::State>,
        work: &mut UpdateScratch,
    ) -> Result<(), NeedsFullEvaluation> {
        if cache.nominator.is_empty() && self.nominations.is_empty() {
            return Ok(());
        }
        self.exclude_for_some_nominated_pods(pod, cache, work)
    }

    fn exclude_for_some_nominated_pods(
        &mut self,
        pod: &Arc<Pod>,
        cache: &Cache<P::State>,
        work: &mut UpdateScratch,
    ) -> Result<(), NeedsFullEvaluation> {
        self.excluded_for_nominated.resize(cache.base.infos().len());
        work.changed.iter().for_each(|&node| work.reevaluate.insert(node));
        self.nominations.update(pod, &cache.nominator, &cache.base, &mut work.reevaluate);
        let alone = P::reads_only_node(&self.attempt.compiled, &self.attempt.cycle);
        if std::mem::replace(&mut self.nominated_node_only, alone) && alone {
            let nominated = |word| self.nominations.nodes().words().get(word).copied().unwrap_or(0);
            work.dirty.words().for_each(|(word, bits)| work.reevaluate.insert_word(word, bits & nominated(word)));
        } else {
            // State of other nodes may matter to a plugin only together with the nominated pods.
            work.reevaluate.insert_all(self.nominations.nodes());
        }
        work.dirty.extend(&work.reevaluate);
        for node in work.reevaluate.iter() {
            let PreFilteredPod { compiled, cycle, .. } = &self.attempt;
            let passes = self.parts.passing(compiled, cycle, node.get() / 64) >> (node.0 % 64) & 1 == 1;
            self.excluded_for_nominated.remove(node);
            if !self.nominations.contains(node) {
                continue;
            }
            if let Err(rejection) = self.attempt.with_pods(&cache.nominated_on(node, pod), cache, node).filter() {
                // An error of a plugin with nominated pods has precedence, also where the pod does not pass anyway.
                if !P::code(&rejection).is_rejected() {
                    return Err(NeedsFullEvaluation);
                }
                if passes {
                    self.excluded_for_nominated.insert(node);
                }
            }
        }
        work.reevaluate.clear();
        Ok(())
    }

    /// Returns why no node is feasible, for the pod of the last update.
    pub(crate) fn diagnose(&mut self, pod: &Pod, cache: &Cache<P::State>) -> Diagnosis {
        self.diagnosis.get_or_insert_default().diagnose(&mut self.attempt, pod, cache)
    }

    /// Combines the filters' verdicts for the dirty nodes. Adds the nodes whose feasibility changed to
    /// `work.feasibility_changed`.
    #[inline]
    fn find_feasible(&mut self, cache: &Cache<P::State>, work: &mut UpdateScratch) {
        let PreFilteredPod { compiled, cycle, .. } = &self.attempt;
        let alive = cache.base.alive().words();
        let feasible = self.feasible.words_mut();
        for (word, _) in work.dirty.words() {
            let mut passing = self.parts.passing(compiled, cycle, word) & alive[word];
            passing &= !self.excluded_for_nominated.words().get(word).copied().unwrap_or(0);
            let before = std::mem::replace(&mut feasible[word], passing);
            work.feasibility_changed.insert_word(word, before ^ passing);
            self.count = self.count + passing.count_ones() as usize - before.count_ones() as usize;
        }
    }

    /// Scores all feasible nodes, unless they are too few for scoring.
    fn score(
        &mut self,
        plugins: &P,
        cache: &Cache<P::State>,
        work: &mut UpdateScratch,
    ) -> Result<(), NeedsFullEvaluation> {
        if self.count < 2 {
            return Ok(());
        }
        self.bytes = 0;
        let PreFilteredPod { compiled, cycle, .. } = &self.attempt;
        let slots = cache.base.infos().len();
        let score = plugins.pre_score(compiled, cycle, cache, &self.feasible).map_err(|_| NeedsFullEvaluation)?;
        let CachedAnswer { parts, feasible, totals, best, .. } = self;
        work.reevaluate.clear();
        for set in [&mut work.to_score, &mut work.to_score_ignoring_pods] {
            set.clear();
            set.insert_all(feasible);
        }
        parts.clear_scores();
        parts.resize_scores(&score, slots);
        totals.resize(slots, 0);
        best.resize(slots);
        parts.score(compiled, &score, cache, feasible, totals, work)?;
        best.fill(totals, feasible);
        self.score = Some(score);
        Ok(())
    }

    /// Updates the scores.
    fn rescore(
        &mut self,
        plugins: &P,
        cache: &Cache<P::State>,
        work: &mut UpdateScratch,
    ) -> Result<(), NeedsFullEvaluation> {
        if self.count < 2 {
            if let Some(score) = self.score.take() {
                plugins.recycle_score(score);
            }
            return Ok(());
        }
        let Some(score) = &mut self.score else { return self.score(plugins, cache, work) };
        let PreFilteredPod { compiled, cycle, .. } = &self.attempt;
        let slots = cache.base.infos().len();
        if self.totals.len() < slots {
            self.parts.resize_scores(score, slots);
            self.totals.resize(slots, 0);
            self.best.resize(slots);
        }
        work.reevaluate.clear();
        let feasible = self.feasible.words();
        for (word, bits) in work.changed_existing.words() {
            work.to_score.insert_word(word, bits & feasible[word]);
        }
        for set in [&work.changed_node_objects, &work.feasibility_changed] {
            for (word, bits) in set.words() {
                work.to_score.insert_word(word, bits & feasible[word]);
                work.to_score_ignoring_pods.insert_word(word, bits & feasible[word]);
            }
        }
        let CachedAnswer { parts, totals, feasible, best, .. } = self;
        parts.update_scores(plugins, compiled, cycle, score, cache, feasible, work)?;
        if !work.feasibility_changed.is_empty() {
            parts.remove_infeasible(score, feasible, &work.feasibility_changed);
        }
        parts.score(compiled, score, cache, feasible, totals, work)?;
        work.to_score.extend(&work.rescored);
        work.to_score.extend(&work.feasibility_changed);
        work.to_score.extend(&work.reevaluate);
        best.refresh(&work.to_score, totals, feasible);
        Ok(())
    }

    /// Returns the highest total and the number of nodes with it; none without scoring.
    pub(crate) fn best(&self) -> BlockBest {
        if self.score.is_some() { self.best.root() } else { BlockBest::default() }
    }

    /// Returns the `k`-th of the nodes with the highest total, in the order of node indices.
    pub(crate) fn kth_best(&self, k: usize) -> Option<NodeIndex> {
        let (block, k) = self.best.kth(k as u32);
        let total = self.best.root().total;
        let (first, bits) = (block * BLOCK, self.feasible.block(block, BLOCK));
        let mut others = k;
        for node in nodes_of(0, bits).map(|node| first + node.get()) {
            if self.totals[node] != total {
                continue;
            }
            if others == 0 {
                return Some(NodeIndex(node as u32));
            }
            others -= 1;
        }
        None
    }

    /// Returns the total of a feasible node; `None` without scoring.
    pub(crate) fn total(&self, node: NodeIndex) -> Option<i64> {
        self.score.as_ref()?;
        self.feasible.contains(node).then(|| self.totals[node.get()])
    }

    /// Returns its size in bytes without plugins' states, as of its creation or last growth.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    fn update_bytes(&mut self) {
        self.bytes = self.parts.bytes()
            + self.totals.capacity() * size_of::<i64>()
            + self.best.bytes()
            + self.feasible.words().len() * 8
            + self.diagnosis.as_ref().map_or(0, |diagnosed| diagnosed.bytes())
    }
}
