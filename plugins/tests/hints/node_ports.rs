//! What wakes pods that NodePorts rejected.

use crate::hints::table::{Event, Hints, went};

pub(crate) const HINTS: Hints = Hints {
    plugin: "NodePorts",
    events: &[Event {
        name: "PodDelete",
        rejected: "{metadata: {name: me}, spec: {containers: [{ports: [{hostPort: 80}, {hostPort: 53, protocol: UDP}]}]}}",
        wake: &[
            went("{metadata: {name: other}, spec: {nodeName: n1, containers: [{ports: [{hostPort: 80}]}]}}"),
            went(
                "{metadata: {name: other, namespace: far}, spec: {nodeName: n1, containers: [{ports: [{hostPort: 80, hostIP: 10.0.0.1}]}]}}",
            ),
            went(
                "{metadata: {name: other}, spec: {containers: [{ports: [{hostPort: 53, protocol: UDP}]}]}, status: {nominatedNodeName: n1}}",
            ),
        ],
        do_not: &[
            went("{metadata: {name: other}, spec: {nodeName: n1}}"),
            went("{metadata: {name: other}, spec: {nodeName: n1, containers: [{ports: [{containerPort: 80}]}]}}"),
            went(
                "{metadata: {name: other}, spec: {nodeName: n1, containers: [{ports: [{hostPort: 53}, {hostPort: 81}]}]}}",
            ),
            went("{metadata: {name: other}, spec: {containers: [{ports: [{hostPort: 80}]}]}}").untold(),
        ],
        ..Event::OF
    }],
};
