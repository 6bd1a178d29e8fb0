//! Volumes: what pods mount, and the storage that there is.

use std::sync::Arc;

use super::{LabelSelector, Labels, NodeSelector, Uid};
use crate::intern::Symbol;

/// A volume of a pod that scheduling looks at. Others, such as config maps, are left out.
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
    /// Another volume of a plugin that was part of Kubernetes, as its CSI driver has it.
    Migrated {
        /// The driver.
        driver: Symbol,
        /// The volume.
        handle: Symbol,
    },
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

/// `v1` PersistentVolume.
#[derive(Clone, Debug, PartialEq)]
pub struct PersistentVolume {
    /// `metadata.name`.
    pub name: Symbol,
    /// `metadata.labels`.
    pub labels: Labels,
    /// The class, by field or annotation; empty for none.
    pub class: Symbol,
    /// Bytes: `capacity.storage`.
    pub capacity: i64,
    /// `accessModes`.
    pub access_modes: Box<[AccessMode]>,
    /// `volumeMode` is `Block`.
    pub block: bool,
    /// `nodeAffinity.required`.
    pub node_affinity: Option<NodeSelector>,
    /// `claimRef`.
    pub claim: Option<ClaimRef>,
    /// CSI driver and volume handle, those of migrated plugins included.
    pub csi: Option<(Symbol, Symbol)>,
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
    /// The class, by field or annotation. `None`: not given.
    pub class: Option<Symbol>,
    /// Bytes: `resources.requests.storage`.
    pub request: i64,
    /// `accessModes`.
    pub access_modes: Box<[AccessMode]>,
    /// `volumeMode` is `Block`.
    pub block: bool,
    /// `selector`.
    pub selector: Option<LabelSelector>,
    /// Annotation `volume.kubernetes.io/selected-node`.
    pub selected_node: Option<Symbol>,
    /// The pod that controls it, for generic ephemeral volumes.
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
    /// `volumeBindingMode`. `None`: not set, which an API server does not let happen.
    pub wait_for_first_consumer: Option<bool>,
    /// `allowedTopologies`: alternatives, each a list of labels with the values that they may have.
    pub allowed_topologies: Box<[Box<[(Symbol, Box<[Symbol]>)]>]>,
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
