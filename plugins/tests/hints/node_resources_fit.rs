//! Events that queue pods rejected by NodeResourcesFit.

use crate::hints::table::{Event, Hints, added, deleted, updated};

const POD: &str =
    "{metadata: {name: me}, spec: {containers: [{name: c, resources: {requests: {cpu: 2, example.com/gpu: 1}}}]}}";
const SMALL: &str = "{metadata: {name: n1}, status: {allocatable: {cpu: 1, pods: 9, example.com/gpu: 1}}}";
const LARGE: &str = "{metadata: {name: n1}, status: {allocatable: {cpu: 2, pods: 9, example.com/gpu: 1}}}";

pub(crate) const HINTS: Hints = Hints {
    plugin: "NodeResourcesFit",
    events: &[
        Event {
            name: "NodeAdd",
            rejected: POD,
            queue: &[added(LARGE)],
            skip: &[
                added(SMALL),
                added("{metadata: {name: n1}, status: {allocatable: {cpu: 2, pods: 9}}}"),
                added("{metadata: {name: n1}, status: {allocatable: {cpu: 2, pods: 0, example.com/gpu: 1}}}"),
            ],
            ..Event::EMPTY
        },
        Event {
            name: "NodeUpdateNodeAllocatable",
            rejected: POD,
            queue: &[
                updated(SMALL, LARGE),
                updated(LARGE, "{metadata: {name: n1}, status: {allocatable: {cpu: 2, pods: 10, example.com/gpu: 1}}}"),
                updated(LARGE, "{metadata: {name: n1}, status: {allocatable: {cpu: 2, pods: 9, example.com/gpu: 2}}}"),
            ],
            skip: &[
                updated(LARGE, SMALL),
                // More of a requested resource, but not enough.
                updated(SMALL, "{metadata: {name: n1}, status: {allocatable: {cpu: 1, pods: 9, example.com/gpu: 2}}}"),
                // More of a resource that is not requested.
                updated(
                    LARGE,
                    "{metadata: {name: n1}, status: {allocatable: {cpu: 2, memory: 1Gi, pods: 9, example.com/gpu: 1}}}",
                ),
            ],
            ..Event::EMPTY
        },
        Event {
            name: "PodDelete",
            rejected: POD,
            queue: &[
                deleted("{metadata: {name: other}, spec: {nodeName: n1}}"),
                deleted("{metadata: {name: other}, status: {nominatedNodeName: n1}}"),
            ],
            skip: &[deleted("metadata: {name: other}").without_event()],
            ..Event::EMPTY
        },
        Event {
            name: "PodUpdatePodScaleDown",
            rejected: POD,
            queue: &[
                updated(
                    POD,
                    "{metadata: {name: me}, spec: {containers: [{name: c, resources: {requests: {cpu: 1, example.com/gpu: 1}}}]}}",
                ),
                updated(
                    "{metadata: {name: other}, spec: {nodeName: n1, containers: [{name: c, resources: {requests: {cpu: 2}}}]}}",
                    "{metadata: {name: other}, spec: {nodeName: n1, containers: [{name: c, resources: {requests: {cpu: 1}}}]}}",
                ),
            ],
            skip: &[updated(
                "{metadata: {name: other}, spec: {nodeName: n1, containers: [{name: c, resources: {requests: {cpu: 1, memory: 2Gi}}}]}}",
                "{metadata: {name: other}, spec: {nodeName: n1, containers: [{name: c, resources: {requests: {cpu: 2, memory: 1Gi}}}]}}",
            )],
            ..Event::EMPTY
        },
        Event {
            name: "resource.k8s.io/DeviceClassAdd",
            rejected: "{metadata: {name: me}, spec: {containers: [{name: c, resources: {requests: {
                deviceclass.resource.kubernetes.io/big: 1, example.com/gpu: 1}}}]}}",
            queue: &[
                added("{kind: DeviceClass, metadata: {name: big}, spec: {}}"),
                added("{kind: DeviceClass, metadata: {name: any}, spec: {extendedResourceName: example.com/gpu}}"),
            ],
            skip: &[
                added("{kind: DeviceClass, metadata: {name: small}, spec: {}}"),
                added("{kind: DeviceClass, metadata: {name: any}, spec: {extendedResourceName: example.com/tpu}}"),
            ],
            ..Event::EMPTY
        },
        Event {
            name: "resource.k8s.io/DeviceClassUpdate",
            rejected: POD,
            queue: &[updated(
                "{kind: DeviceClass, metadata: {name: any}, spec: {}}",
                "{kind: DeviceClass, metadata: {name: any}, spec: {extendedResourceName: example.com/gpu}}",
            )],
            skip: &[
                updated(
                    "{kind: DeviceClass, metadata: {name: any}, spec: {extendedResourceName: example.com/gpu}}",
                    "{kind: DeviceClass, metadata: {name: any}, spec: {}}",
                ),
                updated(
                    "{kind: DeviceClass, metadata: {name: any}, spec: {extendedResourceName: example.com/gpu}}",
                    "{kind: DeviceClass, metadata: {name: any, labels: {a: b}}, spec: {extendedResourceName: example.com/gpu}}",
                ),
                updated(
                    "{kind: DeviceClass, metadata: {name: any}, spec: {}}",
                    "{kind: DeviceClass, metadata: {name: any}, spec: {extendedResourceName: example.com/tpu}}",
                ),
            ],
            ..Event::EMPTY
        },
    ],
};
