//! Outcomes of attempts.

use std::sync::Arc;

use crate::engine::Unschedulable;
use crate::model::Pod;
use crate::plugin_api::diagnosis::Diagnosis;
use crate::plugin_api::status::Status;

/// Outcome of one attempt.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The pod.
    pub pod: Arc<Pod>,
    /// Index of the profile that served it.
    pub profile: usize,
    /// Number of attempts including this one.
    pub attempts: u32,
    /// Nanoseconds from the arrival of the pod, or its admission by PreEnqueue, to the end of this attempt.
    pub waited: i64,
    /// The result.
    pub result: Result<Placed, Failure>,
}

/// A pod that has its node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The node's name.
    pub node: Arc<str>,
}

/// A pod without a node.
#[derive(Clone, Debug, PartialEq)]
pub enum Failure {
    /// No node is feasible, or a plugin rejected the pod after a node was chosen.
    Unschedulable(Box<Unschedulable>),
    /// The attempt failed with an error.
    Error(String),
}

impl Failure {
    /// Returns the message of the pod's condition.
    pub fn message(&self) -> &str {
        match self {
            Failure::Unschedulable(unschedulable) => &unschedulable.message,
            Failure::Error(message) => message,
        }
    }

    /// Returns the reason of the pod's condition.
    pub fn reason(&self) -> &'static str {
        match self {
            Failure::Unschedulable(_) => "Unschedulable",
            Failure::Error(_) => "SchedulerError",
        }
    }

    /// Converts a failure of a binding cycle. As in kube-scheduler, a rejection keeps the plugin's text but registers
    /// no rejector, so the pod is retried after backoff.
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

    /// Converts a status of Reserve or Permit for a chosen node. A rejection is worded as for a cluster with one node.
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
