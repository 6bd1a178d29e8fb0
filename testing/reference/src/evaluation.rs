//! Evaluation of a pod: PreFilter, Filter, Score.

use std::collections::{BTreeMap, BTreeSet};

use schedc_core::intern::{Interner, Symbol};
use schedc_core::model::{Node, Pod};
use schedc_core::status::Code;

use crate::cluster::Cluster;
use crate::plugin::{Cycle, Plugin, PreFilter, Rejection, stronger_nominated};
use crate::profile::Profile;

/// Rejection of a pod or of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PluginRejection {
    /// Name of the plugin; empty for a node that PreFilter plugins leave out.
    pub plugin: &'static str,
    /// Status code. It shows whether preemption may help.
    pub code: Code,
    /// Reasons, sorted.
    pub reasons: Vec<String>,
}

/// Score of a feasible node by one plugin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Score {
    /// Name of the plugin.
    pub plugin: &'static str,
    /// Score before normalization.
    pub raw: i64,
    /// Score after normalization to 0..=100.
    pub normalized: i64,
    /// Weight of the plugin.
    pub weight: i64,
}

/// Result of one node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeEvaluation {
    /// Rejection by the first plugin that rejects the node.
    pub rejection: Option<PluginRejection>,
    /// Scores of a feasible node; empty if scoring fails.
    pub scores: Vec<Score>,
}

impl NodeEvaluation {
    /// Returns the sum of the weighted scores.
    pub fn total(&self) -> i64 {
        self.scores.iter().map(|score| score.normalized * score.weight).sum()
    }
}

/// Result of an evaluation, without preemption.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReferenceEvaluation {
    /// Rejection of the pod by PreFilter.
    pub pre_filter: Option<PluginRejection>,
    /// Results by node name; empty if PreFilter rejects the pod.
    pub nodes: BTreeMap<String, NodeEvaluation>,
    /// Feasible nodes with the highest total; empty if scoring fails.
    pub best: BTreeSet<String>,
    /// The nominated node, if it is feasible: scores are irrelevant then.
    pub by_nomination: Option<String>,
    /// Error messages with which the attempt can fail. The order of evaluation of the nodes decides which one occurs.
    pub failures: BTreeSet<String>,
    /// Reasons why the pod does not fit, without those of preemption. `None` if it fits on a node, or the attempt
    /// fails.
    pub message: Option<String>,
}

impl ReferenceEvaluation {
    /// Returns the names of the feasible nodes.
    pub fn feasible(&self) -> impl Iterator<Item = &str> {
        self.nodes.iter().filter(|(_, node)| node.rejection.is_none()).map(|(name, _)| name.as_str())
    }
    /// Returns the nodes of which one is chosen.
    pub fn choices(&self) -> BTreeSet<&str> {
        if let Some(node) = &self.by_nomination {
            return [node.as_str()].into();
        }
        if !self.failures.is_empty() {
            return BTreeSet::new();
        }
        // A single feasible node is chosen without scores.
        match self.feasible().count() {
            1 => self.feasible().collect(),
            _ => self.best.iter().map(String::as_str).collect(),
        }
    }
}

/// Evaluates a pod.
pub fn evaluate(profile: &Profile, cluster: &Cluster, names: &Interner, pod: &Pod) -> ReferenceEvaluation {
    let mut evaluation = ReferenceEvaluation::default();
    if cluster.nodes.is_empty() {
        evaluation.message = Some("no nodes available to schedule pods".to_owned());
        return evaluation;
    }
    let cx = Cycle { pod, cluster, names, args: &profile.args };
    let plan = match pre_filter(profile, &cx) {
        Ok(plan) => plan,
        Err(rejection) => {
            if rejection.code == Code::Error {
                evaluation.failures.insert(rejection.reasons.join(", "));
            } else {
                let count = cluster.nodes.len();
                evaluation.message = Some(format!("0/{count} nodes are available: {}.", rejection.reasons.join(", ")));
            }
            evaluation.pre_filter = Some(rejection);
            return evaluation;
        }
    };
    for node in cluster.nodes.values() {
        let result = NodeEvaluation { rejection: evaluate_node(&plan, &cx, node), scores: Vec::new() };
        evaluation.nodes.insert(names.resolve(node.name).to_owned(), result);
    }
    let nominated = pod.nominated_node.and_then(|name| cluster.nodes.get(&name));
    // The nominated node is evaluated regardless of the nodes that PreFilter leaves.
    let feasible_nominated = nominated.filter(|node| filter_with_nominated(&plan, &cx, node).is_ok());
    evaluation.by_nomination = feasible_nominated.map(|node| names.resolve(node.name).to_owned());
    let rejections = || evaluation.nodes.values().filter_map(|node| node.rejection.as_ref());
    let failures: BTreeSet<String> =
        rejections().filter(|r| r.code == Code::Error).map(|r| r.reasons.join(", ")).collect();
    if evaluation.feasible().next().is_none() && failures.is_empty() {
        evaluation.message = Some(histogram(cluster.nodes.len(), rejections()));
    }
    let feasible: Vec<&Node> = cluster
        .nodes
        .values()
        .filter(|node| evaluation.nodes[names.resolve(node.name)].rejection.is_none())
        .map(|node| &**node)
        .collect();
    // A failure on one node ends the attempt, unless the nominated node fits.
    let is_scored = failures.is_empty() || evaluation.by_nomination.is_some();
    evaluation.failures = failures;
    if is_scored && !feasible.is_empty() {
        score(profile, &cx, &feasible, &mut evaluation);
    }
    evaluation
}

/// Nodes that PreFilter leaves, and plugins whose Filter is not skipped.
struct FilterPlan {
    only: Option<Vec<Symbol>>,
    narrowed_by: Vec<&'static str>,
    filters: Vec<&'static dyn Plugin>,
}

fn pre_filter(profile: &Profile, cx: &Cycle<'_>) -> Result<FilterPlan, PluginRejection> {
    let mut plan = FilterPlan { only: None, narrowed_by: Vec::new(), filters: profile.filters.clone() };
    for plugin in &profile.pre_filters {
        match plugin.pre_filter(cx) {
            PreFilter::Ready => {}
            PreFilter::Skip => plan.filters.retain(|filter| filter.name() != plugin.name()),
            PreFilter::Only(names) => {
                plan.narrowed_by.push(plugin.name());
                plan.only = Some(match plan.only {
                    None => names,
                    Some(before) => before.into_iter().filter(|name| names.contains(name)).collect(),
                });
            }
            PreFilter::Reject(Rejection { code: Code::Error, reasons }) => {
                let text = format!("running PreFilter plugin {:?}: {}", plugin.name(), reasons.join(", "));
                return Err(PluginRejection { plugin: plugin.name(), code: Code::Error, reasons: vec![text] });
            }
            PreFilter::Reject(Rejection { code, reasons }) => {
                return Err(PluginRejection { plugin: plugin.name(), code, reasons });
            }
        }
    }
    Ok(plan)
}

/// Returns the rejection of a node.
fn evaluate_node(plan: &FilterPlan, cx: &Cycle<'_>, node: &Node) -> Option<PluginRejection> {
    if plan.only.as_ref().is_some_and(|only| !only.contains(&node.name)) {
        let reasons = vec![format!("node(s) didn't satisfy plugin(s) [{}]", plan.narrowed_by.join(" "))];
        return Some(PluginRejection { plugin: "", code: Code::UnschedulableAndUnresolvable, reasons });
    }
    filter_with_nominated(plan, cx, node).err()
}

/// Runs Filter with the nominated pods of equal or higher priority on the node, and without them.
fn filter_with_nominated(plan: &FilterPlan, cx: &Cycle<'_>, node: &Node) -> Result<(), PluginRejection> {
    let nominated = stronger_nominated(cx, node);
    if !nominated.is_empty() {
        let cluster = cx.cluster.with(nominated.into_iter());
        filter(plan, &Cycle { cluster: &cluster, ..*cx }, node)?;
    }
    filter(plan, cx, node)
}

fn filter(plan: &FilterPlan, cx: &Cycle<'_>, node: &Node) -> Result<(), PluginRejection> {
    for plugin in &plan.filters {
        if let Err(Rejection { code, mut reasons }) = plugin.filter(cx, node) {
            if code == Code::Error {
                reasons = vec![format!("running {:?} filter plugin: {}", plugin.name(), reasons.join(", "))];
            }
            reasons.sort();
            return Err(PluginRejection { plugin: plugin.name(), code, reasons });
        }
    }
    Ok(())
}

/// Returns the message with the number of nodes for each reason.
fn histogram<'a>(nodes: usize, rejections: impl Iterator<Item = &'a PluginRejection>) -> String {
    let mut counts = BTreeMap::<&str, usize>::new();
    for reason in rejections.flat_map(|rejection| &rejection.reasons) {
        *counts.entry(reason).or_default() += 1;
    }
    let mut texts: Vec<String> = counts.into_iter().map(|(reason, count)| format!("{count} {reason}")).collect();
    texts.sort();
    match texts.is_empty() {
        true => format!("0/{nodes} nodes are available:"),
        false => format!("0/{nodes} nodes are available: {}.", texts.join(", ")),
    }
}

fn score(profile: &Profile, cx: &Cycle<'_>, feasible: &[&Node], evaluation: &mut ReferenceEvaluation) {
    let mut scores: Vec<Vec<Score>> = vec![Vec::new(); feasible.len()];
    let mut failures = BTreeSet::new();
    let mut scoring = Vec::new();
    for &(plugin, weight) in &profile.scores {
        match plugin.pre_score(cx, feasible) {
            Ok(true) => scoring.push((plugin, weight)),
            Ok(false) => {}
            Err(error) => {
                failures.insert(format!("running PreScore plugin {:?}: {error}", plugin.name()));
                break;
            }
        }
    }
    if !failures.is_empty() {
        scoring.clear();
    }
    for (plugin, weight) in scoring {
        let mut raw = Vec::new();
        for node in feasible {
            match plugin.score(cx, feasible, node) {
                Ok(score) => raw.push(score),
                Err(error) => {
                    let text = format!("running Score plugins: plugin {:?} failed with: {error}", plugin.name());
                    failures.insert(text);
                    raw.push(0);
                }
            }
        }
        let normalized = plugin.normalize(cx, feasible, &raw);
        for ((scores, raw), normalized) in scores.iter_mut().zip(raw).zip(normalized) {
            if !(0..=100).contains(&normalized) {
                failures.insert(format!(
                    "applying score defaultWeights on Score plugins: plugin {:?} returns an invalid score {normalized}, \
                     it should in the range of [0, 100] after normalizing",
                    plugin.name()
                ));
            }
            scores.push(Score { plugin: plugin.name(), raw, normalized, weight });
        }
    }
    if !failures.is_empty() {
        // If only one node is feasible, kube-scheduler does not score it.
        if feasible.len() > 1 {
            evaluation.failures.extend(failures);
        }
        return;
    }
    let name = |node: &Node| cx.text(node.name).to_owned();
    for (node, scores) in feasible.iter().zip(scores) {
        evaluation.nodes.entry(name(node)).or_default().scores = scores;
    }
    let total = |node: &Node| evaluation.nodes.get(&name(node)).map(NodeEvaluation::total);
    let highest = feasible.iter().map(|node| total(node)).max();
    evaluation.best = feasible.iter().filter(|node| Some(total(node)) == highest).map(|node| name(node)).collect();
}
