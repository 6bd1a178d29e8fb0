//! Objects other than nodes and pods that plugins may read.

use std::sync::Arc;

use super::{
    CsiDriver, CsiNode, CsiStorageCapacity, Custom, CustomKind, DeviceClass, Namespace, PersistentVolume,
    PersistentVolumeClaim, PodDisruptionBudget, ResourceClaim, ResourceSlice, StorageClass, VolumeAttachment, Workload,
};
use crate::model::intern::Symbol;
use crate::model::symbols::Symbols;

/// The kinds of [`Object`]s.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// `v1` Namespace.
    Namespace,
    /// `v1` Service.
    Service,
    /// `v1` ReplicationController.
    ReplicationController,
    /// `apps/v1` ReplicaSet.
    ReplicaSet,
    /// `apps/v1` StatefulSet.
    StatefulSet,
    /// `v1` PersistentVolume.
    PersistentVolume,
    /// `v1` PersistentVolumeClaim.
    PersistentVolumeClaim,
    /// `storage.k8s.io/v1` StorageClass.
    StorageClass,
    /// `storage.k8s.io/v1` CSINode.
    CsiNode,
    /// `storage.k8s.io/v1` CSIDriver.
    CsiDriver,
    /// `storage.k8s.io/v1` CSIStorageCapacity.
    CsiStorageCapacity,
    /// `storage.k8s.io/v1` VolumeAttachment.
    VolumeAttachment,
    /// `policy/v1` PodDisruptionBudget.
    PodDisruptionBudget,
    /// `resource.k8s.io/v1` ResourceClaim.
    ResourceClaim,
    /// `resource.k8s.io/v1` ResourceSlice.
    ResourceSlice,
    /// `resource.k8s.io/v1` DeviceClass.
    DeviceClass,
    /// A kind that a plugin declares.
    Custom(&'static CustomKind),
}

/// Identity of an object. The namespace is empty for kinds that are not namespaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectKey {
    /// Its kind.
    pub kind: Kind,
    /// `metadata.namespace`.
    pub namespace: Symbol,
    /// `metadata.name`.
    pub name: Symbol,
}

/// An object other than a node or a pod.
#[derive(Clone, Debug, PartialEq, Symbols)]
pub enum Object {
    /// A namespace.
    Namespace(Arc<Namespace>),
    /// A Service, ReplicationController, ReplicaSet or StatefulSet.
    Workload(Arc<Workload>),
    /// A volume.
    PersistentVolume(Arc<PersistentVolume>),
    /// A claim on a volume.
    PersistentVolumeClaim(Arc<PersistentVolumeClaim>),
    /// A storage class.
    StorageClass(Arc<StorageClass>),
    /// CSI drivers of a node.
    CsiNode(Arc<CsiNode>),
    /// A CSI driver.
    CsiDriver(Arc<CsiDriver>),
    /// Storage capacity that a CSI driver reports.
    CsiStorageCapacity(Arc<CsiStorageCapacity>),
    /// A volume that is attached, or to be attached, to a node.
    VolumeAttachment(Arc<VolumeAttachment>),
    /// A disruption budget.
    PodDisruptionBudget(Arc<PodDisruptionBudget>),
    /// A claim on devices.
    ResourceClaim(Arc<ResourceClaim>),
    /// Devices that a driver reports.
    ResourceSlice(Arc<ResourceSlice>),
    /// A class of devices.
    DeviceClass(Arc<DeviceClass>),
    /// An object of a kind that a plugin declares.
    Custom(Arc<Custom>),
}

impl Object {
    /// Returns the object's identity.
    pub fn key(&self) -> ObjectKey {
        let (kind, namespace, name) = match self {
            Object::Namespace(o) => (Kind::Namespace, Symbol::EMPTY, o.name),
            Object::Workload(o) => (o.kind.into(), o.namespace, o.name),
            Object::PersistentVolume(o) => (Kind::PersistentVolume, Symbol::EMPTY, o.name),
            Object::PersistentVolumeClaim(o) => (Kind::PersistentVolumeClaim, o.namespace, o.name),
            Object::StorageClass(o) => (Kind::StorageClass, Symbol::EMPTY, o.name),
            Object::CsiNode(o) => (Kind::CsiNode, Symbol::EMPTY, o.name),
            Object::CsiDriver(o) => (Kind::CsiDriver, Symbol::EMPTY, o.name),
            Object::CsiStorageCapacity(o) => (Kind::CsiStorageCapacity, o.namespace, o.name),
            Object::VolumeAttachment(o) => (Kind::VolumeAttachment, Symbol::EMPTY, o.name),
            Object::PodDisruptionBudget(o) => (Kind::PodDisruptionBudget, o.namespace, o.name),
            Object::ResourceClaim(o) => (Kind::ResourceClaim, o.namespace, o.name),
            Object::ResourceSlice(o) => (Kind::ResourceSlice, Symbol::EMPTY, o.name),
            Object::DeviceClass(o) => (Kind::DeviceClass, Symbol::EMPTY, o.name),
            Object::Custom(o) => (Kind::Custom(o.kind), o.namespace, o.name),
        };
        ObjectKey { kind, namespace, name }
    }

    /// Returns the object if its kind is one that a plugin declares.
    pub fn custom(&self) -> Option<&Arc<Custom>> {
        match self {
            Object::Custom(custom) => Some(custom),
            _ => None,
        }
    }
}
