//! Resource claims of a pod, and the devices that claims hold.

use std::sync::Arc;

use schedc_core::intern::{Interner, Symbol};
use schedc_core::map::Map;
use schedc_core::model::{AllocationNodes, Kind, Object, ObjectKey, Pod, ResourceClaim};

use super::rule::Rule;

/// Claims, and the number of claims that hold each device.
#[derive(Default)]
pub(super) struct Devices {
    claims: Map<(Symbol, Symbol), Arc<ResourceClaim>>,
    /// By driver, pool and name of a device: the number of claims that hold it exclusively, and the number of its
    /// shares that claims hold.
    holders: Map<(Symbol, Symbol, Symbol), (u32, u32)>,
}

impl Devices {
    /// Adds or changes an object.
    pub(super) fn set(&mut self, object: &Object) {
        if let Object::ResourceClaim(claim) = object {
            let old = self.claims.insert((claim.namespace, claim.name), claim.clone());
            self.count(old.as_deref(), Some(claim));
        }
    }

    pub(super) fn remove(&mut self, key: &ObjectKey) {
        if key.kind == Kind::ResourceClaim {
            let old = self.claims.remove(&(key.namespace, key.name));
            self.count(old.as_deref(), None);
        }
    }

    fn count(&mut self, old: Option<&ResourceClaim>, new: Option<&ResourceClaim>) {
        for (claim, is_added) in [(new, true), (old, false)] {
            let allocation = claim.and_then(|claim| claim.status.allocation.as_ref());
            let results = allocation.into_iter().flat_map(|allocation| allocation.results.iter());
            for result in results.filter(|result| result.admin_access != Some(true)) {
                let (exclusive, shares) = self.holders.entry((result.driver, result.pool, result.device)).or_default();
                let count = if result.share_id.is_none() { exclusive } else { shares };
                *count = if is_added { *count + 1 } else { count.saturating_sub(1) };
            }
        }
    }

    /// Checks the claims of a pod that is bound to a node.
    pub(super) fn check(&self, pod: &Pod, node: Symbol, names: &Interner, violations: &mut Vec<(Rule, String)>) {
        for pod_claim in &pod.spec.resource_claims {
            let Ok(Some((name, _))) = pod.resource_claim_name(pod_claim) else { continue };
            let claim = self.claims.get(&(pod.spec.namespace, name));
            let name = names.resolve(name);
            let mut report_violation =
                |what: String| violations.push((Rule::DynamicResources, format!("claim {name} {what}")));
            let Some(allocation) = claim.and_then(|claim| claim.status.allocation.as_ref()) else {
                report_violation("is not allocated".to_owned());
                continue;
            };
            if !claim.is_some_and(|claim| claim.is_reserved_for(&pod.uid)) {
                report_violation("is not reserved for the pod".to_owned());
            }
            if matches!(allocation.nodes, Some(AllocationNodes::Node(other)) if other != node) {
                report_violation("has devices of another node".to_owned());
            }
            for result in allocation.results.iter().filter(|result| result.admin_access != Some(true)) {
                let holders = self.holders.get(&(result.driver, result.pool, result.device)).copied();
                if matches!(holders, Some((2.., _) | (1.., 1..))) {
                    report_violation(format!("has device {}, which another claim holds", names.resolve(result.device)));
                }
            }
        }
    }
}
