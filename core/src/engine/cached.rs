//! Decisions from cached answers: only changes are evaluated.

use std::sync::Arc;

use super::full_evaluation::nodes_to_find;
use super::phases::Choice;
use super::{Decision, Engine, PreFilterOutcome, PreFilteredPod, SchedulingCycle};
use crate::engine::incremental::sample;
use crate::engine::incremental::{CachedAnswer, CompiledPod, LatestAnswer, SignatureId};
use crate::engine::observer::Observer;
use crate::model::cache::Cache;
use crate::model::node_mask::NodeMask;
use crate::model::{NodeIndex, Pod};
use crate::plugin_api::incremental::NeedsFullEvaluation;
use crate::profile_api::extenders::Extenders;
use crate::profile_api::plugin_results::{PluginResults, UpdateContext};
use crate::profile_api::profile::Profile;

/// Number of predicted nodes up to which a full evaluation is as fast as an update of a cached answer.
const MAX_PREDICTED_NODES: usize = 16;

/// A new answer with its choice; otherwise the outcome of PreFilter, or `None` if PreFilter has to run (again).
type Created<P> = Result<(Choice, Box<CachedAnswer<P>>), Option<PreFilterOutcome<P>>>;

impl<P: Profile> Engine<P> {
    /// Returns whether answers are cached: caching is enabled, all nodes are evaluated, and there are no extenders.
    pub(super) fn can_cache(&self, cache: &Cache<P::State>) -> bool {
        let nodes = cache.base.count();
        self.cache_answers
            && <P::PluginResults as PluginResults<P>>::IS_CACHED
            && P::Extenders::NONE
            && nodes_to_find(self.percentage_of_nodes_to_score, nodes) == nodes
    }

    /// Decides by the cached answer of the last compiled pod: pods of one template often follow each other. `None`: the
    /// pod has another spec, or there is no answer that can be updated.
    #[inline(always)]
    pub(super) fn decide_from_latest(
        &mut self,
        cycle: SchedulingCycle<'_, P, impl FnMut(usize) -> usize, impl Observer>,
    ) -> Option<(Decision, SignatureId)> {
        if !self.can_cache(cycle.cache) {
            return None;
        }
        let Engine { plugins, signatures, scratch, .. } = self;
        let LatestAnswer { id, compiled, cached, bytes } =
            signatures.latest_answer(&**plugins, &cycle.pod.spec, cycle.cache)?;
        let cx = UpdateContext { plugins: &**plugins, pod: cycle.pod, compiled, cache: cycle.cache };
        let Ok(choice) = cached.update(&cx, scratch) else {
            signatures.take(id);
            return None;
        };
        let has_other_size = cached.bytes() != bytes;
        let decision = cycle.decide(&**plugins, choice, cached);
        if has_other_size {
            signatures.update_bytes(id);
        }
        Some((decision, id))
    }

    /// Decides by the cached answer of the pod's signature.
    ///
    /// # Errors
    /// There is no answer, and a full evaluation has to follow. The error is the outcome of PreFilter, or `None` if
    /// PreFilter has to run (again).
    #[inline]
    pub(super) fn decide_from_cache(
        &mut self,
        read: &CompiledPod<P>,
        cycle: SchedulingCycle<'_, P, impl FnMut(usize) -> usize, impl Observer>,
    ) -> Result<(Decision, SignatureId), Option<PreFilterOutcome<P>>> {
        let signature = read.signature.filter(|_| self.can_cache(cycle.cache)).ok_or(None)?;
        let choice = self.current_choice(signature, read, cycle.pod, cycle.cache, cycle.observer)?;
        if self.sampler.is_due() {
            self.compare_sample(signature, read, cycle.pod, cycle.cache);
        }
        let Engine { plugins, signatures, .. } = self;
        let cached = signatures.cached_answer_mut(signature).ok_or(None)?;
        Ok((cycle.decide(&**plugins, choice, cached), signature))
    }

    /// Compares a cached answer with a full evaluation.
    fn compare_sample(
        &mut self,
        signature: SignatureId,
        read: &CompiledPod<P>,
        pod: &Arc<Pod>,
        cache: &Cache<P::State>,
    ) {
        let mut attempt = match self.start(read, cache) {
            PreFilterOutcome::PreFiltered(attempt) => attempt,
            PreFilterOutcome::Rejected(rejected) => {
                let status = &rejected.status;
                sample::fail(&*self.plugins, pod, "PreFilter", &[status.plugin], [&status.message(), "no rejection"])
            }
        };
        let Engine { plugins, signatures, evaluation, .. } = self;
        if let Some(cached) = signatures.cached_answer_mut(signature) {
            let attempt = &mut *attempt;
            sample::Sample { plugins: &**plugins, pod, cache, attempt, evaluation }.compare(cached);
        }
        self.spare = Some(attempt);
    }

    /// Updates or creates the cached answer of a signature. Returns the nodes to choose from.
    ///
    /// # Errors
    /// As for [`Engine::decide_from_cache`].
    #[inline]
    fn current_choice(
        &mut self,
        signature: SignatureId,
        read: &CompiledPod<P>,
        pod: &Arc<Pod>,
        cache: &Cache<P::State>,
        observer: &mut impl Observer,
    ) -> Result<Choice, Option<PreFilterOutcome<P>>> {
        let is_first = self.signatures.mark_used(signature);
        if let Some(cached) = self.signatures.cached_answer_mut(signature) {
            let cx = UpdateContext { plugins: &*self.plugins, pod, compiled: &read.compiled, cache };
            if let Ok(choice) = cached.update(&cx, &mut self.scratch) {
                self.signatures.updated(signature);
                return Ok(choice);
            }
        }
        self.signatures.take(signature);
        let (choice, cached) = self.create_cached(read, is_first, pod, cache, observer)?;
        self.signatures.put(signature, cached);
        Ok(choice)
    }

    #[inline(never)]
    fn create_cached(
        &mut self,
        read: &CompiledPod<P>,
        is_first: bool,
        pod: &Arc<Pod>,
        cache: &Cache<P::State>,
        observer: &mut impl Observer,
    ) -> Created<P> {
        match self.start_observed(read, cache, observer) {
            PreFilterOutcome::PreFiltered(attempt)
                if attempt.pre_filter.nodes().is_none() && !self.has_few_nodes(&attempt, is_first, cache) =>
            {
                let cx = UpdateContext { plugins: &*self.plugins, pod, compiled: &read.compiled, cache };
                let created = CachedAnswer::create(*attempt, &cx, &mut self.scratch, observer);
                created.map_err(|NeedsFullEvaluation| None)
            }
            start => Err(Some(start)),
        }
    }

    /// Returns whether at least one node, but only few, can be feasible: a full evaluation is then as fast. If no node
    /// can be feasible, the cached diagnosis is faster. Common verdicts are used only for the first answer of a
    /// signature, which may also be its last. If the signature returns, updating an answer is faster than PreFilter.
    fn has_few_nodes(&mut self, attempt: &PreFilteredPod<P>, is_first: bool, cache: &Cache<P::State>) -> bool {
        let count = match self.predicted_nodes(attempt, cache) {
            Some(nodes) => Some(nodes.len()),
            None if is_first => self.common_verdicts.passing(attempt, cache).map(NodeMask::count),
            None => None,
        };
        count.is_some_and(|nodes| (1..=MAX_PREDICTED_NODES).contains(&nodes))
    }

    /// Returns whether a scheduling cycle may choose this node for a pod, by the cached answer. `None`: there is no
    /// answer, or no node is feasible.
    pub fn may_choose(&mut self, pod: &Arc<Pod>, cache: &mut Cache<P::State>, node: NodeIndex) -> Option<bool> {
        let (choice, cached) = self.current_answer(pod, cache)?;
        match choice {
            Choice::Node(chosen) => Some(node == chosen),
            Choice::Best { .. } => Some(cached.total(node) == Some(cached.best().total.into())),
            Choice::NoNode => None,
        }
    }

    /// Returns the updated cached answer for a pod: the feasible nodes with their totals, or without totals if there is
    /// no scoring. `None`: there is no answer. For tests, which compare it with a full evaluation.
    pub fn cached_answer(&mut self, pod: &Arc<Pod>, cache: &mut Cache<P::State>) -> Option<CachedAnswerSummary> {
        let (_, cached) = self.current_answer(pod, cache)?;
        let totals = cached.feasible.iter().map(|node| (node, cached.total(node))).collect();
        Some(CachedAnswerSummary { feasible: cached.feasible.clone(), totals })
    }

    fn current_answer(&mut self, pod: &Arc<Pod>, cache: &mut Cache<P::State>) -> Option<(Choice, &CachedAnswer<P>)> {
        let read = self.read(pod, cache);
        let signature = read.signature.filter(|_| self.can_cache(cache))?;
        let choice = self.current_choice(signature, &read, pod, cache, &mut ()).ok()?;
        Some((choice, self.signatures.cached_answer(signature)?))
    }
}

/// Summary of a cached answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CachedAnswerSummary {
    /// The nodes that pass every filter, with and without the pods that are nominated for them.
    pub feasible: NodeMask,
    /// Totals of the feasible nodes; `None` if fewer than two nodes are feasible.
    pub totals: Vec<(NodeIndex, Option<i64>)>,
}
