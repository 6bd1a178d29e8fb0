//! The objects that scheduling reads, in compact form: strings interned, quantities as integers.

mod budget;
mod custom;
mod dynamic_resources;
mod label_selector;
mod namespace;
mod node;
mod node_selector_parse;
mod object;
mod pod;
mod pod_affinity;
mod resources;
mod selector;
mod taint;
mod topology_spread;
mod volume;
mod workload;

pub use budget::PodDisruptionBudget;
pub use custom::{Custom, CustomKind};
pub use dynamic_resources::{DeviceClass, NoClaimYet, ResourceClaim, ResourceSlice};
pub use label_selector::LabelSelector;
pub use namespace::Namespace;
pub(crate) use node::NodeChange;
pub use node::{ContainerImage, Node, NodeIndex};
pub use node_selector_parse::{
    RequirementText, TermText, dns_subdomain_problems, label_key_problems, label_value_problems,
};
pub use object::{Kind, Object, ObjectKey};
pub use pod::{
    ClaimSource, ClaimStatuses, ContainerRequest, ContainerRequests, HostPort, Pod, PodResourceClaim, PodSpec, PodUsage, PreemptionPolicy, PreferredTerm,
    Protocol, Uid,
};
pub use pod_affinity::{PodAffinity, PodAffinityTerm, WeightedPodAffinityTerm};
pub use resources::{NonZero, Resources};
pub use selector::{
    FieldRequirement, Labels, LabelsExt, NodeSelector, NodeSelectorTerm, Operator, Requirement, label_integer, labels,
};
pub use taint::{Effect, Taint, Toleration, TolerationOperator};
pub use topology_spread::{InclusionPolicy, TopologySpreadConstraint, UnsatisfiableAction};
pub use volume::{
    AccessMode, ClaimRef, CsiDriver, CsiNode, CsiStorageCapacity, CsiVolume, MigratedVolume, Migration,
    PersistentVolume, PersistentVolumeClaim, StorageClass, Volume, VolumeAttachment, VolumeMode, ZoneLabel,
};
pub use workload::{ControllerRef, Workload, WorkloadKind};
