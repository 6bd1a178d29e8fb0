//! Validation of the status of resource claims, as far as schedulers rely on it.

use serde_json::Value;

/// Maximum number of consumers of a claim, which `status.reservedFor` lists.
const MAX_CONSUMERS: usize = 256;

/// Checks the new state of a resource claim in JSON. If the new state no longer has an allocation, removes the statuses
/// of devices from it.
///
/// # Errors
/// Returns the field and the message of an API server (`ValidateResourceClaimStatusUpdate`).
pub fn check_claim_status(old: &Value, new: &mut Value) -> Result<(), String> {
    let (was_allocated, is_allocated) = (!allocation(old).is_null(), !allocation(new).is_null());
    let consumers = consumers(new);
    if consumers.len() > MAX_CONSUMERS {
        let count = consumers.len();
        return Err(format!("status.reservedFor: Too many: {count}: must have at most {MAX_CONSUMERS} items"));
    }
    if !consumers.is_empty() && !is_allocated {
        return Err("status.reservedFor: Forbidden: may not be specified when `allocated` is not set".to_owned());
    }
    let is_deleted = !old["metadata"]["deletionTimestamp"].is_null();
    if is_deleted && consumers.iter().any(|consumer| !self::consumers(old).contains(consumer)) {
        return Err("status.reservedFor: Forbidden: new entries may not be added while `deallocationRequested` or \
                    `deletionTimestamp` are set"
            .to_owned());
    }
    if was_allocated && is_allocated && !is_same_allocation(allocation(old), allocation(new)) {
        return Err("status.allocation: Invalid value: field is immutable".to_owned());
    }
    if was_allocated
        && !is_allocated
        && let Some(status) = new["status"].as_object_mut()
    {
        status.remove("devices");
    }
    Ok(())
}

/// Returns whether two allocations are equal. Unlike in an API server, a missing `allocationTimestamp` may be added:
/// schedulers add it, and manifests of users rarely have it.
fn is_same_allocation(old: &Value, new: &Value) -> bool {
    let mut new = new.clone();
    if let Some(fields) = new.as_object_mut()
        && old["allocationTimestamp"].is_null()
    {
        fields.remove("allocationTimestamp");
    }
    *old == new
}

fn allocation(claim: &Value) -> &Value {
    &claim["status"]["allocation"]
}

fn consumers(claim: &Value) -> &[Value] {
    claim["status"]["reservedFor"].as_array().map(Vec::as_slice).unwrap_or_default()
}
