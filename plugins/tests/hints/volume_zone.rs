//! What wakes pods that VolumeZone rejected.

use crate::hints::table::{Event, Hints, came, changed};

const ME: &str = "{metadata: {name: me}, spec: {volumes: [
    {name: a, persistentVolumeClaim: {claimName: data}}, {name: own, ephemeral: {}}]}}";
const IN_A: &str = "{kind: PersistentVolume, metadata: {name: v, labels: {topology.kubernetes.io/zone: a}}}";

pub(crate) const HINTS: Hints = Hints {
    plugin: "VolumeZone",
    events: &[
        Event {
            name: "storage.k8s.io/StorageClassAdd",
            rejected: ME,
            wake: &[came(
                "{kind: StorageClass, metadata: {name: late}, provisioner: d, volumeBindingMode: WaitForFirstConsumer}",
            )],
            do_not: &[
                came("{kind: StorageClass, metadata: {name: early}, provisioner: d, volumeBindingMode: Immediate}"),
                came("{kind: StorageClass, metadata: {name: early}, provisioner: d}"),
            ],
            ..Event::OF
        },
        Event {
            name: "PersistentVolumeClaimAdd",
            rejected: ME,
            wake: &[came("{kind: PersistentVolumeClaim, metadata: {name: data}}")],
            do_not: &[
                came("{kind: PersistentVolumeClaim, metadata: {name: more}}"),
                // This plugin does not look at ephemeral volumes.
                came("{kind: PersistentVolumeClaim, metadata: {name: me-own}}"),
                came("{kind: PersistentVolumeClaim, metadata: {name: data, namespace: far}}"),
            ],
            ..Event::OF
        },
        Event {
            name: "PersistentVolumeClaimUpdate",
            rejected: ME,
            wake: &[changed(
                "{kind: PersistentVolumeClaim, metadata: {name: data}}",
                "{kind: PersistentVolumeClaim, metadata: {name: data}, spec: {volumeName: v}}",
            )],
            do_not: &[changed(
                "{kind: PersistentVolumeClaim, metadata: {name: more}}",
                "{kind: PersistentVolumeClaim, metadata: {name: more}, spec: {volumeName: v}}",
            )],
            ..Event::OF
        },
        Event {
            name: "PersistentVolumeUpdate",
            rejected: ME,
            wake: &[
                changed(
                    IN_A,
                    "{kind: PersistentVolume, metadata: {name: v, labels: {topology.kubernetes.io/zone: b}}}",
                ),
                changed(
                    IN_A,
                    "{kind: PersistentVolume, metadata: {name: v, labels: {topology.kubernetes.io/zone: a__b}}}",
                ),
                changed(IN_A, "{kind: PersistentVolume, metadata: {name: v}}"),
                changed("{kind: PersistentVolume, metadata: {name: v}}", IN_A),
            ],
            do_not: &[
                changed(
                    IN_A,
                    "{kind: PersistentVolume, metadata: {name: v, labels: {topology.kubernetes.io/zone: a, b: c}}}",
                ),
                changed(
                    "{kind: PersistentVolume, metadata: {name: v, labels: {topology.kubernetes.io/zone: a__b}}}",
                    "{kind: PersistentVolume, metadata: {name: v, labels: {topology.kubernetes.io/zone: b__a}}}",
                ),
            ],
            ..Event::OF
        },
    ],
};
