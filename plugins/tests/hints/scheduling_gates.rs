//! Events that queue pods rejected by SchedulingGates.

use crate::hints::table::{Event, Hints, updated};

const GATED: &str = "{metadata: {name: me}, spec: {schedulingGates: [{name: quota}]}}";
const OTHER: &str = "{metadata: {name: other}, spec: {nodeName: n1, schedulingGates: [{name: quota}]}}";

pub(crate) const HINTS: Hints = Hints {
    plugin: "SchedulingGates",
    events: &[Event {
        name: "PodUpdatePodSchedulingGatesEliminated",
        rejected: GATED,
        queue: &[updated(GATED, "{metadata: {name: me}}")],
        skip: &[
            updated(OTHER, "{metadata: {name: other}, spec: {nodeName: n1}}"),
            updated(OTHER, "{metadata: {name: other, labels: {app: web}}, spec: {nodeName: n1}}"),
        ],
        ..Event::EMPTY
    }],
};
