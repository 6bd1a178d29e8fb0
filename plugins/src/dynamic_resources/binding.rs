//! PreBind: writes allocations and reservations, and waits until the devices are ready.
//!
//! | module | content |
//! |---|---|
//! | `writes` | the writes of claims, and how Unreserve undoes them |
//! | `removals` | the reservations that Unreserve is removing |
//! | `conditions` | the wait until devices are ready |
//! | `json` | the JSON of claims and plans |
//! | `spare_plans` | memory of plans, which later plans reuse |

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use schedc_core::client::{Client, ObjectRef};
use schedc_core::extension_points::Placement;
use schedc_core::handle::Handle;
use schedc_core::intern::{Interner, SharedTexts, Symbol};
use schedc_core::model::{AllocationResult, ResourceClaim, Uid};
use serde_json::Value;
use smallvec::SmallVec;

use super::evaluation::NodeAllocation;
use super::extended::ExtendedClaim;
use super::pod_claims::{ClaimState, PodClaims};
use conditions::{WaitMetricsLabels, has_conditions};

mod conditions;
mod json;
mod removals;
mod spare_plans;
mod writes;

pub(super) use removals::Removals;
pub(super) use spare_plans::SparePlans;

/// The writes of PreBind. It contains strings instead of symbols, because PreBind runs concurrently with the scheduling
/// of other pods, without access to the interner.
#[derive(Debug, Default)]
pub(super) struct BindingPlan {
    claims: SmallVec<[PlannedClaim; 1]>,
    /// Scheduler name and devices for metrics, if PreBind waits for binding conditions.
    waits: Option<WaitMetricsLabels>,
    /// The written claims, for Unreserve.
    written: Mutex<Vec<WrittenClaim>>,
}

/// A claim of the pod, and what PreBind writes to it.
#[derive(Debug)]
struct PlannedClaim {
    /// Name of the claim in the pod's spec; `None` for the claim for extended resources.
    pod_claim: Option<Arc<str>>,
    target: ClaimTarget,
    /// The new allocation, if the claim was not allocated.
    new: Option<NewAllocation>,
    /// The existing allocation, if the claim was allocated.
    existing: Option<Arc<AllocationResult>>,
    is_reserved: bool,
}

/// A new allocation.
#[derive(Debug)]
pub(super) struct NewAllocation {
    /// Key in the pending allocations: the claim's uid, or a generated one if PreBind creates the claim.
    pub(super) uid: Uid,
    /// Namespace and name of the claim; `None` if PreBind creates it.
    pub(super) claim: Option<(Symbol, Symbol)>,
    pub(super) allocation: Arc<AllocationResult>,
    /// The strings of the allocation, for its JSON, which is built before the write.
    texts: SharedTexts,
}

/// The ResourceClaim that PreBind writes.
#[derive(Debug)]
enum ClaimTarget {
    Existing {
        namespace: Arc<str>,
        name: Arc<str>,
        uid: Uid,
    },
    /// The claim for extended resources, which is created.
    New {
        extended: Arc<ExtendedClaim>,
        /// The strings of the claim.
        texts: SharedTexts,
    },
}

/// A claim that PreBind wrote.
#[derive(Debug)]
struct WrittenClaim {
    object: ObjectRef,
    uid: Uid,
    /// Whether PreBind created it.
    is_new: bool,
}

impl BindingPlan {
    /// Plans the writes for a pod on a node. `new_key` returns a key in the pending allocations for a claim that PreBind
    /// creates.
    pub(super) fn new(
        placement: &Placement,
        claims: PodClaims,
        node: NodeAllocation,
        mut new_key: impl FnMut() -> Uid,
        interner: &Interner,
    ) -> Self {
        let NodeAllocation { allocations, extended, .. } = node;
        let (mut allocations, mut extended) = (allocations.into_iter(), extended);
        let mut planned = SmallVec::<[PlannedClaim; 1]>::new();
        for claim in claims.claims {
            let pod_claim = claim.pod_claim.map(|name| interner.share(name));
            let existing = claim.claim.as_ref().and_then(|claim| claim.status.allocation.clone());
            let is_reserved = claim.claim.as_ref().is_some_and(|claim| claim.is_reserved_for(&placement.pod.uid));
            let name = claim.claim.as_ref().map(|claim| (claim.namespace, claim.name));
            let target = match (claim.claim, claim.state) {
                (_, ClaimState::Extended) => match extended.take() {
                    Some(extended) => ClaimTarget::New { texts: extended.texts(interner), extended },
                    // The node has all extended resources itself, so PreBind creates no claim.
                    None => continue,
                },
                (Some(claim), _) => ClaimTarget::existing(&claim, interner),
                (None, _) => continue,
            };
            let new = if existing.is_some() { None } else { allocations.next() };
            let new = new.map(|allocation| NewAllocation {
                uid: match &target {
                    ClaimTarget::Existing { uid, .. } => uid.clone(),
                    ClaimTarget::New { .. } => new_key(),
                },
                claim: name.filter(|_| matches!(target, ClaimTarget::Existing { .. })),
                texts: SharedTexts::new(allocation.symbols(), interner),
                allocation,
            });
            planned.push(PlannedClaim { pod_claim, target, new, existing, is_reserved });
        }
        let waits = WaitMetricsLabels::of(&placement.pod, &planned, interner);
        BindingPlan { claims: planned, waits, written: Mutex::default() }
    }

    /// Returns the new allocations.
    pub(super) fn pending(&self) -> impl Iterator<Item = &NewAllocation> {
        self.claims.iter().filter_map(|claim| claim.new.as_ref())
    }

    /// Returns the claims with their allocations as JSON, for reports.
    pub(super) fn preview(&self, interner: &Interner) -> Value {
        self.claims.iter().map(|claim| claim.preview(interner)).collect()
    }

    /// Waits until the removals of the previous attempt have ended, and writes the claims. Then waits until all devices
    /// are ready, at most `timeout` nanoseconds.
    ///
    /// # Errors
    /// A request to the API server fails, a claim has changed so that the pod cannot use it, a device fails, or the
    /// timeout passes.
    pub(super) async fn run(
        &self,
        client: &impl Client,
        placement: &Placement,
        handle: &Handle,
        removals: &Removals,
        timeout: i64,
    ) -> Result<(), String> {
        removals.ended(&placement.pod.uid).await;
        let mut waits_for = Vec::new();
        for claim in &self.claims {
            let object = self.write(client, placement, handle, claim).await?;
            if claim.allocation().is_some_and(|allocation| has_conditions(allocation)) {
                waits_for.push(object);
            }
        }
        if waits_for.is_empty() {
            return Ok(());
        }
        let note = format!("waiting for binding conditions for device on node {}", placement.node_name);
        handle.event(placement.pod.uid.clone(), "BindingConditionsPending", note);
        self.wait(client, handle, waits_for, timeout).await
    }

    fn written(&self) -> MutexGuard<'_, Vec<WrittenClaim>> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns a reference to the ResourceClaim with this name.
pub(super) fn object(namespace: Arc<str>, name: Arc<str>) -> ObjectRef {
    ObjectRef { api_version: "resource.k8s.io/v1".into(), kind: "ResourceClaim".into(), namespace, name }
}

impl ClaimTarget {
    fn existing(claim: &ResourceClaim, interner: &Interner) -> Self {
        ClaimTarget::Existing {
            namespace: interner.share(claim.namespace),
            name: interner.share(claim.name),
            uid: claim.uid.clone(),
        }
    }
}

impl PlannedClaim {
    fn allocation(&self) -> Option<&Arc<AllocationResult>> {
        self.new.as_ref().map(|new| &new.allocation).or(self.existing.as_ref())
    }
}
