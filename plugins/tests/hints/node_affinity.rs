//! Events that queue pods rejected by NodeAffinity.

use crate::hints::table::{Event, Hints, added, updated};

const POD: &str = "{metadata: {name: me}, spec: {nodeSelector: {zone: a}, affinity: {nodeAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [
        {matchExpressions: [{key: disk, operator: Exists}]},
        {matchExpressions: [{key: gpu, operator: In, values: [big]}]}]}}}}}";

pub(crate) const HINTS: Hints = Hints {
    plugin: "NodeAffinity",
    events: &[
        Event {
            name: "NodeAdd",
            rejected: POD,
            queue: &[
                added("metadata: {name: n1, labels: {zone: a, disk: ssd}}"),
                added("metadata: {name: n1, labels: {zone: a, gpu: big}}"),
            ],
            skip: &[
                added("metadata: {name: n1}"),
                added("metadata: {name: n1, labels: {zone: a, gpu: small}}"),
                added("metadata: {name: n1, labels: {zone: b, disk: ssd}}"),
            ],
            ..Event::EMPTY
        },
        Event {
            name: "NodeUpdateNodeLabel",
            rejected: POD,
            queue: &[updated(
                "metadata: {name: n1, labels: {zone: a}}",
                "metadata: {name: n1, labels: {zone: a, disk: ssd}}",
            )],
            skip: &[
                updated("metadata: {name: n1}", "metadata: {name: n1, labels: {zone: a}}"),
                updated("metadata: {name: n1, labels: {zone: a, disk: ssd}}", "metadata: {name: n1}"),
                // The node was feasible before.
                updated(
                    "metadata: {name: n1, labels: {zone: a, disk: ssd}}",
                    "metadata: {name: n1, labels: {zone: a, disk: hdd}}",
                ),
            ],
            ..Event::EMPTY
        },
    ],
};
