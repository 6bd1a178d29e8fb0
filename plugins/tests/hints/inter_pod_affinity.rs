//! What wakes pods that InterPodAffinity rejected.

use crate::hints::table::{Event, Hints, came, changed, went};

/// Wants to be near `web`, and apart from `db`.
const ME: &str = "{metadata: {name: me, labels: {app: me}}, spec: {affinity: {
    podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [
        {topologyKey: zone, labelSelector: {matchLabels: {app: web}}}]},
    podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [
        {topologyKey: rack, labelSelector: {matchLabels: {app: db}}}]}}}}";
/// Wants to be near pods that are two things at once.
const CHOOSY: &str =
    "{metadata: {name: me}, spec: {affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [
    {topologyKey: zone, labelSelector: {matchLabels: {app: web}}},
    {topologyKey: zone, labelSelector: {matchLabels: {tier: front}}}]}}}}";
/// Wants to be near pods of any namespace.
const WORLDLY: &str =
    "{metadata: {name: me}, spec: {affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [
    {topologyKey: zone, namespaceSelector: {}, labelSelector: {matchLabels: {app: web}}}]}}}}";
const NEAR: &str =
    "{metadata: {name: me}, spec: {affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [
    {topologyKey: zone, labelSelector: {matchLabels: {app: web}}}]}}}}";
const APART: &str =
    "{metadata: {name: me}, spec: {affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [
    {topologyKey: zone, labelSelector: {matchLabels: {app: db}}}]}}}}";
const WEB: &str = "{metadata: {name: other, labels: {app: web}}, spec: {nodeName: n1}}";
const DB: &str = "{metadata: {name: other, labels: {app: db}}, spec: {nodeName: n1}}";
const OTHER: &str = "{metadata: {name: other, labels: {app: other}}, spec: {nodeName: n1}}";
const FAR: &str = "{metadata: {name: other, namespace: far, labels: {app: web}}, spec: {nodeName: n1}}";
const IN_A: &str = "metadata: {name: n1, labels: {zone: a}}";
const IN_B: &str = "metadata: {name: n1, labels: {zone: b}}";
const NOWHERE: &str = "metadata: {name: n1}";

pub(crate) const HINTS: Hints = Hints {
    plugin: "InterPodAffinity",
    events: &[
        Event {
            name: "PodAdd",
            rejected: ME,
            wake: &[came(WEB)],
            do_not: &[came(OTHER), came(DB), came(FAR), came("metadata: {name: other, labels: {app: web}}").untold()],
            ..Event::OF
        },
        Event {
            name: "PodAdd",
            rejected: CHOOSY,
            wake: &[came("{metadata: {name: other, labels: {app: web, tier: front}}, spec: {nodeName: n1}}")],
            do_not: &[came(WEB)],
            ..Event::OF
        },
        Event { name: "PodAdd", rejected: WORLDLY, wake: &[came(FAR)], do_not: &[came(OTHER)], ..Event::OF },
        Event {
            name: "PodDelete",
            rejected: ME,
            wake: &[
                went(DB),
                // One that did not want to be near it.
                went("{metadata: {name: other}, spec: {nodeName: n1, affinity: {podAntiAffinity: {
                  requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: zone, labelSelector: {matchLabels: {app: me}}}]}}}}"),
            ],
            do_not: &[
                went(OTHER),
                went(WEB),
                went("{metadata: {name: other, namespace: far, labels: {app: db}}, spec: {nodeName: n1}}"),
                went("{metadata: {name: other}, spec: {nodeName: n1, affinity: {podAntiAffinity: {
                  requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: zone, labelSelector: {matchLabels: {app: web}}}]}}}}"),
            ],
            ..Event::OF
        },
        Event {
            name: "PodUpdatePodLabel",
            rejected: ME,
            wake: &[
                changed(OTHER, WEB),
                changed(DB, OTHER),
                changed(ME, "{metadata: {name: me, labels: {app: new}}}"),
            ],
            do_not: &[
                changed(WEB, OTHER),
                changed(OTHER, DB),
                changed(DB, "{metadata: {name: other, labels: {app: db, tier: back}}, spec: {nodeName: n1}}"),
                changed("{metadata: {name: other, namespace: far}, spec: {nodeName: n1}}", FAR),
            ],
            ..Event::OF
        },
        Event {
            name: "NodeAdd",
            rejected: NEAR,
            wake: &[came(IN_A)],
            do_not: &[came(NOWHERE), came("metadata: {name: n1, labels: {rack: a}}")],
            ..Event::OF
        },
        // There are none of those pods on a new node.
        Event { name: "NodeAdd", rejected: APART, wake: &[came(NOWHERE), came(IN_A)], ..Event::OF },
        Event {
            name: "NodeUpdateNodeLabel",
            rejected: NEAR,
            wake: &[changed(NOWHERE, IN_A), changed(IN_A, IN_B)],
            do_not: &[
                changed(IN_A, NOWHERE),
                changed(IN_A, "metadata: {name: n1, labels: {zone: a, rack: r1}}"),
            ],
            ..Event::OF
        },
        Event {
            name: "NodeUpdateNodeLabel",
            rejected: APART,
            wake: &[changed(IN_A, NOWHERE), changed(IN_A, IN_B)],
            do_not: &[
                changed(NOWHERE, IN_A),
                changed(NOWHERE, "metadata: {name: n1, labels: {rack: r1}}"),
                changed(IN_A, "metadata: {name: n1, labels: {zone: a, rack: r1}}"),
            ],
            ..Event::OF
        },
    ],
};
