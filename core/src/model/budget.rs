//! Disruption budgets.

use std::sync::Arc;

use super::LabelSelector;
use crate::intern::Symbol;

/// How many pods of a kind may go at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodDisruptionBudget {
    /// `metadata.namespace`.
    pub namespace: Symbol,
    /// `metadata.name`.
    pub name: Symbol,
    /// Its pods. `None`: there is no selector, or it is one that Kubernetes cannot read.
    pub selector: Option<LabelSelector>,
    /// `status.disruptionsAllowed`.
    pub disruptions_allowed: i32,
    /// Names of the pods that are being evicted already: `status.disruptedPods`.
    pub disrupted_pods: Box<[Arc<str>]>,
}
