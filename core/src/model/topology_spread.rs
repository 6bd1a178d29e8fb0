//! Topology spread constraints.

use super::LabelSelector;
use crate::intern::Symbol;

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
    /// `whenUnsatisfiable` is `DoNotSchedule`.
    pub hard: bool,
    /// The pods that are counted, `matchLabelKeys` merged in. `None` matches no pod.
    pub selector: Option<LabelSelector>,
    /// `minDomains`.
    pub min_domains: Option<i32>,
    /// `nodeAffinityPolicy`.
    pub node_affinity_policy: InclusionPolicy,
    /// `nodeTaintsPolicy`.
    pub node_taints_policy: InclusionPolicy,
}
