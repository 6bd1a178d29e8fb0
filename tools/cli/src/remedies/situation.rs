//! The rejections of a pod, from which the candidates for remedies are derived.

use k8s_openapi::api::core::v1::{Node as ApiNode, Taint};
use schedc_core::explain::Explanation;
use schedc_core::status::Status;

use super::fork::Fork;

/// Remedies are tried for the nodes that at most this many plugins reject.
const MAX_PLUGINS: usize = 2;

/// Maximum number of nodes for which a kind of remedy is tried.
const MAX_NODES: usize = 16;

/// The taint of cordoned nodes.
pub(super) const CORDONED: &str = "node.kubernetes.io/unschedulable";

/// Prefix of taints that controllers set.
pub(super) const CONDITION_TAINTS: &str = "node.kubernetes.io/";

/// The rejections of a pod.
pub(super) struct Situation {
    /// PreEnqueue's rejection.
    pub gate: Option<Status>,
    /// PreFilter's rejection.
    pub pre_filter: Option<Status>,
    /// Nodes that at most [`MAX_PLUGINS`] plugins reject, those with the fewest plugins first.
    nodes: Vec<RejectedNode>,
}

/// A node with its rejections.
struct RejectedNode {
    name: String,
    /// Names of the plugins, each once, with all reasons.
    plugins: Vec<(String, Vec<String>)>,
}

impl Situation {
    /// Reads the rejections from the scheduler's explanation.
    pub(super) fn of(fork: &mut Fork<'_>) -> Self {
        let Explanation { gated_by, pre_filter, nodes: explained_nodes, .. } = fork.explain();
        let mut nodes = Vec::new();
        for explained_node in explained_nodes.into_iter().filter(|node| !node.is_feasible()) {
            let mut plugins: Vec<(String, Vec<String>)> = Vec::new();
            for verdict in explained_node.verdicts {
                let reasons: Vec<String> = verdict.reasons.into_iter().map(String::from).collect();
                match verdict.plugin {
                    "" => plugins.extend(narrowed_by(&reasons).map(|plugin| (plugin, reasons.clone()))),
                    plugin => plugins.push((plugin.to_owned(), reasons)),
                }
            }
            // A cordoned node is rejected twice for one cause.
            let rejects = |plugin: &str| plugins.iter().any(|(name, _)| name == plugin);
            if rejects("NodeUnschedulable")
                && rejects("TaintToleration")
                && fork
                    .node(&explained_node.node)
                    .is_some_and(|node| hard_taints(node).all(|taint| taint.key == CORDONED))
            {
                plugins.retain(|(name, _)| name != "TaintToleration");
            }
            if plugins.len() <= MAX_PLUGINS {
                nodes.push(RejectedNode { name: explained_node.node, plugins });
            }
        }
        // The sort is stable: nodes with equally many plugins remain sorted by name.
        nodes.sort_by_key(|node| node.plugins.len());
        Situation { gate: gated_by, pre_filter, nodes }
    }

    /// Returns whether a plugin rejects one of the nodes.
    pub(super) fn has(&self, plugin: &str) -> bool {
        self.nodes.iter().any(|node| node.plugins.iter().any(|(name, _)| name == plugin))
    }

    /// Returns the first nodes that a plugin rejects, at most [`MAX_NODES`].
    pub(super) fn nodes(&self, plugin: &str) -> impl Iterator<Item = &str> {
        self.all_nodes(plugin).take(MAX_NODES)
    }

    /// Returns all nodes that a plugin rejects.
    pub(super) fn all_nodes(&self, plugin: &str) -> impl Iterator<Item = &str> {
        let rejects = move |node: &&RejectedNode| node.plugins.iter().any(|(name, _)| name == plugin);
        self.nodes.iter().filter(rejects).map(|node| node.name.as_str())
    }

    /// Returns the different reasons of a plugin.
    pub(super) fn reasons(&self, plugin: &str) -> Vec<&str> {
        let of_plugin = self.nodes.iter().flat_map(|node| &node.plugins).filter(|(name, _)| name == plugin);
        let mut reasons: Vec<&str> = of_plugin.flat_map(|(_, reasons)| reasons.iter().map(String::as_str)).collect();
        reasons.sort_unstable();
        reasons.dedup();
        reasons
    }

    /// Returns whether a plugin rejects the pod in PreFilter or PreEnqueue, with a reason that contains a text.
    pub(super) fn is_pre_filtered(&self, text: &str) -> bool {
        let status = self.pre_filter.iter().chain(&self.gate);
        status.flat_map(|status| &status.reasons).any(|reason| reason.contains(text))
    }
}

/// Returns the names of plugins in reasons such as `node(s) didn't satisfy plugin(s) [A B]`.
fn narrowed_by(reasons: &[String]) -> impl Iterator<Item = String> {
    let lists = reasons.iter().filter_map(|reason| reason.split_once('[')?.1.split_once(']'));
    lists.flat_map(|(names, _)| names.split(' ').map(str::to_owned).collect::<Vec<_>>())
}

/// Returns the taints that reject pods without a toleration.
pub(super) fn hard_taints(node: &ApiNode) -> impl Iterator<Item = &Taint> {
    let taints = node.spec.iter().flat_map(|spec| spec.taints.iter().flatten());
    taints.filter(|taint| matches!(taint.effect.as_str(), "NoSchedule" | "NoExecute"))
}
