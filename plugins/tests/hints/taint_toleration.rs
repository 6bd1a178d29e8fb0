//! Events that queue pods rejected by TaintToleration.

use crate::hints::table::{Event, Hints, added, updated};

const POD: &str = "{metadata: {name: me}, spec: {tolerations: [{key: a, operator: Exists}]}}";
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
            rejected: POD,
            queue: &[added(NONE), added(TOLERATED), added("{metadata: {name: n1}, spec: {unschedulable: true}}")],
            skip: &[added(UNTOLERATED), added(BOTH)],
            ..Event::EMPTY
        },
        Event {
            name: "NodeUpdateNodeTaint",
            rejected: POD,
            queue: &[updated(UNTOLERATED, NONE), updated(BOTH, TOLERATED)],
            skip: &[
                // One of two taints is not enough, and a node that was feasible before does not count.
                updated(BOTH, UNTOLERATED),
                updated(TOLERATED, NONE),
                updated(NONE, UNTOLERATED),
                updated("{metadata: {name: n1}, spec: {unschedulable: true}}", NONE),
            ],
            ..Event::EMPTY
        },
        Event {
            name: "PodUpdatePodToleration",
            rejected: POD,
            // Filter determines whether the change helps.
            queue: &[updated(POD, "{metadata: {name: me}, spec: {tolerations: []}}")],
            skip: &[updated(
                "{metadata: {name: other}, spec: {nodeName: n1}}",
                "{metadata: {name: other}, spec: {nodeName: n1, tolerations: [{operator: Exists}]}}",
            )],
            ..Event::EMPTY
        },
    ],
};
