//! How things stand with a pod's claims, as far as that tells pods apart.

use std::hash::{Hash, Hasher};

use schedc_core::intern::Symbol;
use schedc_core::map::FixedHasher;
use schedc_core::model::{NodeSelector, PersistentVolumeClaim};

use super::OwnClaims;
use super::by_label::selector_tie;
use crate::indexes::Volumes;

/// A number that is the same, usually, for pods whose claims make the same difference to most nodes. Such pods share a kept
/// answer, and what their claims make of it is found for each of them. So nothing comes of a wrong number but work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Standing(u64);

/// Of a claim, in the order in which they add up.
#[derive(Hash)]
enum Claim<'a> {
    /// The pod has to wait for it, or for ever.
    Unusable,
    /// Every node that there is can have it, or the volume tells where it can be.
    Bound(Option<&'a NodeSelector>),
    /// One node alone can have it, most likely.
    Local,
    /// It waits for the pod.
    Unbound,
}

impl Standing {
    pub(super) fn of(own: &OwnClaims, volumes: &Volumes, hostname: Symbol) -> Self {
        let mut hasher = FixedHasher::default();
        for wanted in &own.claims {
            match volumes.claim(own.namespace, wanted.name) {
                None => Claim::Unusable.hash(&mut hasher),
                Some(claim) if claim.is_bound() => bound(claim, volumes, hostname).hash(&mut hasher),
                Some(claim) => {
                    Claim::Unbound.hash(&mut hasher);
                    hash_unbound(claim, &mut hasher);
                }
            }
        }
        Standing(hasher.finish())
    }
}

fn bound<'a>(claim: &PersistentVolumeClaim, volumes: &'a Volumes, hostname: Symbol) -> Claim<'a> {
    if claim.lost || claim.deleting {
        return Claim::Unusable;
    }
    let volume = claim.volume.and_then(|volume| volumes.volume(volume));
    let affinity = volume.and_then(|volume| volume.node_affinity.as_ref());
    match affinity.and_then(selector_tie) {
        Some(tie) if tie.key == hostname => Claim::Local,
        _ => Claim::Bound(affinity),
    }
}

fn hash_unbound(claim: &PersistentVolumeClaim, hasher: &mut impl Hasher) {
    (claim.class, claim.attributes_class, claim.volume, claim.selected_node, claim.deleting).hash(hasher);
    (claim.mode, &claim.access_modes, claim.request.map(|request| request.value())).hash(hasher);
}
