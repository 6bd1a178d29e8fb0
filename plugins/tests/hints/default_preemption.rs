//! Events that queue pods rejected by DefaultPreemption.

use crate::hints::table::{Event, Hints, deleted};

pub(crate) const HINTS: Hints = Hints {
    plugin: "DefaultPreemption",
    events: &[Event {
        name: "PodDelete",
        rejected: "{metadata: {name: me}, spec: {priority: 10}}",
        skip: &[
            deleted("{metadata: {name: other}, spec: {nodeName: n1}}"),
            deleted("{metadata: {name: other}, status: {nominatedNodeName: n1}}"),
        ],
        ..Event::EMPTY
    }],
};
