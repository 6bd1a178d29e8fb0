//! A cached answer: created once, then updated.

use std::sync::Arc;

use super::best_by_group::BestByGroup;
use super::best_tree::{Best, BestTree};
use super::flipping_nodes::FlippingNodes;
use super::reusable_scores::ReusableScores;
use super::update::AnswerUpdate;
use super::{CachedDiagnosis, NominatedNodes};
use crate::engine::FailedAttempt;
use crate::engine::evaluated::Evaluated;
use crate::engine::observer::Observer;
use crate::engine::phases::{Choice, Phases};
use crate::engine::pre_filtered_pod::PreFilteredPod;
use crate::model::cache::Cache;
use crate::model::node_mask::NodeMask;
use crate::model::{NodeIndex, Pod};
use crate::plugin_api::diagnosis::Diagnosis;
use crate::plugin_api::incremental::NeedsFullEvaluation;
use crate::profile_api::plugin_results::{PluginResults, UpdateContext, UpdateScratch};
use crate::profile_api::profile::Profile;

/// The answer for all pods with one signature.
pub(crate) struct CachedAnswer<P: Profile> {
    pub(crate) attempt: PreFilteredPod<P>,
    /// Position in the cluster's change log up to which the answer is current.
    pub(super) seen: u64,
    pub(super) parts: P::PluginResults,
    /// The nodes that pass every filter, also with their nominated pods.
    pub(crate) feasible: NodeMask,
    /// Number of feasible nodes.
    pub(crate) count: usize,
    pub(super) nominations: NominatedNodes,
    /// The nodes that pass without their nominated pods, but not with them.
    pub(super) excluded_for_nominated: NodeMask,
    /// Whether the verdicts with nominated pods depend on each node alone, for the pod of the last update.
    pub(super) nominated_node_only: bool,
    /// Verdicts for the signature's last pod without a feasible node.
    pub(super) diagnosis: Option<Box<CachedDiagnosis<P>>>,
    /// The score state; `None` while there are too few feasible nodes for scoring.
    pub(super) score: Option<P::Score>,
    pub(super) reusable_scores: ReusableScores,
    pub(super) totals: Vec<i32>,
    /// The best totals, unless `best_by_group` has them.
    pub(super) best: BestTree,
    /// The best totals by level of a plugin whose scores are separate from the totals, or by group of `flipping`.
    pub(super) best_by_group: Option<Box<BestByGroup>>,
    pub(super) flipping: FlippingNodes,
    /// Size in bytes when it was created, or grew last.
    pub(super) bytes: usize,
}

impl<P: Profile> CachedAnswer<P> {
    /// Creates an answer: evaluates every node for a pod.
    ///
    /// # Errors
    /// A plugin failed, and there is no answer to cache. The attempt is lost.
    pub(crate) fn create(
        attempt: PreFilteredPod<P>,
        cx: &UpdateContext<'_, P>,
        work: &mut UpdateScratch,
        observer: &mut impl Observer,
    ) -> Result<(Choice, Box<Self>), NeedsFullEvaluation> {
        let mut cached = Box::new(CachedAnswer {
            attempt,
            seen: cx.cache.log.end(),
            parts: P::PluginResults::default(),
            feasible: NodeMask::default(),
            count: 0,
            nominations: NominatedNodes::default(),
            excluded_for_nominated: NodeMask::default(),
            nominated_node_only: false,
            diagnosis: None,
            score: None,
            reusable_scores: ReusableScores::default(),
            totals: Vec::new(),
            best: BestTree::default(),
            best_by_group: None,
            flipping: FlippingNodes::default(),
            bytes: 0,
        });
        let choice = AnswerUpdate { cached: &mut cached, cx, work, observer, is_new: true }.run()?;
        Ok((choice, cached))
    }

    /// Updates the answer, for a pod with its signature.
    ///
    /// # Errors
    /// The answer cannot be updated; discard it.
    #[inline(never)]
    pub(crate) fn update(
        &mut self,
        cx: &UpdateContext<'_, P>,
        work: &mut UpdateScratch,
    ) -> Result<Choice, NeedsFullEvaluation> {
        AnswerUpdate { cached: self, cx, work, observer: &mut (), is_new: false }.run()
    }

    /// Returns the highest total and the number of nodes with it; 0 nodes without scoring.
    pub(crate) fn best(&self) -> Best {
        match &self.best_by_group {
            _ if self.score.is_none() => Best::default(),
            Some(best) => best.best(),
            None => self.best.root(),
        }
    }

    /// Returns the `k`-th of the nodes with the highest total, in the order of node indices.
    pub(crate) fn kth_best(&self, k: usize) -> Option<NodeIndex> {
        match &self.best_by_group {
            Some(best) => best.kth(k as u32),
            None => self.best.kth(k as u32),
        }
    }

    /// Returns the total of a feasible node; `None` without scoring.
    pub(crate) fn total(&self, node: NodeIndex) -> Option<i64> {
        self.score.as_ref()?;
        let separate = self.best_by_group.as_ref().map_or(0, |best| best.score_of(node));
        self.feasible.contains(node).then(|| self.totals[node.get()].wrapping_add(separate).into())
    }

    /// Returns its size in bytes without plugins' states, as of its creation or last growth.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn update_bytes(&mut self) {
        self.bytes = self.parts.bytes()
            + self.totals.capacity() * size_of::<i32>()
            + self.best.bytes()
            + self.best_by_group.as_ref().map_or(0, |best| best.bytes())
            + self.flipping.bytes()
            + self.reusable_scores.bytes()
            + self.feasible.words().len() * 8
            + self.diagnosis.as_ref().map_or(0, |diagnosed| diagnosed.bytes())
    }
}

impl<P: Profile> Evaluated<P> for CachedAnswer<P> {
    fn kth_best(&self, k: usize) -> Option<NodeIndex> {
        CachedAnswer::kth_best(self, k)
    }
    fn diagnose(&mut self, pod: &Arc<Pod>, cache: &Cache<P::State>) -> Diagnosis {
        self.diagnosis.get_or_insert_default().diagnose(&mut self.attempt, pod, cache)
    }
    fn failed(&self) -> FailedAttempt<'_, P> {
        FailedAttempt::of(&self.attempt)
    }
}
