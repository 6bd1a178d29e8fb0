//! State of a pod's claims in one attempt, before nodes are evaluated.

use std::sync::Arc;

use schedc_core::intern::{Interner, Symbol};
use schedc_core::model::{
    AllocationNodes, AllocationResult, LabelsExt, Node, Pod, RequestRef, RequestedDevices, ResourceClaim,
    ResourceClaimSpec, label_integer,
};
use schedc_core::pending_allocations::PendingAllocations;
use schedc_core::status::Status;
use smallvec::SmallVec;

use super::readiness::{Readiness, is_timed_out, readiness};
use super::{Indexes, ViewOf, claims};

/// Maximum number of alternatives of a request. The first alternative has this score, each further one 1 less than the
/// one before.
const MAX_ALTERNATIVES: usize = 8;

/// The claims of a pod, in the order of its spec; the claim for extended resources is the last.
#[derive(Clone, Debug, Default)]
pub(super) struct PodClaims {
    pub(super) claims: SmallVec<[PodClaim; 1]>,
    /// Specs of the claims that are to be allocated. The claim for extended resources is not included.
    pub(super) unallocated: SmallVec<[Arc<ResourceClaimSpec>; 2]>,
}

/// A claim of a pod.
#[derive(Clone, Debug)]
pub(super) struct PodClaim {
    /// Its name in the pod; `None` for the claim for extended resources.
    pub(super) pod_claim: Option<Symbol>,
    /// The claim; `None` if PreBind creates it for extended resources.
    pub(super) claim: Option<Arc<ResourceClaim>>,
    pub(super) state: ClaimState,
}

/// All that the evaluation of a node reads of a claim. Claims with equal states have equal results.
#[derive(Clone, Debug)]
pub(super) enum ClaimState {
    /// Devices are to be allocated.
    Unallocated(Arc<ResourceClaimSpec>),
    /// Devices are allocated.
    Allocated {
        nodes: Option<AllocationNodes>,
        /// Whether its devices failed, or did not become ready in time.
        has_failed: bool,
        score: i64,
    },
    /// Devices for extended resources are to be allocated, as far as the node does not have them.
    Extended,
    /// An earlier attempt left a claim for extended resources behind.
    Obsolete,
}

impl PartialEq for ClaimState {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (ClaimState::Unallocated(spec), ClaimState::Unallocated(other)) => {
                Arc::ptr_eq(spec, other) || spec == other
            }
            (
                ClaimState::Allocated { nodes, has_failed, score },
                ClaimState::Allocated { nodes: others, has_failed: also, score: other },
            ) => nodes == others && has_failed == also && score == other,
            (ClaimState::Extended, ClaimState::Extended) | (ClaimState::Obsolete, ClaimState::Obsolete) => true,
            _ => false,
        }
    }
}

impl PodClaims {
    /// Reads the claims of a pod, as PreFilter does. `is_extended`: whether devices can serve extended resources that
    /// the pod requests.
    ///
    /// # Errors
    /// The status with which PreFilter rejects the pod or fails.
    pub(super) fn look_up(
        pod: &Pod,
        is_extended: bool,
        view: ViewOf<'_>,
        pending: &PendingAllocations,
        (now, binding_timeout): (i64, i64),
    ) -> Result<PodClaims, Status> {
        let (indexes, interner) = (view.indexes, &view.base.interner);
        let (all, _, _) = indexes;
        let own = claims::of_pod(pod, all).map_err(|unusable| Status::unresolvable(unusable.message(pod, interner)))?;
        let mut found = SmallVec::<[PodClaim; 1]>::with_capacity(own.len() + usize::from(is_extended));
        for (name, claim) in own {
            let written = with_written_allocation(claim, pending);
            let claim = written.as_ref().unwrap_or(claim);
            let state = match &claim.status.allocation {
                Some(allocation) => {
                    if let Some(AllocationNodes::Selector(selector)) = &allocation.nodes
                        && let Err(error) = &selector.parsed
                    {
                        return Err(Status::error(error.to_string()));
                    }
                    let has_failed = match readiness(claim) {
                        Readiness::Ready => false,
                        Readiness::NotReady => is_timed_out(allocation, now, binding_timeout),
                        Readiness::Failed(_) => true,
                    };
                    let score = score(&claim.spec, allocation);
                    ClaimState::Allocated { nodes: allocation.nodes.clone(), has_failed, score }
                }
                None => {
                    let (namespace, name) = (interner.resolve(claim.namespace), interner.resolve(claim.name));
                    if pending.get(&claim.uid).is_some() {
                        return Err(Status::unresolvable(format!(
                            "resource claim {namespace}/{name} is in the process of being allocated"
                        )));
                    }
                    validate(claim, indexes, interner)?;
                    ClaimState::Unallocated(claim.spec.clone())
                }
            };
            found.push(PodClaim { pod_claim: Some(name), claim: Some(claim.clone()), state });
        }
        if is_extended {
            let claim = all.extended(&pod.uid).cloned();
            let state = match &claim {
                Some(claim) if claim.is_allocated() || !claim.spec.requests.is_empty() => ClaimState::Obsolete,
                _ => ClaimState::Extended,
            };
            found.push(PodClaim { pod_claim: None, claim, state });
        }
        let spec = |claim: &PodClaim| match &claim.state {
            ClaimState::Unallocated(spec) => Some(spec.clone()),
            _ => None,
        };
        let unallocated = found.iter().filter_map(spec).collect();
        Ok(PodClaims { claims: found, unallocated })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.claims.is_empty()
    }

    /// Returns the claim for extended resources that an earlier attempt left behind.
    pub(super) fn obsolete(&self) -> Option<&Arc<ResourceClaim>> {
        self.claims.iter().find(|claim| claim.pod_claim.is_none())?.claim.as_ref()
    }

    /// Returns whether the claims have these states. If they do, evaluations have equal results.
    pub(super) fn have_equal_states(&self, other: &[ClaimState]) -> bool {
        self.claims.len() == other.len() && self.claims.iter().zip(other).all(|(claim, other)| claim.state == *other)
    }
}

/// Returns the claim with the allocation that PreBind wrote, if the watch has not delivered this allocation yet.
fn with_written_allocation(claim: &Arc<ResourceClaim>, pending: &PendingAllocations) -> Option<Arc<ResourceClaim>> {
    if claim.is_allocated() {
        return None;
    }
    let pending = pending.get(&claim.uid).filter(|pending| pending.written.is_some())?;
    let mut claim = ResourceClaim::clone(claim);
    claim.status.allocation = Some(pending.allocation.clone());
    Some(Arc::new(claim))
}

/// Checks the requests of a claim that is not allocated.
fn validate(claim: &ResourceClaim, (_, _, classes): Indexes<'_>, interner: &Interner) -> Result<(), Status> {
    let text = |symbol| interner.resolve(symbol);
    let check = |class: Symbol, reference: RequestRef| {
        let name = || reference.display(interner);
        if class == Symbol::EMPTY {
            return Err(Status::error(format!("request {}: unsupported request type", name())));
        }
        match classes.class(class) {
            Some(_) => Ok(()),
            None => {
                let class = text(class);
                Err(Status::unresolvable(format!("request {}: device class {class} does not exist", name())))
            }
        }
    };
    for request in &claim.spec.requests {
        let reference = |alternative| RequestRef { request: request.name, alternative };
        match &request.devices {
            RequestedDevices::Exactly(devices) => check(devices.class, reference(None))?,
            RequestedDevices::FirstAvailable(alternatives) if !alternatives.is_empty() => {
                for alternative in alternatives {
                    check(alternative.devices.class, reference(Some(alternative.name)))?;
                }
            }
            RequestedDevices::FirstAvailable(_) | RequestedDevices::Unknown => {
                return Err(Status::unresolvable(format!(
                    "resource claim {}/{}, request {}: unknown request type",
                    text(claim.namespace),
                    text(claim.name),
                    text(request.name)
                )));
            }
        }
    }
    Ok(())
}

/// Returns the score of an allocation: the earlier the allocated alternatives, the higher (`computeScore`).
fn score(spec: &ResourceClaimSpec, allocation: &AllocationResult) -> i64 {
    let mut score = 0;
    for request in &spec.requests {
        let RequestedDevices::FirstAvailable(alternatives) = &request.devices else { continue };
        for (at, alternative) in alternatives.iter().enumerate() {
            let is_allocated = allocation.results.iter().any(|result| {
                result.request.request == request.name && result.request.alternative == Some(alternative.name)
            });
            if is_allocated {
                score += MAX_ALTERNATIVES as i64 - at as i64;
            }
        }
    }
    score
}

/// Returns the bit of the claim at a position. All claims after the 63rd share the last bit.
pub(super) fn bit(at: usize) -> u64 {
    1 << at.min(63)
}

/// Returns whether devices of an allocation can be used on a node.
pub(super) fn matches(nodes: &AllocationNodes, node: &Node, interner: &Interner) -> bool {
    match nodes {
        AllocationNodes::Node(name) => *name == node.name,
        AllocationNodes::Selector(selector) => selector.parsed.as_ref().is_ok_and(|selector| {
            let integer = |key| label_integer(interner, node.labels.value(key)?);
            selector.matches(node.name, &node.labels, integer)
        }),
    }
}
