//! Events that queue pods rejected by VolumeBinding.

use crate::hints::table::{Event, Hints, added, updated};

const POD: &str = "{metadata: {name: me}, spec: {volumes: [
    {name: a, persistentVolumeClaim: {claimName: data}}, {name: own, ephemeral: {}}, {name: c, csi: {driver: inline}}]}}";
const CLASS: &str = "{kind: StorageClass, metadata: {name: fast}, provisioner: d}";
const NODE: &str = "{kind: CSINode, metadata: {name: n1}, spec: {drivers: []}}";
const CAPACITY: &str = "{kind: CSIStorageCapacity, metadata: {name: c}, storageClassName: fast, capacity: 10Gi}";
const WITH_CAPACITY_TRACKING: &str = "{kind: CSIDriver, metadata: {name: inline}, spec: {storageCapacity: true}}";
const WITHOUT_CAPACITY_TRACKING: &str = "{kind: CSIDriver, metadata: {name: inline}, spec: {storageCapacity: false}}";

pub(crate) const HINTS: Hints = Hints {
    plugin: "VolumeBinding",
    events: &[
        Event {
            name: "storage.k8s.io/StorageClassUpdate",
            rejected: POD,
            queue: &[updated(
                CLASS,
                "{kind: StorageClass, metadata: {name: fast}, provisioner: d,
                  allowedTopologies: [{matchLabelExpressions: [{key: zone, values: [b]}]}]}",
            )],
            skip: &[
                updated(CLASS, "{kind: StorageClass, metadata: {name: fast, labels: {a: b}}, provisioner: d}"),
                updated(
                    CLASS,
                    "{kind: StorageClass, metadata: {name: fast}, provisioner: d, volumeBindingMode: WaitForFirstConsumer}",
                ),
            ],
            ..Event::EMPTY
        },
        Event {
            name: "PersistentVolumeClaimAdd",
            rejected: POD,
            queue: &[
                added("{kind: PersistentVolumeClaim, metadata: {name: data}}"),
                added("{kind: PersistentVolumeClaim, metadata: {name: me-own}}"),
            ],
            skip: &[
                added("{kind: PersistentVolumeClaim, metadata: {name: more}}"),
                added("{kind: PersistentVolumeClaim, metadata: {name: data, namespace: far}}"),
            ],
            ..Event::EMPTY
        },
        Event {
            name: "PersistentVolumeClaimUpdate",
            rejected: POD,
            queue: &[
                updated(
                    "{kind: PersistentVolumeClaim, metadata: {name: data}}",
                    "{kind: PersistentVolumeClaim, metadata: {name: data}, spec: {volumeName: v}}",
                ),
                updated(
                    "{kind: PersistentVolumeClaim, metadata: {name: me-own}}",
                    "{kind: PersistentVolumeClaim, metadata: {name: me-own}, spec: {volumeName: v}}",
                ),
            ],
            skip: &[
                updated(
                    "{kind: PersistentVolumeClaim, metadata: {name: more}}",
                    "{kind: PersistentVolumeClaim, metadata: {name: more}, spec: {volumeName: v}}",
                ),
                updated(
                    "{kind: PersistentVolumeClaim, metadata: {name: data, namespace: far}}",
                    "{kind: PersistentVolumeClaim, metadata: {name: data, namespace: far}, spec: {volumeName: v}}",
                ),
            ],
            ..Event::EMPTY
        },
        Event {
            name: "storage.k8s.io/CSINodeUpdate",
            rejected: POD,
            queue: &[updated(
                NODE,
                "{kind: CSINode, metadata: {name: n1, annotations: {
                  storage.alpha.kubernetes.io/migrated-plugins: kubernetes.io/aws-ebs}}, spec: {drivers: []}}",
            )],
            skip: &[
                updated(NODE, "{kind: CSINode, metadata: {name: n1, annotations: {a: b}}, spec: {drivers: []}}"),
                updated(NODE, "{kind: CSINode, metadata: {name: n1}, spec: {drivers: [{name: d, nodeID: x}]}}"),
            ],
            ..Event::EMPTY
        },
        Event {
            name: "storage.k8s.io/CSIDriverUpdate",
            rejected: POD,
            queue: &[
                updated(WITH_CAPACITY_TRACKING, WITHOUT_CAPACITY_TRACKING),
                updated(WITH_CAPACITY_TRACKING, "{kind: CSIDriver, metadata: {name: inline}, spec: {}}"),
            ],
            skip: &[
                updated(WITHOUT_CAPACITY_TRACKING, WITH_CAPACITY_TRACKING),
                updated(
                    WITH_CAPACITY_TRACKING,
                    "{kind: CSIDriver, metadata: {name: inline, labels: {a: b}}, spec: {storageCapacity: true}}",
                ),
                updated(
                    "{kind: CSIDriver, metadata: {name: other}, spec: {storageCapacity: true}}",
                    "{kind: CSIDriver, metadata: {name: other}, spec: {storageCapacity: false}}",
                ),
            ],
            ..Event::EMPTY
        },
        Event {
            name: "storage.k8s.io/CSIStorageCapacityUpdate",
            rejected: POD,
            queue: &[
                updated(
                    CAPACITY,
                    "{kind: CSIStorageCapacity, metadata: {name: c}, storageClassName: fast, capacity: 11Gi}",
                ),
                updated("{kind: CSIStorageCapacity, metadata: {name: c}, storageClassName: fast}", CAPACITY),
                updated(
                    "{kind: CSIStorageCapacity, metadata: {name: c}, storageClassName: fast, capacity: 10Gi, maximumVolumeSize: 1Gi}",
                    "{kind: CSIStorageCapacity, metadata: {name: c}, storageClassName: fast, capacity: 10Gi, maximumVolumeSize: 2Gi}",
                ),
            ],
            skip: &[
                updated(
                    CAPACITY,
                    "{kind: CSIStorageCapacity, metadata: {name: c}, storageClassName: fast, capacity: 9Gi}",
                ),
                updated(CAPACITY, "{kind: CSIStorageCapacity, metadata: {name: c}, storageClassName: fast}"),
                // More capacity, but not for larger volumes.
                updated(
                    "{kind: CSIStorageCapacity, metadata: {name: c}, storageClassName: fast, capacity: 10Gi, maximumVolumeSize: 1Gi}",
                    "{kind: CSIStorageCapacity, metadata: {name: c}, storageClassName: fast, capacity: 20Gi, maximumVolumeSize: 1Gi}",
                ),
            ],
            ..Event::EMPTY
        },
    ],
};
