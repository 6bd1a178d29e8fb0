//! Contract of queueing hints: the plugin wakes every pod that it rejected and that fits after an event.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use schedc_core::engine::Decision;
use schedc_core::explain::Explanation;
use schedc_core::model::{Pod, Uid};
use schedc_core::profile::Bundle;
use schedc_core::queue::QueuePlace;

use super::PluginUnderTest;
use crate::history::Step;
use crate::test_cluster::TestCluster;
use crate::test_object::TestObject;

pub(super) fn play<B: Bundle>(
    test_cluster: &mut TestCluster<B>,
    subject: &PluginUnderTest,
    steps: &[Step],
    objects: &[TestObject],
) -> Result<(), String> {
    let mut rejected: BTreeMap<Uid, Rejections> = BTreeMap::new();
    for step in steps {
        test_cluster.apply_step(*step, objects);
        let attempted: BTreeSet<Uid> = test_cluster.run().into_iter().map(|outcome| outcome.pod.uid.clone()).collect();
        let mut still_rejected = BTreeMap::new();
        for pod in test_cluster.pending() {
            if !is_waiting_for_event(test_cluster, &pod) {
                continue;
            }
            let explanation = test_cluster.cluster.scheduler.explain(test_cluster.profile, &pod, false);
            match chosen_node(test_cluster, &explanation) {
                None => drop(still_rejected.insert(pod.uid.clone(), Rejections::by(&explanation))),
                // The pod was rejected after Filter, for example by Reserve. Such rejections are unknown here.
                Some(_) if attempted.contains(&pod.uid) => {}
                Some(node) => {
                    if rejected.get(&pod.uid).is_some_and(|before| before.is_only_rejector(subject.plugin, &node)) {
                        let plugin = subject.plugin;
                        let reason = rejected.get(&pod.uid).map(|before| before.reason(&node)).unwrap_or_default();
                        return Err(format!(
                            "{}:\n  {plugin} rejected the pod before the last step: {reason}\n  after that step, the pod fits on {node}, \
                             but no hint of {plugin} woke it",
                            pod.namespaced_name()
                        ));
                    }
                }
            }
        }
        rejected = still_rejected;
    }
    Ok(())
}

fn is_waiting_for_event<B: Bundle>(test_cluster: &TestCluster<B>, pod: &Arc<Pod>) -> bool {
    matches!(test_cluster.cluster.scheduler.place(&pod.uid), Some(QueuePlace::Unschedulable | QueuePlace::Gated))
}

/// Returns the node that the pod would get, if any.
fn chosen_node<B: Bundle>(test_cluster: &TestCluster<B>, explanation: &Explanation) -> Option<String> {
    match explanation.decision {
        Decision::Node(node) if explanation.gated_by.is_none() => {
            Some(test_cluster.cluster.scheduler.cache.base.name(node).to_owned())
        }
        _ => None,
    }
}

/// The rejections of a pod.
struct Rejections {
    /// Rejection by PreEnqueue or PreFilter.
    whole: Option<(&'static str, String)>,
    /// Rejections by node.
    nodes: BTreeMap<String, (&'static str, String)>,
}

impl Rejections {
    fn by(explanation: &Explanation) -> Self {
        let whole = explanation
            .gated_by
            .as_ref()
            .or(explanation.pre_filter.as_ref())
            .map(|status| (status.plugin, status.message()));
        let nodes = explanation.nodes.iter().filter_map(|node| {
            let verdict = node.verdicts.first()?;
            Some((node.node.clone(), (verdict.plugin, verdict.failure())))
        });
        Rejections { whole, nodes: nodes.collect() }
    }

    /// Returns whether this plugin was the only one that prevented the placement on the node.
    fn is_only_rejector(&self, plugin: &str, node: &str) -> bool {
        match (&self.whole, self.nodes.get(node)) {
            (Some((whole, _)), _) => *whole == plugin,
            (None, Some((rejector, _))) => *rejector == plugin,
            // The node is new. The plugin must wake the pod if it alone rejected all other nodes.
            (None, None) => !self.nodes.is_empty() && self.nodes.values().all(|(rejector, _)| *rejector == plugin),
        }
    }

    /// Returns the reasons of PreEnqueue or PreFilter if one of them rejected the pod. Otherwise, returns the reasons
    /// for the node, or for the first node if there are none.
    fn reason(&self, node: &str) -> &str {
        let of_nodes = || self.nodes.get(node).or_else(|| self.nodes.values().next());
        self.whole.as_ref().or_else(of_nodes).map(|(_, reason)| reason.as_str()).unwrap_or_default()
    }
}
