//! Events that queue pods rejected by PodTopologySpread.

use crate::hints::table::{Event, Hints, added, deleted, updated};

const POD: &str = "{metadata: {name: me, labels: {app: web}}, spec: {topologySpreadConstraints: [
    {topologyKey: zone, maxSkew: 1, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}},
    {topologyKey: rack, maxSkew: 1, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: db}}}]}}";
/// A pod with a soft constraint only.
const SOFT_CONSTRAINT: &str = "{metadata: {name: me, labels: {app: web}}, spec: {topologySpreadConstraints: [
    {topologyKey: zone, maxSkew: 1, whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {app: web}}}]}}";
const WEB: &str = "{metadata: {name: other, labels: {app: web}}, spec: {nodeName: n1}}";
const OTHER: &str = "{metadata: {name: other, labels: {app: other}}, spec: {nodeName: n1}}";
const WEB_ELSEWHERE: &str = "{metadata: {name: other, namespace: far, labels: {app: web}}, spec: {nodeName: n1}}";
const IN_ZONE_AND_RACK: &str = "metadata: {name: n1, labels: {zone: a, rack: r1}}";
const IN_ZONE: &str = "metadata: {name: n1, labels: {zone: a}}";

// These four pods have a constraint that honors or ignores taints, and no toleration or one for all taints.
const HONORS_TAINTS: &str = "{metadata: {name: me}, spec: {topologySpreadConstraints: [
    {topologyKey: zone, maxSkew: 1, whenUnsatisfiable: DoNotSchedule, nodeTaintsPolicy: Honor}]}}";
const HONORS_TAINTS_AND_TOLERATES: &str =
    "{metadata: {name: me}, spec: {tolerations: [{operator: Exists}], topologySpreadConstraints: [
    {topologyKey: zone, maxSkew: 1, whenUnsatisfiable: DoNotSchedule, nodeTaintsPolicy: Honor}]}}";
const IGNORES_TAINTS: &str = "{metadata: {name: me}, spec: {topologySpreadConstraints: [
    {topologyKey: zone, maxSkew: 1, whenUnsatisfiable: DoNotSchedule}]}}";
const IGNORES_TAINTS_AND_TOLERATES: &str =
    "{metadata: {name: me}, spec: {tolerations: [{operator: Exists}], topologySpreadConstraints: [
    {topologyKey: zone, maxSkew: 1, whenUnsatisfiable: DoNotSchedule}]}}";

pub(crate) const HINTS: Hints = Hints {
    plugin: "PodTopologySpread",
    events: &[
        Event {
            name: "PodAdd",
            rejected: POD,
            queue: &[added(WEB), added("{metadata: {name: other, labels: {app: db}}, spec: {nodeName: n1}}")],
            skip: &[
                added(OTHER),
                added(WEB_ELSEWHERE),
                added("{metadata: {name: other, labels: {app: web}}}").without_event(),
            ],
            ..Event::EMPTY
        },
        Event { name: "PodAdd", rejected: SOFT_CONSTRAINT, skip: &[added(WEB)], ..Event::EMPTY },
        Event {
            name: "PodDelete",
            rejected: POD,
            queue: &[
                deleted(WEB),
                deleted("{metadata: {name: other, labels: {app: web}}, status: {nominatedNodeName: n1}}"),
            ],
            skip: &[deleted(OTHER), deleted(WEB_ELSEWHERE)],
            ..Event::EMPTY
        },
        Event {
            name: "PodUpdatePodLabel",
            rejected: POD,
            queue: &[
                updated(WEB, OTHER),
                updated(OTHER, WEB),
                // If the pod itself changes, the hint reads its current selectors.
                updated(
                    POD,
                    "{metadata: {name: me, labels: {app: other}}, spec: {topologySpreadConstraints: [
                      {topologyKey: zone, maxSkew: 1, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}}]}}",
                ),
            ],
            skip: &[
                updated(WEB, "{metadata: {name: other, labels: {app: web, tier: front}}, spec: {nodeName: n1}}"),
                updated(OTHER, "{metadata: {name: other, labels: {app: another}}, spec: {nodeName: n1}}"),
                updated(WEB_ELSEWHERE, "{metadata: {name: other, namespace: far}, spec: {nodeName: n1}}"),
            ],
            ..Event::EMPTY
        },
        Event {
            name: "PodUpdatePodToleration",
            rejected: HONORS_TAINTS,
            queue: &[updated(HONORS_TAINTS, HONORS_TAINTS_AND_TOLERATES)],
            skip: &[updated(
                "{metadata: {name: other}, spec: {nodeName: n1}}",
                "{metadata: {name: other}, spec: {nodeName: n1, tolerations: [{operator: Exists}]}}",
            )],
            ..Event::EMPTY
        },
        Event {
            name: "PodUpdatePodToleration",
            rejected: IGNORES_TAINTS,
            skip: &[updated(IGNORES_TAINTS, IGNORES_TAINTS_AND_TOLERATES)],
            ..Event::EMPTY
        },
        Event {
            name: "NodeAdd",
            rejected: POD,
            queue: &[added(IN_ZONE_AND_RACK)],
            skip: &[added("metadata: {name: n1}"), added(IN_ZONE)],
            ..Event::EMPTY
        },
        // Without hard constraints, every new node queues the pod.
        Event { name: "NodeAdd", rejected: SOFT_CONSTRAINT, queue: &[added("metadata: {name: n1}")], ..Event::EMPTY },
        Event {
            name: "NodeDelete",
            rejected: POD,
            queue: &[deleted(IN_ZONE_AND_RACK)],
            skip: &[deleted("metadata: {name: n1}"), deleted(IN_ZONE)],
            ..Event::EMPTY
        },
        Event {
            name: "NodeUpdateNodeLabel",
            rejected: POD,
            queue: &[
                updated(IN_ZONE, IN_ZONE_AND_RACK),
                updated(IN_ZONE_AND_RACK, IN_ZONE),
                updated(IN_ZONE_AND_RACK, "metadata: {name: n1, labels: {zone: b, rack: r1}}"),
            ],
            skip: &[
                updated("metadata: {name: n1}", IN_ZONE),
                updated(IN_ZONE_AND_RACK, "metadata: {name: n1, labels: {zone: a, rack: r1, disk: ssd}}"),
            ],
            ..Event::EMPTY
        },
        Event {
            name: "NodeUpdateNodeTaint",
            rejected: POD,
            queue: &[updated(
                "{metadata: {name: n1, labels: {zone: a, rack: r1}}, spec: {taints: [{key: a, effect: NoSchedule}]}}",
                IN_ZONE_AND_RACK,
            )],
            skip: &[
                updated(
                    "{metadata: {name: n1, labels: {zone: a}}, spec: {taints: [{key: a, effect: NoSchedule}]}}",
                    IN_ZONE,
                ),
                updated(
                    "{metadata: {name: n1, labels: {zone: a, rack: r1}}, spec: {unschedulable: true}}",
                    IN_ZONE_AND_RACK,
                ),
            ],
            ..Event::EMPTY
        },
    ],
};
