//! What becomes of pods.

use std::sync::Arc;

use crate::diagnosis::Diagnosis;
use crate::engine::Unschedulable;
use crate::model::Pod;
use crate::status::Status;

/// What became of a pod in one attempt.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The pod.
    pub pod: Arc<Pod>,
    /// Index of the profile that served it.
    pub profile: usize,
    /// How often the pod was tried, this time included.
    pub attempts: u32,
    /// Nanoseconds from when it could be tried first, since it came or PreEnqueue let it pass, to the end of this attempt.
    pub waited: i64,
    /// What became of it.
    pub result: Result<Placed, Failure>,
}

/// A pod that has its node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The node's name.
    pub node: Arc<str>,
}

/// A pod that has none.
#[derive(Clone, Debug, PartialEq)]
pub enum Failure {
    /// It fits nowhere, or a plugin rejected it after it had a node.
    Unschedulable(Box<Unschedulable>),
    /// Something broke.
    Error(String),
}

impl Failure {
    /// The text of the pod's condition.
    pub fn message(&self) -> &str {
        match self {
            Failure::Unschedulable(unschedulable) => &unschedulable.message,
            Failure::Error(message) => message,
        }
    }

    /// The reason of the pod's condition.
    pub fn reason(&self) -> &'static str {
        match self {
            Failure::Unschedulable(_) => "Unschedulable",
            Failure::Error(_) => "SchedulerError",
        }
    }

    /// A failure while the pod is being bound, when it cannot be called unfit any more: kube-scheduler passes the plugin's
    /// own words on, names no plugin to wake the pod, and tries it again after backoff.
    pub(super) fn not_bound(status: Status) -> Failure {
        if !status.code.is_rejected() {
            return Failure::Error(status.message());
        }
        Failure::Unschedulable(Box::new(Unschedulable {
            message: status.message(),
            diagnosis: Diagnosis::default(),
            post_filter: None,
        }))
    }

    /// What Reserve or Permit said after the node was chosen. A rejection is worded as that of a cluster of one node.
    pub(super) fn on_node(status: Status) -> Failure {
        if !status.code.is_rejected() {
            return Failure::Error(status.message());
        }
        let reasons = status.reasons.iter().map(|reason| (reason.clone(), 1)).collect();
        let mut diagnosis = Diagnosis { nodes: 1, reasons, ..Diagnosis::default() };
        diagnosis.add_rejector(status.plugin, status.code);
        Failure::Unschedulable(Box::new(Unschedulable { message: diagnosis.message(), diagnosis, post_filter: None }))
    }
}
