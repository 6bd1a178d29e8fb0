//! Result of an attempt.

use crate::model::{NodeIndex, Uid};
use crate::plugin_api::diagnosis::Diagnosis;
use crate::plugin_api::extension_points::{Candidate, Nomination, PostFilterResult};

/// Result of an attempt.
#[derive(Clone, Debug, PartialEq)]
pub enum Decision {
    /// The pod goes to this node.
    Node(NodeIndex),
    /// No node is feasible.
    Unschedulable(Box<Unschedulable>),
    /// The attempt failed.
    Error(String),
}

/// A pod without a feasible node.
#[derive(Clone, Debug, PartialEq)]
pub struct Unschedulable {
    /// The text of the pod's condition.
    pub message: String,
    /// The rejections.
    pub diagnosis: Diagnosis,
    /// Result of PostFilter; `None` if no PostFilter plugin ran.
    pub post_filter: Option<PostFilterResult>,
}

impl Unschedulable {
    pub(super) fn new(mut diagnosis: Diagnosis, post_filter: Option<PostFilterResult>) -> Self {
        diagnosis.post_filter = post_filter.as_ref().map(|result| result.status.reasons.clone()).unwrap_or_default();
        Unschedulable { message: diagnosis.message(), diagnosis, post_filter }
    }

    /// Returns the pods that PostFilter removes.
    pub fn victims(&self) -> &[Uid] {
        self.post_filter.as_ref().map(|result| result.victims.as_slice()).unwrap_or_default()
    }

    /// Returns the nodes among which PostFilter chose.
    pub fn candidates(&self) -> &[Candidate] {
        self.post_filter.as_ref().map(|result| result.candidates.as_slice()).unwrap_or_default()
    }

    /// Returns the change of the pod's nomination. Without a PostFilter plugin, the nomination is cleared.
    pub fn nomination(&self) -> Nomination {
        self.post_filter.as_ref().map_or(Nomination::Clear, |result| result.nomination)
    }
}

/// kube-scheduler's message for a cluster without nodes.
pub const NO_NODES: &str = "no nodes available to schedule pods";

/// Returns the result for a cluster without nodes, with an empty diagnosis.
pub(crate) fn no_nodes() -> Unschedulable {
    Unschedulable { message: NO_NODES.into(), diagnosis: Diagnosis::default(), post_filter: None }
}
