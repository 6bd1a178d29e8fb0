//! InterPodAffinity
//!
//! **What it does.** Rejects nodes by the pods that run near them: those that the pod requires near or apart, and those that
//! require the pod apart. Scores nodes by the preferences of the pod and of the pods near. Near is what has the same
//! value of a node label, the topology key.
//!
//! **Extension points.** PreFilter (skips if nothing is required by the pod or of it; hears of pods that come and go in
//! thought), Filter, PreScore (skips if no preference counts anywhere), Score, NormalizeScore.
//!
//! **Arguments.** [`InterPodAffinityArgs`].
//!
//! **Upstream.** `plugins/interpodaffinity` (kube-scheduler 1.36.2).
//!
//! **Differences.** None in what is decided. Pods are not gone through: those that match the pod's terms are counted as they
//! come and go, and equal terms of other pods are compared with the pod once, when it is compiled. From one pod to the next
//! that is alike, the places are looked at again where pods came or went.

use schedc_core::column::Position;
use schedc_core::handle::Handle;
use schedc_core::model::PodSpec;
use schedc_core::plugin::{CompileContext, Plugin, Refs};
use schedc_core::scratch::Scratch;

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

/// Looks at the pods near a node.
#[derive(Debug, Default)]
pub struct InterPodAffinity {
    filtering: Scratch<filtering::FilterScratch>,
    scoring: Scratch<scoring::ScoreScratch>,
}

impl Plugin for InterPodAffinity {
    const NAME: &'static str = "InterPodAffinity";
    type Args = InterPodAffinityArgs;
    type Columns = Position;
    type Indexes = (Topology, SelectorCounts, AffinityTerms);
    type Reads = ();
    type Pod = InterPodAffinityPod;

    fn new(_: &'static InterPodAffinityArgs, _: &Handle) -> Result<Self, String> {
        Ok(InterPodAffinity::default())
    }

    fn compile(args: &InterPodAffinityArgs, pod: &PodSpec, cx: CompileContext<'_, Self>) -> InterPodAffinityPod {
        let (topology, counts, affinity_terms) = cx.indexes;
        affinity_terms.register(&pod.affinity);
        let compiled = InterPodAffinityPod::new(args, pod, counts, affinity_terms);
        // Most pods have none.
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
