//! The inventory of devices, updated before each use.

use std::sync::Arc;
use std::time::{Duration, Instant};

use schedc_core::cache::Base;
use schedc_core::intern::{Interner, Symbol};
use schedc_core::map::{FixedHasher, Map};
use schedc_core::model::{AllocationResult, DeviceClass, Node, ResourceClaimSpec, ResourceSlice, Uid};
use schedc_core::node_mask::NodeMask;
use schedc_core::pending_allocations::{PendingAllocation, PendingAllocations};
use schedc_device_allocator::{Affected, Inventory, Prepared, Unfit};

use super::{Indexes, ViewOf};
use crate::indexes::{Epoch, ResourceClaims};

/// Devices, classes, and the allocations that count.
#[derive(Debug, Default)]
pub(super) struct Devices {
    inventory: Inventory,
    /// Number of clusters so far. Positions in the changes of another cluster have no meaning.
    cluster: u64,
    slices: Map<Symbol, Arc<ResourceSlice>>,
    classes: Map<Symbol, Arc<DeviceClass>>,
    slices_read: Epoch,
    classes_read: Epoch,
    /// Positions in the changes of allocations.
    allocations_read: u64,
    pending_read: u64,
    /// The claims with allocations in the inventory.
    claims: Map<Uid, (Symbol, Symbol)>,
    /// Allocations of claims that will be created. The inventory has them as one claim without name.
    unnamed: Map<Uid, Arc<AllocationResult>>,
    /// The last compiled specs.
    prepared: Option<(Vec<Arc<ResourceClaimSpec>>, Arc<Prepared>)>,
    /// Number of shares of devices so far.
    shares: u64,
}

/// Position in the changes of devices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Position {
    cluster: u64,
    change: u64,
}

impl Devices {
    /// Updates the inventory to the current objects and pending allocations.
    pub(super) fn update(&mut self, view: ViewOf<'_>, pending: &mut PendingAllocations) {
        let (claims, slices, classes) = view.indexes;
        let interner = &view.base.interner;
        let is_known = slices.changes().is_of_same_index(&self.slices_read);
        if !is_known {
            *self = Devices { cluster: self.cluster + 1, ..Devices::default() };
        }
        if !slices.changes().equals(&self.slices_read) {
            let Devices { inventory, slices: known, .. } = self;
            known.retain(|name, _| {
                let exists = slices.slice(*name).is_some();
                if !exists {
                    inventory.remove_slice(*name, interner);
                }
                exists
            });
            for slice in slices.iter() {
                if known.get(&slice.name).is_none_or(|known| !Arc::ptr_eq(known, slice)) {
                    inventory.set_slice(slice, interner);
                    known.insert(slice.name, slice.clone());
                }
            }
            self.slices_read = slices.changes().clone();
        }
        if !classes.changes().equals(&self.classes_read) {
            let Devices { inventory, classes: known, .. } = self;
            known.retain(|name, _| {
                let exists = classes.class(*name).is_some();
                if !exists {
                    inventory.remove_class(*name);
                }
                exists
            });
            for class in classes.iter() {
                if known.get(&class.name).is_none_or(|known| !Arc::ptr_eq(known, class)) {
                    inventory.set_class(class);
                    known.insert(class.name, class.clone());
                }
            }
            self.prepared = None;
            self.classes_read = classes.changes().clone();
        }
        self.update_allocations(is_known, view.indexes, pending, interner);
        self.allocations_read = claims.allocations().end();
        self.pending_read = pending.log().end();
    }

    fn update_allocations(
        &mut self,
        is_known: bool,
        indexes: Indexes<'_>,
        pending: &mut PendingAllocations,
        interner: &Interner,
    ) {
        let (claims, ..) = indexes;
        release_written(claims, pending);
        let updated = claims.allocations().since(self.allocations_read).filter(|_| is_known);
        let updated: Option<Vec<Uid>> = updated.map(|uids| uids.cloned().collect());
        let changed: Option<Vec<Uid>> = pending.log().since(self.pending_read).map(|uids| uids.cloned().collect());
        let mut touched: Vec<Uid> = match (updated, changed) {
            (Some(updated), Some(changed)) => {
                self.release_received(&updated, pending);
                updated.into_iter().chain(changed).collect()
            }
            _ => {
                let known = self.claims.keys().chain(self.unnamed.keys()).cloned();
                let current = claims.all_allocated().map(|claim| claim.uid.clone());
                known.chain(current).chain(pending.iter().map(|(uid, _)| uid.clone())).collect()
            }
        };
        touched.sort_unstable();
        touched.dedup();
        for uid in touched {
            let received = claims.allocated(&uid);
            let written = pending.get(&uid).and_then(|pending| pending.written.as_ref());
            if received.is_some() || written.is_some_and(|written| claims.allocated(&written.uid).is_some()) {
                pending.remove(&uid);
            }
            match (received, pending.get(&uid)) {
                (Some(claim), _) => {
                    let key = (claim.namespace, claim.name);
                    self.set(&uid, Some(key), claim.status.allocation.as_ref(), interner);
                }
                (None, Some(PendingAllocation { claim, allocation, .. })) => {
                    self.set(&uid, *claim, Some(allocation), interner);
                }
                (None, None) => self.set(&uid, None, None, interner),
            }
        }
    }

    /// Removes written allocations whose claims were received.
    fn release_received(&self, updated: &[Uid], pending: &mut PendingAllocations) {
        for uid in updated.iter().chain(self.unnamed.keys()) {
            let written = pending.get(uid).and_then(|pending| pending.written.as_ref());
            if written.is_some_and(|written| updated.contains(&written.uid)) {
                pending.remove(uid);
            }
        }
    }

    /// Sets the allocation of a claim, which has no name before it is created.
    fn set(
        &mut self,
        uid: &Uid,
        claim: Option<(Symbol, Symbol)>,
        allocation: Option<&Arc<AllocationResult>>,
        interner: &Interner,
    ) {
        if let Some(old) = self.claims.remove(uid).filter(|old| claim != Some(*old)) {
            self.inventory.set_claim(old.0, old.1, None, interner);
        }
        let was_unnamed = self.unnamed.remove(uid).is_some();
        match (claim, allocation) {
            (Some(key), allocation) => {
                self.inventory.set_claim(key.0, key.1, allocation, interner);
                self.claims.insert(uid.clone(), key);
            }
            (None, Some(allocation)) => {
                self.unnamed.insert(uid.clone(), allocation.clone());
            }
            (None, None) => {}
        }
        if was_unnamed || (claim.is_none() && allocation.is_some()) {
            self.set_unnamed(interner);
        }
    }

    fn set_unnamed(&mut self, interner: &Interner) {
        let results = self.unnamed.values().flat_map(|allocation| allocation.results.iter().cloned());
        let all = Arc::new(AllocationResult { results: results.collect(), ..AllocationResult::default() });
        let all = (!all.results.is_empty()).then_some(all);
        self.inventory.set_claim(Symbol::EMPTY, Symbol::EMPTY, all.as_ref(), interner);
    }

    /// Returns the position after the last change.
    pub(super) fn position(&self) -> Position {
        Position { cluster: self.cluster, change: self.inventory.position() }
    }

    /// Adds the nodes that were affected since a position. Returns false if all nodes may be affected.
    pub(super) fn affected_nodes(&self, since: Position, base: &Base, nodes: &mut NodeMask) -> bool {
        let Some(changes) = self.inventory.changes_since(since.change).filter(|_| since.cluster == self.cluster) else {
            return false;
        };
        for change in changes {
            match change {
                Affected::All => return false,
                Affected::Node(name) => nodes.extend(base.node(*name)),
            }
        }
        true
    }

    /// Compiles specs. All nodes usually have the same ones, and pods of one template have equal ones.
    fn prepare(&mut self, specs: &[Arc<ResourceClaimSpec>], interner: &Interner) -> Arc<Prepared> {
        let is_same = |known: &[Arc<ResourceClaimSpec>]| {
            let is_equal = |known: &Arc<ResourceClaimSpec>, spec: &Arc<ResourceClaimSpec>| {
                Arc::ptr_eq(known, spec) || known == spec
            };
            known.len() == specs.len() && known.iter().zip(specs).all(|(known, spec)| is_equal(known, spec))
        };
        if let Some((known, prepared)) = &self.prepared
            && is_same(known)
        {
            return prepared.clone();
        }
        let prepared = self.inventory.prepare(specs, interner);
        self.prepared = Some((specs.to_vec(), prepared.clone()));
        prepared
    }

    /// Returns the score of the devices for claims on a node.
    ///
    /// # Errors
    /// The node has no devices, or the attempt fails.
    pub(super) fn evaluate(
        &mut self,
        node: &Node,
        specs: &[Arc<ResourceClaimSpec>],
        timeout: Option<Duration>,
        interner: &Interner,
    ) -> Result<i64, Unfit> {
        let prepared = self.prepare(specs, interner);
        self.inventory.evaluate(&prepared, node, interner, expiry(timeout)).map(|verdict| verdict.score)
    }

    /// Returns devices for claims on a node.
    ///
    /// # Errors
    /// As for `evaluate`.
    pub(super) fn allocate(
        &mut self,
        node: &Node,
        specs: &[Arc<ResourceClaimSpec>],
        (timeout, now): (Option<Duration>, i64),
        interner: &Interner,
    ) -> Result<Vec<Arc<AllocationResult>>, Unfit> {
        let prepared = self.prepare(specs, interner);
        let Devices { inventory, shares, .. } = self;
        let share_id = || {
            *shares += 1;
            share_id(now, *shares)
        };
        let allocated = inventory.allocate(&prepared, node, interner, expiry(timeout), share_id)?;
        Ok(allocated.into_iter().map(Arc::new).collect())
    }
}

/// Removes written allocations whose claims were received in a state after the write, or exist no more.
fn release_written(claims: &ResourceClaims, pending: &mut PendingAllocations) {
    let is_received = |(_, allocation): &(&Uid, &PendingAllocation)| {
        let (Some(written), Some((namespace, name))) = (&allocation.written, allocation.claim) else { return false };
        claims
            .claim(namespace, name)
            .is_none_or(|claim| claim.uid != written.uid || is_at_least(&claim.resource_version, &written.version))
    };
    let received: Vec<Uid> = pending.iter().filter(is_received).map(|(uid, _)| uid.clone()).collect();
    received.iter().for_each(|uid| pending.remove(uid));
}

/// Compares resource versions, as kube-scheduler's assume cache does.
fn is_at_least(version: &str, other: &str) -> bool {
    let number = |version: &str| version.parse::<u64>().ok();
    number(version).zip(number(other)).is_some_and(|(version, other)| version >= other)
}

/// Returns a function that returns whether the time is over.
fn expiry(timeout: Option<Duration>) -> impl FnMut() -> bool {
    let mut end = None;
    move || timeout.is_some_and(|timeout| Instant::now() > *end.get_or_insert_with(|| Instant::now() + timeout))
}

/// Returns the id of a share, in the form of a UUID.
fn share_id(now: i64, number: u64) -> Arc<str> {
    use std::hash::{Hash, Hasher};
    let half = |half: u8| {
        let mut hasher = FixedHasher::default();
        (half, now, number, half).hash(&mut hasher);
        hasher.finish()
    };
    let (high, low) = (half(1), half(2));
    let (a, b, c) = (high >> 32, high >> 16 & 0xffff, high & 0xfff);
    format!("{a:08x}-{b:04x}-4{c:03x}-8{:03x}-{:012x}", low >> 48 & 0xfff, low & 0xffff_ffff_ffff).into()
}
