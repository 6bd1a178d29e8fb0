//! Events that queue pods rejected by DynamicResources.

use crate::hints::table::{Event, Hints, added, updated};

const POD: &str = "{metadata: {name: me}, spec: {resourceClaims: [{name: gpu, resourceClaimName: mine}]}}";
const CLAIM: &str = "{kind: ResourceClaim, metadata: {name: mine, uid: mine}, spec: {}}";
const CLAIM_ALLOCATED: &str =
    "{kind: ResourceClaim, metadata: {name: mine, uid: mine}, spec: {}, status: {allocation: {}}}";
const OTHER: &str = "{kind: ResourceClaim, metadata: {name: other, uid: other}, spec: {}}";
const OTHER_ALLOCATED: &str =
    "{kind: ResourceClaim, metadata: {name: other, uid: other}, spec: {}, status: {allocation: {}}}";

/// A pod with a claim that is generated from a template.
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
            rejected: POD,
            queue: &[added(CLAIM)],
            // While the pod's own claim is missing, events of other claims do not help.
            skip: &[added(OTHER), added("{kind: ResourceClaim, metadata: {name: mine, namespace: far}, spec: {}}")],
            ..Event::EMPTY
        },
        Event {
            name: "resource.k8s.io/ResourceClaimAdd",
            rejected: POD,
            others: &[CLAIM],
            skip: &[added(OTHER)],
            ..Event::EMPTY
        },
        Event {
            name: "resource.k8s.io/ResourceClaimUpdate",
            rejected: POD,
            others: &[CLAIM],
            queue: &[
                updated(CLAIM, CLAIM_ALLOCATED),
                updated(CLAIM_ALLOCATED, CLAIM),
                // Every pod can use released devices.
                updated(OTHER_ALLOCATED, OTHER),
            ],
            skip: &[
                updated(OTHER, OTHER_ALLOCATED),
                updated(CLAIM, "{kind: ResourceClaim, metadata: {name: mine, uid: mine, labels: {a: b}}, spec: {}}"),
            ],
        },
        Event {
            name: "resource.k8s.io/ResourceClaimUpdate",
            rejected: POD,
            skip: &[updated(OTHER_ALLOCATED, OTHER)],
            ..Event::EMPTY
        },
        Event {
            name: "PodUpdatePodGeneratedResourceClaim",
            rejected: TEMPLATE,
            others: &[MADE],
            queue: &[updated(TEMPLATE, GENERATED)],
            skip: &[
                updated(GENERATED, TEMPLATE),
                updated(
                    "{metadata: {name: other}, spec: {nodeName: n1}}",
                    "{metadata: {name: other}, spec: {nodeName: n1}, status: {resourceClaimStatuses: [{name: gpu, resourceClaimName: made}]}}",
                ),
            ],
        },
        Event {
            name: "PodUpdatePodGeneratedResourceClaim",
            rejected: TEMPLATE,
            // The claim does not exist yet.
            skip: &[updated(TEMPLATE, GENERATED)],
            ..Event::EMPTY
        },
    ],
};
