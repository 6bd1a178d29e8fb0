//! Fingerprint of the claims that a pod names, which is part of the pod's signature.

use std::hash::{Hash, Hasher};

use schedc_core::map::FixedHasher;
use schedc_core::model::{AllocationNodes, ClaimSource, PodSpec};

use crate::indexes::ResourceClaims;

/// Returns a hash that is usually equal for pods with named claims of equal effect. Pods with equal hashes share a
/// cached answer. Each update of the answer compares the claims themselves, so a collision only costs time.
pub(super) fn of_named(pod: &PodSpec, claims: &ResourceClaims) -> u64 {
    let mut hasher = FixedHasher::default();
    for claim in &pod.resource_claims {
        let ClaimSource::Named(name) = claim.source else { continue };
        let Some(claim) = claims.claim(pod.namespace, name) else { continue };
        claim.spec.hash(&mut hasher);
        match claim.status.allocation.as_ref().map(|allocation| &allocation.nodes) {
            None => 0.hash(&mut hasher),
            Some(None) => 1.hash(&mut hasher),
            Some(Some(AllocationNodes::Node(node))) => node.hash(&mut hasher),
            Some(Some(AllocationNodes::Selector(_))) => 2.hash(&mut hasher),
        }
    }
    hasher.finish()
}
