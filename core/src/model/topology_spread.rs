//! Topology spread constraints.

use std::sync::Arc;

use super::LabelSelector;
use crate::intern::Symbol;

/// What follows where a constraint cannot be met: `whenUnsatisfiable`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnsatisfiableAction {
    /// The node is not feasible.
    DoNotSchedule,
    /// The node is not preferred.
    ScheduleAnyway,
    /// Another word: nothing.
    Other,
}

/// Whether nodes that the pod could not run on for another reason count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InclusionPolicy {
    /// They do not.
    Honor,
    /// They do.
    Ignore,
}

/// `spec.topologySpreadConstraints[]`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TopologySpreadConstraint {
    /// `maxSkew`.
    pub max_skew: i32,
    /// `topologyKey`.
    pub topology_key: Symbol,
    /// `whenUnsatisfiable`.
    pub when_unsatisfiable: UnsatisfiableAction,
    /// The pods that are counted, `matchLabelKeys` merged in; `None` matches no pod. Or what is wrong with the selector,
    /// in Kubernetes' words.
    pub selector: Result<Option<LabelSelector>, Arc<str>>,
    /// `minDomains`, 1 if it is not given.
    pub min_domains: i32,
    /// `nodeAffinityPolicy`, `Honor` if it is not given.
    pub node_affinity_policy: InclusionPolicy,
    /// `nodeTaintsPolicy`, `Ignore` if it is not given.
    pub node_taints_policy: InclusionPolicy,
}
