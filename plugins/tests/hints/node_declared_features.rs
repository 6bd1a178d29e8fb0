//! What wakes pods that NodeDeclaredFeatures rejected.

use crate::hints::table::{Event, Hints, changed};

const NONE: &str = "metadata: {name: n1}";
const ONE: &str = "{metadata: {name: n1}, status: {declaredFeatures: [UserNamespacesHostNetworkSupport]}}";
const ME: &str = "{metadata: {name: me}, spec: {hostNetwork: true, hostUsers: false}}";

pub(crate) const HINTS: Hints = Hints {
    plugin: "NodeDeclaredFeatures",
    events: &[
        Event {
            name: "NodeUpdateNodeDeclaredFeature",
            rejected: ME,
            wake: &[changed(NONE, ONE), changed(ONE, NONE)],
            do_not: &[changed(NONE, "metadata: {name: n1, labels: {a: b}}").untold()],
            ..Event::OF
        },
        Event {
            name: "PodUpdate",
            rejected: ME,
            wake: &[changed(ME, "{metadata: {name: me}, spec: {hostNetwork: false, hostUsers: false}}")],
            do_not: &[
                changed(ME, "{metadata: {name: me, annotations: {a: b}}, spec: {hostNetwork: true, hostUsers: false}}"),
                changed(ME, "{metadata: {name: me, labels: {a: b}}, spec: {hostNetwork: true, hostUsers: false}}"),
                changed(
                    "{metadata: {name: other}, spec: {nodeName: n1, hostNetwork: true, hostUsers: false}}",
                    "{metadata: {name: other}, spec: {nodeName: n1}}",
                ),
            ],
            ..Event::OF
        },
    ],
};
