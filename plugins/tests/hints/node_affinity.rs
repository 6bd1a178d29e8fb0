//! What wakes pods that NodeAffinity rejected.

use crate::hints::table::{Event, Hints, came, changed};

const ME: &str = "{metadata: {name: me}, spec: {nodeSelector: {zone: a}, affinity: {nodeAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [
        {matchExpressions: [{key: disk, operator: Exists}]},
        {matchExpressions: [{key: gpu, operator: In, values: [big]}]}]}}}}}";

pub(crate) const HINTS: Hints = Hints {
    plugin: "NodeAffinity",
    events: &[
        Event {
            name: "NodeAdd",
            rejected: ME,
            wake: &[
                came("metadata: {name: n1, labels: {zone: a, disk: ssd}}"),
                came("metadata: {name: n1, labels: {zone: a, gpu: big}}"),
            ],
            do_not: &[
                came("metadata: {name: n1}"),
                came("metadata: {name: n1, labels: {zone: a, gpu: small}}"),
                came("metadata: {name: n1, labels: {zone: b, disk: ssd}}"),
            ],
            ..Event::OF
        },
        Event {
            name: "NodeUpdateNodeLabel",
            rejected: ME,
            wake: &[changed(
                "metadata: {name: n1, labels: {zone: a}}",
                "metadata: {name: n1, labels: {zone: a, disk: ssd}}",
            )],
            do_not: &[
                changed("metadata: {name: n1}", "metadata: {name: n1, labels: {zone: a}}"),
                changed("metadata: {name: n1, labels: {zone: a, disk: ssd}}", "metadata: {name: n1}"),
                // It was within reach.
                changed(
                    "metadata: {name: n1, labels: {zone: a, disk: ssd}}",
                    "metadata: {name: n1, labels: {zone: a, disk: hdd}}",
                ),
            ],
            ..Event::OF
        },
    ],
};
