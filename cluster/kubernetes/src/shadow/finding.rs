//! Disagreements, as they are told.

use schedc_core::cache::Base;
use schedc_core::engine::Decision;
use schedc_core::explain::{Explanation, NodeExplanation};
use schedc_core::profile::PluginScore;
use serde::Serialize;

/// A pod about which kube-scheduler decided what we would not have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Disagreement {
    /// `namespace/name`.
    pub pod: String,
    /// Our profile that judged.
    pub profile: &'static str,
    /// What is different.
    #[serde(flatten)]
    pub finding: Finding,
}

/// What is different.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "result", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Finding {
    /// The node is feasible for us, and others are better.
    LowerScore {
        /// The node that the pod was bound to.
        node: String,
        /// Our best nodes, by name.
        best: Vec<String>,
        /// What the node's total is lower by than that of the best. 0: room was made for the pod on `best`
        /// (`status.nominatedNodeName`), and totals do not matter.
        by: i64,
        /// The scores of the first of `best` and of the node, plugin by plugin.
        scores: Vec<Comparison>,
    },
    /// The node is not feasible for us.
    Infeasible {
        /// The node that the pod was bound to.
        node: String,
        /// Who rejects it and why, or why the pod fits nowhere.
        reason: String,
        /// Our best nodes, by name; none if it fits nowhere.
        best: Vec<String>,
        /// The scores of the first of `best`, plugin by plugin.
        scores: Vec<Comparison>,
    },
    /// The pod fits nowhere, for other reasons.
    OtherMessage {
        /// kube-scheduler's message.
        theirs: String,
        /// Ours.
        ours: String,
    },
    /// The pod fits nowhere for kube-scheduler, and here it does.
    Fits {
        /// kube-scheduler's message.
        theirs: String,
        /// Our best nodes, by name.
        best: Vec<String>,
    },
}

/// What a plugin says of two nodes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Comparison {
    /// The plugin.
    pub plugin: &'static str,
    /// The profile's weight.
    pub weight: i64,
    /// What it says of our best node.
    pub best: NodeScore,
    /// What it says of the node that the pod was bound to; none if that is not feasible.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound: Option<NodeScore>,
}

/// A score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct NodeScore {
    /// What Score returned.
    pub raw: i64,
    /// Brought to 0..=100.
    pub normalized: i64,
    /// Normalised score times weight.
    pub weighted: i64,
}

impl From<&PluginScore> for NodeScore {
    fn from(score: &PluginScore) -> Self {
        NodeScore { raw: score.raw, normalized: score.normalized, weighted: score.weighted() }
    }
}

/// The nodes that a cycle would draw one of, by name.
pub(super) fn best_nodes(found: &Explanation, base: &Base) -> Vec<String> {
    match &found.decision {
        Decision::Node(node) if found.by_nomination || found.best.is_empty() => vec![base.name(*node).to_owned()],
        Decision::Node(_) => found.best.clone(),
        Decision::Unschedulable(_) | Decision::Error(_) => Vec::new(),
    }
}

/// What is different for us about a pod that was bound to a node, if anything is.
pub(super) fn for_bound_pod(found: &Explanation, base: &Base, node: &str) -> Option<Finding> {
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

/// Why a node is not feasible.
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
