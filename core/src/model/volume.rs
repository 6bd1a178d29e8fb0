//! Volumes: what pods mount, and the storage that there is.

use std::sync::Arc;

use super::{LabelSelector, Labels, NodeSelector, Uid};
use crate::intern::Symbol;
use crate::quantity::Quantity;

/// What scheduling sees of a pod's volumes, in their order. Volumes that it does not look at, such as config maps, are
/// left out; one that both excludes other pods and counts against a limit stands here twice.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Volume {
    /// A claim by name.
    Claim {
        /// `persistentVolumeClaim.claimName`.
        claim: Symbol,
    },
    /// A generic ephemeral volume: its claim is made for the pod.
    Ephemeral {
        /// The claim's name: the pod's and the volume's.
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
    /// `csi`: a volume that a CSI driver makes for the pod alone. Only hints look at it.
    InlineCsi {
        /// The driver's name.
        driver: Symbol,
    },
    /// A volume of a plugin that was part of Kubernetes and has become a CSI driver.
    InTree {
        /// The volume as that driver has it. `None`: the scheduler does not migrate this plugin's volumes. An error, in
        /// Kubernetes' words, fails the attempt where the volume would be counted.
        csi: Result<Option<CsiVolume>, Arc<str>>,
    },
}

/// A volume of a CSI driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CsiVolume {
    /// The driver's name.
    pub driver: Symbol,
    /// The driver's name of the volume: `volumeHandle`.
    pub handle: Symbol,
}

/// How a volume may be mounted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AccessMode {
    /// By one node.
    ReadWriteOnce,
    /// By many nodes, to read.
    ReadOnlyMany,
    /// By many nodes.
    ReadWriteMany,
    /// By one pod.
    ReadWriteOncePod,
    /// Another word.
    Other(Symbol),
}

/// What is in a volume.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum VolumeMode {
    /// Files; also where nothing is written.
    #[default]
    Filesystem,
    /// Blocks.
    Block,
    /// Another word.
    Other(Symbol),
}

/// `v1` PersistentVolume.
#[derive(Clone, Debug, PartialEq)]
pub struct PersistentVolume {
    /// `metadata.name`.
    pub name: Symbol,
    /// `metadata.labels`.
    pub labels: Labels,
    /// Where it is, by those of its labels that VolumeZone looks at.
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
    /// `nodeAffinity.required`, by labels alone: Kubernetes does not look at the names of nodes here. `None`: any node.
    pub node_affinity: Option<NodeSelector>,
    /// `claimRef`.
    pub claim: Option<ClaimRef>,
    /// Nobody has it: `status.phase` is `Available`.
    pub available: bool,
    /// It is being deleted.
    pub deleting: bool,
    /// `csi`.
    pub csi: Option<CsiVolume>,
    /// What becomes of it where its in-tree plugin is migrated to a CSI driver.
    pub migration: Option<Migration>,
}

/// A label that tells where a volume is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ZoneLabel {
    /// The label's key.
    pub key: Symbol,
    /// The key that serves in its place on nodes without it: for a beta label, today's; otherwise the same.
    pub successor: Symbol,
    /// The values that a node's label may have.
    pub values: Box<[Symbol]>,
}

/// A volume of an in-tree plugin that the scheduler migrates.
#[derive(Clone, Debug, PartialEq)]
pub struct Migration {
    /// The plugin's name, such as `kubernetes.io/gce-pd`.
    pub plugin: Symbol,
    /// The volume as the CSI driver has it, or in Kubernetes' words why it cannot be translated.
    pub volume: Result<MigratedVolume, Arc<str>>,
}

/// A volume as it is after migration, where that makes a difference.
#[derive(Clone, Debug, PartialEq)]
pub struct MigratedVolume {
    /// Driver and handle.
    pub csi: CsiVolume,
    /// The node affinity, in the driver's topology.
    pub node_affinity: Option<NodeSelector>,
}

/// The claim that a volume is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimRef {
    /// Its namespace.
    pub namespace: Symbol,
    /// Its name.
    pub name: Symbol,
    /// Its uid, if it is known.
    pub uid: Option<Arc<str>>,
}

/// `v1` PersistentVolumeClaim.
#[derive(Clone, Debug, PartialEq)]
pub struct PersistentVolumeClaim {
    /// `metadata.namespace`.
    pub namespace: Symbol,
    /// `metadata.name`.
    pub name: Symbol,
    /// `metadata.uid`.
    pub uid: Arc<str>,
    /// The volume that it names: `spec.volumeName`.
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
    /// `selector`, or in Kubernetes' words what is wrong with it. `None`: any volume.
    pub selector: Result<Option<LabelSelector>, Arc<str>>,
    /// Annotation `volume.kubernetes.io/selected-node`.
    pub selected_node: Option<Symbol>,
    /// What controls it, for generic ephemeral volumes a pod.
    pub controller: Option<Uid>,
    /// It is being deleted.
    pub deleting: bool,
    /// `status.phase` is `Lost`.
    pub lost: bool,
}

/// `storage.k8s.io/v1` StorageClass.
#[derive(Clone, Debug, PartialEq)]
pub struct StorageClass {
    /// `metadata.name`.
    pub name: Symbol,
    /// `provisioner`.
    pub provisioner: Symbol,
    /// Whether there is a provisioner that makes volumes.
    pub provisions: bool,
    /// The CSI driver that volumes of this class will count for; `None` if they count for none.
    pub driver: Option<Symbol>,
    /// Whether `driver` comes from an in-tree plugin: volumes count only on nodes with a CSINode then.
    pub migrated: bool,
    /// `volumeBindingMode`. `None`: not set, which an API server does not let happen.
    pub wait_for_first_consumer: Option<bool>,
    /// `allowedTopologies`. `None`: anywhere.
    pub allowed_topologies: Option<NodeSelector>,
}

/// `storage.k8s.io/v1` CSINode.
#[derive(Clone, Debug, PartialEq)]
pub struct CsiNode {
    /// The node's name.
    pub name: Symbol,
    /// Names of in-tree plugins that are migrated on this node.
    pub migrated_plugins: Box<[Symbol]>,
    /// Drivers with their limits on volumes: `spec.drivers[].allocatable.count`.
    pub drivers: Box<[(Symbol, Option<i32>)]>,
}

/// `storage.k8s.io/v1` CSIDriver.
#[derive(Clone, Debug, PartialEq)]
pub struct CsiDriver {
    /// The driver's name.
    pub name: Symbol,
    /// `storageCapacity`: the scheduler looks at capacities.
    pub storage_capacity: bool,
}

/// `storage.k8s.io/v1` CSIStorageCapacity.
#[derive(Clone, Debug, PartialEq)]
pub struct CsiStorageCapacity {
    /// `metadata.namespace`.
    pub namespace: Symbol,
    /// `metadata.name`.
    pub name: Symbol,
    /// `storageClassName`.
    pub class: Symbol,
    /// The nodes that can reach it. `None`: none can.
    pub node_topology: Option<LabelSelector>,
    /// Bytes: `maximumVolumeSize`, or else `capacity`.
    pub largest_volume: Option<i64>,
}

/// `storage.k8s.io/v1` VolumeAttachment.
#[derive(Clone, Debug, PartialEq)]
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
    /// The name of the claim that the pod names for the volume.
    pub fn named_claim(&self) -> Option<Symbol> {
        match *self {
            Volume::Claim { claim } => Some(claim),
            _ => None,
        }
    }
    /// The name of the claim behind the volume, whether the pod names it or it is made for the pod.
    #[inline]
    pub fn claim(&self) -> Option<Symbol> {
        match *self {
            Volume::Claim { claim } | Volume::Ephemeral { claim, .. } => Some(claim),
            _ => None,
        }
    }
}

impl PersistentVolume {
    /// Whether it is bound to the claim, or meant for it (`IsVolumeBoundToClaim`).
    pub fn is_for(&self, claim: &PersistentVolumeClaim) -> bool {
        self.claim.as_ref().is_some_and(|wanted| {
            wanted.name == claim.name
                && wanted.namespace == claim.namespace
                && wanted.uid.as_ref().is_none_or(|uid| *uid == claim.uid)
        })
    }
}

impl PersistentVolumeClaim {
    /// Whether it has its volume and binding is over (`isPVCFullyBound`).
    pub fn is_bound(&self) -> bool {
        self.volume.is_some() && self.bind_completed
    }
    /// Whether only one pod may use it.
    pub fn is_exclusive(&self) -> bool {
        self.access_modes.contains(&AccessMode::ReadWriteOncePod)
    }
}

impl CsiNode {
    /// Whether an in-tree plugin is migrated to its CSI driver on this node.
    pub fn has_migrated(&self, plugin: Symbol) -> bool {
        self.migrated_plugins.contains(&plugin)
    }
}
