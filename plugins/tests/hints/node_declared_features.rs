//! Events that queue pods rejected by NodeDeclaredFeatures.

use crate::hints::table::{Event, Hints, updated};

const NONE: &str = "metadata: {name: n1}";
const ONE: &str = "{metadata: {name: n1}, status: {declaredFeatures: [UserNamespacesHostNetworkSupport]}}";
const POD: &str = "{metadata: {name: me}, spec: {hostNetwork: true, hostUsers: false}}";

pub(crate) const HINTS: Hints = Hints {
    plugin: "NodeDeclaredFeatures",
    events: &[
        Event {
            name: "NodeUpdateNodeDeclaredFeature",
            rejected: POD,
            queue: &[updated(NONE, ONE), updated(ONE, NONE)],
            skip: &[updated(NONE, "metadata: {name: n1, labels: {a: b}}").without_event()],
            ..Event::EMPTY
        },
        Event {
            name: "PodUpdate",
            rejected: POD,
            queue: &[updated(POD, "{metadata: {name: me}, spec: {hostNetwork: false, hostUsers: false}}")],
            skip: &[
                updated(
                    POD,
                    "{metadata: {name: me, annotations: {a: b}}, spec: {hostNetwork: true, hostUsers: false}}",
                ),
                updated(POD, "{metadata: {name: me, labels: {a: b}}, spec: {hostNetwork: true, hostUsers: false}}"),
                updated(
                    "{metadata: {name: other}, spec: {nodeName: n1, hostNetwork: true, hostUsers: false}}",
                    "{metadata: {name: other}, spec: {nodeName: n1}}",
                ),
            ],
            ..Event::EMPTY
        },
    ],
};
