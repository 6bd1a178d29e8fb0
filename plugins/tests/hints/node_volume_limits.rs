//! What wakes pods that NodeVolumeLimits rejected.

use crate::hints::table::{Event, Hints, came, changed, went};

const ME: &str = "{metadata: {name: me}, spec: {volumes: [
    {name: a, persistentVolumeClaim: {claimName: data}}, {name: own, ephemeral: {}}]}}";
const WITH_DISK: &str = "{metadata: {name: me}, spec: {volumes: [
    {name: own, ephemeral: {}}, {name: b, awsElasticBlockStore: {volumeID: vol-1}}]}}";
const TWO: &str =
    "{kind: CSINode, metadata: {name: n1}, spec: {drivers: [{name: d, nodeID: x, allocatable: {count: 2}}]}}";
const UNLIMITED: &str = "{kind: CSINode, metadata: {name: n1}, spec: {drivers: [{name: d, nodeID: x}]}}";

pub(crate) const HINTS: Hints = Hints {
    plugin: "NodeVolumeLimits",
    events: &[
        Event {
            name: "storage.k8s.io/CSINodeUpdate",
            rejected: ME,
            wake: &[
                changed(
                    TWO,
                    "{kind: CSINode, metadata: {name: n1}, spec: {drivers: [{name: d, nodeID: x, allocatable: {count: 3}}]}}",
                ),
                changed(
                    TWO,
                    "{kind: CSINode, metadata: {name: n1}, spec: {drivers: [
                        {name: d, nodeID: x, allocatable: {count: 2}}, {name: e, nodeID: x, allocatable: {count: 1}}]}}",
                ),
                changed(UNLIMITED, TWO),
            ],
            do_not: &[
                changed(
                    TWO,
                    "{kind: CSINode, metadata: {name: n1}, spec: {drivers: [{name: d, nodeID: x, allocatable: {count: 1}}]}}",
                ),
                // No limit is no growth.
                changed(TWO, UNLIMITED),
                changed(TWO, "{kind: CSINode, metadata: {name: n1}, spec: {drivers: []}}"),
            ],
            ..Event::OF
        },
        Event {
            name: "PodDelete",
            rejected: ME,
            // Which volumes they are is for Filter to find out.
            wake: &[
                went("{metadata: {name: other, namespace: far}, spec: {nodeName: n1, volumes: [{name: v, persistentVolumeClaim: {claimName: more}}]}}"),
                went("{metadata: {name: other}, spec: {nodeName: n1, volumes: [{name: v, ephemeral: {}}]}}"),
                went("{metadata: {name: other}, spec: {nodeName: n1, volumes: [{name: v, awsElasticBlockStore: {volumeID: vol-1}}]}}"),
            ],
            do_not: &[
                went("{metadata: {name: other}, spec: {nodeName: n1}}"),
                went("{metadata: {name: other}, spec: {nodeName: n1, volumes: [{name: v, emptyDir: {}}]}}"),
                went("{metadata: {name: other}, spec: {nodeName: n1, volumes: [{name: v, csi: {driver: d}}]}}"),
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
                came("{kind: PersistentVolumeClaim, metadata: {name: own}}"),
                came("{kind: PersistentVolumeClaim, metadata: {name: data, namespace: far}}"),
            ],
            ..Event::OF
        },
        Event {
            name: "storage.k8s.io/VolumeAttachmentDelete",
            rejected: ME,
            // A claim can be of any driver.
            wake: &[went("{kind: VolumeAttachment, metadata: {name: a}, spec: {attacher: d, nodeName: n1, source: {}}}")],
            ..Event::OF
        },
        Event {
            name: "storage.k8s.io/VolumeAttachmentDelete",
            rejected: WITH_DISK,
            wake: &[went(
                "{kind: VolumeAttachment, metadata: {name: a}, spec: {attacher: ebs.csi.aws.com, nodeName: n1, source: {}}}",
            )],
            do_not: &[went("{kind: VolumeAttachment, metadata: {name: a}, spec: {attacher: d, nodeName: n1, source: {}}}")],
            ..Event::OF
        },
        Event {
            name: "storage.k8s.io/VolumeAttachmentDelete",
            rejected: "metadata: {name: me}",
            do_not: &[went("{kind: VolumeAttachment, metadata: {name: a}, spec: {attacher: d, nodeName: n1, source: {}}}")],
            ..Event::OF
        },
    ],
};
