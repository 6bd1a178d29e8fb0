//! Cordoned nodes.

use std::fmt;

use serde::Serialize;

use crate::remedies::change::Change;
use crate::remedies::fork::Fork;
use crate::remedies::situation::{CORDONED, Situation};

/// Uncordons a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Uncordon {
    /// The node.
    pub node: String,
}

impl Uncordon {
    pub(in crate::remedies) fn candidates(_: &mut Fork<'_>, situation: &Situation, add: &mut dyn FnMut(Self)) {
        situation.nodes("NodeUnschedulable").for_each(|node| add(Uncordon { node: node.to_owned() }));
    }
}

impl Change for Uncordon {
    fn apply(&self, fork: &mut Fork<'_>) -> bool {
        let Some(mut node) = fork.node(&self.node).cloned() else { return false };
        let spec = node.spec.get_or_insert_default();
        let was_cordoned = spec.unschedulable.take() == Some(true);
        if let Some(taints) = &mut spec.taints {
            taints.retain(|taint| taint.key != CORDONED);
        }
        fork.set(node);
        was_cordoned
    }

    fn disturbance(&self) -> u32 {
        11
    }
}

impl fmt::Display for Uncordon {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "uncordon node {}", self.node)
    }
}
