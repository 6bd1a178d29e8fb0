//! Disruption budgets.

use std::sync::Arc;

use super::{LabelSelector, Pod};
use crate::model::intern::Symbol;
use crate::model::symbols::Symbols;

/// A PodDisruptionBudget: how many of its pods may be evicted at once.
#[derive(Clone, Debug, PartialEq, Eq, Symbols)]
pub struct PodDisruptionBudget {
    /// `metadata.namespace`.
    pub namespace: Symbol,
    /// `metadata.name`.
    pub name: Symbol,
    /// Selector of its pods. `None`: there is no selector, or Kubernetes cannot parse it.
    pub selector: Option<LabelSelector>,
    /// `status.disruptionsAllowed`.
    pub disruptions_allowed: i32,
    /// Names of the pods that are being evicted: `status.disruptedPods`.
    pub disrupted_pods: Box<[Arc<str>]>,
}

impl PodDisruptionBudget {
    /// Returns whether the removal of a pod counts as a disruption of this budget (`filterPodsWithPDBViolation`): the
    /// budget selects the pod, and the pod has labels and is not being evicted.
    pub fn protects(&self, pod: &Pod) -> bool {
        pod.spec.namespace == self.namespace
            && !pod.spec.labels.is_empty()
            && self.selector.as_ref().is_some_and(|selector| selector.matches(&pod.spec.labels))
            && !self.disrupted_pods.contains(&pod.name)
    }
}
