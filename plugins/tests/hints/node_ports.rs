//! Events that queue pods rejected by NodePorts.

use crate::hints::table::{Event, Hints, deleted};

pub(crate) const HINTS: Hints = Hints {
    plugin: "NodePorts",
    events: &[Event {
        name: "PodDelete",
        rejected: "{metadata: {name: me}, spec: {containers: [{ports: [{hostPort: 80}, {hostPort: 53, protocol: UDP}]}]}}",
        queue: &[
            deleted("{metadata: {name: other}, spec: {nodeName: n1, containers: [{ports: [{hostPort: 80}]}]}}"),
            deleted(
                "{metadata: {name: other, namespace: far}, spec: {nodeName: n1, containers: [{ports: [{hostPort: 80, hostIP: 10.0.0.1}]}]}}",
            ),
            deleted(
                "{metadata: {name: other}, spec: {containers: [{ports: [{hostPort: 53, protocol: UDP}]}]}, status: {nominatedNodeName: n1}}",
            ),
        ],
        skip: &[
            deleted("{metadata: {name: other}, spec: {nodeName: n1}}"),
            deleted("{metadata: {name: other}, spec: {nodeName: n1, containers: [{ports: [{containerPort: 80}]}]}}"),
            deleted(
                "{metadata: {name: other}, spec: {nodeName: n1, containers: [{ports: [{hostPort: 53}, {hostPort: 81}]}]}}",
            ),
            deleted("{metadata: {name: other}, spec: {containers: [{ports: [{hostPort: 80}]}]}}").without_event(),
        ],
        ..Event::EMPTY
    }],
};
