//! InterPodAffinity
//!
//! **What it does.** Rejects nodes because of the pods in their topology domains: the pod's required affinity
//! and anti-affinity, and the required anti-affinity of existing pods. Scores nodes by the preferences of the
//! pod and of existing pods. A topology domain is the set of nodes with one value of a node label, the
//! topology key.
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
use schedc_core::model::PodSpec;
use schedc_core::plugin::{CompileContext, Refs};
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
        // Most pods have no terms.
        if !compiled.has_no_requirements() || compiled.has_preferences() {
            compiled.keys().for_each(|key| _ = topology.register(key));
        }
        compiled
    }

    #[inline]
    fn compile_epoch((topology, counts, affinity_terms): Refs<'_, Self>) -> Option<u64> {
        Some(topology.epoch() + counts.epoch() + affinity_terms.epoch())
    }
}

#[cfg(test)]
mod tests;
