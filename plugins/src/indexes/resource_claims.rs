//! Resource claims by name.

use std::sync::Arc;

use schedc_core::change_log::ChangeLog;
use schedc_core::column::Index;
use schedc_core::intern::Symbol;
use schedc_core::map::Map;
use schedc_core::model::{Object, ResourceClaim, Uid};

/// All resource claims.
#[derive(Clone, Debug, Default)]
pub struct ResourceClaims {
    /// By namespace and name.
    claims: Map<(Symbol, Symbol), Arc<ResourceClaim>>,
    /// The allocated claims, by uid.
    allocated: Map<Uid, Arc<ResourceClaim>>,
    /// Claims for extended resources, by the uid of their pod. A pod usually has one claim here; several are sorted by
    /// the uids of the claims.
    extended: Map<Uid, Vec<Arc<ResourceClaim>>>,
    /// Uids of the claims whose allocation changed.
    allocations: ChangeLog<Uid>,
}

/// An updated index equals a rebuilt one, regardless of the number of events.
impl PartialEq for ResourceClaims {
    fn eq(&self, other: &Self) -> bool {
        self.claims == other.claims && self.allocated == other.allocated && self.extended == other.extended
    }
}

impl ResourceClaims {
    /// Returns the claim with this name.
    pub fn claim(&self, namespace: Symbol, name: Symbol) -> Option<&Arc<ResourceClaim>> {
        self.claims.get(&(namespace, name))
    }

    /// Returns the claim with this uid, if it is allocated.
    pub fn allocated(&self, uid: &Uid) -> Option<&Arc<ResourceClaim>> {
        self.allocated.get(uid)
    }

    /// Returns all allocated claims.
    pub fn all_allocated(&self) -> impl Iterator<Item = &Arc<ResourceClaim>> {
        self.allocated.values()
    }

    /// Returns the claim that was created for a pod's extended resources; the one with the lowest uid if several
    /// attempts left claims.
    pub fn extended(&self, pod: &Uid) -> Option<&Arc<ResourceClaim>> {
        if self.extended.is_empty() { None } else { self.extended.get(pod)?.first() }
    }

    /// Returns the log of claims whose allocation changed.
    pub fn allocations(&self) -> &ChangeLog<Uid> {
        &self.allocations
    }

    fn remove(&mut self, claim: &ResourceClaim) {
        self.claims.remove(&(claim.namespace, claim.name));
        self.allocated.remove(&claim.uid);
        if let Some(pod) = extended_owner(claim)
            && let Some(claims) = self.extended.get_mut(pod)
        {
            claims.retain(|known| known.uid != claim.uid);
            if claims.is_empty() {
                self.extended.remove(pod);
            }
        }
    }

    fn insert(&mut self, claim: &Arc<ResourceClaim>) {
        self.claims.insert((claim.namespace, claim.name), claim.clone());
        if claim.is_allocated() {
            self.allocated.insert(claim.uid.clone(), claim.clone());
        }
        if let Some(pod) = extended_owner(claim) {
            let claims = self.extended.entry(pod.clone()).or_default();
            let at = claims.partition_point(|known| known.uid < claim.uid);
            claims.insert(at, claim.clone());
        }
    }
}

fn claim(object: Option<&Object>) -> Option<&Arc<ResourceClaim>> {
    match object {
        Some(Object::ResourceClaim(claim)) => Some(claim),
        _ => None,
    }
}

/// Returns the pod for whose extended resources a claim was created.
fn extended_owner(claim: &ResourceClaim) -> Option<&Uid> {
    claim.controller.as_ref().filter(|_| claim.is_for_extended_resources)
}

impl Index for ResourceClaims {
    fn set_object(&mut self, old: Option<&Object>, new: Option<&Object>) {
        let (old, new) = (claim(old), claim(new));
        if let Some(old) = old {
            self.remove(old);
        }
        if let Some(new) = new {
            self.insert(new);
        }
        let allocation = |claim: Option<&Arc<ResourceClaim>>| {
            let claim = claim?;
            Some((claim.uid.clone(), claim.status.allocation.clone()?))
        };
        let (before, after) = (allocation(old), allocation(new));
        if before != after {
            let mut touched: Vec<Uid> = before.into_iter().chain(after).map(|(uid, _)| uid).collect();
            touched.dedup();
            touched.into_iter().for_each(|uid| self.allocations.push(uid));
        }
    }
}

#[cfg(test)]
mod tests {
    use schedc_core::intern::Interner;
    use schedc_objects::testing::object;

    use super::*;

    #[test]
    fn claims_are_added_updated_and_deleted() {
        let mut interner = Interner::default();
        let mut claim = |more: &str| {
            let head = "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: gpu, namespace: a";
            object(&format!("{head}{more}}}\nspec: {{}}"), &mut interner)
        };
        let (old, new) = (claim(""), claim(", uid: other"));
        let key = (interner.intern("a"), interner.intern("gpu"));
        let mut claims = ResourceClaims::default();
        let uid = |claims: &ResourceClaims| claims.claim(key.0, key.1).map(|claim| claim.uid.0.to_string());
        claims.set_object(None, Some(&old));
        assert_eq!(uid(&claims).as_deref(), Some("ResourceClaim/a/gpu"));
        claims.set_object(Some(&old), Some(&new));
        assert_eq!(uid(&claims).as_deref(), Some("other"));
        claims.set_object(Some(&new), None);
        assert_eq!(claims, ResourceClaims::default());
    }
}
