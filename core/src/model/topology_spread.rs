//! Topology spread constraints.

use std::sync::Arc;

use super::LabelSelector;
use crate::model::intern::Symbol;
use crate::model::symbols::Symbols;

/// Consequence of an unmet constraint: `whenUnsatisfiable`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnsatisfiableAction {
    /// The node is not feasible.
    DoNotSchedule,
    /// The node is not preferred.
    ScheduleAnyway,
    /// Any other value: the constraint is ignored.
    Other,
}

/// Whether nodes that are excluded by node affinity or taints count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InclusionPolicy {
    /// Excluded nodes do not count.
    Honor,
    /// Excluded nodes count.
    Ignore,
}

/// `spec.topologySpreadConstraints[]`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Symbols)]
pub struct TopologySpreadConstraint {
    /// `maxSkew`.
    pub max_skew: i32,
    /// `topologyKey`.
    pub topology_key: Symbol,
    /// `whenUnsatisfiable`.
    pub when_unsatisfiable: UnsatisfiableAction,
    /// Selector of the pods that are counted, including `matchLabelKeys`. `None` matches no pod. An error is in
    /// Kubernetes' words.
    pub selector: Result<Option<LabelSelector>, Arc<str>>,
    /// `minDomains`, 1 if not set.
    pub min_domains: i32,
    /// `nodeAffinityPolicy`, `Honor` if not set.
    pub node_affinity_policy: InclusionPolicy,
    /// `nodeTaintsPolicy`, `Ignore` if not set.
    pub node_taints_policy: InclusionPolicy,
}
