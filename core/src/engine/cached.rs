//! Decisions from cached answers: only changes are evaluated.

use std::sync::Arc;

use super::feasible::nodes_to_find;
use super::{Decision, Engine, FailedAttempt, PreFilterOutcome};
use crate::engine::incremental::{CachedAnswer, CompiledPod, SignatureId};
use crate::engine::observer::{Observer, Point};
use crate::model::cache::Cache;
use crate::model::node_mask::NodeMask;
use crate::model::{NodeIndex, Pod};
use crate::plugin_api::status::Code;
use crate::profile_api::extenders::Extenders;
use crate::profile_api::plugin_results::PluginResults;
use crate::profile_api::profile::Profile;

/// Number of nodes up to which a full evaluation is as fast as an update of a cached answer.
const FEW: usize = 16;

impl<P: Profile> Engine<P> {
    /// Returns whether answers can be cached: all nodes are evaluated, and there are no extenders.
    pub(super) fn can_cache(&self, cache: &Cache<P::State>) -> bool {
        let nodes = cache.base.count();
        self.cache_answers
            && <P::PluginResults as PluginResults<P>>::IS_CACHED
            && P::Extenders::NONE
            && nodes_to_find(self.percentage_of_nodes_to_score, nodes) == nodes
    }

    /// Decides by the cached answer of the pod's signature. `None`: there is no answer, and a full evaluation follows,
    /// with the PreFilter outcome if it is in `started`.
    #[expect(clippy::too_many_arguments, reason = "state of the cycle, and the observer")]
    pub(super) fn decide_from_cache(
        &mut self,
        read: &CompiledPod<P>,
        pod: &Arc<Pod>,
        cache: &Cache<P::State>,
        now: i64,
        draw: &mut impl FnMut(usize) -> usize,
        observer: &mut impl Observer,
        started: &mut Option<PreFilterOutcome<P>>,
    ) -> Option<Decision> {
        let signature = read.signature?;
        self.ensure_current(signature, read, pod, cache, observer, started)?;
        let cached = self.signatures.cached_answer_mut(signature)?;
        Some(Self::decide_from_answer(&*self.plugins, cached, pod, cache, now, draw, observer))
    }

    /// Updates or creates a cached answer, if one is possible.
    #[inline]
    fn ensure_current(
        &mut self,
        signature: SignatureId,
        read: &CompiledPod<P>,
        pod: &Arc<Pod>,
        cache: &Cache<P::State>,
        observer: &mut impl Observer,
        started: &mut Option<PreFilterOutcome<P>>,
    ) -> Option<()> {
        self.signatures.mark_used(signature);
        if let Some(cached) = self.signatures.cached_answer_mut(signature)
            && cached.update(&*self.plugins, &read.compiled, pod, cache, &mut self.scratch).is_ok()
        {
            self.signatures.updated(signature);
            return Some(());
        }
        self.signatures.take(signature);
        let cached = self.create_cached(read, pod, cache, observer, started)?;
        self.signatures.put(signature, cached);
        Some(())
    }

    #[inline(never)]
    fn create_cached(
        &mut self,
        read: &CompiledPod<P>,
        pod: &Arc<Pod>,
        cache: &Cache<P::State>,
        observer: &mut impl Observer,
        started: &mut Option<PreFilterOutcome<P>>,
    ) -> Option<Box<CachedAnswer<P>>> {
        match self.start_observed(read, cache, observer) {
            // A full evaluation of few remaining nodes is as fast.
            PreFilterOutcome::PreFiltered(attempt)
                if attempt.pre_filter.nodes().is_none()
                    && self.likely(&attempt, cache).is_none_or(|nodes| nodes.len() > FEW) =>
            {
                observer.point_started(Point::Filter);
                let mut cached = CachedAnswer::filtered(*attempt, pod, cache, &mut self.scratch).ok()?;
                let is_hopeless = cached.feasible.is_empty();
                observer.point_ended(Point::Filter, if is_hopeless { Code::Unschedulable } else { Code::Success });
                observer.point_started(Point::Score);
                cached.score_all(&*self.plugins, cache, &mut self.scratch).ok()?;
                if cached.count > 1 {
                    observer.point_ended(Point::Score, Code::Success);
                }
                Some(Box::new(cached))
            }
            start => {
                *started = Some(start);
                None
            }
        }
    }

    fn decide_from_answer(
        plugins: &P,
        cached: &mut CachedAnswer<P>,
        pod: &Arc<Pod>,
        cache: &Cache<P::State>,
        now: i64,
        draw: &mut impl FnMut(usize) -> usize,
        observer: &mut impl Observer,
    ) -> Decision {
        let nominated = pod.nominated_node.and_then(|name| cache.base.node(name));
        if let Some(node) = nominated.filter(|&node| cached.feasible.contains(node)) {
            return Decision::Node(node);
        }
        let node = match cached.count {
            0 => {
                let diagnosis = cached.diagnose(pod, cache);
                return Self::post_filter(
                    plugins,
                    pod,
                    FailedAttempt::of(&cached.attempt),
                    diagnosis,
                    cache,
                    now,
                    draw,
                    observer,
                );
            }
            // With a single feasible node kube-scheduler does not score.
            1 => cached.feasible.iter().next(),
            _ => cached.kth_best(draw(cached.best().ties as usize)),
        };
        match node {
            Some(node) => Decision::Node(node),
            None => Decision::Error("the draw is beyond the number of best nodes".into()),
        }
    }

    /// Returns whether a scheduling cycle may choose this node for a pod, by the cached answer. `None`: there is no
    /// answer, or no node is feasible.
    pub fn may_choose(&mut self, pod: &Arc<Pod>, cache: &mut Cache<P::State>, node: NodeIndex) -> Option<bool> {
        let read = self.signatures.read(&*self.plugins, &pod.spec, cache);
        let signature = read.signature.filter(|_| self.can_cache(cache))?;
        self.ensure_current(signature, &read, pod, cache, &mut (), &mut None)?;
        let cached = self.signatures.cached_answer(signature)?;
        let nominated = pod.nominated_node.and_then(|name| cache.base.node(name));
        match nominated.filter(|&nominated| cached.feasible.contains(nominated)) {
            Some(nominated) => Some(node == nominated),
            None if cached.count == 0 => None,
            None if cached.count == 1 => Some(cached.feasible.contains(node)),
            None => {
                let total = cached.total(node);
                Some(cached.feasible.contains(node) && total.is_none_or(|total| total == cached.best().total))
            }
        }
    }

    /// Returns the updated cached answer for a pod: the feasible nodes with their totals, or without totals if there is
    /// no scoring. `None`: there is no answer. For tests, which compare it with a full evaluation.
    pub fn cached_answer(&mut self, pod: &Arc<Pod>, cache: &mut Cache<P::State>) -> Option<CachedAnswerSummary> {
        let read = self.signatures.read(&*self.plugins, &pod.spec, cache);
        if !self.can_cache(cache) {
            return None;
        }
        let signature = read.signature?;
        self.ensure_current(signature, &read, pod, cache, &mut (), &mut None)?;
        let cached = self.signatures.cached_answer(signature)?;
        let totals = cached.feasible.iter().map(|node| (node, cached.total(node))).collect();
        Some(CachedAnswerSummary { feasible: cached.feasible.clone(), totals })
    }
}

/// Summary of a cached answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CachedAnswerSummary {
    /// The nodes that pass every filter, also with their nominated pods.
    pub feasible: NodeMask,
    /// Their totals, if there are at least two.
    pub totals: Vec<(NodeIndex, Option<i64>)>,
}
