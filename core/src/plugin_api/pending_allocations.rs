//! Allocations of resource claims that are decided and not written yet.

use std::sync::Arc;

use crate::model::change_log::ChangeLog;
use crate::model::map::Map;
use crate::model::{AllocationResult, Uid};

/// Allocations between Reserve and the update of the claim, shared by all profiles of a scheduler: kube-scheduler's
/// in-flight allocations and its assume cache of claims.
#[derive(Debug, Default)]
pub struct PendingAllocations {
    by_claim: Map<Uid, Arc<AllocationResult>>,
    log: ChangeLog<Uid>,
}

impl PendingAllocations {
    /// Returns the allocation of a claim.
    pub fn get(&self, claim: &Uid) -> Option<&Arc<AllocationResult>> {
        self.by_claim.get(claim)
    }
    /// Adds the allocation of a claim.
    pub fn insert(&mut self, claim: Uid, allocation: Arc<AllocationResult>) {
        self.log.push(claim.clone());
        self.by_claim.insert(claim, allocation);
    }
    /// Removes the allocation of a claim, if there is one.
    pub fn remove(&mut self, claim: &Uid) -> Option<Arc<AllocationResult>> {
        let removed = self.by_claim.remove(claim)?;
        self.log.push(claim.clone());
        Some(removed)
    }
    /// Returns all allocations.
    pub fn iter(&self) -> impl Iterator<Item = (&Uid, &Arc<AllocationResult>)> {
        self.by_claim.iter()
    }
    /// Returns the claims that were added or removed.
    pub fn log(&self) -> &ChangeLog<Uid> {
        &self.log
    }
}
