//! The first layer: the cluster as data. Objects in compact form, with strings interned and quantities as integers, and
//! the [`cache`](crate::cache::Cache) that has them in dense slots.

mod allocation_result;
mod budget;
pub mod cache;
pub(crate) mod cache_size;
pub(crate) mod change;
pub mod change_log;
mod custom;
mod device_class;
pub(crate) mod growth;
pub mod intern;
mod label_selector;
pub mod map;
mod namespace;
mod node;
pub(crate) mod node_info;
pub mod node_mask;
mod node_selector_parse;
pub mod node_set;
mod object;
pub(crate) mod object_ref;
pub mod originals;
pub(crate) mod placement;
mod pod;
mod pod_affinity;
pub mod quantity;
mod required_node_affinity;
mod resource_claim;
mod resource_claim_json;
mod resource_slice;
mod resources;
mod selector;
pub(crate) mod symbols;
mod taint;
mod topology_spread;
mod volume;
mod workload;

pub use allocation_result::{
    AllocationNodes, AllocationResult, ConfigurationSource, DeviceAllocationConfiguration, DeviceNodeRequirement,
    DeviceNodeSelector, DeviceNodeSelectorTerm, DeviceRequestAllocationResult,
};
pub use budget::PodDisruptionBudget;
pub use custom::{Custom, CustomKind};
pub use device_class::DeviceClass;
pub use label_selector::LabelSelector;
pub use namespace::Namespace;
pub(crate) use node::NodeChange;
pub use node::{ContainerImage, Node, NodeIndex};
pub use node_selector_parse::{
    RequirementText, TermText, dns_subdomain_problems, label_key_problems, label_value_problems,
};
pub use object::{Kind, Object, ObjectKey};
pub use pod::{
    ClaimSource, ClaimStatuses, ContainerDeviceRequest, HostPort, Pod, PodResourceClaim, PodSpec, PodUsage,
    PreemptionPolicy, PreferredTerm, Protocol, Uid,
};
pub use pod_affinity::{PodAffinity, PodAffinityTerm, WeightedPodAffinityTerm};
pub use required_node_affinity::RequiredNodeAffinity;
pub use resource_claim::{
    AllocatedDeviceStatus, AllocationMode, CapacityRequirements, ConstrainedAttribute, ConsumerReference,
    DeviceClaimConfiguration, DeviceCondition, DeviceConfiguration, DeviceConstraint, DeviceRequest, DeviceSelector,
    DeviceSubRequest, DeviceTaintEffect, DeviceToleration, DeviceTolerationOperator,
    EXTENDED_RESOURCE_CLAIM_ANNOTATION, ExactDeviceRequest, NoClaimYet, OpaqueDeviceConfiguration,
    RESOURCE_CLAIM_FINALIZER, RequestRef, RequestedDevices, ResourceClaim, ResourceClaimSpec, ResourceClaimStatus,
};
pub use resource_slice::{
    CapacityRequestPolicy, CapacityRequestRange, CounterSet, Device, DeviceAttribute, DeviceCapacity, DeviceNodes,
    DeviceTaint, QualifiedName, ResourceSlice,
};
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
