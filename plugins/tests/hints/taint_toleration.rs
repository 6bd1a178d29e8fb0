//! What wakes pods that TaintToleration rejected.

use crate::hints::table::{Event, Hints, came, changed};

const ME: &str = "{metadata: {name: me}, spec: {tolerations: [{key: a, operator: Exists}]}}";
const NONE: &str = "metadata: {name: n1}";
const TOLERATED: &str =
    "{metadata: {name: n1}, spec: {taints: [{key: a, effect: NoSchedule}, {key: soft, effect: PreferNoSchedule}]}}";
const UNTOLERATED: &str = "{metadata: {name: n1}, spec: {taints: [{key: b, effect: NoExecute}]}}";
const BOTH: &str =
    "{metadata: {name: n1}, spec: {taints: [{key: a, effect: NoSchedule}, {key: b, effect: NoSchedule}]}}";

pub(crate) const HINTS: Hints = Hints {
    plugin: "TaintToleration",
    events: &[
        Event {
            name: "NodeAdd",
            rejected: ME,
            wake: &[came(NONE), came(TOLERATED), came("{metadata: {name: n1}, spec: {unschedulable: true}}")],
            do_not: &[came(UNTOLERATED), came(BOTH)],
            ..Event::OF
        },
        Event {
            name: "NodeUpdateNodeTaint",
            rejected: ME,
            wake: &[changed(UNTOLERATED, NONE), changed(BOTH, TOLERATED)],
            do_not: &[
                // One of two is not enough, and a node that was within reach is nothing new.
                changed(BOTH, UNTOLERATED),
                changed(TOLERATED, NONE),
                changed(NONE, UNTOLERATED),
                changed("{metadata: {name: n1}, spec: {unschedulable: true}}", NONE),
            ],
            ..Event::OF
        },
        Event {
            name: "PodUpdatePodToleration",
            rejected: ME,
            // Whether it helps is for Filter to find out.
            wake: &[changed(ME, "{metadata: {name: me}, spec: {tolerations: []}}")],
            do_not: &[changed(
                "{metadata: {name: other}, spec: {nodeName: n1}}",
                "{metadata: {name: other}, spec: {nodeName: n1, tolerations: [{operator: Exists}]}}",
            )],
            ..Event::OF
        },
    ],
};
