//! Labels of nodes.

use std::collections::BTreeMap;
use std::fmt;

use k8s_openapi::api::core::v1::{Node as ApiNode, NodeSelectorTerm};
use serde::Serialize;

use super::node_affinity::required;
use crate::remedies::change::Change;
use crate::remedies::fork::Fork;
use crate::remedies::situation::Situation;

/// Sets labels of a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LabelNode {
    /// The node.
    pub node: String,
    /// The labels.
    pub labels: BTreeMap<String, String>,
    /// Whether a label replaces another value.
    pub replaces: bool,
}

impl LabelNode {
    pub(in crate::remedies) fn candidates(fork: &mut Fork<'_>, situation: &Situation, add: &mut dyn FnMut(Self)) {
        let selector = fork.subject().spec.and_then(|spec| spec.node_selector).unwrap_or_default();
        let mut terms = required(fork);
        if terms.is_empty() {
            terms.push(NodeSelectorTerm::default());
        }
        for name in situation.nodes("NodeAffinity") {
            let Some(node) = fork.node(name) else { continue };
            let missing = terms.iter().filter_map(|term| missing_labels(node, &selector, term));
            if let Some(labels) = missing.min_by_key(BTreeMap::len) {
                LabelNode::of(node, labels).into_iter().for_each(&mut *add);
            }
        }
        for name in situation.nodes("PodTopologySpread") {
            let Some(node) = fork.node(name) else { continue };
            for labels in missing_domains(fork, node) {
                LabelNode::of(node, labels).into_iter().for_each(&mut *add);
            }
        }
    }

    /// Returns the change. `None` if there are no labels, or if one would replace a `kubernetes.io/` label, which
    /// describes the node.
    fn of(node: &ApiNode, labels: BTreeMap<String, String>) -> Option<Self> {
        let known = node.metadata.labels.clone().unwrap_or_default();
        let replaces = labels.keys().any(|key| known.contains_key(key));
        let is_description = |key: &String| key.contains("kubernetes.io/") && known.contains_key(key);
        let is_possible = !labels.is_empty() && !labels.keys().any(is_description);
        let node = node.metadata.name.clone()?;
        is_possible.then_some(LabelNode { node, labels, replaces })
    }
}

/// Returns the labels that a node lacks for the node selector and a term. Returns `None` if an `In` expression has no value.
fn missing_labels(
    node: &ApiNode,
    selector: &BTreeMap<String, String>,
    term: &NodeSelectorTerm,
) -> Option<BTreeMap<String, String>> {
    let empty = BTreeMap::new();
    let current_labels = node.metadata.labels.as_ref().unwrap_or(&empty);
    let missing = selector.iter().filter(|(key, value)| current_labels.get(*key) != Some(*value));
    let mut labels: BTreeMap<String, String> = missing.map(|(key, value)| (key.clone(), value.clone())).collect();
    for expression in term.match_expressions.iter().flatten() {
        let values = expression.values.as_deref().unwrap_or_default();
        let current = current_labels.get(&expression.key);
        match expression.operator.as_str() {
            "In" if current.is_some_and(|value| values.contains(value)) => {}
            "In" => drop(labels.insert(expression.key.clone(), values.first()?.clone())),
            "Exists" if current.is_none() => drop(labels.insert(expression.key.clone(), String::new())),
            // For other operators, no label is set; the scheduler decides whether they match.
            _ => {}
        }
    }
    Some(labels)
}

/// Returns the labels that a node lacks for the spread constraints. Each set has one label: a missing topology key, with one
/// of its first values on other nodes.
fn missing_domains(fork: &Fork<'_>, node: &ApiNode) -> Vec<BTreeMap<String, String>> {
    const MAX_DOMAINS: usize = 4;
    let has = |key: &String| node.metadata.labels.as_ref().is_some_and(|labels| labels.contains_key(key));
    let constraints = fork.subject().spec.and_then(|spec| spec.topology_spread_constraints).unwrap_or_default();
    let mut sets = Vec::new();
    for key in constraints.into_iter().map(|constraint| constraint.topology_key).filter(|key| !has(key)) {
        let mut values: Vec<&String> =
            fork.nodes().filter_map(|other| other.metadata.labels.as_ref()?.get(&key)).collect();
        values.sort_unstable();
        values.dedup();
        sets.extend(values.into_iter().take(MAX_DOMAINS).map(|value| BTreeMap::from([(key.clone(), value.clone())])));
    }
    sets
}

impl Change for LabelNode {
    fn apply(&self, fork: &mut Fork<'_>) -> bool {
        let Some(mut node) = fork.node(&self.node).cloned() else { return false };
        node.metadata.labels.get_or_insert_default().extend(self.labels.clone());
        fork.set(node);
        true
    }

    fn disturbance(&self) -> u32 {
        if self.replaces { 60 } else { 26 }
    }
}

impl fmt::Display for LabelNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let labels: Vec<String> = self.labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
        write!(f, "label node {} with {}", self.node, labels.join(", "))
    }
}
