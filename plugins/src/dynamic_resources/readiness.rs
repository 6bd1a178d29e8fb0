//! Binding conditions of allocated devices.

use schedc_core::model::{AllocationResult, DeviceCondition, ResourceClaim};

/// Readiness of a claim's devices for pods (`isClaimReadyForBinding`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Readiness<'a> {
    Ready,
    NotReady,
    /// A driver reports this failure condition.
    Failed(&'a DeviceCondition),
}

/// Returns the readiness of an allocated claim: that of the first device that has failed or is not ready, else `Ready`.
/// A claim that is not allocated is not ready.
pub(super) fn readiness(claim: &ResourceClaim) -> Readiness<'_> {
    let Some(allocation) = &claim.status.allocation else { return Readiness::NotReady };
    for result in allocation.results.iter().filter(|result| !result.binding_conditions.is_empty()) {
        let Some(status) = claim.status.device(result.driver, result.pool, result.device) else {
            return Readiness::NotReady;
        };
        let condition = |kind| status.conditions.iter().find(|condition| condition.kind == kind);
        let mut failures = result.binding_failure_conditions.iter().filter_map(|&kind| condition(kind));
        if let Some(failed) = failures.find(|condition| condition.is_true) {
            return Readiness::Failed(failed);
        }
        let mut required = result.binding_conditions.iter();
        if !required.all(|&kind| condition(kind).is_some_and(|condition| condition.is_true)) {
            return Readiness::NotReady;
        }
    }
    Readiness::Ready
}

/// Returns whether devices with binding conditions have been allocated for more than `timeout` nanoseconds.
pub(super) fn is_timed_out(allocation: &AllocationResult, now: i64, timeout: i64) -> bool {
    let is_late = |since: i64| since.saturating_add(timeout) < now;
    allocation.timestamp.is_some_and(is_late)
        && allocation.results.iter().any(|result| !result.binding_conditions.is_empty())
}
