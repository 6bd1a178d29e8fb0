//! Filter, which is equal in the three profiles.

use schedc::pipelines::state::State;
use schedc_core::model::NodeSelectorTerm;
use schedc_plugins::columns::{NodeLabels, NodePortsInUse, NodeResources, NodeTaints};

use super::pod::{Pod, RequestedResources, is_tolerated};

/// A pod, and the columns that its filters read.
pub(super) struct Filters<'a> {
    pod: &'a Pod,
    selects: bool,
    taints: &'a [NodeTaints],
    labels: &'a [NodeLabels],
    ports: &'a [NodePortsInUse],
    resources: &'a [NodeResources],
}

impl<'a> Filters<'a> {
    #[inline(always)]
    pub(super) fn new(pod: &'a Pod, state: &'a State, slots: usize) -> Self {
        Filters {
            pod,
            selects: !pod.selector.is_empty() || pod.required.is_some(),
            taints: &state.node_taints[..slots],
            labels: &state.node_labels[..slots],
            ports: &state.node_ports[..slots],
            resources: &state.node_resources[..slots],
        }
    }

    /// Returns whether the node passes. The checks are in the order of the profiles' filters.
    #[inline(always)]
    pub(super) fn admit(&self, at: usize) -> bool {
        let (pod, taints) = (self.pod, &self.taints[at]);
        (!taints.unschedulable || pod.tolerates_cordon)
            && taints.hard.iter().all(|taint| is_tolerated(taint, &pod.hard))
            && (!self.selects || matches(pod, &self.labels[at]))
            && !pod.ports.iter().any(|port| self.ports[at].conflicts(port, pod.any_address))
            && fits(&pod.requested, &self.resources[at])
    }
}

#[inline(always)]
fn matches(pod: &Pod, node: &NodeLabels) -> bool {
    pod.selector.iter().all(|label| node.labels.contains(label))
        && pod.required.as_ref().is_none_or(|required| required.terms.iter().any(|term| matches_term(term, node)))
}

#[inline(always)]
pub(super) fn matches_term(term: &NodeSelectorTerm, node: &NodeLabels) -> bool {
    term.matches(node.name, &node.labels, |key| node.integers.iter().find(|label| label.0 == key).map(|label| label.1))
}

#[inline(always)]
fn fits(requested: &RequestedResources, node: &NodeResources) -> bool {
    let (has, used) = (&node.allocatable, &node.requested);
    node.pods < node.allowed_pods
        && requested.milli_cpu <= has.milli_cpu.wrapping_sub(used.milli_cpu)
        && requested.memory <= has.memory.wrapping_sub(used.memory)
        && requested.ephemeral_storage <= has.ephemeral_storage.wrapping_sub(used.ephemeral_storage)
        && (requested.scalars.is_empty()
            || requested.scalars.iter().all(|&(name, amount)| {
                let scalar = (node.allocatable_scalar(name).unwrap_or(0), node.requested_scalar(name).unwrap_or(0));
                amount <= scalar.0.wrapping_sub(scalar.1)
            }))
}
