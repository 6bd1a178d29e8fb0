//! Fingerprint of a pod's claims, which is part of the pod's signature.

use std::hash::{Hash, Hasher};

use schedc_core::intern::Symbol;
use schedc_core::map::FixedHasher;
use schedc_core::model::{NodeSelector, PersistentVolumeClaim};

use super::PodClaims;
use super::label_indexed_list::selector_required_label;
use crate::indexes::Volumes;

/// A hash that is usually equal for pods whose claims restrict nodes in the same way. Pods with equal hashes can
/// share a cached answer. Each update of the answer evaluates the claims of the current pod, so a collision only
/// costs time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct ClaimsFingerprint(u64);

/// State of one claim, for the hash.
#[derive(Hash)]
enum ClaimState<'a> {
    /// The pod has to wait for the claim, possibly forever.
    Unusable,
    /// The volume's node affinity determines the nodes; `None`: the volume has none, or does not exist.
    Bound(Option<&'a NodeSelector>),
    /// Usually only one node can access the volume.
    Local,
    /// The claim waits for the pod.
    Unbound,
}

impl ClaimsFingerprint {
    pub(super) fn of(own: &PodClaims, volumes: &Volumes, hostname: Symbol) -> Self {
        let mut hasher = FixedHasher::default();
        for wanted in &own.claims {
            match volumes.claim(own.namespace, wanted.name) {
                None => ClaimState::Unusable.hash(&mut hasher),
                Some(claim) if claim.is_bound() => bound(claim, volumes, hostname).hash(&mut hasher),
                Some(claim) => {
                    ClaimState::Unbound.hash(&mut hasher);
                    hash_unbound(claim, &mut hasher);
                }
            }
        }
        ClaimsFingerprint(hasher.finish())
    }
}

fn bound<'a>(claim: &PersistentVolumeClaim, volumes: &'a Volumes, hostname: Symbol) -> ClaimState<'a> {
    if claim.lost || claim.deleting {
        return ClaimState::Unusable;
    }
    let volume = claim.volume.and_then(|volume| volumes.volume(volume));
    let affinity = volume.and_then(|volume| volume.node_affinity.as_ref());
    match affinity.and_then(selector_required_label) {
        Some(required_label) if required_label.key == hostname => ClaimState::Local,
        _ => ClaimState::Bound(affinity),
    }
}

fn hash_unbound(claim: &PersistentVolumeClaim, hasher: &mut impl Hasher) {
    (claim.class, claim.attributes_class, claim.volume, claim.selected_node, claim.deleting).hash(hasher);
    (claim.mode, &claim.access_modes, claim.request.map(|request| request.value())).hash(hasher);
}
