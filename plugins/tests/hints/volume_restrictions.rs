//! Events that queue pods rejected by VolumeRestrictions.

use crate::hints::table::{Event, Hints, added, deleted};

const POD: &str = "{metadata: {name: me}, spec: {volumes: [
    {name: a, persistentVolumeClaim: {claimName: data}}, {name: b, gcePersistentDisk: {pdName: disk}}]}}";

pub(crate) const HINTS: Hints = Hints {
    plugin: "VolumeRestrictions",
    events: &[
        Event {
            name: "PodDelete",
            rejected: POD,
            queue: &[
                deleted(
                    "{metadata: {name: other}, spec: {nodeName: n1, volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]}}",
                ),
                deleted(
                    "{metadata: {name: other}, spec: {nodeName: n1, volumes: [{name: v, gcePersistentDisk: {pdName: disk}}]}}",
                ),
            ],
            skip: &[
                deleted("{metadata: {name: other}, spec: {nodeName: n1}}"),
                deleted(
                    "{metadata: {name: other}, spec: {nodeName: n1, volumes: [{name: v, persistentVolumeClaim: {claimName: more}}]}}",
                ),
                deleted(
                    "{metadata: {name: other}, spec: {nodeName: n1, volumes: [{name: v, gcePersistentDisk: {pdName: other}}]}}",
                ),
                deleted(
                    "{metadata: {name: other, namespace: far}, spec: {nodeName: n1, volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]}}",
                ),
                // Only its own pod uses the claim of an ephemeral volume.
                deleted("{metadata: {name: da}, spec: {nodeName: n1, volumes: [{name: ta, ephemeral: {}}]}}"),
            ],
            ..Event::EMPTY
        },
        Event {
            name: "PersistentVolumeClaimAdd",
            rejected: POD,
            queue: &[added("{kind: PersistentVolumeClaim, metadata: {name: data}}")],
            skip: &[
                added("{kind: PersistentVolumeClaim, metadata: {name: more}}"),
                added("{kind: PersistentVolumeClaim, metadata: {name: data, namespace: far}}"),
            ],
            ..Event::EMPTY
        },
    ],
};
