//! What becomes of an attempt.

use crate::diagnosis::Diagnosis;
use crate::extension_points::{Candidate, Nomination, PostFilterResult};
use crate::model::{NodeIndex, Uid};

/// How an attempt ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Decision {
    /// The pod goes to this node.
    Node(NodeIndex),
    /// The pod fits nowhere.
    Unschedulable(Box<Unschedulable>),
    /// Something broke.
    Error(String),
}

/// A pod that fits nowhere.
#[derive(Clone, Debug, PartialEq)]
pub struct Unschedulable {
    /// The text of the pod's condition.
    pub message: String,
    /// Why.
    pub diagnosis: Diagnosis,
    /// What PostFilter plugins found; none if there was nobody to ask.
    pub post_filter: Option<PostFilterResult>,
}

impl Unschedulable {
    pub(super) fn new(mut diagnosis: Diagnosis, post_filter: Option<PostFilterResult>) -> Self {
        diagnosis.post_filter = post_filter.as_ref().map(|found| found.status.message()).unwrap_or_default();
        Unschedulable { message: diagnosis.message(), diagnosis, post_filter }
    }

    /// What PostFilter removes.
    pub fn victims(&self) -> &[Uid] {
        self.post_filter.as_ref().map(|found| found.victims.as_slice()).unwrap_or_default()
    }

    /// The nodes among which PostFilter chose.
    pub fn candidates(&self) -> &[Candidate] {
        self.post_filter.as_ref().map(|found| found.candidates.as_slice()).unwrap_or_default()
    }

    /// What becomes of the pod's nomination. Without a PostFilter plugin, there is nobody to keep it.
    pub fn nomination(&self) -> Nomination {
        self.post_filter.as_ref().map_or(Nomination::Clear, |found| found.nomination)
    }
}

/// kube-scheduler's words for a cluster without nodes.
pub const NO_NODES: &str = "no nodes available to schedule pods";

/// A pod fits nowhere where there is nothing, and there is nothing to diagnose.
pub(crate) fn no_nodes() -> Unschedulable {
    Unschedulable { message: NO_NODES.into(), diagnosis: Diagnosis::default(), post_filter: None }
}
