//! Taints of nodes.

use std::fmt;

use serde::Serialize;

use super::tolerations::{Taint, untolerated, write_taints};
use crate::remedies::change::Change;
use crate::remedies::fork::Fork;
use crate::remedies::situation::{CONDITION_TAINTS, Situation};

/// Removes taints from a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RemoveTaints {
    /// The node.
    pub node: String,
    /// The taints.
    pub taints: Vec<Taint>,
}

impl RemoveTaints {
    pub(in crate::remedies) fn candidates(fork: &mut Fork<'_>, situation: &Situation, add: &mut dyn FnMut(Self)) {
        let pod = fork.subject();
        for name in situation.nodes("TaintToleration") {
            let taints = fork.node(name).map(|node| untolerated(&pod, node)).unwrap_or_default();
            // The node controller would add the taints of conditions again.
            let is_condition = taints.iter().any(|taint| taint.key.starts_with(CONDITION_TAINTS));
            if !taints.is_empty() && !is_condition {
                add(RemoveTaints { node: name.to_owned(), taints });
            }
        }
    }
}

impl Change for RemoveTaints {
    fn apply(&self, fork: &mut Fork<'_>) -> bool {
        let Some(mut node) = fork.node(&self.node).cloned() else { return false };
        let is_removed =
            |key: &str, effect: &str| self.taints.iter().any(|taint| taint.key == key && taint.effect == effect);
        if let Some(taints) = node.spec.as_mut().and_then(|spec| spec.taints.as_mut()) {
            taints.retain(|taint| !is_removed(&taint.key, &taint.effect));
        }
        fork.set(node);
        true
    }

    fn disturbance(&self) -> u32 {
        50
    }
}

impl fmt::Display for RemoveTaints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("remove the ")?;
        write_taints(f, &self.taints)?;
        write!(f, " from node {}", self.node)
    }
}
