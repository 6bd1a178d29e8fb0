//! What wakes pods that NodeUnschedulable rejected.

use crate::hints::table::{Event, Hints, came, changed};

const OPEN: &str = "metadata: {name: n1}";
const CORDONED: &str = "{metadata: {name: n1}, spec: {unschedulable: true}}";
const TAINT: &str = "{metadata: {name: n1}, spec: {unschedulable: true, taints: [{key: a, effect: NoSchedule}]}}";
const UNCORDONED: &str = "{metadata: {name: n1}, spec: {taints: [{key: a, effect: NoSchedule}]}}";
const ME: &str = "metadata: {name: me}";

pub(crate) const HINTS: Hints = Hints {
    plugin: "NodeUnschedulable",
    events: &[
        Event { name: "NodeAdd", rejected: ME, wake: &[came(OPEN)], do_not: &[came(CORDONED)], ..Event::OF },
        Event {
            name: "NodeUpdateNodeTaint",
            rejected: ME,
            // Whether it has taints is not this plugin's business.
            wake: &[changed(CORDONED, OPEN), changed(CORDONED, UNCORDONED), changed(TAINT, OPEN)],
            do_not: &[changed(OPEN, UNCORDONED), changed(CORDONED, TAINT), changed(OPEN, CORDONED).untold()],
            ..Event::OF
        },
        Event {
            name: "PodUpdatePodToleration",
            rejected: ME,
            wake: &[
                changed(
                    ME,
                    "{metadata: {name: me}, spec: {tolerations: [{key: node.kubernetes.io/unschedulable, operator: Exists}]}}",
                ),
                changed(ME, "{metadata: {name: me}, spec: {tolerations: [{operator: Exists}]}}"),
            ],
            do_not: &[
                changed(ME, "{metadata: {name: me}, spec: {tolerations: [{key: dedicated, operator: Exists}]}}"),
                changed(ME, "{metadata: {name: me}, spec: {tolerations: [{operator: Exists, effect: NoExecute}]}}"),
                changed(
                    "{metadata: {name: other}, spec: {nodeName: n1}}",
                    "{metadata: {name: other}, spec: {nodeName: n1, tolerations: [{operator: Exists}]}}",
                ),
            ],
            ..Event::OF
        },
    ],
};
