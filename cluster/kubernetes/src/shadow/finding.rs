//! Reports of disagreements.

use schedc_core::cache::Base;
use schedc_core::engine::Decision;
use schedc_core::explain::{Explanation, NodeExplanation};
use schedc_core::profile::PluginScore;
use serde::Serialize;

/// Pod for which this scheduler would have decided differently.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Disagreement {
    /// `namespace/name`.
    pub pod: String,
    /// Profile whose decision differs.
    pub profile: &'static str,
    /// How the decisions of the two schedulers differ.
    #[serde(flatten)]
    pub finding: Finding,
}

/// Difference between kube-scheduler's decision and the one of this scheduler.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "result", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Finding {
    /// The pod was bound to a feasible node, but other nodes have a higher score.
    LowerScore {
        /// The node that the pod was bound to.
        node: String,
        /// Names of the best nodes.
        best: Vec<String>,
        /// Difference of the total scores. 0: the only node in `best` is the pod's nominated node
        /// (`status.nominatedNodeName`), so scores do not matter.
        by: i64,
        /// Scores of the first best node and of the bound node, by plugin.
        scores: Vec<Comparison>,
    },
    /// The pod was bound to an infeasible node.
    Infeasible {
        /// The node that the pod was bound to.
        node: String,
        /// Rejecting plugins with their reasons, or the reason that no node is feasible.
        reason: String,
        /// Names of the best nodes; empty if no node is feasible.
        best: Vec<String>,
        /// Scores of the first best node, by plugin.
        scores: Vec<Comparison>,
    },
    /// Both schedulers found the pod unschedulable, for different reasons.
    OtherMessage {
        /// kube-scheduler's message.
        theirs: String,
        /// Message of this scheduler.
        ours: String,
    },
    /// Only kube-scheduler found the pod unschedulable.
    Fits {
        /// kube-scheduler's message.
        theirs: String,
        /// Names of the best nodes.
        best: Vec<String>,
    },
}

/// Scores of two nodes by one plugin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Comparison {
    /// The plugin.
    pub plugin: &'static str,
    /// Weight in the profile.
    pub weight: i64,
    /// Score of the best node.
    pub best: NodeScore,
    /// Score of the bound node; `None` if it is infeasible.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound: Option<NodeScore>,
}

/// Score of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct NodeScore {
    /// Result of Score.
    pub raw: i64,
    /// Normalized score, from 0 to 100.
    pub normalized: i64,
    /// Normalized score times weight.
    pub weighted: i64,
}

impl From<&PluginScore> for NodeScore {
    fn from(score: &PluginScore) -> Self {
        NodeScore { raw: score.raw, normalized: score.normalized, weighted: score.weighted() }
    }
}

/// Returns the names of the best nodes, of which a cycle would choose one; none if the pod is not schedulable.
pub fn best_nodes(found: &Explanation, base: &Base) -> Vec<String> {
    match &found.decision {
        Decision::Node(node) if found.by_nomination || found.best.is_empty() => vec![base.name(*node).to_owned()],
        Decision::Node(_) => found.best.clone(),
        Decision::Unschedulable(_) | Decision::Error(_) => Vec::new(),
    }
}

/// Compares the node to which a pod was bound with the best nodes. Returns the difference, if any.
pub fn for_bound_pod(found: &Explanation, base: &Base, node: &str) -> Option<Finding> {
    let best = best_nodes(found, base);
    if best.iter().any(|name| name == node) {
        return None;
    }
    let explained = |name: &str| found.nodes.iter().find(|explained| explained.node == name);
    let (first, bound) = (best.first().and_then(|name| explained(name)), explained(node));
    let node = node.to_owned();
    Some(match (first, bound.filter(|bound| bound.is_feasible())) {
        (Some(first), Some(bound)) => {
            let by = if found.by_nomination { 0 } else { first.total() - bound.total() };
            Finding::LowerScore { node, by, scores: compare_scores(first, Some(bound)), best }
        }
        (first, _) => {
            let scores = first.map(|first| compare_scores(first, None)).unwrap_or_default();
            Finding::Infeasible { node, reason: reason(found, bound), best, scores }
        }
    })
}

/// Compares `theirs`, the message of another scheduler about an unschedulable pod, with the result of this scheduler.
/// Returns the difference, if any.
pub fn compare_message(found: &Explanation, base: &Base, theirs: &str) -> Option<Finding> {
    let ours = match (&found.gated_by, &found.decision) {
        (Some(held), _) => held.message(),
        (None, Decision::Node(_)) => {
            return Some(Finding::Fits { theirs: theirs.to_owned(), best: best_nodes(found, base) });
        }
        (None, Decision::Unschedulable(unschedulable)) => unschedulable.message.clone(),
        (None, Decision::Error(message)) => message.clone(),
    };
    (ours != theirs).then(|| Finding::OtherMessage { theirs: theirs.to_owned(), ours })
}

/// Returns the reason that a node is infeasible.
fn reason(found: &Explanation, bound: Option<&NodeExplanation>) -> String {
    if let Some(held) = found.gated_by.as_ref().or(found.pre_filter.as_ref()) {
        return format!("{}: {}", held.plugin, held.message());
    }
    if let Decision::Error(message) = &found.decision {
        return message.clone();
    }
    let Some(bound) = bound else { return "the node is not known".to_owned() };
    let reasons = bound.verdicts.iter().map(|verdict| {
        let reasons: Vec<String> = verdict.reasons.iter().map(ToString::to_string).collect();
        format!("{}: {}", verdict.plugin, reasons.join(", "))
    });
    reasons.collect::<Vec<_>>().join("; ")
}

fn compare_scores(best: &NodeExplanation, bound: Option<&NodeExplanation>) -> Vec<Comparison> {
    let of_plugin = |best: &PluginScore| {
        let bound = bound.and_then(|bound| bound.scores.iter().find(|score| score.plugin == best.plugin));
        Comparison {
            plugin: best.plugin,
            weight: best.weight,
            best: NodeScore::from(best),
            bound: bound.map(NodeScore::from),
        }
    };
    best.scores.iter().map(of_plugin).collect()
}
