//! Evaluation of one pod by a profile: the feasible nodes and their scores.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::engine::node_loops::{self, BestTotal};
use crate::engine::observer::Observer;
use crate::model::cache::{Base, Cache};
use crate::model::node_mask::NodeMask;
use crate::model::{NodeIndex, Pod};
use crate::plugin_api::extension_points::MAX_NODE_SCORE;
use crate::plugin_api::status::Status;
use crate::profile_api::extenders::Extenders;
use crate::profile_api::idle_plugins::IdlePlugins;
use crate::profile_api::profile::{PluginScore, Profile, ScoreFailure};

/// Feasible nodes and scores of one pod. The memory is reused for the next pod.
pub struct Evaluation<P: Profile> {
    /// The nodes that passed every filter.
    pub feasible: NodeMask,
    raw: P::Raw,
    totals: Vec<i64>,
}

impl<P: Profile> Default for Evaluation<P> {
    fn default() -> Self {
        Evaluation { feasible: NodeMask::default(), raw: P::Raw::default(), totals: Vec::new() }
    }
}

impl<P: Profile> Evaluation<P> {
    /// Evaluates a pod on every node: all filters, then all scores. Nominated pods are not taken into account.
    ///
    /// # Errors
    /// A plugin failed, or its score is out of range.
    pub fn evaluate(
        &mut self,
        plugins: &P,
        pod: &P::Pod,
        cycle: &P::Cycle,
        cache: &Cache<P::State>,
    ) -> Result<BestTotal, Status> {
        self.feasible.copy_from(cache.base.alive());
        let columns = P::columns(&cache.state, &cache.base);
        match node_loops::filter_nodes::<P>(pod, cycle, columns, &mut self.feasible) {
            Some(node) => Err(Status::error(format!("a filter failed on node {}", cache.base.name(node)))),
            None => self.prioritize(plugins, pod, cycle, cache),
        }
    }

    /// Scores the feasible nodes: kube-scheduler's `prioritizeNodes`.
    ///
    /// # Errors
    /// A plugin failed, or its score is out of range.
    pub fn prioritize(
        &mut self,
        plugins: &P,
        pod: &P::Pod,
        cycle: &P::Cycle,
        cache: &Cache<P::State>,
    ) -> Result<BestTotal, Status> {
        let score = plugins.pre_score(pod, cycle, cache, &self.feasible)?;
        let extents = self.score_feasible(pod, &score, cache);
        let best = extents.and_then(|extents| self.total_feasible(pod, &score, &extents, cache));
        plugins.recycle_score(score);
        best
    }

    /// Computes the raw scores of the feasible nodes.
    ///
    /// # Errors
    /// A plugin failed.
    pub(super) fn score_feasible(
        &mut self,
        pod: &P::Pod,
        score: &P::Score,
        cache: &Cache<P::State>,
    ) -> Result<P::Extents, Status> {
        let slots = cache.base.infos().len();
        let columns = P::columns(&cache.state, &cache.base);
        P::resize(&mut self.raw, slots);
        self.totals.resize(slots, 0);
        node_loops::score_nodes::<P>(pod, score, columns, &self.feasible, &mut self.raw).map_err(score_failure)
    }

    /// Computes the totals of the feasible nodes from their raw scores.
    ///
    /// # Errors
    /// A score is out of range.
    pub(super) fn total_feasible(
        &mut self,
        pod: &P::Pod,
        score: &P::Score,
        extents: &P::Extents,
        cache: &Cache<P::State>,
    ) -> Result<BestTotal, Status> {
        let (best, range) =
            node_loops::total_nodes::<P>(pod, score, &self.raw, extents, &self.feasible, &mut self.totals);
        if range.holds() {
            return Ok(best);
        }
        let columns = P::columns(&cache.state, &cache.base);
        let culprit = self.feasible.iter().find_map(|node| self.first_out_of_range(pod, score, extents, columns, node));
        Err(culprit.map_or_else(|| Status::error("a score is out of range"), out_of_range))
    }

    /// Returns a node's first score that is out of range.
    fn first_out_of_range(
        &self,
        pod: &P::Pod,
        score: &P::Score,
        extents: &P::Extents,
        columns: P::Columns<'_>,
        node: NodeIndex,
    ) -> Option<PluginScore> {
        let scores = P::scores(pod, score, &self.raw, extents, columns, node.get());
        scores.into_iter().find(|score| !(0..=MAX_NODE_SCORE).contains(&score.normalized))
    }

    /// Returns all errors with which scoring the feasible nodes can end. The actual error depends on the node that is
    /// scored first.
    pub(crate) fn possible_errors(
        &mut self,
        plugins: &P,
        pod: &P::Pod,
        cycle: &P::Cycle,
        cache: &Cache<P::State>,
    ) -> BTreeSet<String> {
        let score = match plugins.pre_score(pod, cycle, cache, &self.feasible) {
            Ok(score) => score,
            Err(status) => return [status.message()].into(),
        };
        let columns = P::columns(&cache.state, &cache.base);
        let mut extents = P::Extents::default();
        P::resize(&mut self.raw, cache.base.infos().len());
        let mut failures = BTreeSet::new();
        for node in self.feasible.iter() {
            let scored = P::score::<{ IdlePlugins::Unknown as u8 }>(
                pod,
                &score,
                columns,
                node.get(),
                &mut self.raw,
                &mut extents,
            );
            failures.extend(scored.err().map(|failure| score_failure(failure).message()));
        }
        if failures.is_empty() {
            let culprits =
                self.feasible.iter().filter_map(|node| self.first_out_of_range(pod, &score, &extents, columns, node));
            failures.extend(culprits.map(|culprit| out_of_range(culprit).message()));
        }
        failures
    }

    /// Adds the scores of extenders to the totals.
    pub(crate) fn add_extender_scores(
        &mut self,
        extenders: &P::Extenders,
        pod: &Arc<Pod>,
        base: &Base,
        best: BestTotal,
        observer: &mut impl Observer,
    ) -> BestTotal {
        let before = self.totals.clone();
        extenders.prioritize(pod, base, &self.feasible, &mut self.totals);
        let added = |node: NodeIndex| (node, self.totals[node.get()].saturating_sub(before[node.get()]));
        observer.extenders_scored(&self.feasible.iter().map(added).collect::<Vec<_>>());
        let totals = || self.feasible.iter().map(|node| self.totals[node.get()]);
        let total = totals().max().unwrap_or(best.total);
        BestTotal { total, ties: totals().filter(|&of_node| of_node == total).count() }
    }

    /// Returns the `k`-th of the nodes with the highest total, in the order of their indices.
    pub(crate) fn kth_best(&self, best: BestTotal, k: usize) -> Option<NodeIndex> {
        self.feasible.iter().filter(|node| self.totals[node.get()] == best.total).nth(k)
    }

    /// Returns the total of a node, after [`Evaluation::prioritize`]; `None` if the node is not feasible.
    pub fn total(&self, node: NodeIndex) -> Option<i64> {
        self.feasible.contains(node).then(|| self.totals.get(node.get()).copied()).flatten()
    }

    /// Returns the scores that make up the total of each feasible node.
    ///
    /// # Errors
    /// As for [`Evaluation::prioritize`].
    pub(crate) fn breakdown(
        &mut self,
        plugins: &P,
        pod: &P::Pod,
        cycle: &P::Cycle,
        cache: &Cache<P::State>,
    ) -> Result<Vec<(NodeIndex, Vec<PluginScore>)>, Status> {
        let score = plugins.pre_score(pod, cycle, cache, &self.feasible)?;
        let extents = self.score_feasible(pod, &score, cache)?;
        self.total_feasible(pod, &score, &extents, cache)?;
        let columns = P::columns(&cache.state, &cache.base);
        let parts = |node: NodeIndex| {
            let mut scores = P::scores(pod, &score, &self.raw, &extents, columns, node.get());
            // `i64::MIN` marks a node that the plugin excludes from scoring. kube-scheduler's Score returns 0 for such a
            // node, and its plugin notes the exclusion in the cycle state.
            scores.iter_mut().filter(|score| score.raw == i64::MIN).for_each(|score| score.raw = 0);
            (node, scores)
        };
        Ok(self.feasible.iter().map(parts).collect())
    }
}

fn score_failure(failure: ScoreFailure) -> Status {
    Status::error(format!("running Score plugins: plugin {:?} failed with: {}", failure.plugin, failure.error.0))
}

fn out_of_range(PluginScore { plugin, normalized: score, .. }: PluginScore) -> Status {
    Status::error(format!(
        "applying score defaultWeights on Score plugins: plugin {plugin:?} returns an invalid score {score}, \
         it should in the range of [0, {MAX_NODE_SCORE}] after normalizing"
    ))
}
