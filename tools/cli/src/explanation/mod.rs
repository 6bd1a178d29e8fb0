//! The explanation of a decision for one pod, node by node.

mod comparison;
mod cycle;

use schedc_core::cache::Base;
use schedc_core::engine::{Decision, Unschedulable};
use schedc_core::explain::{Explanation as Found, NodeExplanation};
use schedc_core::model::Pod;
use schedc_core::profile::{PluginScore, ProfileInfo};
use schedc_core::status::Status;
use schedc_core::verdict::Verdict;
use serde::Serialize;
use serde_json::Value;

use crate::budgets::{self, Budgets, Effects, ProtectedPod, Violation};
use crate::cluster::pod_name;
use crate::remedies::Remedies;
pub use comparison::{Comparison, DecisiveWeight, PluginComparison};
pub use cycle::{Options, explain};

/// The JSON schema (draft 2020-12) of [`Explanation`] as it is serialised. A test generates the schema, so only tests
/// depend on the generator: it would take as long to compile as all types here.
pub const SCHEMA: &str = include_str!("schema.json");

/// The result of a scheduling cycle.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Explanation {
    /// `namespace/name`.
    pub pod: String,
    /// The profile that serves the pod.
    pub profile: &'static str,
    /// The chosen node: one of [`Explanation::best`], or the nominated node.
    pub node: Option<String>,
    /// The reason why the pod is unschedulable: kube-scheduler's message.
    pub message: Option<String>,
    /// The cycles before, if pending pods were placed first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<EarlierCycles>,
    /// Preemption for the pod, if it is unschedulable.
    pub preemption: Option<Preemption>,
    /// The PreEnqueue plugin that gates the pod; the other extension points did not run.
    pub held_by: Option<Rejection>,
    /// The plugin that rejects the pod in PreFilter.
    pub pre_filter: Option<Rejection>,
    /// Filter plugins that are skipped for this pod.
    pub skipped_filters: Vec<&'static str>,
    /// Score plugins that are skipped for this pod. Empty if there was no scoring.
    pub skipped_scores: Vec<&'static str>,
    /// Whether the node was chosen because an earlier preemption nominated it, regardless of the scores.
    pub by_nomination: bool,
    /// The feasible nodes with the highest total. A cycle chooses one of them at random.
    pub best: Vec<String>,
    /// All nodes, by name.
    pub nodes: Vec<NodeReport>,
    /// Changes that make the pod schedulable, if it is unschedulable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedies: Option<Remedies>,
    /// The comparison with another node, if it was requested and the pod has a node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comparison: Option<Comparison>,
    /// The disruption budgets of the cluster, for warnings.
    #[serde(skip)]
    pub budgets: Vec<budgets::Status>,
}

/// The cycles before the explained cycle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct EarlierCycles {
    /// Number of other pending pods that were placed.
    pub placed: usize,
    /// Number of other pending pods that were attempted and have no node.
    pub unschedulable: usize,
    /// Number of the explained attempt, which is the pod's last attempt, counted from 1; 0 if there is no attempt.
    pub attempt: usize,
    /// Pods that earlier attempts of the explained pod preempted: `namespace/name`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub preempted: Vec<String>,
    /// The pod that preempts the explained pod afterwards: `namespace/name`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preempted_by: Option<String>,
}

/// A preemption.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Preemption {
    /// The node.
    pub node: String,
    /// The victims, the most important first: `namespace/name`.
    pub victims: Vec<String>,
    /// Disruption budgets with more victims than allowed disruptions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub violated_budgets: Vec<Violation>,
    /// Pods that would be victims without their disruption budget.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kept_by_budgets: Vec<ProtectedPod>,
}

/// The result for one node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct NodeReport {
    /// The node's name.
    pub node: String,
    /// Whether all plugins accept it.
    pub feasible: bool,
    /// The plugins that reject it; only the first one by default.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rejections: Vec<Rejection>,
    /// What the node lacks, if the first plugin that rejects it reports that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shortage: Option<Value>,
    /// Lines that describe `shortage` for users.
    #[serde(skip)]
    pub details: Vec<String>,
    /// Scores of a feasible node in the profile's order, without skipped plugins.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scores: Vec<Score>,
    /// Sum of the weighted scores of a feasible node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<i64>,
}

/// The rejection of a pod or a node by a plugin.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Rejection {
    /// The plugin; empty if several PreFilter plugins together exclude the node.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub plugin: &'static str,
    /// `Unschedulable`, or `UnschedulableAndUnresolvable` if removing pods would not help, or `Error`.
    pub code: String,
    /// kube-scheduler's messages.
    pub reasons: Vec<String>,
}

/// A plugin's score for a feasible node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Score {
    /// The plugin.
    pub plugin: &'static str,
    /// Raw score of the plugin.
    pub raw: i64,
    /// Score normalised to 0..=100.
    pub normalized: i64,
    /// Weight of the plugin in the profile.
    pub weight: i64,
    /// Normalised score times weight.
    pub weighted: i64,
}

impl Explanation {
    /// Converts the result of a cycle for output.
    pub fn new(pod: &Pod, profile: &'static ProfileInfo, cycle: Found, budgets: &Budgets, base: &Base) -> Self {
        let held_by = cycle.gated_by.as_ref().map(Rejection::from);
        let preemption = match &cycle.decision {
            Decision::Unschedulable(unschedulable) => Preemption::of(pod, unschedulable, budgets, base),
            _ => None,
        };
        let (node, message) = match (cycle.gated_by, cycle.decision) {
            (Some(held), _) => (None, Some(held.message())),
            (None, Decision::Node(index)) => (Some(base.name(index).to_owned()), None),
            (None, Decision::Unschedulable(unschedulable)) => (None, Some(unschedulable.message)),
            (None, Decision::Error(message)) => (None, Some(message)),
        };
        Explanation {
            pod: pod_name(pod, &base.interner),
            profile: profile.name,
            node,
            message,
            after: None,
            preemption: preemption.filter(|_| held_by.is_none()),
            held_by,
            pre_filter: cycle.pre_filter.as_ref().map(Rejection::from),
            skipped_filters: cycle.skipped,
            skipped_scores: skipped_scores(profile, &cycle.nodes),
            by_nomination: cycle.by_nomination,
            best: cycle.best,
            nodes: cycle.nodes.into_iter().map(NodeReport::from).collect(),
            remedies: None,
            comparison: None,
            budgets: Vec::new(),
        }
    }
}

/// Returns the score plugins of a profile that take no part in the scores of feasible nodes.
fn skipped_scores(profile: &'static ProfileInfo, nodes: &[NodeExplanation]) -> Vec<&'static str> {
    let Some(scored) = nodes.iter().find(|node| !node.scores.is_empty()) else { return Vec::new() };
    let plugins = profile.plugins("score").iter().map(|(plugin, _)| *plugin);
    plugins.filter(|plugin| scored.scores.iter().all(|score| score.plugin != *plugin)).collect()
}

impl Preemption {
    fn of(pod: &Pod, unschedulable: &Unschedulable, budgets: &Budgets, base: &Base) -> Option<Self> {
        let result = unschedulable.post_filter.as_ref()?;
        let candidate = result.nominated()?;
        let victims = candidate.victims.iter().map(|pod| pod_name(pod, &base.interner));
        let Effects { violated, protected } = budgets.effects(pod, result, base);
        Some(Preemption {
            node: base.name(candidate.node).to_owned(),
            victims: victims.collect(),
            violated_budgets: violated,
            kept_by_budgets: protected,
        })
    }
}

impl From<NodeExplanation> for NodeReport {
    fn from(node: NodeExplanation) -> Self {
        let feasible = node.is_feasible();
        let total = (feasible && !node.scores.is_empty()).then(|| node.total());
        let (shortage, details) = node.shortage.map(|shortage| (shortage.data, shortage.lines)).unzip();
        NodeReport {
            feasible,
            total,
            rejections: node.verdicts.into_iter().map(Rejection::from).collect(),
            shortage,
            details: details.unwrap_or_default(),
            scores: node.scores.into_iter().map(Score::from).collect(),
            node: node.node,
        }
    }
}

impl From<Verdict> for Rejection {
    fn from(verdict: Verdict) -> Self {
        let reasons = verdict.reasons.into_iter().map(Into::into).collect();
        Rejection { plugin: verdict.plugin, code: verdict.code.to_string(), reasons }
    }
}

impl From<&Status> for Rejection {
    fn from(status: &Status) -> Self {
        Rejection {
            plugin: status.plugin,
            code: status.code.to_string(),
            reasons: status.reasons.iter().map(ToString::to_string).collect(),
        }
    }
}

impl From<PluginScore> for Score {
    fn from(score: PluginScore) -> Self {
        let PluginScore { plugin, raw, normalized, weight } = score;
        Score { plugin, raw, normalized, weight, weighted: score.weighted() }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect_file;
    use schemars::generate::SchemaSettings;

    use super::Explanation;

    #[test]
    fn the_schema_is_that_of_the_types() {
        let settings =
            SchemaSettings::draft2020_12().for_serialize().with(|settings| settings.inline_subschemas = true);
        let mut schema = settings.into_generator().into_root_schema_for::<Explanation>().to_value();
        // The order of keys depends on features that other packages enable.
        schema.sort_all_objects();
        let text = serde_json::to_string_pretty(&schema).expect("JSON");
        expect_file!["schema.json"].assert_eq(&(text + "\n"));
    }
}
