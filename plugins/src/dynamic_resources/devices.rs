//! The inventory of devices, updated before each use.

use std::fmt::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use schedc_core::cache::Base;
use schedc_core::client::ObjectRef;
use schedc_core::device_counts::DeviceCount;
use schedc_core::handle::{Handle, PluginCacheSize};
use schedc_core::intern::{Interner, Symbol};
use schedc_core::map::{FixedHasher, Map};
use schedc_core::model::{AllocationResult, DeviceClass, Node, ResourceClaimSpec, ResourceSlice, Uid};
use schedc_core::node_mask::NodeMask;
use schedc_core::pending_allocations::{PendingAllocation, PendingAllocations};
use schedc_device_allocator::{
    Affected, Allocations, Explanation, Failure, Inventory, MAX_CACHED, Prepared, STEPS_PER_CHECK, SharedView, Unfit,
};

use super::{Indexes, ViewOf};
use crate::indexes::{Epoch, ResourceClaims};

/// The inventory: devices, classes, and both received and pending allocations.
#[derive(Debug, Default)]
pub(super) struct Devices {
    inventory: Inventory,
    /// Number of the current cluster. It is part of a [`Position`], because positions in the changes of another cluster
    /// have no meaning.
    cluster: u64,
    slices: Map<Symbol, Arc<ResourceSlice>>,
    classes: Map<Symbol, Arc<DeviceClass>>,
    slices_read: Epoch,
    classes_read: Epoch,
    /// Position in the log of received allocations up to which they are in the inventory.
    allocations_read: u64,
    /// Position in the log of pending allocations up to which they are in the inventory.
    pending_read: u64,
    /// The claims with allocations in the inventory.
    claims: Map<Uid, (Symbol, Symbol)>,
    /// Claims that have no name before PreBind creates them, with their numbers in the inventory.
    unnamed: Map<Uid, u64>,
    /// Number of claims without a name so far.
    unnamed_so_far: u64,
    /// The specs that were compiled last, and the result.
    prepared: Option<(Vec<Arc<ResourceClaimSpec>>, Arc<Prepared>)>,
    /// Number of share ids so far.
    shares: u64,
    /// Scratch for texts.
    text: String,
    /// Scratch for the claims with updated allocations.
    updated: Vec<Uid>,
    /// Scratch for the nodes to evaluate again.
    pub(super) affected: NodeMask,
    /// Numbers of cached requests and claims, for metrics.
    sizes: Option<[Arc<PluginCacheSize>; 2]>,
}

/// Position in the log of changes of the inventory of one cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Position {
    cluster: u64,
    change: u64,
}

/// Nodes that changes of the inventory affect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AffectedNodes {
    /// Single nodes.
    Single,
    /// Single nodes, and all nodes whose devices other nodes see.
    Sharing,
    /// All nodes. Groups of nodes are obsolete.
    All,
}

impl Devices {
    /// Makes an empty inventory, and registers the sizes of its caches.
    pub(super) fn new(handle: &Handle) -> Self {
        let sizes = ["device_requests", "device_claims"].map(|cache| handle.register_cache(cache, MAX_CACHED));
        Devices { sizes: Some(sizes), ..Devices::default() }
    }

    /// Updates the inventory to the current objects and pending allocations.
    pub(super) fn update(&mut self, view: ViewOf<'_>, pending: &mut PendingAllocations) {
        let (claims, slices, classes) = view.indexes;
        let interner = &view.base.interner;
        let is_known = slices.changes().is_of_same_index(&self.slices_read);
        if !is_known {
            *self = Devices { cluster: self.cluster + 1, sizes: self.sizes.take(), ..Devices::default() };
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
        self.inventory.forget_nodes(view.base.count(), |name| view.base.node(name).is_some());
        self.update_allocations(is_known, view.indexes, pending, interner);
        self.allocations_read = claims.allocations().end();
        self.pending_read = pending.log().end();
    }

    /// Returns whether the inventory has the current objects and pending allocations.
    pub(super) fn is_current(&self, view: ViewOf<'_>, pending: &PendingAllocations) -> bool {
        let (claims, slices, classes) = view.indexes;
        self.allocations_read == claims.allocations().end()
            && self.pending_read == pending.log().end()
            && slices.changes().equals(&self.slices_read)
            && classes.changes().equals(&self.classes_read)
    }

    fn update_allocations(
        &mut self,
        is_known: bool,
        indexes: Indexes<'_>,
        pending: &mut PendingAllocations,
        interner: &Interner,
    ) {
        let (claims, ..) = indexes;
        let mut updated = std::mem::take(&mut self.updated);
        updated.clear();
        let received = claims.allocations().since(self.allocations_read).filter(|_| is_known);
        let is_complete = received.is_some();
        updated.extend(received.into_iter().flatten().cloned());
        release_received(claims, &updated, pending, interner);
        match pending.log().since(self.pending_read).filter(|_| is_complete) {
            Some(changed) => updated.extend(changed.cloned()),
            None => {
                updated.extend(self.claims.keys().chain(self.unnamed.keys()).cloned());
                updated.extend(claims.all_allocated().map(|claim| claim.uid.clone()));
                updated.extend(pending.iter().map(|(uid, _)| uid.clone()));
            }
        }
        updated.sort_unstable();
        updated.dedup();
        for uid in &updated {
            let received = claims.allocated(uid);
            let written = pending.get(uid).and_then(|pending| pending.written.as_ref());
            if received.is_some() || written.is_some_and(|written| claims.allocated(&written.uid).is_some()) {
                pending.remove(uid);
            }
            if received.is_none() && pending.get(uid).is_none() {
                self.set(uid, None, None, interner);
            }
        }
        // Allocations are added after the removals, because a new claim may have the name of a deleted one.
        for uid in &updated {
            match (claims.allocated(uid), pending.get(uid)) {
                (Some(claim), _) => {
                    let name = (claim.namespace, claim.name);
                    self.set(uid, Some(name), claim.status.allocation.as_ref(), interner);
                }
                (None, Some(PendingAllocation { claim, allocation, .. })) => {
                    self.set(uid, *claim, Some(allocation), interner);
                }
                (None, None) => {}
            }
        }
        self.updated = updated;
    }

    /// Sets the allocation of a claim; `None` removes it. `claim`: namespace and name, `None` before the claim is
    /// created.
    fn set(
        &mut self,
        uid: &Uid,
        claim: Option<(Symbol, Symbol)>,
        allocation: Option<&Arc<AllocationResult>>,
        interner: &Interner,
    ) {
        if self.claims.get(uid).copied() != claim {
            if let Some((namespace, name)) = self.claims.remove(uid) {
                self.inventory.set_claim(namespace, name, None, interner);
            }
            self.claims.extend(claim.map(|claim| (uid.clone(), claim)));
        }
        if let Some((namespace, name)) = claim {
            self.inventory.set_claim(namespace, name, allocation, interner);
        }
        match allocation.filter(|_| claim.is_none()) {
            Some(allocation) => {
                let number = *self.unnamed.entry(uid.clone()).or_insert_with(|| {
                    self.unnamed_so_far += 1;
                    self.unnamed_so_far
                });
                self.inventory.set_unnamed_claim(number, Some(allocation), interner);
            }
            None => {
                if !self.unnamed.is_empty()
                    && let Some(number) = self.unnamed.remove(uid)
                {
                    self.inventory.set_unnamed_claim(number, None, interner);
                }
            }
        }
    }

    /// Returns a key for a new allocation of a pod whose claim is not created yet. `number` is unique.
    pub(super) fn pending_key(&mut self, number: u64, pod: &Uid) -> Uid {
        self.text.clear();
        // Writing to a string cannot fail.
        let _ = write!(self.text, "{number} of extended resources of {}", pod.0);
        Uid(self.text.as_str().into())
    }

    /// Returns the position after the last change.
    pub(super) fn position(&self) -> Position {
        Position { cluster: self.cluster, change: self.inventory.position() }
    }

    /// Returns which nodes are affected by changes since a position. Adds single nodes to `nodes`.
    pub(super) fn affected_nodes(&self, since: Position, base: &Base, nodes: &mut NodeMask) -> AffectedNodes {
        let Some(changes) = self.inventory.changes_since(since.change).filter(|_| since.cluster == self.cluster) else {
            return AffectedNodes::All;
        };
        let mut affected = AffectedNodes::Single;
        for change in changes {
            match change {
                Affected::All => return AffectedNodes::All,
                Affected::UseOfShared => affected = AffectedNodes::Sharing,
                Affected::Node(name) => nodes.extend(base.node(*name)),
            }
        }
        affected
    }

    /// Returns the devices that a node sees, if other nodes see the same ones.
    pub(super) fn shared_view(&self, node: &Node) -> Option<SharedView> {
        self.inventory.shared_view(node)
    }

    /// Compiles specs, or returns the last compiled ones if they are equal. Usually they are: a pod has the same
    /// specs on all nodes, and pods of one template have equal specs.
    pub(super) fn prepare(&mut self, specs: &[Arc<ResourceClaimSpec>], interner: &Interner) -> Arc<Prepared> {
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
        if let Some([requests, claims]) = &self.sizes {
            let (n_requests, n_claims) = self.inventory.cached();
            requests.set(n_requests);
            claims.set(n_claims);
        }
        self.prepared = Some((specs.to_vec(), prepared.clone()));
        prepared
    }

    /// Returns whether claims were compiled for the current classes.
    pub(super) fn is_prepared(&self, prepared: &Prepared) -> bool {
        self.inventory.is_current(prepared)
    }

    /// Returns the score of the devices for claims on a node.
    ///
    /// # Errors
    /// The node lacks devices, or the search fails.
    pub(super) fn evaluate(
        &mut self,
        node: &Node,
        prepared: &Arc<Prepared>,
        timeout: Option<SearchTimeout>,
        interner: &Interner,
    ) -> Result<i64, Unfit> {
        self.inventory.evaluate(prepared, node, interner, expiry(timeout)).map(|verdict| verdict.score)
    }

    /// Returns devices for claims on a node.
    ///
    /// # Errors
    /// As for `evaluate`.
    pub(super) fn allocate(
        &mut self,
        node: &Node,
        prepared: &Arc<Prepared>,
        (timeout, now): (Option<SearchTimeout>, i64),
        interner: &Interner,
    ) -> Result<Allocations, Unfit> {
        let Devices { inventory, shares, text, .. } = self;
        let share_id = || {
            *shares += 1;
            share_id(now, *shares, text)
        };
        inventory.allocate(prepared, node, interner, expiry(timeout), share_id)
    }

    /// Returns the number of devices of a class on a node.
    pub(super) fn count(&mut self, class: Symbol, node: &Node, interner: &Interner) -> DeviceCount {
        self.inventory.count(class, node, interner)
    }

    /// Returns the devices of a node for each request, with the reasons that exclude them.
    ///
    /// # Errors
    /// The devices of the node cannot be determined.
    pub(super) fn explain(
        &mut self,
        node: &Node,
        prepared: &Arc<Prepared>,
        interner: &Interner,
    ) -> Result<Explanation, Failure> {
        self.inventory.explain(prepared, node, interner)
    }
}

/// Removes the pending allocation of a written claim after the scheduler received the claim in the written or a later
/// version, or if the claim no longer exists. `updated`: claims whose received allocations changed since the last call.
fn release_received(claims: &ResourceClaims, updated: &[Uid], pending: &mut PendingAllocations, interner: &Interner) {
    pending.retain(|PendingAllocation { claim, written, .. }| {
        let Some(written) = written else { return true };
        let name = |object: &ObjectRef| Some((interner.get(&object.namespace)?, interner.get(&object.name)?));
        let known = claim.or_else(|| name(&written.object)).and_then(|(namespace, name)| claims.claim(namespace, name));
        match known {
            Some(claim) if claim.uid != written.uid => false,
            Some(claim) if is_at_least(&claim.resource_version, &written.version) => false,
            // A claim that existed before the write is deleted. A created claim may not have been received yet.
            None if claim.is_some() => false,
            _ => !updated.contains(&written.uid),
        }
    });
}

/// Returns whether a resource version is at least another one, as kube-scheduler's assume cache compares them; false if
/// one of the two is not a number.
pub(super) fn is_at_least(version: &str, other: &str) -> bool {
    let number = |version: &str| version.parse::<u64>().ok();
    number(version).zip(number(other)).is_some_and(|(version, other)| version >= other)
}

/// Timeout of the search for devices on a node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum SearchTimeout {
    /// In real time.
    Real(Duration),
    /// In virtual time, where each step of the search takes [`VIRTUAL_STEP`]: the result is the same on any machine.
    Virtual(Duration),
}

/// Virtual duration of a step of a search.
const VIRTUAL_STEP: Duration = Duration::from_micros(1);

/// Returns a function that reports whether the timeout has expired. The search calls it every [`STEPS_PER_CHECK`] steps.
fn expiry(timeout: Option<SearchTimeout>) -> impl FnMut() -> bool {
    let (mut end, mut virtual_time) = (None, Duration::ZERO);
    move || match timeout {
        None => false,
        Some(SearchTimeout::Real(timeout)) => Instant::now() > *end.get_or_insert_with(|| Instant::now() + timeout),
        Some(SearchTimeout::Virtual(timeout)) => {
            virtual_time += VIRTUAL_STEP * STEPS_PER_CHECK;
            virtual_time > timeout
        }
    }
}

/// Returns the id of a share, in the form of a UUID.
fn share_id(now: i64, number: u64, scratch: &mut String) -> Arc<str> {
    use std::hash::{Hash, Hasher};
    let half = |half: u8| {
        let mut hasher = FixedHasher::default();
        (half, now, number, half).hash(&mut hasher);
        hasher.finish()
    };
    let (high, low) = (half(1), half(2));
    let (a, b, c) = (high >> 32, high >> 16 & 0xffff, high & 0xfff);
    let text = format_args!("{a:08x}-{b:04x}-4{c:03x}-8{:03x}-{:012x}", low >> 48 & 0xfff, low & 0xffff_ffff_ffff);
    scratch.clear();
    // Writing to a string cannot fail.
    let _ = scratch.write_fmt(text);
    scratch.as_str().into()
}

#[cfg(test)]
mod tests {
    use schedc_core::column::Index;
    use schedc_core::model::Object;
    use schedc_core::pending_allocations::WrittenAllocation;
    use schedc_objects::testing::object;

    use super::*;

    /// Returns the pending allocation of a claim that the scheduler created.
    fn pending_allocation_of_created_claim() -> PendingAllocations {
        let mut pending = PendingAllocations::default();
        pending.insert(Uid("new".into()), None, Arc::default());
        let object = ObjectRef {
            api_version: "resource.k8s.io/v1".into(),
            kind: "ResourceClaim".into(),
            namespace: "default".into(),
            name: "web".into(),
        };
        let written = WrittenAllocation { object, uid: Uid("u".into()), version: "8".into() };
        pending.mark_written(&Uid("new".into()), written);
        pending
    }

    fn claim(uid: &str, version: u64, interner: &mut Interner) -> Object {
        let metadata = format!("{{name: web, namespace: default, uid: {uid}, resourceVersion: \"{version}\"}}");
        let text = format!("{{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {metadata}, spec: {{}}}}");
        object(&text, interner)
    }

    #[test]
    fn a_received_claim_replaces_the_allocation_that_was_written() {
        // The claim lost its allocation again, so the scheduler receives it only without an allocation.
        let check = |received: Option<(&str, u64)>, updated: &[Uid], is_pending: bool| {
            let (mut interner, mut claims) = (Interner::default(), ResourceClaims::default());
            if let Some((uid, version)) = received {
                claims.set_object(None, Some(&claim(uid, version, &mut interner)));
            }
            let mut pending = pending_allocation_of_created_claim();
            release_received(&claims, updated, &mut pending, &interner);
            assert_eq!(pending.get(&Uid("new".into())).is_some(), is_pending, "{received:?} {updated:?}");
        };
        check(None, &[], true);
        check(Some(("u", 7)), &[], true);
        check(Some(("u", 8)), &[], false);
        check(Some(("u", 9)), &[], false);
        check(Some(("other", 7)), &[], false);
        // The claim was received and deleted since the last call.
        check(None, &[Uid("u".into())], false);
        check(None, &[Uid("other".into())], true);
    }

    #[test]
    fn a_virtual_timeout_depends_on_the_number_of_steps() {
        let checks_until = |timeout| {
            let mut is_expired = expiry(timeout);
            (0..1000).take_while(|_| !is_expired()).count()
        };
        assert_eq!(checks_until(None), 1000);
        assert_eq!(checks_until(Some(SearchTimeout::Virtual(Duration::from_millis(1)))), 3);
        assert_eq!(checks_until(Some(SearchTimeout::Virtual(Duration::from_secs(1)))), 1000);
    }
}
