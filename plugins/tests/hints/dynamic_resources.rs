//! What wakes pods that DynamicResources rejected.

use crate::hints::table::{Event, Hints, came, changed};

const ME: &str = "{metadata: {name: me}, spec: {resourceClaims: [{name: gpu, resourceClaimName: mine}]}}";
const MINE: &str = "{kind: ResourceClaim, metadata: {name: mine, uid: mine}, spec: {}}";
const MINE_ALLOCATED: &str =
    "{kind: ResourceClaim, metadata: {name: mine, uid: mine}, spec: {}, status: {allocation: {}}}";
const OTHER: &str = "{kind: ResourceClaim, metadata: {name: other, uid: other}, spec: {}}";
const OTHER_ALLOCATED: &str =
    "{kind: ResourceClaim, metadata: {name: other, uid: other}, spec: {}, status: {allocation: {}}}";

/// Its claim is made of a template.
const TEMPLATE: &str =
    "{metadata: {name: me, uid: me}, spec: {resourceClaims: [{name: gpu, resourceClaimTemplateName: gpus}]}}";
const GENERATED: &str =
    "{metadata: {name: me, uid: me}, spec: {resourceClaims: [{name: gpu, resourceClaimTemplateName: gpus}]},
    status: {resourceClaimStatuses: [{name: gpu, resourceClaimName: made}]}}";
const MADE: &str = "{kind: ResourceClaim, metadata: {name: made, uid: made,
    ownerReferences: [{apiVersion: v1, kind: Pod, name: me, uid: me, controller: true}]}, spec: {}}";

pub(crate) const HINTS: Hints = Hints {
    plugin: "DynamicResources",
    events: &[
        Event {
            name: "resource.k8s.io/ResourceClaimAdd",
            rejected: ME,
            wake: &[came(MINE)],
            // While its own is missing, nothing helps.
            do_not: &[came(OTHER), came("{kind: ResourceClaim, metadata: {name: mine, namespace: far}, spec: {}}")],
            ..Event::OF
        },
        Event {
            name: "resource.k8s.io/ResourceClaimAdd",
            rejected: ME,
            around: &[MINE],
            do_not: &[came(OTHER)],
            ..Event::OF
        },
        Event {
            name: "resource.k8s.io/ResourceClaimUpdate",
            rejected: ME,
            around: &[MINE],
            wake: &[
                changed(MINE, MINE_ALLOCATED),
                changed(MINE_ALLOCATED, MINE),
                // Devices that are given back may be for anyone.
                changed(OTHER_ALLOCATED, OTHER),
            ],
            do_not: &[
                changed(OTHER, OTHER_ALLOCATED),
                changed(MINE, "{kind: ResourceClaim, metadata: {name: mine, uid: mine, labels: {a: b}}, spec: {}}"),
            ],
        },
        Event {
            name: "resource.k8s.io/ResourceClaimUpdate",
            rejected: ME,
            do_not: &[changed(OTHER_ALLOCATED, OTHER)],
            ..Event::OF
        },
        Event {
            name: "PodUpdatePodGeneratedResourceClaim",
            rejected: TEMPLATE,
            around: &[MADE],
            wake: &[changed(TEMPLATE, GENERATED)],
            do_not: &[
                changed(GENERATED, TEMPLATE),
                changed(
                    "{metadata: {name: other}, spec: {nodeName: n1}}",
                    "{metadata: {name: other}, spec: {nodeName: n1}, status: {resourceClaimStatuses: [{name: gpu, resourceClaimName: made}]}}",
                ),
            ],
        },
        Event {
            name: "PodUpdatePodGeneratedResourceClaim",
            rejected: TEMPLATE,
            // The claim is not there yet.
            do_not: &[changed(TEMPLATE, GENERATED)],
            ..Event::OF
        },
    ],
};
