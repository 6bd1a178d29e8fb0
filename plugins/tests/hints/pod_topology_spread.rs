//! What wakes pods that PodTopologySpread rejected.

use crate::hints::table::{Event, Hints, came, changed, went};

const ME: &str = "{metadata: {name: me, labels: {app: web}}, spec: {topologySpreadConstraints: [
    {topologyKey: zone, maxSkew: 1, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}},
    {topologyKey: rack, maxSkew: 1, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: db}}}]}}";
/// It prefers to be spread, but need not be.
const EASY: &str = "{metadata: {name: me, labels: {app: web}}, spec: {topologySpreadConstraints: [
    {topologyKey: zone, maxSkew: 1, whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {app: web}}}]}}";
const WEB: &str = "{metadata: {name: other, labels: {app: web}}, spec: {nodeName: n1}}";
const OTHER: &str = "{metadata: {name: other, labels: {app: other}}, spec: {nodeName: n1}}";
const WEB_ELSEWHERE: &str = "{metadata: {name: other, namespace: far, labels: {app: web}}, spec: {nodeName: n1}}";
const A1: &str = "metadata: {name: n1, labels: {zone: a, rack: r1}}";
const A: &str = "metadata: {name: n1, labels: {zone: a}}";

/// A constraint that minds taints, one that does not, and pods with a toleration more.
const MINDS: &str = "{metadata: {name: me}, spec: {topologySpreadConstraints: [
    {topologyKey: zone, maxSkew: 1, whenUnsatisfiable: DoNotSchedule, nodeTaintsPolicy: Honor}]}}";
const MINDS_AND_TOLERATES: &str =
    "{metadata: {name: me}, spec: {tolerations: [{operator: Exists}], topologySpreadConstraints: [
    {topologyKey: zone, maxSkew: 1, whenUnsatisfiable: DoNotSchedule, nodeTaintsPolicy: Honor}]}}";
const IGNORES: &str = "{metadata: {name: me}, spec: {topologySpreadConstraints: [
    {topologyKey: zone, maxSkew: 1, whenUnsatisfiable: DoNotSchedule}]}}";
const IGNORES_AND_TOLERATES: &str =
    "{metadata: {name: me}, spec: {tolerations: [{operator: Exists}], topologySpreadConstraints: [
    {topologyKey: zone, maxSkew: 1, whenUnsatisfiable: DoNotSchedule}]}}";

pub(crate) const HINTS: Hints = Hints {
    plugin: "PodTopologySpread",
    events: &[
        Event {
            name: "PodAdd",
            rejected: ME,
            wake: &[came(WEB), came("{metadata: {name: other, labels: {app: db}}, spec: {nodeName: n1}}")],
            do_not: &[
                came(OTHER),
                came(WEB_ELSEWHERE),
                came("{metadata: {name: other, labels: {app: web}}}").untold(),
            ],
            ..Event::OF
        },
        Event { name: "PodAdd", rejected: EASY, do_not: &[came(WEB)], ..Event::OF },
        Event {
            name: "PodDelete",
            rejected: ME,
            wake: &[
                went(WEB),
                went("{metadata: {name: other, labels: {app: web}}, status: {nominatedNodeName: n1}}"),
            ],
            do_not: &[went(OTHER), went(WEB_ELSEWHERE)],
            ..Event::OF
        },
        Event {
            name: "PodUpdatePodLabel",
            rejected: ME,
            wake: &[
                changed(WEB, OTHER),
                changed(OTHER, WEB),
                // Itself: the selectors that count are those of the pod as it is now.
                changed(
                    ME,
                    "{metadata: {name: me, labels: {app: other}}, spec: {topologySpreadConstraints: [
                      {topologyKey: zone, maxSkew: 1, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}}]}}",
                ),
            ],
            do_not: &[
                changed(WEB, "{metadata: {name: other, labels: {app: web, tier: front}}, spec: {nodeName: n1}}"),
                changed(OTHER, "{metadata: {name: other, labels: {app: another}}, spec: {nodeName: n1}}"),
                changed(WEB_ELSEWHERE, "{metadata: {name: other, namespace: far}, spec: {nodeName: n1}}"),
            ],
            ..Event::OF
        },
        Event {
            name: "PodUpdatePodToleration",
            rejected: MINDS,
            wake: &[changed(MINDS, MINDS_AND_TOLERATES)],
            do_not: &[changed(
                "{metadata: {name: other}, spec: {nodeName: n1}}",
                "{metadata: {name: other}, spec: {nodeName: n1, tolerations: [{operator: Exists}]}}",
            )],
            ..Event::OF
        },
        Event {
            name: "PodUpdatePodToleration",
            rejected: IGNORES,
            do_not: &[changed(IGNORES, IGNORES_AND_TOLERATES)],
            ..Event::OF
        },
        Event {
            name: "NodeAdd",
            rejected: ME,
            wake: &[came(A1)],
            do_not: &[came("metadata: {name: n1}"), came(A)],
            ..Event::OF
        },
        // Without constraints every node counts.
        Event { name: "NodeAdd", rejected: EASY, wake: &[came("metadata: {name: n1}")], ..Event::OF },
        Event {
            name: "NodeDelete",
            rejected: ME,
            wake: &[went(A1)],
            do_not: &[went("metadata: {name: n1}"), went(A)],
            ..Event::OF
        },
        Event {
            name: "NodeUpdateNodeLabel",
            rejected: ME,
            wake: &[
                changed(A, A1),
                changed(A1, A),
                changed(A1, "metadata: {name: n1, labels: {zone: b, rack: r1}}"),
            ],
            do_not: &[
                changed("metadata: {name: n1}", A),
                changed(A1, "metadata: {name: n1, labels: {zone: a, rack: r1, disk: ssd}}"),
            ],
            ..Event::OF
        },
        Event {
            name: "NodeUpdateNodeTaint",
            rejected: ME,
            wake: &[changed(
                "{metadata: {name: n1, labels: {zone: a, rack: r1}}, spec: {taints: [{key: a, effect: NoSchedule}]}}",
                A1,
            )],
            do_not: &[
                changed("{metadata: {name: n1, labels: {zone: a}}, spec: {taints: [{key: a, effect: NoSchedule}]}}", A),
                changed("{metadata: {name: n1, labels: {zone: a, rack: r1}}, spec: {unschedulable: true}}", A1),
            ],
            ..Event::OF
        },
    ],
};
