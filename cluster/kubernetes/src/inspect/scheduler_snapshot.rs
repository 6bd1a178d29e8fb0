//! Nodes and pods in the scheduler's cache.

use std::collections::BTreeSet;
use std::sync::Arc;

use schedc_core::cache::PodState;
use schedc_core::erased::AnyScheduler;
use schedc_core::model::{Node, Pod, Resources};
use schedc_core::queue::QueuePlace;

/// Nodes and pods of a scheduler.
#[derive(Debug)]
pub(super) struct SchedulerSnapshot {
    nodes: Vec<(Arc<str>, Arc<Node>)>,
    /// Assigned pods with the names of their nodes.
    placed: Vec<(Arc<Pod>, Arc<str>, PodState)>,
    /// Pending pods with their nominated nodes.
    pending: Vec<(Arc<Pod>, QueuePlace, Option<Arc<str>>)>,
}

impl SchedulerSnapshot {
    pub(super) fn take(scheduler: &dyn AnyScheduler) -> Self {
        let base = scheduler.base();
        let nodes = base.infos().iter().filter_map(|info| info.node.as_ref());
        let placed = scheduler.pods();
        // A pod that is being bound is both assigned and pending.
        let is_unassigned = |pod: &&Arc<Pod>| scheduler.pod(&pod.uid).is_none();
        let pending = scheduler.pending_pods().filter(is_unassigned).filter_map(|pod| {
            let nominated = pod.nominated_node.map(|node| base.interner.share(node));
            Some((pod.clone(), scheduler.place(&pod.uid)?, nominated))
        });
        SchedulerSnapshot {
            nodes: nodes.map(|node| (base.interner.share(node.name), node.clone())).collect(),
            placed: placed.map(|(pod, node, state)| (pod.clone(), base.interner.share(node), state)).collect(),
            pending: pending.collect(),
        }
    }

    pub(super) fn node_names(&self) -> BTreeSet<String> {
        self.nodes.iter().map(|(name, _)| name.to_string()).collect()
    }

    pub(super) fn pod_uids(&self) -> BTreeSet<String> {
        let placed = self.placed.iter().map(|(pod, ..)| pod);
        placed.chain(self.pending.iter().map(|(pod, ..)| pod)).map(|pod| pod.uid.0.to_string()).collect()
    }

    /// Returns a line for each node in the order of names, followed by a line for each of its pods. Then come the lines
    /// of pods on deleted nodes, and of pending pods.
    pub(super) fn lines(&self) -> Vec<String> {
        let mut placed: Vec<_> = self.placed.iter().collect();
        placed
            .sort_by(|(a, node, _), (b, other, _)| (node, &a.namespace, &a.name).cmp(&(other, &b.namespace, &b.name)));
        let mut nodes: Vec<_> = self.nodes.iter().collect();
        nodes.sort_by(|(a, _), (b, _)| a.cmp(b));
        let mut lines = vec![format!("Dump of cache: {} nodes, {} pods on nodes", nodes.len(), placed.len())];
        for (name, node) in nodes {
            let first = placed.partition_point(|(_, other, _)| other < name);
            let pods = placed[first..].iter().take_while(|(_, other, _)| other == name).count();
            let pods: Vec<_> = placed.drain(first..first + pods).collect();
            let mut requested = Resources::default();
            pods.iter().for_each(|(pod, ..)| add(&mut requested, &pod.usage.requests));
            let (requested, allocatable) = (amounts(&requested), amounts(&node.allocatable));
            lines.push(format!("node {name}: {} pods, requested {requested}, allocatable {allocatable}", pods.len()));
            lines.extend(pods.into_iter().map(placed_pod));
        }
        lines.extend(placed.into_iter().map(placed_pod));
        let mut pending: Vec<_> = self.pending.iter().collect();
        pending.sort_by(|(a, ..), (b, ..)| (&a.namespace, &a.name).cmp(&(&b.namespace, &b.name)));
        lines.push(format!("Dump of scheduling queue: {} pods", pending.len()));
        for (pod, place, nominated) in pending {
            let nominated = nominated.as_ref().map(|node| format!(", nominated for {node}")).unwrap_or_default();
            lines.push(format!("pod {} ({}): {place:?}{nominated}", pod.namespaced_name(), pod.uid.0));
        }
        lines
    }
}

fn placed_pod((pod, node, state): &(Arc<Pod>, Arc<str>, PodState)) -> String {
    let state = if *state == PodState::Bound { String::new() } else { format!(", {state:?}") };
    format!("pod {} ({}): on {node}{state}", pod.namespaced_name(), pod.uid.0)
}

fn add(sum: &mut Resources, other: &Resources) {
    sum.milli_cpu = sum.milli_cpu.saturating_add(other.milli_cpu);
    sum.memory = sum.memory.saturating_add(other.memory);
    sum.ephemeral_storage = sum.ephemeral_storage.saturating_add(other.ephemeral_storage);
}

fn amounts(resources: &Resources) -> String {
    let Resources { milli_cpu, memory, ephemeral_storage, .. } = resources;
    format!("cpu={milli_cpu}m memory={memory} ephemeral-storage={ephemeral_storage}")
}
