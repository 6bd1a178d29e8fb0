//! The comparison of two profiles, as it is printed.

use serde::Serialize;
use serde_json::Value;

/// The comparison of two profiles.
#[derive(Serialize)]
pub(crate) struct Comparison {
    pub(crate) a: Named,
    pub(crate) b: Named,
    /// Whether the profiles are equivalent.
    pub(crate) equal: bool,
    pub(crate) differences: Vec<Entry>,
    /// Pods with different nodes, if there is a cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) placements: Option<PlacementChanges>,
}

/// One of the two profiles.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) scheduler_name: String,
}

/// A difference.
#[derive(Serialize)]
pub(crate) struct Entry {
    pub(crate) what: DifferenceKind,
    /// Extension point, for plugins, weights and orders.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) point: Option<&'static str>,
    /// Plugin, for plugins, weights and arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) plugin: Option<String>,
    /// URL, for extenders.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) extender: Option<String>,
    /// Name, for settings (including those of extenders) and arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    pub(crate) a: Value,
    pub(crate) b: Value,
    /// Effect on pods.
    pub(crate) effect: String,
}

/// Kind of a difference.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum DifferenceKind {
    Setting,
    Plugin,
    Weight,
    Order,
    Argument,
    Extender,
}

/// Outcomes for the pods of a cluster under both profiles.
#[derive(Serialize)]
pub(crate) struct PlacementChanges {
    /// Pods that were placed, attempted without success, or preempted under either profile.
    pub(crate) pods: usize,
    /// Of those, pods with the same node, or without a node under both profiles.
    pub(crate) same: usize,
    /// All other pods.
    pub(crate) elsewhere: Vec<PlacementChange>,
}

/// A pod with different outcomes.
#[derive(Serialize)]
pub(crate) struct PlacementChange {
    /// `namespace/name`.
    pub(crate) pod: String,
    pub(crate) a: Outcome,
    pub(crate) b: Outcome,
}

/// Outcome for a pod.
#[derive(Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Outcome {
    /// The pod's node at the end.
    pub(crate) node: Option<String>,
    /// The reason why the pod has no node. `None` if it has one, or if the profile neither attempted nor preempted it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) message: Option<String>,
}
