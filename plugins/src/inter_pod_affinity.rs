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
//! come and go, and equal terms of running pods are compared with the pod once.

use std::sync::Arc;

use schedc_core::column::Position;
use schedc_core::handle::Handle;
use schedc_core::intern::Symbol;
use schedc_core::model::{LabelSelector, Labels, PodAffinityTerm, PodSpec};
use schedc_core::plugin::{Compile, Plugin, Refs};
use schedc_core::scratch::Scratch;

mod args;
mod filtering;
mod hint;
mod places;
mod scoring;

pub use args::InterPodAffinityArgs;
pub use filtering::{InterPodAffinityState, UnmetAffinity};
pub use scoring::InterPodAffinityScores;

use crate::indexes::{CarriedTerms, PodQuestion, PodTerm, QuestionId, SelectorCounts, Topology};

/// For so many topology keys of running pods' terms the places are kept; for others they are looked up when needed.
const CARRIED_KEYS: usize = 32;

/// Looks at the pods near a node.
#[derive(Debug, Default)]
pub struct InterPodAffinity {
    filtering: Scratch<filtering::Room>,
    scoring: Scratch<scoring::Room>,
}

/// What a pod says about the pods near it, and what their terms are compared with.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct InterPodAffinityPod {
    namespace: Symbol,
    labels: Labels,
    /// Required affinity.
    near: Option<Near>,
    /// Required anti-affinity.
    apart: Box<[Term]>,
    /// Preferred terms with their weights, those of anti-affinity negative.
    preferred: Box<[(Term, i64)]>,
    broken: Option<Arc<str>>,
}

/// Required affinity: pods that match every term must be in one place with the node, for each of the topology keys.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Near {
    pods: QuestionId,
    keys: Box<[Symbol]>,
}

/// A term on its own.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Term {
    pods: QuestionId,
    key: Symbol,
}

impl Plugin for InterPodAffinity {
    const NAME: &'static str = "InterPodAffinity";
    type Args = InterPodAffinityArgs;
    type Columns = Position;
    type Indexes = (Topology, SelectorCounts, CarriedTerms);
    type Reads = ();
    type Pod = InterPodAffinityPod;

    fn new(_: &'static InterPodAffinityArgs, _: &Handle) -> Result<Self, String> {
        Ok(InterPodAffinity::default())
    }

    fn compile(_: &InterPodAffinityArgs, pod: &PodSpec, cx: Compile<'_, Self>) -> InterPodAffinityPod {
        let (topology, counts, carried) = cx.indexes;
        for key in carried.topology_keys().take(CARRIED_KEYS) {
            topology.register(key);
        }
        let affinity = &pod.affinity;
        let mut place = |term: &PodAffinityTerm| {
            topology.register(term.topology_key);
            term.topology_key
        };
        let near = (!affinity.required.is_empty()).then(|| Near {
            pods: counts.register(question(&affinity.required)),
            keys: affinity.required.iter().map(&mut place).collect(),
        });
        let mut term = |term: &PodAffinityTerm| Term {
            pods: counts.register(question(std::slice::from_ref(term))),
            key: place(term),
        };
        InterPodAffinityPod {
            namespace: pod.namespace,
            labels: pod.labels.clone(),
            near,
            apart: affinity.anti_required.iter().map(&mut term).collect(),
            preferred: affinity.preferred_by_weight().map(|(weight, preferred)| (term(preferred), weight)).collect(),
            broken: affinity.broken.clone(),
        }
    }

    fn compile_epoch((topology, counts, carried): Refs<'_, Self>) -> Option<u64> {
        Some(topology.epoch() + counts.epoch() + carried.epoch())
    }
}

/// Which pods match all of a new pod's terms.
fn question(terms: &[PodAffinityTerm]) -> PodQuestion {
    let terms = terms.iter().map(|term| PodTerm {
        namespaces: term.namespaces.clone(),
        namespace_selector: term.namespace_selector.as_ref().map(selected_namespaces),
        selector: term.selector.clone(),
    });
    PodQuestion { terms: terms.collect(), terminating: true }
}

/// A new pod's selector of namespaces means those that are known and match. kube-scheduler then tries it on no labels as
/// well, so that a selector which those satisfy means every namespace.
fn selected_namespaces(selector: &LabelSelector) -> LabelSelector {
    if selector.matches(&[]) { LabelSelector::default() } else { selector.clone() }
}

#[cfg(test)]
mod tests;
