//! Deallocation of claims for a pod without a feasible node.

use std::sync::Arc;

use schedc_core::client::ObjectRef;
use schedc_core::extension_points::{PostFilterContext, PostFilterResult, Repair};
use schedc_core::handle::WriteOperation;
use schedc_core::intern::Interner;
use schedc_core::model::{NodeIndex, ResourceClaim};
use schedc_core::node_loops::filter_node;
use schedc_core::plugin::Plugin;
use schedc_core::profile::Profile;
use schedc_core::random::Random;
use serde_json::json;

use super::evaluation::{Infeasible, NodeEvaluator};
use super::pod_claims::{ClaimState, bit};
use super::{DynamicResources, ViewOf, binding};

impl DynamicResources {
    /// Returns a repair for each claim that is unavailable on a node and that no other pod uses; the repair deallocates
    /// the claim. A random repair is the first, and only the first one is carried out. If there is no such claim,
    /// returns a repair that deletes the claim that an earlier attempt left behind.
    pub(super) fn release<P: Profile>(&self, cx: &PostFilterContext<'_, P>, view: ViewOf<'_>) -> PostFilterResult {
        let nothing = || PostFilterResult::unschedulable("no new claims to deallocate");
        if !cx.pod.spec.may_use_devices() {
            return nothing();
        }
        let extended = self.extended_resources(&cx.pod.spec, view);
        let Ok(claims) = self.look_up(cx.pod, extended.is_any_backed(), view) else { return nothing() };
        if claims.is_empty() {
            return nothing();
        }
        self.look_up_unreceived(&cx.pod.uid);
        let interner = &view.base.interner;
        let is_free = |claim: &ResourceClaim| {
            claim.status.reserved_for.iter().all(|consumer| consumer.uid == cx.pod.uid)
                && claim.status.reserved_for.len() <= 1
        };
        let evaluator = self.evaluator(cx.pod, &extended, &claims, view.base);
        let unavailable = self.unavailable(&evaluator, cx);
        let own = claims.claims.iter().enumerate();
        let free = own.filter(|(at, _)| unavailable & bit(*at) != 0);
        let free = free.filter_map(|(_, claim)| claim.claim.as_ref()).filter(|claim| is_free(claim));
        let mut repairs: Vec<Repair> = free.map(|claim| deallocation(claim, interner)).collect();
        if !repairs.is_empty() {
            let chosen = Random::new(cx.seed).below(repairs.len());
            repairs.swap(0, chosen);
            let result = PostFilterResult::unschedulable("deallocation of ResourceClaim completed");
            return PostFilterResult { repairs, ..result };
        }
        match claims.obsolete() {
            Some(obsolete) => {
                let result = PostFilterResult::unschedulable("deletion of ResourceClaim completed");
                PostFilterResult { repairs: vec![deletion(obsolete, interner)], ..result }
            }
            None => PostFilterResult::unschedulable("still not schedulable"),
        }
    }

    /// Returns the bits of the claims that are unavailable on at least one node that the earlier filters accept.
    fn unavailable<P: Profile>(&self, evaluator: &NodeEvaluator<'_>, cx: &PostFilterContext<'_, P>) -> u64 {
        let is_allocated = |state: &ClaimState| matches!(state, ClaimState::Allocated { .. });
        let Some(cycle) = cx.cycle.filter(|_| evaluator.claims.claims.iter().any(|claim| is_allocated(&claim.state)))
        else {
            return 0;
        };
        let columns = P::columns(&cx.cache.state, &cx.cache.base);
        let is_candidate = |node: &NodeIndex| {
            let rejected = filter_node::<P>(cx.compiled, cycle, columns, node.get()).err();
            cx.pre_filter.nodes().is_none_or(|nodes| nodes.contains(node))
                && rejected.is_some_and(|rejection| P::rejector(&rejection) == Self::NAME)
        };
        let mut devices = self.devices();
        let nodes = cx.cache.base.alive().iter().filter(is_candidate);
        nodes.fold(0, |found, node| match evaluator.evaluate(&mut devices, node) {
            Err(Infeasible::Unavailable(claims)) => found | claims,
            _ => found,
        })
    }
}

fn object(claim: &ResourceClaim, interner: &Interner) -> ObjectRef {
    binding::object(interner.share(claim.namespace), interner.share(claim.name))
}

fn deallocation(claim: &Arc<ResourceClaim>, interner: &Interner) -> Repair {
    let mut metadata = json!({ "uid": *claim.uid.0 });
    if !claim.resource_version.is_empty() {
        metadata["resourceVersion"] = (*claim.resource_version).into();
    }
    let status = json!({ "allocation": null, "reservedFor": null, "devices": null });
    let patch = json!({ "metadata": metadata, "status": status });
    Repair { object: object(claim, interner), operations: vec![WriteOperation::PatchStatus(patch)] }
}

/// Returns the writes that delete a claim. The finalizer is removed first, because it would keep the claim.
fn deletion(claim: &Arc<ResourceClaim>, interner: &Interner) -> Repair {
    let without_finalizers = json!({ "metadata": { "uid": *claim.uid.0, "finalizers": null } });
    let release = claim.has_finalizer.then_some(WriteOperation::Patch(without_finalizers));
    let operations = release.into_iter().chain([WriteOperation::Delete(Some(claim.uid.clone()))]).collect();
    Repair { object: object(claim, interner), operations }
}
