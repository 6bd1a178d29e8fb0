//! The node selector of the pod.

use std::collections::BTreeSet;
use std::fmt;

use k8s_openapi::api::core::v1::Node as ApiNode;
use schedc_codegen::suggest::closest;
use serde::Serialize;

use crate::remedies::change::Change;
use crate::remedies::fork::Fork;
use crate::remedies::situation::Situation;

/// Replaces an entry of the node selector by a similar label of nodes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ChangeNodeSelector {
    /// The key.
    pub key: String,
    /// The value.
    pub value: String,
    /// The key afterwards.
    pub new_key: String,
    /// The value afterwards.
    pub new_value: String,
}

/// Removes an entry of the node selector.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RemoveNodeSelector {
    /// The key.
    pub key: String,
    /// The value.
    pub value: String,
}

/// Returns the entries of the node selector if NodeAffinity rejects nodes.
fn entries(fork: &Fork<'_>, situation: &Situation) -> Vec<(String, String)> {
    let selector = fork.subject().spec.and_then(|spec| spec.node_selector).unwrap_or_default();
    selector.into_iter().filter(|_| situation.has("NodeAffinity")).collect()
}

/// Returns the values of a node label.
fn values<'a>(nodes: impl Iterator<Item = &'a ApiNode>, key: &str) -> BTreeSet<&'a str> {
    nodes.filter_map(|node| node.metadata.labels.as_ref()?.get(key)).map(String::as_str).collect()
}

impl ChangeNodeSelector {
    pub(in crate::remedies) fn candidates(fork: &mut Fork<'_>, situation: &Situation, add: &mut dyn FnMut(Self)) {
        for (key, value) in entries(fork, situation) {
            let mut suggest = |new_key: &str, new_value: &str| {
                let (new_key, new_value) = (new_key.to_owned(), new_value.to_owned());
                add(ChangeNodeSelector { key: key.clone(), value: value.clone(), new_key, new_value });
            };
            let known = values(fork.nodes(), &key);
            if known.is_empty() {
                let labels = fork.nodes().flat_map(|node| node.metadata.labels.iter().flatten());
                // Nodes have few distinct keys, so the set stays small.
                let keys: BTreeSet<&str> = labels.map(|(key, _)| key.as_str()).collect();
                if let Some(similar) = closest(&key, keys) {
                    suggest(similar, &value);
                }
            } else if !known.contains(value.as_str())
                && let Some(similar) = closest(&value, known)
            {
                suggest(&key, similar);
            }
        }
    }
}

impl RemoveNodeSelector {
    pub(in crate::remedies) fn candidates(fork: &mut Fork<'_>, situation: &Situation, add: &mut dyn FnMut(Self)) {
        entries(fork, situation).into_iter().for_each(|(key, value)| add(RemoveNodeSelector { key, value }));
    }
}

impl Change for ChangeNodeSelector {
    fn apply(&self, fork: &mut Fork<'_>) -> bool {
        let mut pod = fork.subject();
        let Some(selector) = pod.spec.as_mut().and_then(|spec| spec.node_selector.as_mut()) else { return false };
        selector.remove(&self.key);
        selector.insert(self.new_key.clone(), self.new_value.clone());
        fork.set(pod);
        true
    }

    fn disturbance(&self) -> u32 {
        15
    }
}

impl Change for RemoveNodeSelector {
    fn apply(&self, fork: &mut Fork<'_>) -> bool {
        let mut pod = fork.subject();
        let Some(selector) = pod.spec.as_mut().and_then(|spec| spec.node_selector.as_mut()) else { return false };
        selector.remove(&self.key);
        fork.set(pod);
        true
    }

    fn disturbance(&self) -> u32 {
        40
    }
}

impl fmt::Display for ChangeNodeSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ChangeNodeSelector { key, value, new_key, new_value } = self;
        write!(f, "change {key}={value} in the node selector to {new_key}={new_value}")
    }
}

impl fmt::Display for RemoveNodeSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "remove {}={} from the node selector", self.key, self.value)
    }
}
