//! All devices and their allocations, as the allocator needs them.

use std::sync::Arc;

use schedc_core::cache::Base;
use schedc_core::change_log::ChangeLog;
use schedc_core::intern::Symbol;
use schedc_core::map::Map;
use schedc_core::model::{AllocationResult, Node, NodeIndex, ResourceClaimSpec, Uid};
use schedc_core::node_mask::NodeMask;
use schedc_core::pending_allocations::PendingAllocations;

use super::{Indexes, ViewOf};
use crate::indexes::Epoch;

/// The devices, updated before each use.
#[derive(Debug, Default)]
pub(super) struct Devices {
    /// The versions of slices and classes.
    slices: Epoch,
    classes: Epoch,
    /// Positions in the changes of allocations.
    allocations_read: u64,
    pending_read: u64,
    /// The allocations that count, by claim.
    applied: Map<Uid, Arc<AllocationResult>>,
    /// The node of each pool whose devices are all on one node, by driver and name.
    pools: Map<(Symbol, Symbol), Option<Symbol>>,
    changes: ChangeLog<AffectedNodes>,
}

/// Nodes on which a change affects the devices.
#[derive(Clone, Copy, Debug)]
enum AffectedNodes {
    All,
    Only(Symbol),
}

/// Reason why no devices can be allocated.
pub(super) enum AllocationError {
    /// This node has no suitable devices.
    Unsuitable(String),
    /// The attempt fails.
    Failed(String),
}

impl Devices {
    /// Updates the devices to the current objects and pending allocations.
    pub(super) fn update(&mut self, view: ViewOf<'_>, pending: &mut PendingAllocations) {
        let (claims, slices, classes) = view.indexes;
        let is_same = slices.changes().equals(&self.slices) && classes.changes().equals(&self.classes);
        let touched = is_same.then(|| self.touched(view.indexes, pending)).flatten();
        match touched {
            Some(touched) => {
                for claim in touched {
                    self.set_allocation(&claim, current(&claim, view.indexes, pending));
                }
            }
            None => self.rebuild(view, pending),
        }
        self.slices = slices.changes().clone();
        self.classes = classes.changes().clone();
        self.allocations_read = claims.allocations().end();
        self.pending_read = pending.log().end();
    }

    /// Returns the claims whose allocations may have changed. `None`: they are unknown.
    fn touched(&self, (claims, _, _): Indexes<'_>, pending: &PendingAllocations) -> Option<Vec<Uid>> {
        let known = claims.allocations().since(self.allocations_read)?;
        Some(known.chain(pending.log().since(self.pending_read)?).cloned().collect())
    }

    fn set_allocation(&mut self, claim: &Uid, new: Option<Arc<AllocationResult>>) {
        let old = match &new {
            Some(new) => self.applied.insert(claim.clone(), new.clone()),
            None => self.applied.remove(claim),
        };
        if old == new {
            return;
        }
        for result in old.iter().chain(&new).flat_map(|allocation| allocation.results.iter()) {
            let affected = match self.pools.get(&(result.driver, result.pool)) {
                Some(Some(node)) => AffectedNodes::Only(*node),
                Some(None) => AffectedNodes::All,
                // No slice has the device.
                None => continue,
            };
            self.changes.push(affected);
        }
    }

    fn rebuild(&mut self, view: ViewOf<'_>, pending: &PendingAllocations) {
        let (claims, slices, _) = view.indexes;
        self.pools.clear();
        for slice in slices.iter() {
            let node = slice.nodes.node.filter(|_| !slice.per_device_nodes && !slice.nodes.all);
            let known = self.pools.entry((slice.driver, slice.pool)).or_insert(node);
            if *known != node {
                *known = None;
            }
        }
        self.applied.clear();
        for claim in claims.all_allocated() {
            self.applied.extend(claim.status.allocation.clone().map(|allocation| (claim.uid.clone(), allocation)));
        }
        for (claim, allocation) in pending.iter() {
            self.applied.entry(claim.clone()).or_insert_with(|| allocation.clone());
        }
        self.changes.push(AffectedNodes::All);
    }

    /// Returns the position after the last change.
    pub(super) fn position(&self) -> u64 {
        self.changes.end()
    }

    /// Adds the nodes that were affected since a position. Returns false if all nodes may be affected.
    pub(super) fn affected_nodes(&self, since: u64, base: &Base, nodes: &mut NodeMask) -> bool {
        let Some(changes) = self.changes.since(since) else { return false };
        for change in changes {
            match change {
                AffectedNodes::All => return false,
                AffectedNodes::Only(name) => nodes.extend(base.node(*name)),
            }
        }
        true
    }

    /// Allocates devices on a node for claims.
    pub(super) fn allocate(
        &mut self,
        view: ViewOf<'_>,
        node: &Node,
        index: NodeIndex,
        claims: &[Arc<ResourceClaimSpec>],
    ) -> Result<Vec<Arc<AllocationResult>>, AllocationError> {
        let _ = (view, node, index, claims);
        Err(AllocationError::Unsuitable("cannot allocate all claims".to_owned()))
    }
}

/// Returns the allocation of a claim that counts now.
fn current(claim: &Uid, (claims, _, _): Indexes<'_>, pending: &PendingAllocations) -> Option<Arc<AllocationResult>> {
    let known = claims.allocated(claim).and_then(|claim| claim.status.allocation.clone());
    known.or_else(|| pending.get(claim).cloned())
}
