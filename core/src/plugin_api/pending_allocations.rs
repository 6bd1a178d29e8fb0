//! Allocations of resource claims that are decided, but not received from the API server yet.

use std::sync::Arc;

use crate::model::change_log::ChangeLog;
use crate::model::intern::Symbol;
use crate::model::map::IndexedMap;
use crate::model::{AllocationResult, Uid};
use crate::plugin_api::client::ObjectRef;

/// Allocations from Reserve until the updated claims are received, shared by all profiles of a scheduler:
/// kube-scheduler's in-flight allocations and its assume cache of claims.
#[derive(Debug, Default)]
pub struct PendingAllocations {
    by_claim: IndexedMap<Uid, PendingAllocation>,
    log: ChangeLog<Uid>,
}

/// An allocation of one claim that was not received yet.
#[derive(Clone, Debug)]
pub struct PendingAllocation {
    /// Namespace and name of the claim. `None`: the claim will be created.
    pub claim: Option<(Symbol, Symbol)>,
    /// The devices.
    pub allocation: Arc<AllocationResult>,
    /// The written claim. `None`: the claim was not written yet.
    pub written: Option<WrittenAllocation>,
}

/// A claim with a written allocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenAllocation {
    /// The claim.
    pub object: ObjectRef,
    /// Its uid.
    pub uid: Uid,
    /// Its resource version after the write.
    pub version: Arc<str>,
}

impl PendingAllocations {
    /// Returns the allocation of a claim.
    pub fn get(&self, claim: &Uid) -> Option<&PendingAllocation> {
        self.by_claim.get(claim)
    }
    /// Adds the allocation of a claim. `uid` is any unique value if the claim will be created later.
    pub fn insert(&mut self, uid: Uid, claim: Option<(Symbol, Symbol)>, allocation: Arc<AllocationResult>) {
        self.log.push(uid.clone());
        self.by_claim.insert(uid, PendingAllocation { claim, allocation, written: None });
    }
    /// Marks an allocation as written. It stays until the written claim is received.
    pub fn mark_written(&mut self, claim: &Uid, written: WrittenAllocation) {
        if let Some(pending) = self.by_claim.get_mut(claim) {
            pending.written = Some(written);
            self.log.push(claim.clone());
        }
    }
    /// Removes the allocation of a claim, if there is one.
    pub fn remove(&mut self, claim: &Uid) {
        if self.by_claim.swap_remove(claim).is_some() {
            self.log.push(claim.clone());
        }
    }
    /// Removes the allocations for which `keep` returns false.
    pub fn retain(&mut self, mut keep: impl FnMut(&PendingAllocation) -> bool) {
        let PendingAllocations { by_claim, log } = self;
        by_claim.retain(|uid, pending| {
            let is_kept = keep(pending);
            if !is_kept {
                log.push(uid.clone());
            }
            is_kept
        });
    }
    /// Returns the number of allocations.
    pub fn len(&self) -> usize {
        self.by_claim.len()
    }
    /// Returns whether there are no allocations.
    pub fn is_empty(&self) -> bool {
        self.by_claim.is_empty()
    }
    /// Returns the allocation at a position.
    pub(crate) fn at(&self, position: usize) -> Option<&PendingAllocation> {
        self.by_claim.get_index(position).map(|(_, pending)| pending)
    }
    /// Returns all allocations.
    pub fn iter(&self) -> impl Iterator<Item = (&Uid, &PendingAllocation)> {
        self.by_claim.iter()
    }
    /// Returns the log of claims whose allocations changed.
    pub fn log(&self) -> &ChangeLog<Uid> {
        &self.log
    }
}
