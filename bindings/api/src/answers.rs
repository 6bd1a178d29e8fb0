//! Results of operations on a cluster.

use std::collections::BTreeMap;

use schedc_evaluation::Answer;
use serde::Serialize;

/// Numbers of objects that were added or changed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Applied {
    /// Nodes.
    pub nodes: usize,
    /// Pods.
    pub pods: usize,
    /// Objects of other kinds that schedulers read.
    pub others: usize,
    /// Objects of kinds that schedulers ignore, by kind.
    pub skipped: BTreeMap<String, usize>,
    /// Warnings about ignored fields and wrong CEL expressions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// The node of a pod, or the reason why it has none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Placement {
    /// The node; `None` if the pod has none.
    pub node: Option<String>,
    /// The rejection of the pod as a whole. If both fields are `None`, each of the nodes rejects the pod.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rejection: Option<Answer>,
}

/// The number of new nodes that pods need.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Estimate {
    /// Number of new nodes with at least one of the pods.
    pub nodes: usize,
    /// The pods that fit on these nodes.
    pub placed: Vec<String>,
    /// The other pods.
    pub left: Vec<LeftPod>,
}

/// A pod that was not placed on a new node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeftPod {
    /// The pod.
    pub pod: String,
    /// Its rejection by an empty new node. `None`: no further node was allowed, so the pod was not evaluated on one.
    pub rejection: Option<Answer>,
}
