//! What wakes pods that VolumeBinding rejected.

use crate::hints::table::{Event, Hints, came, changed};

const ME: &str = "{metadata: {name: me}, spec: {volumes: [
    {name: a, persistentVolumeClaim: {claimName: data}}, {name: own, ephemeral: {}}, {name: c, csi: {driver: inline}}]}}";
const CLASS: &str = "{kind: StorageClass, metadata: {name: fast}, provisioner: d}";
const NODE: &str = "{kind: CSINode, metadata: {name: n1}, spec: {drivers: []}}";
const ROOM: &str = "{kind: CSIStorageCapacity, metadata: {name: c}, storageClassName: fast, capacity: 10Gi}";
const SPARING: &str = "{kind: CSIDriver, metadata: {name: inline}, spec: {storageCapacity: true}}";
const GENEROUS: &str = "{kind: CSIDriver, metadata: {name: inline}, spec: {storageCapacity: false}}";

pub(crate) const HINTS: Hints = Hints {
    plugin: "VolumeBinding",
    events: &[
        Event {
            name: "storage.k8s.io/StorageClassUpdate",
            rejected: ME,
            wake: &[changed(
                CLASS,
                "{kind: StorageClass, metadata: {name: fast}, provisioner: d,
                  allowedTopologies: [{matchLabelExpressions: [{key: zone, values: [b]}]}]}",
            )],
            do_not: &[
                changed(CLASS, "{kind: StorageClass, metadata: {name: fast, labels: {a: b}}, provisioner: d}"),
                changed(
                    CLASS,
                    "{kind: StorageClass, metadata: {name: fast}, provisioner: d, volumeBindingMode: WaitForFirstConsumer}",
                ),
            ],
            ..Event::OF
        },
        Event {
            name: "PersistentVolumeClaimAdd",
            rejected: ME,
            wake: &[
                came("{kind: PersistentVolumeClaim, metadata: {name: data}}"),
                came("{kind: PersistentVolumeClaim, metadata: {name: me-own}}"),
            ],
            do_not: &[
                came("{kind: PersistentVolumeClaim, metadata: {name: more}}"),
                came("{kind: PersistentVolumeClaim, metadata: {name: data, namespace: far}}"),
            ],
            ..Event::OF
        },
        Event {
            name: "PersistentVolumeClaimUpdate",
            rejected: ME,
            wake: &[
                changed(
                    "{kind: PersistentVolumeClaim, metadata: {name: data}}",
                    "{kind: PersistentVolumeClaim, metadata: {name: data}, spec: {volumeName: v}}",
                ),
                changed(
                    "{kind: PersistentVolumeClaim, metadata: {name: me-own}}",
                    "{kind: PersistentVolumeClaim, metadata: {name: me-own}, spec: {volumeName: v}}",
                ),
            ],
            do_not: &[
                changed(
                    "{kind: PersistentVolumeClaim, metadata: {name: more}}",
                    "{kind: PersistentVolumeClaim, metadata: {name: more}, spec: {volumeName: v}}",
                ),
                changed(
                    "{kind: PersistentVolumeClaim, metadata: {name: data, namespace: far}}",
                    "{kind: PersistentVolumeClaim, metadata: {name: data, namespace: far}, spec: {volumeName: v}}",
                ),
            ],
            ..Event::OF
        },
        Event {
            name: "storage.k8s.io/CSINodeUpdate",
            rejected: ME,
            wake: &[changed(
                NODE,
                "{kind: CSINode, metadata: {name: n1, annotations: {
                  storage.alpha.kubernetes.io/migrated-plugins: kubernetes.io/aws-ebs}}, spec: {drivers: []}}",
            )],
            do_not: &[
                changed(NODE, "{kind: CSINode, metadata: {name: n1, annotations: {a: b}}, spec: {drivers: []}}"),
                changed(NODE, "{kind: CSINode, metadata: {name: n1}, spec: {drivers: [{name: d, nodeID: x}]}}"),
            ],
            ..Event::OF
        },
        Event {
            name: "storage.k8s.io/CSIDriverUpdate",
            rejected: ME,
            wake: &[
                changed(SPARING, GENEROUS),
                changed(SPARING, "{kind: CSIDriver, metadata: {name: inline}, spec: {}}"),
            ],
            do_not: &[
                changed(GENEROUS, SPARING),
                changed(
                    SPARING,
                    "{kind: CSIDriver, metadata: {name: inline, labels: {a: b}}, spec: {storageCapacity: true}}",
                ),
                changed(
                    "{kind: CSIDriver, metadata: {name: other}, spec: {storageCapacity: true}}",
                    "{kind: CSIDriver, metadata: {name: other}, spec: {storageCapacity: false}}",
                ),
            ],
            ..Event::OF
        },
        Event {
            name: "storage.k8s.io/CSIStorageCapacityUpdate",
            rejected: ME,
            wake: &[
                changed(
                    ROOM,
                    "{kind: CSIStorageCapacity, metadata: {name: c}, storageClassName: fast, capacity: 11Gi}",
                ),
                changed("{kind: CSIStorageCapacity, metadata: {name: c}, storageClassName: fast}", ROOM),
                changed(
                    "{kind: CSIStorageCapacity, metadata: {name: c}, storageClassName: fast, capacity: 10Gi, maximumVolumeSize: 1Gi}",
                    "{kind: CSIStorageCapacity, metadata: {name: c}, storageClassName: fast, capacity: 10Gi, maximumVolumeSize: 2Gi}",
                ),
            ],
            do_not: &[
                changed(ROOM, "{kind: CSIStorageCapacity, metadata: {name: c}, storageClassName: fast, capacity: 9Gi}"),
                changed(ROOM, "{kind: CSIStorageCapacity, metadata: {name: c}, storageClassName: fast}"),
                // More room, but not for larger volumes.
                changed(
                    "{kind: CSIStorageCapacity, metadata: {name: c}, storageClassName: fast, capacity: 10Gi, maximumVolumeSize: 1Gi}",
                    "{kind: CSIStorageCapacity, metadata: {name: c}, storageClassName: fast, capacity: 20Gi, maximumVolumeSize: 1Gi}",
                ),
            ],
            ..Event::OF
        },
    ],
};
