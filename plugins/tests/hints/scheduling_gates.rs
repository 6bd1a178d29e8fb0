//! What wakes pods that SchedulingGates rejected.

use crate::hints::table::{Event, Hints, changed};

const GATED: &str = "{metadata: {name: me}, spec: {schedulingGates: [{name: quota}]}}";
const OTHER: &str = "{metadata: {name: other}, spec: {nodeName: n1, schedulingGates: [{name: quota}]}}";

pub(crate) const HINTS: Hints = Hints {
    plugin: "SchedulingGates",
    events: &[Event {
        name: "PodUpdatePodSchedulingGatesEliminated",
        rejected: GATED,
        wake: &[changed(GATED, "{metadata: {name: me}}")],
        do_not: &[
            changed(OTHER, "{metadata: {name: other}, spec: {nodeName: n1}}"),
            changed(OTHER, "{metadata: {name: other, labels: {app: web}}, spec: {nodeName: n1}}"),
        ],
        ..Event::OF
    }],
};
