//! Evictions of other pods.

use std::fmt;
use std::sync::Arc;

use schedc_core::extension_points::Candidate;
use schedc_core::model::{Pod, PodSpec, PreemptionPolicy};
use schedc_in_memory::server::Key;
use schedc_objects::AnyObject;
use serde::Serialize;

use crate::remedies::change::Change;
use crate::remedies::fork::Fork;
use crate::remedies::situation::Situation;

/// Maximum number of nodes that are considered, those with the least important pods first.
const MAX_NODES: usize = 4;

/// Maximum number of pods on each of these nodes that are evicted alone.
const MAX_PODS: usize = 12;

/// Evicts pods of one node within their disruption budgets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Evict {
    /// The pods: `namespace/name`.
    pub pods: Vec<String>,
    /// Their node.
    pub node: String,
    /// Whether one of them has a higher priority than the pod to place.
    #[serde(skip)]
    is_important: bool,
}

impl Evict {
    /// Adds the victims that a pod of the highest priority would preempt, single pods of their nodes, and single pods
    /// that may hold devices. Evictions that budgets do not allow are left out.
    pub(in crate::remedies) fn candidates(fork: &mut Fork<'_>, situation: &Situation, add: &mut dyn FnMut(Self)) {
        let pod = fork.pod();
        let budgets = fork.budgets();
        let preemption = fork.preempt(&Arc::new(with_priority(&pod, i32::MAX)));
        let mut candidates: Vec<Candidate> = preemption.map(|preemption| preemption.candidates).unwrap_or_default();
        candidates.retain(|candidate| candidate.violations == 0);
        candidates.sort_by_key(|candidate| {
            (candidate.victims.iter().map(|victim| victim.spec.priority).max(), candidate.victims.len(), candidate.node)
        });
        let mut lists: Vec<(String, Vec<Arc<Pod>>)> = Vec::new();
        let base = fork.base();
        for candidate in candidates.into_iter().take(MAX_NODES) {
            let node = base.name(candidate.node).to_owned();
            if candidate.victims.len() > 1 {
                let mut single_pods: Vec<Arc<Pod>> = base.infos()[candidate.node.get()].pods.clone();
                single_pods.sort_by(|a, b| (a.spec.priority, &a.name).cmp(&(b.spec.priority, &b.name)));
                lists.extend(single_pods.into_iter().take(MAX_PODS).map(|pod| (node.clone(), vec![pod])));
            }
            lists.push((node, candidate.victims.to_vec()));
        }
        // Preemption does not free devices.
        for name in situation.nodes("DynamicResources") {
            let index = base.interner.get(name).and_then(|name| base.node(name));
            let pods = index.iter().flat_map(|index| &base.infos()[index.get()].pods);
            let holders = pods.filter(|pod| pod.spec.may_use_devices()).take(MAX_PODS);
            lists.extend(holders.map(|pod| (name.to_owned(), vec![pod.clone()])));
        }
        for (node, victims) in lists {
            if budgets.allow(&victims) && victims.iter().all(|victim| is_movable(victim, fork)) {
                let is_important = victims.iter().any(|victim| victim.spec.priority > pod.spec.priority);
                let pods = victims.iter().map(|victim| victim.namespaced_name().to_string()).collect();
                add(Evict { pods, node, is_important });
            }
        }
    }
}

/// Copies a pod. The copy has the given priority and may preempt other pods.
pub(super) fn with_priority(pod: &Pod, priority: i32) -> Pod {
    let preemption_policy = PreemptionPolicy::PreemptLowerPriority;
    let spec = PodSpec { priority, preemption_policy, ..PodSpec::clone(&pod.spec) };
    Pod { spec: Arc::new(spec), ..pod.clone() }
}

/// Returns whether a pod stays away from its node after an eviction: pods of a DaemonSet and static pods return.
pub(super) fn is_movable(pod: &Pod, fork: &Fork<'_>) -> bool {
    let Some(AnyObject::Pod(pod)) = fork.get(&Key::pod(&*pod.namespace, &*pod.name)) else { return false };
    let mut owners = pod.metadata.owner_references.iter().flatten();
    owners.all(|owner| !matches!(owner.kind.as_str(), "DaemonSet" | "Node"))
}

impl Change for Evict {
    fn apply(&self, fork: &mut Fork<'_>) -> bool {
        for (namespace, name) in self.pods.iter().filter_map(|pod| pod.split_once('/')) {
            if fork.get(&Key::pod(namespace, name)).is_none() {
                return false;
            }
            fork.evict(namespace, name);
        }
        true
    }

    fn disturbance(&self) -> u32 {
        let pods = u32::try_from(self.pods.len()).unwrap_or(u32::MAX);
        55 + pods.saturating_mul(5).min(100) + if self.is_important { 40 } else { 0 }
    }

    fn parts(&self) -> Vec<Self> {
        let without = |at: usize| {
            let mut fewer = self.clone();
            fewer.pods.remove(at);
            fewer
        };
        if self.pods.len() < 2 { Vec::new() } else { (0..self.pods.len()).map(without).collect() }
    }
}

impl fmt::Display for Evict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "evict {} from node {}", self.pods.join(", "), self.node)
    }
}
