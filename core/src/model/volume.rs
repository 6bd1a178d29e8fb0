//! Volumes of pods, and storage objects.

use std::sync::Arc;

use super::{LabelSelector, Labels, NodeSelector, Uid};
use crate::model::intern::Symbol;
use crate::model::quantity::Quantity;
use crate::model::symbols::Symbols;

/// A volume of a pod, as scheduling reads it. Irrelevant volumes, such as config maps, are left out. A volume that both
/// excludes other pods and counts against a limit occurs twice in a pod's list.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Symbols)]
pub enum Volume {
    /// A claim by name.
    Claim {
        /// `persistentVolumeClaim.claimName`.
        claim: Symbol,
    },
    /// A generic ephemeral volume: its claim is created for the pod.
    Ephemeral {
        /// The claim's name, made of the names of pod and volume.
        claim: Symbol,
        /// The pod, which must own the claim.
        pod: Uid,
        /// The pod's name.
        pod_name: Symbol,
    },
    /// `gcePersistentDisk`.
    GcePersistentDisk {
        /// `pdName`.
        name: Symbol,
        /// `readOnly`.
        read_only: bool,
    },
    /// `awsElasticBlockStore`.
    AwsElasticBlockStore {
        /// `volumeID`.
        id: Symbol,
    },
    /// `iscsi`.
    Iscsi {
        /// `iqn`.
        iqn: Symbol,
        /// `readOnly`.
        read_only: bool,
    },
    /// `rbd`.
    Rbd {
        /// `monitors`.
        monitors: Box<[Symbol]>,
        /// `pool`.
        pool: Symbol,
        /// `image`.
        image: Symbol,
        /// `readOnly`.
        read_only: bool,
    },
    /// `csi`: a volume that a CSI driver creates for the pod alone. Only hints read it.
    InlineCsi {
        /// The driver's name.
        driver: Symbol,
    },
    /// A volume of an in-tree plugin that has been replaced by a CSI driver.
    InTree {
        /// The volume of that driver. `None`: the scheduler does not migrate this plugin's volumes. An error is in
        /// Kubernetes' words; an attempt that counts the volume fails with it.
        csi: Result<Option<CsiVolume>, Arc<str>>,
    },
}

/// A volume of a CSI driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Symbols)]
pub struct CsiVolume {
    /// The driver's name.
    pub driver: Symbol,
    /// Identifier of the volume at the driver: `volumeHandle`.
    pub handle: Symbol,
}

/// A way of mounting a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Symbols)]
pub enum AccessMode {
    /// By one node.
    ReadWriteOnce,
    /// By many nodes, read-only.
    ReadOnlyMany,
    /// By many nodes.
    ReadWriteMany,
    /// By one pod.
    ReadWriteOncePod,
    /// Any other value.
    Other(Symbol),
}

/// Content of a volume.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Symbols)]
pub enum VolumeMode {
    /// Files, which is the default.
    #[default]
    Filesystem,
    /// Blocks.
    Block,
    /// Any other value.
    Other(Symbol),
}

/// `v1` PersistentVolume.
#[derive(Clone, Debug, PartialEq, Symbols)]
pub struct PersistentVolume {
    /// `metadata.name`.
    pub name: Symbol,
    /// `metadata.labels`.
    pub labels: Labels,
    /// The zone and region labels that VolumeZone reads.
    pub zones: Box<[ZoneLabel]>,
    /// The class, by annotation or field; empty for none.
    pub class: Symbol,
    /// `volumeAttributesClassName`; empty for none.
    pub attributes_class: Symbol,
    /// `capacity.storage`.
    pub capacity: Quantity,
    /// `accessModes`.
    pub access_modes: Box<[AccessMode]>,
    /// `volumeMode`.
    pub mode: VolumeMode,
    /// `nodeAffinity.required`, by labels alone: Kubernetes ignores node names here. `None`: any node.
    pub node_affinity: Option<NodeSelector>,
    /// `claimRef`.
    pub claim: Option<ClaimRef>,
    /// Whether `status.phase` is `Available`.
    pub available: bool,
    /// Whether it is being deleted.
    pub deleting: bool,
    /// `csi`.
    pub csi: Option<CsiVolume>,
    /// The volume after migration of its in-tree plugin to a CSI driver.
    pub migration: Option<Migration>,
}

/// A label with the zone or region of a volume.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Symbols)]
pub struct ZoneLabel {
    /// The label's key.
    pub key: Symbol,
    /// The key to read on nodes without a label `key`: the current key if `key` is a beta label, otherwise `key`
    /// itself.
    pub successor: Symbol,
    /// The values that a node's label may have.
    pub values: Box<[Symbol]>,
}

/// A volume of an in-tree plugin that the scheduler migrates.
#[derive(Clone, Debug, PartialEq, Symbols)]
pub struct Migration {
    /// The plugin's name, such as `kubernetes.io/gce-pd`.
    pub plugin: Symbol,
    /// The volume of the CSI driver; or the reason, in Kubernetes' words, why the volume cannot be translated.
    pub volume: Result<MigratedVolume, Arc<str>>,
}

/// Fields of a volume that differ after migration.
#[derive(Clone, Debug, PartialEq, Symbols)]
pub struct MigratedVolume {
    /// Driver and handle.
    pub csi: CsiVolume,
    /// The node affinity, in the driver's topology.
    pub node_affinity: Option<NodeSelector>,
}

/// The claim that a volume is bound to or reserved for.
#[derive(Clone, Debug, PartialEq, Eq, Symbols)]
pub struct ClaimRef {
    /// Its namespace.
    pub namespace: Symbol,
    /// Its name.
    pub name: Symbol,
    /// Its uid, if set.
    pub uid: Option<Arc<str>>,
}

/// `v1` PersistentVolumeClaim.
#[derive(Clone, Debug, PartialEq, Symbols)]
pub struct PersistentVolumeClaim {
    /// `metadata.namespace`.
    pub namespace: Symbol,
    /// `metadata.name`.
    pub name: Symbol,
    /// `metadata.uid`.
    pub uid: Arc<str>,
    /// Name of its volume: `spec.volumeName`.
    pub volume: Option<Symbol>,
    /// Annotation `pv.kubernetes.io/bind-completed`.
    pub bind_completed: bool,
    /// The class, by annotation or field; empty for none.
    pub class: Symbol,
    /// `volumeAttributesClassName`; empty for none.
    pub attributes_class: Symbol,
    /// `resources.requests.storage`.
    pub request: Option<Quantity>,
    /// `accessModes`.
    pub access_modes: Box<[AccessMode]>,
    /// `volumeMode`.
    pub mode: VolumeMode,
    /// `selector`, or its error in Kubernetes' words. `None`: any volume.
    pub selector: Result<Option<LabelSelector>, Arc<str>>,
    /// Annotation `volume.kubernetes.io/selected-node`.
    pub selected_node: Option<Symbol>,
    /// Its controller: a pod for generic ephemeral volumes.
    pub controller: Option<Uid>,
    /// Whether it is being deleted.
    pub deleting: bool,
    /// Whether `status.phase` is `Lost`.
    pub lost: bool,
}

/// `storage.k8s.io/v1` StorageClass.
#[derive(Clone, Debug, PartialEq, Symbols)]
pub struct StorageClass {
    /// `metadata.name`.
    pub name: Symbol,
    /// `provisioner`.
    pub provisioner: Symbol,
    /// Whether a provisioner creates volumes.
    pub provisions: bool,
    /// The CSI driver whose limit future volumes of this class count against. `None`: they do not count against a
    /// limit.
    pub driver: Option<Symbol>,
    /// Whether `driver` replaces an in-tree plugin: volumes then count only on nodes with a CSINode.
    pub migrated: bool,
    /// `volumeBindingMode`. `None`: not set, which an API server does not allow.
    pub wait_for_first_consumer: Option<bool>,
    /// `allowedTopologies`. `None`: anywhere.
    pub allowed_topologies: Option<NodeSelector>,
}

/// `storage.k8s.io/v1` CSINode.
#[derive(Clone, Debug, PartialEq, Symbols)]
pub struct CsiNode {
    /// The node's name.
    pub name: Symbol,
    /// Names of in-tree plugins that are migrated on this node.
    pub migrated_plugins: Box<[Symbol]>,
    /// Drivers with their volume limits: `spec.drivers[].allocatable.count`.
    pub drivers: Box<[(Symbol, Option<i32>)]>,
}

/// `storage.k8s.io/v1` CSIDriver.
#[derive(Clone, Debug, PartialEq, Symbols)]
pub struct CsiDriver {
    /// The driver's name.
    pub name: Symbol,
    /// `storageCapacity`: whether the scheduler checks capacities.
    pub storage_capacity: bool,
}

/// `storage.k8s.io/v1` CSIStorageCapacity.
#[derive(Clone, Debug, PartialEq, Symbols)]
pub struct CsiStorageCapacity {
    /// `metadata.namespace`.
    pub namespace: Symbol,
    /// `metadata.name`.
    pub name: Symbol,
    /// `storageClassName`.
    pub class: Symbol,
    /// The nodes that can use it. `None`: no node.
    pub node_topology: Option<LabelSelector>,
    /// Size of the largest possible volume in bytes: `maximumVolumeSize`, or else `capacity`.
    pub largest_volume: Option<i64>,
}

/// `storage.k8s.io/v1` VolumeAttachment.
#[derive(Clone, Debug, PartialEq, Symbols)]
pub struct VolumeAttachment {
    /// `metadata.name`.
    pub name: Symbol,
    /// `spec.attacher`.
    pub driver: Symbol,
    /// `spec.nodeName`.
    pub node: Symbol,
    /// `spec.source.persistentVolumeName`.
    pub volume: Option<Symbol>,
}

impl Volume {
    /// Returns the name of the volume's claim if the pod's spec has it.
    pub fn named_claim(&self) -> Option<Symbol> {
        match *self {
            Volume::Claim { claim } => Some(claim),
            _ => None,
        }
    }
    /// Returns the name of the volume's claim, whether named by the pod or created for it.
    #[inline]
    pub fn claim(&self) -> Option<Symbol> {
        match *self {
            Volume::Claim { claim } | Volume::Ephemeral { claim, .. } => Some(claim),
            _ => None,
        }
    }
}

impl PersistentVolume {
    /// Returns whether it is bound to the claim, or reserved for it (`IsVolumeBoundToClaim`).
    pub fn is_for(&self, claim: &PersistentVolumeClaim) -> bool {
        self.claim.as_ref().is_some_and(|reference| {
            reference.name == claim.name
                && reference.namespace == claim.namespace
                && reference.uid.as_ref().is_none_or(|uid| *uid == claim.uid)
        })
    }
}

impl PersistentVolumeClaim {
    /// Returns whether it is completely bound to a volume (`isPVCFullyBound`).
    pub fn is_bound(&self) -> bool {
        self.volume.is_some() && self.bind_completed
    }
    /// Returns whether only one pod may use it.
    pub fn is_exclusive(&self) -> bool {
        self.access_modes.contains(&AccessMode::ReadWriteOncePod)
    }
}

impl CsiNode {
    /// Returns whether an in-tree plugin is migrated to its CSI driver on this node.
    pub fn has_migrated(&self, plugin: Symbol) -> bool {
        self.migrated_plugins.contains(&plugin)
    }
}
