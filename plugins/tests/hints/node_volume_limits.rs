//! Events that queue pods rejected by NodeVolumeLimits.

use crate::hints::table::{Event, Hints, added, deleted, updated};

const POD: &str = "{metadata: {name: me}, spec: {volumes: [
    {name: a, persistentVolumeClaim: {claimName: data}}, {name: own, ephemeral: {}}]}}";
const WITH_DISK: &str = "{metadata: {name: me}, spec: {volumes: [
    {name: own, ephemeral: {}}, {name: b, awsElasticBlockStore: {volumeID: vol-1}}]}}";
const LIMIT_OF_TWO: &str =
    "{kind: CSINode, metadata: {name: n1}, spec: {drivers: [{name: d, nodeID: x, allocatable: {count: 2}}]}}";
const UNLIMITED: &str = "{kind: CSINode, metadata: {name: n1}, spec: {drivers: [{name: d, nodeID: x}]}}";

pub(crate) const HINTS: Hints = Hints {
    plugin: "NodeVolumeLimits",
    events: &[
        Event {
            name: "storage.k8s.io/CSINodeUpdate",
            rejected: POD,
            queue: &[
                updated(
                    LIMIT_OF_TWO,
                    "{kind: CSINode, metadata: {name: n1}, spec: {drivers: [{name: d, nodeID: x, allocatable: {count: 3}}]}}",
                ),
                updated(
                    LIMIT_OF_TWO,
                    "{kind: CSINode, metadata: {name: n1}, spec: {drivers: [
                        {name: d, nodeID: x, allocatable: {count: 2}}, {name: e, nodeID: x, allocatable: {count: 1}}]}}",
                ),
                updated(UNLIMITED, LIMIT_OF_TWO),
            ],
            skip: &[
                updated(
                    LIMIT_OF_TWO,
                    "{kind: CSINode, metadata: {name: n1}, spec: {drivers: [{name: d, nodeID: x, allocatable: {count: 1}}]}}",
                ),
                // For the hint, removing a limit is not an increase.
                updated(LIMIT_OF_TWO, UNLIMITED),
                updated(LIMIT_OF_TWO, "{kind: CSINode, metadata: {name: n1}, spec: {drivers: []}}"),
            ],
            ..Event::EMPTY
        },
        Event {
            name: "PodDelete",
            rejected: POD,
            // Filter compares the volumes; the hint does not.
            queue: &[
                deleted("{metadata: {name: other, namespace: far}, spec: {nodeName: n1, volumes: [{name: v, persistentVolumeClaim: {claimName: more}}]}}"),
                deleted("{metadata: {name: other}, spec: {nodeName: n1, volumes: [{name: v, ephemeral: {}}]}}"),
                deleted("{metadata: {name: other}, spec: {nodeName: n1, volumes: [{name: v, awsElasticBlockStore: {volumeID: vol-1}}]}}"),
            ],
            skip: &[
                deleted("{metadata: {name: other}, spec: {nodeName: n1}}"),
                deleted("{metadata: {name: other}, spec: {nodeName: n1, volumes: [{name: v, emptyDir: {}}]}}"),
                deleted("{metadata: {name: other}, spec: {nodeName: n1, volumes: [{name: v, csi: {driver: d}}]}}"),
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
                added("{kind: PersistentVolumeClaim, metadata: {name: own}}"),
                added("{kind: PersistentVolumeClaim, metadata: {name: data, namespace: far}}"),
            ],
            ..Event::EMPTY
        },
        Event {
            name: "storage.k8s.io/VolumeAttachmentDelete",
            rejected: POD,
            // The volume of a claim can belong to any driver.
            queue: &[deleted("{kind: VolumeAttachment, metadata: {name: a}, spec: {attacher: d, nodeName: n1, source: {}}}")],
            ..Event::EMPTY
        },
        Event {
            name: "storage.k8s.io/VolumeAttachmentDelete",
            rejected: WITH_DISK,
            queue: &[deleted(
                "{kind: VolumeAttachment, metadata: {name: a}, spec: {attacher: ebs.csi.aws.com, nodeName: n1, source: {}}}",
            )],
            skip: &[deleted("{kind: VolumeAttachment, metadata: {name: a}, spec: {attacher: d, nodeName: n1, source: {}}}")],
            ..Event::EMPTY
        },
        Event {
            name: "storage.k8s.io/VolumeAttachmentDelete",
            rejected: "metadata: {name: me}",
            skip: &[deleted("{kind: VolumeAttachment, metadata: {name: a}, spec: {attacher: d, nodeName: n1, source: {}}}")],
            ..Event::EMPTY
        },
    ],
};
