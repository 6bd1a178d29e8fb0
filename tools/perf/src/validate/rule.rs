//! Rules, and their violations.

use std::fmt;

/// A rule of Kubernetes, named after the plugin that enforces it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Rule {
    /// The node exists, and the pod is not bound again to another node.
    NodeExists,
    /// The pod has no scheduling gates.
    SchedulingGates,
    /// The node is schedulable.
    NodeUnschedulable,
    /// The pod tolerates the node's taints.
    TaintToleration,
    /// The pod selects the node.
    NodeAffinity,
    /// No host port of the node is used twice.
    NodePorts,
    /// The node has the requested resources and allows the number of pods.
    NodeResourcesFit,
    /// Volumes for a single pod or writer are not used twice.
    VolumeRestrictions,
    /// Attached volumes do not exceed the limits of the node's drivers.
    NodeVolumeLimits,
    /// The pod's claims have volumes, and the node can reach them.
    VolumeBinding,
    /// The pod's volumes are in the node's zone.
    VolumeZone,
    /// No domain exceeds the maximum skew.
    PodTopologySpread,
    /// Required affinity and anti-affinity are met.
    InterPodAffinity,
    /// The pod's claims are allocated and reserved, and no device is held twice, unless it is shared.
    DynamicResources,
    /// The node has the features that the pod uses.
    NodeDeclaredFeatures,
}

impl Rule {
    /// Returns the plugin that enforces the rule. `None` for a rule that every scheduler enforces.
    pub fn plugin(self) -> Option<&'static str> {
        Some(match self {
            Rule::NodeExists => return None,
            Rule::SchedulingGates => "SchedulingGates",
            Rule::NodeUnschedulable => "NodeUnschedulable",
            Rule::TaintToleration => "TaintToleration",
            Rule::NodeAffinity => "NodeAffinity",
            Rule::NodePorts => "NodePorts",
            Rule::NodeResourcesFit => "NodeResourcesFit",
            Rule::VolumeRestrictions => "VolumeRestrictions",
            Rule::NodeVolumeLimits => "NodeVolumeLimits",
            Rule::VolumeBinding => "VolumeBinding",
            Rule::VolumeZone => "VolumeZone",
            Rule::PodTopologySpread => "PodTopologySpread",
            Rule::InterPodAffinity => "InterPodAffinity",
            Rule::DynamicResources => "DynamicResources",
            Rule::NodeDeclaredFeatures => "NodeDeclaredFeatures",
        })
    }
}

/// A placement that violates a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The pod: `namespace/name`.
    pub pod: String,
    /// The node of the pod.
    pub node: String,
    /// The rule.
    pub rule: Rule,
    /// Description of the violation.
    pub description: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pod {} on node {}: ", self.pod, self.node)?;
        match self.rule.plugin() {
            Some(plugin) => write!(f, "{plugin}: {}", self.description),
            None => f.write_str(&self.description),
        }
    }
}

impl std::error::Error for Violation {}
