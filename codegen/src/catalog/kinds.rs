//! The kinds of objects that a scheduler can be told about.

/// Node and Pod, then the others by name.
pub const KINDS: [&str; 18] = [
    "Node",
    "Pod",
    "CSIDriver",
    "CSINode",
    "CSIStorageCapacity",
    "DeviceClass",
    "Namespace",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "PodDisruptionBudget",
    "ReplicaSet",
    "ReplicationController",
    "ResourceClaim",
    "ResourceSlice",
    "Service",
    "StatefulSet",
    "StorageClass",
    "VolumeAttachment",
];
