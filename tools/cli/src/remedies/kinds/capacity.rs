//! Free capacity of nodes.

use std::fmt;

use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use schedc_core::model::Resources;
use serde::Serialize;

use super::amount::{amount, text};
use crate::remedies::change::Change;
use crate::remedies::fork::Fork;
use crate::remedies::situation::Situation;

/// Maximum number of nodes that are tried for each resource. The nodes that lack least are tried.
const MAX_NODES: usize = 3;

/// Frees an amount of a resource on a node, by any means.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FreeCapacity {
    /// The node.
    pub node: String,
    /// The resource.
    pub resource: String,
    /// The amount, as a quantity.
    pub amount: String,
    /// The amount as a number.
    #[serde(skip)]
    strength: i64,
    /// The request of the pod.
    #[serde(skip)]
    requested: i64,
}

impl FreeCapacity {
    pub(in crate::remedies) fn candidates(fork: &mut Fork<'_>, situation: &Situation, add: &mut dyn FnMut(Self)) {
        let pod = fork.pod();
        for resource in ["cpu", "memory", "ephemeral-storage"] {
            if !situation.reasons("NodeResourcesFit").contains(&format!("Insufficient {resource}").as_str()) {
                continue;
            }
            let requested = amount_of(&pod.spec.requests, resource);
            let base = fork.base();
            let mut nodes: Vec<(i64, &str)> = Vec::new();
            for name in situation.all_nodes("NodeResourcesFit") {
                let index = base.interner.get(name).and_then(|name| base.node(name));
                let Some(info) = index.and_then(|index| base.infos().get(index.get())) else { continue };
                let Some(node) = &info.node else { continue };
                // Saturating, because pods that are already on a node may request any amount.
                let requests = info.pods.iter().map(|pod| amount_of(&pod.usage.requests, resource));
                let free = requests.fold(amount_of(&node.allocatable, resource), i64::saturating_sub);
                // The empty node must be large enough for the pod.
                if free < requested && requested <= amount_of(&node.allocatable, resource) {
                    nodes.push((requested.saturating_sub(free), name));
                }
            }
            nodes.sort_unstable();
            for (_, node) in nodes.into_iter().take(MAX_NODES) {
                let (node, resource) = (node.to_owned(), resource.to_owned());
                let amount = text(&resource, requested);
                add(FreeCapacity { node, resource, amount, strength: requested, requested });
            }
        }
    }
}

fn amount_of(resources: &Resources, resource: &str) -> i64 {
    match resource {
        "cpu" => resources.milli_cpu,
        "memory" => resources.memory,
        _ => resources.ephemeral_storage,
    }
}

impl Change for FreeCapacity {
    fn apply(&self, fork: &mut Fork<'_>) -> bool {
        let Some(mut node) = fork.node(&self.node).cloned() else { return false };
        let allocatable = node.status.get_or_insert_default().allocatable.get_or_insert_default();
        let Some(quantity) = allocatable.get_mut(&self.resource) else { return false };
        // For the scheduler, a larger node and a node with fewer used resources are equal.
        *quantity = Quantity(text(&self.resource, amount(&self.resource, quantity).saturating_add(self.strength)));
        fork.set(node);
        true
    }

    fn disturbance(&self) -> u32 {
        80
    }

    fn strengths(&self) -> i64 {
        self.requested
    }

    fn set_strength(&mut self, strength: i64) {
        self.strength = strength;
        self.amount = text(&self.resource, strength);
    }
}

impl fmt::Display for FreeCapacity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "free {} of {} on node {}", self.amount, self.resource, self.node)
    }
}
