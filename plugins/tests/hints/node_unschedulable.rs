//! Events that queue pods rejected by NodeUnschedulable.

use crate::hints::table::{Event, Hints, added, updated};

const OPEN: &str = "metadata: {name: n1}";
const CORDONED: &str = "{metadata: {name: n1}, spec: {unschedulable: true}}";
const CORDONED_WITH_TAINT: &str =
    "{metadata: {name: n1}, spec: {unschedulable: true, taints: [{key: a, effect: NoSchedule}]}}";
const OPEN_WITH_TAINT: &str = "{metadata: {name: n1}, spec: {taints: [{key: a, effect: NoSchedule}]}}";
const POD: &str = "metadata: {name: me}";

pub(crate) const HINTS: Hints = Hints {
    plugin: "NodeUnschedulable",
    events: &[
        Event { name: "NodeAdd", rejected: POD, queue: &[added(OPEN)], skip: &[added(CORDONED)], ..Event::EMPTY },
        Event {
            name: "NodeUpdateNodeTaint",
            rejected: POD,
            // This plugin does not check other taints.
            queue: &[updated(CORDONED, OPEN), updated(CORDONED, OPEN_WITH_TAINT), updated(CORDONED_WITH_TAINT, OPEN)],
            skip: &[
                updated(OPEN, OPEN_WITH_TAINT),
                updated(CORDONED, CORDONED_WITH_TAINT),
                updated(OPEN, CORDONED).without_event(),
            ],
            ..Event::EMPTY
        },
        Event {
            name: "PodUpdatePodToleration",
            rejected: POD,
            queue: &[
                updated(
                    POD,
                    "{metadata: {name: me}, spec: {tolerations: [{key: node.kubernetes.io/unschedulable, operator: Exists}]}}",
                ),
                updated(POD, "{metadata: {name: me}, spec: {tolerations: [{operator: Exists}]}}"),
            ],
            skip: &[
                updated(POD, "{metadata: {name: me}, spec: {tolerations: [{key: dedicated, operator: Exists}]}}"),
                updated(POD, "{metadata: {name: me}, spec: {tolerations: [{operator: Exists, effect: NoExecute}]}}"),
                updated(
                    "{metadata: {name: other}, spec: {nodeName: n1}}",
                    "{metadata: {name: other}, spec: {nodeName: n1, tolerations: [{operator: Exists}]}}",
                ),
            ],
            ..Event::EMPTY
        },
    ],
};
