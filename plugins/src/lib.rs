//! The in-tree plugins of kube-scheduler, one module each, with the same names, arguments and results.
//!
//! A plugin's Filter and Score read only its arguments, the columns that it declares ([`columns`]), the data that it
//! compiled from the pod, and its cycle state. All plugins and profiles that declare a column or one of the
//! [`indexes`] share it.

pub mod columns;
pub mod indexes;

mod default_binder;
mod default_preemption;
#[cfg(feature = "dynamic-resources")]
mod dynamic_resources;
mod exact;
mod image_locality;
mod inter_pod_affinity;
mod node_affinity;
mod node_declared_features;
mod node_name;
mod node_ports;
mod node_resources_balanced_allocation;
mod node_resources_fit;
mod node_unschedulable;
mod node_volume_limits;
mod pod_topology_spread;
mod priority_sort;
mod resource_name;
mod scheduling_gates;
mod taint_toleration;
#[cfg(test)]
mod testing;
mod volume_binding;
mod volume_restrictions;
mod volume_zone;

pub use default_binder::DefaultBinder;
pub use default_preemption::{DefaultPreemption, DefaultPreemptionArgs};
#[cfg(feature = "dynamic-resources")]
pub use dynamic_resources::{DynamicResources, DynamicResourcesArgs};
pub use image_locality::{ImageLocality, ImageLocalityPod, ImageSpread};
pub use inter_pod_affinity::{
    InterPodAffinity, InterPodAffinityArgs, InterPodAffinityPod, InterPodAffinityScores, InterPodAffinityState,
    UnmetAffinity,
};
pub use node_affinity::{
    AddedAffinity, Mismatch, NodeAffinity, NodeAffinityArgs, NodeAffinityPod, NodeFieldOperator, NodeFieldRequirement,
    NodeLabelOperator, NodeLabelRequirement, NodeTerm, PreferredNodeTerm,
};
pub use node_declared_features::NodeDeclaredFeatures;
pub use node_name::NodeName;
pub use node_ports::{NodePorts, NodePortsPod};
pub use node_resources_balanced_allocation::{
    BalancedResource, NodeResourcesBalancedAllocation, NodeResourcesBalancedAllocationArgs,
};
pub use node_resources_fit::{
    Insufficient, NodeResourcesFit, NodeResourcesFitArgs, NodeResourcesFitPod, RequestedToCapacityRatio, ResourceSpec,
    ScoringStrategy, ScoringStrategyType, UtilizationShapePoint,
};
pub use node_unschedulable::NodeUnschedulable;
pub use node_volume_limits::{FullNodes, NodeVolumeLimits, NodeVolumeLimitsPod, VolumeLimitRejection};
pub use pod_topology_spread::{
    AffinityPolicy, DefaultConstraint, DefaultingType, PodTopologySpread, PodTopologySpreadArgs, PodTopologySpreadPod,
    SpreadCounts, SpreadRejection, SpreadScores, TaintsPolicy, WhenUnsatisfiable,
};
pub use priority_sort::PrioritySort;
pub use resource_name::{RequestedAmounts, ResourceName};
pub use scheduling_gates::SchedulingGates;
pub use taint_toleration::{TaintToleration, TaintTolerationPod};
pub use volume_binding::{
    Conflicts, PodVolumes, ReservedVolumes, VolumeBinding, VolumeBindingArgs, VolumeBindingPod, VolumeRejection,
};
pub use volume_restrictions::{ExclusiveClaims, VolumeConflict, VolumeRestrictions, VolumeRestrictionsPod};
pub use volume_zone::{VolumeZone, VolumeZonePod, VolumeZones, ZoneMismatch};
