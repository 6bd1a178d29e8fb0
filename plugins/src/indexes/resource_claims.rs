//! Resource claims by name.

use std::sync::Arc;

use schedc_core::column::Index;
use schedc_core::intern::Symbol;
use schedc_core::map::Map;
use schedc_core::model::{Object, ResourceClaim};

/// All resource claims.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResourceClaims {
    /// By namespace and name.
    claims: Map<(Symbol, Symbol), Arc<ResourceClaim>>,
}

impl ResourceClaims {
    /// Returns the claim with this name.
    pub fn claim(&self, namespace: Symbol, name: Symbol) -> Option<&Arc<ResourceClaim>> {
        self.claims.get(&(namespace, name))
    }
}

impl Index for ResourceClaims {
    fn set_object(&mut self, old: Option<&Object>, new: Option<&Object>) {
        if let Some(Object::ResourceClaim(new)) = new {
            self.claims.insert((new.namespace, new.name), new.clone());
        } else if let Some(Object::ResourceClaim(old)) = old {
            self.claims.remove(&(old.namespace, old.name));
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
        let uid = |claims: &ResourceClaims| claims.claim(key.0, key.1).map(|claim| claim.uid.to_string());
        claims.set_object(None, Some(&old));
        assert_eq!(uid(&claims).as_deref(), Some("ResourceClaim/a/gpu"));
        claims.set_object(Some(&old), Some(&new));
        assert_eq!(uid(&claims).as_deref(), Some("other"));
        claims.set_object(Some(&new), None);
        assert_eq!(claims, ResourceClaims::default());
    }
}
