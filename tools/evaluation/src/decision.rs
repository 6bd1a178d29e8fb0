//! The result of a scheduling cycle, as JSON.

use std::collections::BTreeMap;

use schedc_core::cache::Base;
use schedc_core::engine;
use schedc_core::explain::{Explanation, NodeExplanation};
use schedc_core::model::Pod;
use schedc_core::status::{Code, Status};
use schedc_core::verdict::Verdict;
use serde::Serialize;
use serde_json::Value;

use super::preemption::Preemption;
use crate::routes::pod_name;

/// The result for one pod. Names are sorted.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Decision {
    /// `namespace/name`.
    pub pod: String,
    /// The PreEnqueue plugin that gates the pod; the other extension points did not run.
    #[serde(rename = "preenqueue", skip_serializing_if = "Option::is_none")]
    pub pre_enqueue: Option<Answer>,
    /// The reason why no extension point ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skipped: Option<&'static str>,
    /// Result of PreFilter; `None` if it did not run, for example because the cluster has no nodes.
    #[serde(rename = "prefilter")]
    pub pre_filter: Option<PreFilter>,
    /// Verdict for each node. Empty if PreFilter did not succeed.
    pub nodes: BTreeMap<String, NodeVerdict>,
    /// The nodes that pass every filter.
    pub feasible: Vec<String>,
    /// Feasible nodes with the highest total; empty if scoring failed.
    pub best: Vec<String>,
    /// The chosen node.
    pub chosen: Option<String>,
    /// The reason for the choice, if it is not the scores.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chosen_by: Option<&'static str>,
    /// The reason why the pod has no node: the message of its condition.
    pub message: Option<String>,
    /// All possible values of `message`, if there are several: which plugin fails first depends on the order in which
    /// nodes are evaluated.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<String>,
    /// `Unschedulable` or `SchedulerError`; set together with `message`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'static str>,
    /// The plugins that rejected the pod in PreFilter or on any node.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unschedulable_plugins: Vec<&'static str>,
    /// Result of PostFilter plugins, if they ran.
    pub preemption: Option<Preemption>,
    /// For each feasible node, the allocations that Reserve would make if the node were chosen, one for each resource
    /// claim. Absent for pods without resource claims.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub allocations: BTreeMap<String, Value>,
}

/// A plugin's status.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Answer {
    /// kube-scheduler's status code.
    pub code: String,
    /// The plugin; empty on success and for statuses of the framework.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub plugin: &'static str,
    /// Reasons, sorted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
}

/// Result of all PreFilter plugins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PreFilter {
    /// Status of all plugins, or of the first one that rejects the pod or fails.
    #[serde(flatten)]
    pub answer: Answer,
    /// The only nodes that can be feasible, if PreFilter restricts them. They need not exist.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes: Option<Vec<String>>,
    /// Plugins whose Filter is skipped.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skip: Vec<&'static str>,
}

/// The verdict for a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NodeVerdict {
    /// Status of the first plugin that rejects the node, in the profile's order.
    #[serde(flatten)]
    pub answer: Answer,
    /// Scores of a feasible node.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub scores: Option<Scores>,
}

/// Scores of a node, without skipped plugins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Scores {
    /// Normalised score times weight.
    pub scores: BTreeMap<&'static str, i64>,
    /// Raw scores, as the plugins returned them.
    pub raw: BTreeMap<&'static str, i64>,
    /// Sum of `scores`.
    pub total: i64,
}

impl Decision {
    /// Creates the result of a pod for which no extension point ran.
    pub fn skipped(pod: &Pod, base: &Base, reason: &'static str) -> Self {
        Decision { pod: pod_name(pod, &base.interner), skipped: Some(reason), ..Decision::default() }
    }

    /// Converts an explanation to a result.
    pub fn new(pod: &Pod, base: &Base, explanation: Explanation) -> Self {
        let pod = pod_name(pod, &base.interner);
        if let Some(gate_status) = &explanation.gated_by {
            return Decision { pod, pre_enqueue: Some(Answer::from(gate_status)), ..Decision::default() };
        }
        let mut decision = Decision { pod, ..Decision::default() };
        if base.count() > 0 {
            decision.pre_filter = Some(PreFilter::new(&explanation));
        }
        match explanation.decision {
            engine::Decision::Node(node) => {
                // Ties are broken by the smallest node name instead of at random.
                let best = explanation.best.first().filter(|_| !explanation.by_nomination);
                decision.chosen = Some(best.cloned().unwrap_or_else(|| base.name(node).to_owned()));
                decision.chosen_by = explanation.by_nomination.then_some("nominated");
            }
            engine::Decision::Unschedulable(unschedulable) => {
                decision.reason = Some("Unschedulable");
                decision.unschedulable_plugins = unschedulable.diagnosis.unschedulable_plugins.into_iter().collect();
                decision.preemption = unschedulable.post_filter.map(|result| Preemption::new(&result, base));
                decision.message = Some(unschedulable.message);
            }
            engine::Decision::Error(message) => {
                decision.reason = Some("SchedulerError");
                // The order in which plugins fail can vary: the alphabetically first error makes the result
                // deterministic.
                decision.message = Some(explanation.errors.first().cloned().unwrap_or(message));
                if explanation.errors.len() > 1 {
                    decision.messages = explanation.errors.into_iter().collect();
                }
            }
        }
        let feasible = explanation.nodes.iter().filter(|node| node.is_feasible());
        decision.feasible = feasible.map(|node| node.node.clone()).collect();
        decision.best = explanation.best;
        for node in &explanation.nodes {
            let mut previews = node.previews.iter();
            if let Some(preview) = previews.find(|preview| preview.plugin == "DynamicResources")
                && let Ok(resources) = &preview.resources
            {
                decision.allocations.insert(node.node.clone(), resources.clone());
            }
        }
        decision.nodes = explanation.nodes.into_iter().map(NodeVerdict::of).collect();
        decision
    }
}

impl Answer {
    fn new(code: Code, plugin: &'static str, mut reasons: Vec<String>) -> Self {
        reasons.sort_unstable();
        Answer { code: code.to_string(), plugin, reasons }
    }

    /// Returns the answer of plugins that pass.
    pub fn success() -> Self {
        Answer::new(Code::Success, "", Vec::new())
    }
}

impl From<Verdict> for Answer {
    fn from(verdict: Verdict) -> Self {
        Answer::new(verdict.code, verdict.plugin, verdict.reasons.into_iter().map(Into::into).collect())
    }
}

impl From<&Status> for Answer {
    fn from(status: &Status) -> Self {
        Answer::new(status.code, status.plugin, status.reasons.iter().map(ToString::to_string).collect())
    }
}

impl PreFilter {
    fn new(explanation: &Explanation) -> Self {
        let mut skip = explanation.skipped.clone();
        skip.sort_unstable();
        PreFilter {
            answer: explanation.pre_filter.as_ref().map_or_else(Answer::success, Answer::from),
            nodes: explanation.narrowed.clone(),
            skip,
        }
    }
}

impl NodeVerdict {
    fn of(explanation: NodeExplanation) -> (String, Self) {
        let total = explanation.total();
        let scores = (!explanation.scores.is_empty()).then(|| Scores {
            scores: explanation.scores.iter().map(|score| (score.plugin, score.weighted())).collect(),
            raw: explanation.scores.iter().map(|score| (score.plugin, score.raw)).collect(),
            total,
        });
        let verdict = explanation.verdicts.into_iter().next();
        let answer = verdict.map_or_else(Answer::success, Answer::from);
        (explanation.node, NodeVerdict { answer, scores })
    }
}
