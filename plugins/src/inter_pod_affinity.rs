//! InterPodAffinity
//!
//! **What it does.** Rejects nodes whose topology domains violate the pod's required affinity or anti-affinity,
//! or the required anti-affinity of existing pods. Scores nodes by the preferences of the pod and of existing
//! pods. A topology domain is the set of nodes with one value of a node label, the topology key.
//!
//! **Extension points.** PreFilter (skips if the pod has no required terms and matches no required
//! anti-affinity; is notified of hypothetical pods), Filter, PreScore (skips if no preference applies),
//! Score, NormalizeScore.
//!
//! **Arguments.** [`InterPodAffinityArgs`].
//!
//! **Upstream.** `plugins/interpodaffinity` (kube-scheduler 1.36.2).
//!
//! **Differences.** None in the decisions. Pods that match the pod's terms are counted when they change, not
//! for every attempt. Equal terms of other pods are compared with the pod once, when it is compiled. For pods
//! with equal signatures, only the domains with changed pods are evaluated again.

use schedc_core::column::Position;
use schedc_core::extension_points::{ScoreClass, ScoreError, SkipFrequency};
use schedc_core::incremental::{DependsOn, FilterUpdate, Incremental, NeedsFullEvaluation, ScoreUpdate};
use schedc_core::model::{NodeIndex, PodSpec};
use schedc_core::plugin::{CompileContext, CycleSlot, Refs, View};
use schedc_core::scratch::Scratch;
use schedc_core::{Plugin, plugin};

mod args;
mod compiled;
mod domain_sums;
mod filtering;
mod hint;
mod scoring;

pub use args::InterPodAffinityArgs;
pub use compiled::InterPodAffinityPod;
pub use filtering::{InterPodAffinityState, UnmetAffinity};
pub use scoring::InterPodAffinityScores;

use crate::indexes::{AffinityTerms, SelectorCounts, Topology};

/// Evaluates the pods in the topology domains of a node.
#[derive(Debug, Default)]
pub struct InterPodAffinity {
    filtering: Scratch<filtering::FilterScratch>,
    scoring: Scratch<scoring::ScoreScratch>,
}

#[plugin]
impl Plugin for InterPodAffinity {
    type Args = InterPodAffinityArgs;
    type Columns = Position;
    type Indexes = (Topology, SelectorCounts, AffinityTerms);
    type Pod = InterPodAffinityPod;

    fn compile(args: &InterPodAffinityArgs, pod: &PodSpec, cx: CompileContext<'_, Self>) -> InterPodAffinityPod {
        let (topology, counts, affinity_terms) = cx.indexes;
        affinity_terms.register(&pod.affinity);
        let compiled = InterPodAffinityPod::new(args, pod, counts, affinity_terms);
        // Shortcut: without terms, which is the usual case, `keys` is empty.
        if !compiled.has_no_requirements() || compiled.has_preferences() {
            compiled.keys().for_each(|key| _ = topology.register(key));
        }
        compiled
    }
}

impl Incremental for InterPodAffinity {
    const SKIPS: SkipFrequency = SkipFrequency::Usually;
    const REPORTS_ALL_SCORES: bool = true;
    const FILTER_CAN_FAIL: bool = false;

    #[inline]
    fn reasons_key(rejection: &UnmetAffinity) -> Option<u32> {
        Some(*rejection as u32)
    }

    fn uniform_rejection(_: &InterPodAffinityPod, state: &InterPodAffinityState) -> Option<UnmetAffinity> {
        state.rejects_all().then_some(UnmetAffinity::Affinity)
    }

    #[inline]
    fn compile_epoch((topology, counts, affinity_terms): Refs<'_, Self>) -> Option<u64> {
        Some(topology.epoch() + counts.epoch() + affinity_terms.epoch())
    }

    #[inline]
    fn filter_depends_on(pod: &InterPodAffinityPod, _: &InterPodAffinityState) -> DependsOn {
        if pod.has_no_requirements() { DependsOn::Node } else { DependsOn::Cluster }
    }

    #[inline]
    fn score_depends_on(pod: &InterPodAffinityPod) -> DependsOn {
        if pod.has_preferences() { DependsOn::Cluster } else { DependsOn::Node }
    }

    fn update_filter(
        &self,
        _: &InterPodAffinityArgs,
        pod: &InterPodAffinityPod,
        slot: &mut CycleSlot<InterPodAffinityState>,
        view: View<'_, Self>,
        verdicts: &mut FilterUpdate<'_>,
    ) -> Result<(), NeedsFullEvaluation> {
        self.update_state(pod, slot, view, verdicts)
    }

    fn update_score(
        &self,
        _: &InterPodAffinityArgs,
        pod: &InterPodAffinityPod,
        slot: &mut CycleSlot<InterPodAffinityScores>,
        view: View<'_, Self>,
        scores: &mut ScoreUpdate<'_>,
    ) -> Result<(), NeedsFullEvaluation> {
        self.update_scores(pod, slot, view, scores)
    }

    #[inline(always)]
    fn score_class(
        _: &InterPodAffinityArgs,
        _: &InterPodAffinityPod,
        scores: &InterPodAffinityScores,
        node: NodeIndex,
    ) -> Result<ScoreClass, ScoreError> {
        scores.class(node)
    }

    fn score_of_class(
        _: &InterPodAffinityArgs,
        _: &InterPodAffinityPod,
        scores: &InterPodAffinityScores,
        class: ScoreClass,
    ) -> i64 {
        scores.of_class(class)
    }
}

#[cfg(test)]
mod tests;
