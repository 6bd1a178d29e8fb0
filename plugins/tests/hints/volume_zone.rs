//! Events that queue pods rejected by VolumeZone.

use crate::hints::table::{Event, Hints, added, updated};

const POD: &str = "{metadata: {name: me}, spec: {volumes: [
    {name: a, persistentVolumeClaim: {claimName: data}}, {name: own, ephemeral: {}}]}}";
const IN_A: &str = "{kind: PersistentVolume, metadata: {name: v, labels: {topology.kubernetes.io/zone: a}}}";

pub(crate) const HINTS: Hints = Hints {
    plugin: "VolumeZone",
    events: &[
        Event {
            name: "storage.k8s.io/StorageClassAdd",
            rejected: POD,
            queue: &[added(
                "{kind: StorageClass, metadata: {name: late}, provisioner: d, volumeBindingMode: WaitForFirstConsumer}",
            )],
            skip: &[
                added("{kind: StorageClass, metadata: {name: early}, provisioner: d, volumeBindingMode: Immediate}"),
                added("{kind: StorageClass, metadata: {name: early}, provisioner: d}"),
            ],
            ..Event::EMPTY
        },
        Event {
            name: "PersistentVolumeClaimAdd",
            rejected: POD,
            queue: &[added("{kind: PersistentVolumeClaim, metadata: {name: data}}")],
            skip: &[
                added("{kind: PersistentVolumeClaim, metadata: {name: more}}"),
                // This plugin ignores ephemeral volumes.
                added("{kind: PersistentVolumeClaim, metadata: {name: me-own}}"),
                added("{kind: PersistentVolumeClaim, metadata: {name: data, namespace: far}}"),
            ],
            ..Event::EMPTY
        },
        Event {
            name: "PersistentVolumeClaimUpdate",
            rejected: POD,
            queue: &[updated(
                "{kind: PersistentVolumeClaim, metadata: {name: data}}",
                "{kind: PersistentVolumeClaim, metadata: {name: data}, spec: {volumeName: v}}",
            )],
            skip: &[updated(
                "{kind: PersistentVolumeClaim, metadata: {name: more}}",
                "{kind: PersistentVolumeClaim, metadata: {name: more}, spec: {volumeName: v}}",
            )],
            ..Event::EMPTY
        },
        Event {
            name: "PersistentVolumeUpdate",
            rejected: POD,
            queue: &[
                updated(
                    IN_A,
                    "{kind: PersistentVolume, metadata: {name: v, labels: {topology.kubernetes.io/zone: b}}}",
                ),
                updated(
                    IN_A,
                    "{kind: PersistentVolume, metadata: {name: v, labels: {topology.kubernetes.io/zone: a__b}}}",
                ),
                updated(IN_A, "{kind: PersistentVolume, metadata: {name: v}}"),
                updated("{kind: PersistentVolume, metadata: {name: v}}", IN_A),
            ],
            skip: &[
                updated(
                    IN_A,
                    "{kind: PersistentVolume, metadata: {name: v, labels: {topology.kubernetes.io/zone: a, b: c}}}",
                ),
                updated(
                    "{kind: PersistentVolume, metadata: {name: v, labels: {topology.kubernetes.io/zone: a__b}}}",
                    "{kind: PersistentVolume, metadata: {name: v, labels: {topology.kubernetes.io/zone: b__a}}}",
                ),
            ],
            ..Event::EMPTY
        },
    ],
};
