//! Events that queue pods rejected by InterPodAffinity.

use crate::hints::table::{Event, Hints, added, deleted, updated};

/// A pod with affinity to `web` and anti-affinity to `db`.
const POD: &str = "{metadata: {name: me, labels: {app: me}}, spec: {affinity: {
    podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [
        {topologyKey: zone, labelSelector: {matchLabels: {app: web}}}]},
    podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [
        {topologyKey: rack, labelSelector: {matchLabels: {app: db}}}]}}}}";
/// A pod with two affinity terms.
const TWO_TERMS: &str =
    "{metadata: {name: me}, spec: {affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [
    {topologyKey: zone, labelSelector: {matchLabels: {app: web}}},
    {topologyKey: zone, labelSelector: {matchLabels: {tier: front}}}]}}}}";
/// A pod with affinity to pods of any namespace.
const ANY_NAMESPACE: &str =
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
const WITHOUT_ZONE: &str = "metadata: {name: n1}";

pub(crate) const HINTS: Hints = Hints {
    plugin: "InterPodAffinity",
    events: &[
        Event {
            name: "PodAdd",
            rejected: POD,
            queue: &[added(WEB)],
            skip: &[added(OTHER), added(DB), added(FAR), added("metadata: {name: other, labels: {app: web}}").without_event()],
            ..Event::EMPTY
        },
        Event {
            name: "PodAdd",
            rejected: TWO_TERMS,
            queue: &[added("{metadata: {name: other, labels: {app: web, tier: front}}, spec: {nodeName: n1}}")],
            skip: &[added(WEB)],
            ..Event::EMPTY
        },
        Event { name: "PodAdd", rejected: ANY_NAMESPACE, queue: &[added(FAR)], skip: &[added(OTHER)], ..Event::EMPTY },
        Event {
            name: "PodDelete",
            rejected: POD,
            queue: &[
                deleted(DB),
                // A pod with anti-affinity to the rejected one.
                deleted("{metadata: {name: other}, spec: {nodeName: n1, affinity: {podAntiAffinity: {
                  requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: zone, labelSelector: {matchLabels: {app: me}}}]}}}}"),
            ],
            skip: &[
                deleted(OTHER),
                deleted(WEB),
                deleted("{metadata: {name: other, namespace: far, labels: {app: db}}, spec: {nodeName: n1}}"),
                deleted("{metadata: {name: other}, spec: {nodeName: n1, affinity: {podAntiAffinity: {
                  requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: zone, labelSelector: {matchLabels: {app: web}}}]}}}}"),
            ],
            ..Event::EMPTY
        },
        Event {
            name: "PodUpdatePodLabel",
            rejected: POD,
            queue: &[
                updated(OTHER, WEB),
                updated(DB, OTHER),
                updated(POD, "{metadata: {name: me, labels: {app: new}}}"),
            ],
            skip: &[
                updated(WEB, OTHER),
                updated(OTHER, DB),
                updated(DB, "{metadata: {name: other, labels: {app: db, tier: back}}, spec: {nodeName: n1}}"),
                updated("{metadata: {name: other, namespace: far}, spec: {nodeName: n1}}", FAR),
            ],
            ..Event::EMPTY
        },
        Event {
            name: "NodeAdd",
            rejected: NEAR,
            queue: &[added(IN_A)],
            skip: &[added(WITHOUT_ZONE), added("metadata: {name: n1, labels: {rack: a}}")],
            ..Event::EMPTY
        },
        // A new node has no pods, in particular none that the anti-affinity excludes.
        Event { name: "NodeAdd", rejected: APART, queue: &[added(WITHOUT_ZONE), added(IN_A)], ..Event::EMPTY },
        Event {
            name: "NodeUpdateNodeLabel",
            rejected: NEAR,
            queue: &[updated(WITHOUT_ZONE, IN_A), updated(IN_A, IN_B)],
            skip: &[
                updated(IN_A, WITHOUT_ZONE),
                updated(IN_A, "metadata: {name: n1, labels: {zone: a, rack: r1}}"),
            ],
            ..Event::EMPTY
        },
        Event {
            name: "NodeUpdateNodeLabel",
            rejected: APART,
            queue: &[updated(IN_A, WITHOUT_ZONE), updated(IN_A, IN_B)],
            skip: &[
                updated(WITHOUT_ZONE, IN_A),
                updated(WITHOUT_ZONE, "metadata: {name: n1, labels: {rack: r1}}"),
                updated(IN_A, "metadata: {name: n1, labels: {zone: a, rack: r1}}"),
            ],
            ..Event::EMPTY
        },
    ],
};
