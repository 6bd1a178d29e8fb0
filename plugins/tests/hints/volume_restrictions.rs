//! What wakes pods that VolumeRestrictions rejected.

use crate::hints::table::{Event, Hints, came, went};

const ME: &str = "{metadata: {name: me}, spec: {volumes: [
    {name: a, persistentVolumeClaim: {claimName: data}}, {name: b, gcePersistentDisk: {pdName: disk}}]}}";

pub(crate) const HINTS: Hints = Hints {
    plugin: "VolumeRestrictions",
    events: &[
        Event {
            name: "PodDelete",
            rejected: ME,
            wake: &[
                went(
                    "{metadata: {name: other}, spec: {nodeName: n1, volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]}}",
                ),
                went(
                    "{metadata: {name: other}, spec: {nodeName: n1, volumes: [{name: v, gcePersistentDisk: {pdName: disk}}]}}",
                ),
            ],
            do_not: &[
                went("{metadata: {name: other}, spec: {nodeName: n1}}"),
                went(
                    "{metadata: {name: other}, spec: {nodeName: n1, volumes: [{name: v, persistentVolumeClaim: {claimName: more}}]}}",
                ),
                went(
                    "{metadata: {name: other}, spec: {nodeName: n1, volumes: [{name: v, gcePersistentDisk: {pdName: other}}]}}",
                ),
                went(
                    "{metadata: {name: other, namespace: far}, spec: {nodeName: n1, volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]}}",
                ),
                // The claim of an ephemeral volume is one pod's own.
                went("{metadata: {name: da}, spec: {nodeName: n1, volumes: [{name: ta, ephemeral: {}}]}}"),
            ],
            ..Event::OF
        },
        Event {
            name: "PersistentVolumeClaimAdd",
            rejected: ME,
            wake: &[came("{kind: PersistentVolumeClaim, metadata: {name: data}}")],
            do_not: &[
                came("{kind: PersistentVolumeClaim, metadata: {name: more}}"),
                came("{kind: PersistentVolumeClaim, metadata: {name: data, namespace: far}}"),
            ],
            ..Event::OF
        },
    ],
};
