//! What wakes pods that NodeResourcesFit rejected.

use crate::hints::table::{Event, Hints, came, changed, went};

const ME: &str =
    "{metadata: {name: me}, spec: {containers: [{name: c, resources: {requests: {cpu: 2, example.com/gpu: 1}}}]}}";
const SMALL: &str = "{metadata: {name: n1}, status: {allocatable: {cpu: 1, pods: 9, example.com/gpu: 1}}}";
const LARGE: &str = "{metadata: {name: n1}, status: {allocatable: {cpu: 2, pods: 9, example.com/gpu: 1}}}";

pub(crate) const HINTS: Hints = Hints {
    plugin: "NodeResourcesFit",
    events: &[
        Event {
            name: "NodeAdd",
            rejected: ME,
            wake: &[came(LARGE)],
            do_not: &[
                came(SMALL),
                came("{metadata: {name: n1}, status: {allocatable: {cpu: 2, pods: 9}}}"),
                came("{metadata: {name: n1}, status: {allocatable: {cpu: 2, pods: 0, example.com/gpu: 1}}}"),
            ],
            ..Event::OF
        },
        Event {
            name: "NodeUpdateNodeAllocatable",
            rejected: ME,
            wake: &[
                changed(SMALL, LARGE),
                changed(LARGE, "{metadata: {name: n1}, status: {allocatable: {cpu: 2, pods: 10, example.com/gpu: 1}}}"),
                changed(LARGE, "{metadata: {name: n1}, status: {allocatable: {cpu: 2, pods: 9, example.com/gpu: 2}}}"),
            ],
            do_not: &[
                changed(LARGE, SMALL),
                // More of what it asks for, but not enough.
                changed(SMALL, "{metadata: {name: n1}, status: {allocatable: {cpu: 1, pods: 9, example.com/gpu: 2}}}"),
                // More of what it does not ask for.
                changed(
                    LARGE,
                    "{metadata: {name: n1}, status: {allocatable: {cpu: 2, memory: 1Gi, pods: 9, example.com/gpu: 1}}}",
                ),
            ],
            ..Event::OF
        },
        Event {
            name: "PodDelete",
            rejected: ME,
            wake: &[
                went("{metadata: {name: other}, spec: {nodeName: n1}}"),
                went("{metadata: {name: other}, status: {nominatedNodeName: n1}}"),
            ],
            do_not: &[went("metadata: {name: other}").untold()],
            ..Event::OF
        },
        Event {
            name: "PodUpdatePodScaleDown",
            rejected: ME,
            wake: &[
                changed(
                    ME,
                    "{metadata: {name: me}, spec: {containers: [{name: c, resources: {requests: {cpu: 1, example.com/gpu: 1}}}]}}",
                ),
                changed(
                    "{metadata: {name: other}, spec: {nodeName: n1, containers: [{name: c, resources: {requests: {cpu: 2}}}]}}",
                    "{metadata: {name: other}, spec: {nodeName: n1, containers: [{name: c, resources: {requests: {cpu: 1}}}]}}",
                ),
            ],
            do_not: &[changed(
                "{metadata: {name: other}, spec: {nodeName: n1, containers: [{name: c, resources: {requests: {cpu: 1, memory: 2Gi}}}]}}",
                "{metadata: {name: other}, spec: {nodeName: n1, containers: [{name: c, resources: {requests: {cpu: 2, memory: 1Gi}}}]}}",
            )],
            ..Event::OF
        },
        Event {
            name: "resource.k8s.io/DeviceClassAdd",
            rejected: "{metadata: {name: me}, spec: {containers: [{name: c, resources: {requests: {
                deviceclass.resource.kubernetes.io/big: 1, example.com/gpu: 1}}}]}}",
            wake: &[
                came("{kind: DeviceClass, metadata: {name: big}, spec: {}}"),
                came("{kind: DeviceClass, metadata: {name: any}, spec: {extendedResourceName: example.com/gpu}}"),
            ],
            do_not: &[
                came("{kind: DeviceClass, metadata: {name: small}, spec: {}}"),
                came("{kind: DeviceClass, metadata: {name: any}, spec: {extendedResourceName: example.com/tpu}}"),
            ],
            ..Event::OF
        },
        Event {
            name: "resource.k8s.io/DeviceClassUpdate",
            rejected: ME,
            wake: &[changed(
                "{kind: DeviceClass, metadata: {name: any}, spec: {}}",
                "{kind: DeviceClass, metadata: {name: any}, spec: {extendedResourceName: example.com/gpu}}",
            )],
            do_not: &[
                changed(
                    "{kind: DeviceClass, metadata: {name: any}, spec: {extendedResourceName: example.com/gpu}}",
                    "{kind: DeviceClass, metadata: {name: any}, spec: {}}",
                ),
                changed(
                    "{kind: DeviceClass, metadata: {name: any}, spec: {extendedResourceName: example.com/gpu}}",
                    "{kind: DeviceClass, metadata: {name: any, labels: {a: b}}, spec: {extendedResourceName: example.com/gpu}}",
                ),
                changed(
                    "{kind: DeviceClass, metadata: {name: any}, spec: {}}",
                    "{kind: DeviceClass, metadata: {name: any}, spec: {extendedResourceName: example.com/tpu}}",
                ),
            ],
            ..Event::OF
        },
    ],
};
