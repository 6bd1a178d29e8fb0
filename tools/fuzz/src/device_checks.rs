//! Checks of the invariants of resource claims.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::api::resource::v1::ResourceClaim;
use schedc_in_memory::server::Key;
use schedc_objects::AnyObject;

use crate::delivered::uid;
use crate::devices::{BANDWIDTH, DeviceFacts, MEMORY, PoolKind, allocated, is_reserved_for, own_devices};
use crate::history::ExtendedResource;
use crate::invariants::{Invariant, Violation, violated};
use crate::manifests::PodFacts;
use crate::object::NAMESPACE;
use crate::simulation::Simulation;

/// Claims that hold a device, and the bandwidth that they consume.
#[derive(Debug, Default)]
struct Holders<'a> {
    exclusive: Vec<&'a str>,
    shared: Vec<&'a str>,
    bandwidth: i64,
}

impl Simulation {
    /// Checks the allocations of all claims.
    pub(crate) fn check_devices(&self) -> Result<(), Violation> {
        self.check_holders()?;
        self.check_claims_of_bound_pods()
    }

    /// Checks that no device is in two claims, unless it is shared, and that capacities and counters are not exceeded.
    /// Claims with a write whose response was lost do not count: their devices are free for the scheduler until it
    /// receives the claim, as in kube-scheduler.
    fn check_holders(&self) -> Result<(), Violation> {
        let mut devices: BTreeMap<DeviceFacts, Holders<'_>> = BTreeMap::new();
        for (object, claim) in self.claims().filter(|(object, _)| !self.cluster.uncertain.contains(&uid(object))) {
            for result in allocated(claim) {
                let Some(device) = DeviceFacts::of(&result.device) else { continue };
                let holders = devices.entry(device).or_default();
                match result.share_id {
                    None => holders.exclusive.push(object.name()),
                    Some(_) => {
                        let consumed = result.consumed_capacity.iter().flatten();
                        holders.bandwidth +=
                            consumed.filter_map(|(_, amount)| amount.0.parse::<i64>().ok()).sum::<i64>();
                        holders.shared.push(object.name());
                    }
                }
            }
        }
        let mut memory: BTreeMap<(u8, u8), i64> = BTreeMap::new();
        for (device, holders) in &devices {
            let Holders { exclusive, shared, bandwidth } = holders;
            if exclusive.len() > 1 || !exclusive.is_empty() && !shared.is_empty() {
                let description = format!("{device:?} is allocated to {exclusive:?}, and shared by {shared:?}");
                return violated(Invariant::DevicesAreNotShared, description);
            }
            if *bandwidth > BANDWIDTH {
                let description = format!("{device:?} has bandwidth {BANDWIDTH}, and {shared:?} consume {bandwidth}");
                return violated(Invariant::CapacitiesAreNotExceeded, description);
            }
            *memory.entry((device.node, device.generation)).or_default() += device.memory();
        }
        match memory.into_iter().find(|(_, memory)| *memory > MEMORY) {
            Some(((node, generation), memory)) => violated(
                Invariant::CapacitiesAreNotExceeded,
                format!("devices of n{node} consume memory {memory} of {MEMORY} in generation {generation}"),
            ),
            None => Ok(()),
        }
    }

    /// Checks that the claims of pods that this scheduler bound are allocated on their nodes, and reserved for them.
    fn check_claims_of_bound_pods(&self) -> Result<(), Violation> {
        for (object, pod) in self.pods() {
            let facts = PodFacts::of(pod);
            let Some(node) = facts.node.clone().filter(|_| !facts.finished && self.cluster.has_bound(&uid(object)))
            else {
                continue;
            };
            let mut names = claim_names(pod);
            if needs_claim(&facts, &node) {
                names.insert(extended_claim_name(pod));
            }
            for name in names {
                let claim = self.claim(&name);
                let is_reserved = claim.is_some_and(|claim| is_reserved_for(claim, &uid(object)));
                let mut devices =
                    claim.into_iter().flat_map(allocated).filter_map(|result| DeviceFacts::of(&result.device));
                if !is_reserved || !devices.all(|device| format!("n{}", device.node) == node) {
                    let description = format!("{} is bound to {node}, and its claim {name} is {claim:?}", facts.name);
                    return violated(Invariant::BoundPodsHaveDevices, description);
                }
            }
        }
        Ok(())
    }

    /// Checks that the devices of new decisions belong to the newest delivered generation.
    pub(crate) fn check_new_allocations(&mut self) -> Result<(), Violation> {
        let Some(handle) = self.handle() else { return Ok(()) };
        let pending = handle.pending_allocations();
        self.seen_allocations.retain(|uid| pending.get(uid).is_some());
        for (claim, pending) in pending.iter() {
            if !self.seen_allocations.insert(claim.clone()) {
                continue;
            }
            self.counts.add("devices", "allocated");
            for result in pending.allocation.results.iter() {
                let name = self.scheduler.cache.base.interner.resolve(result.device);
                let Some(device) = DeviceFacts::of(name) else { continue };
                let newest = self.delivered.generation(device.node);
                if newest != Some(device.generation) {
                    let description = format!("{name} is allocated, but the newest generation is {newest:?}");
                    return violated(Invariant::DevicesAreCurrent, description);
                }
                self.counts.add(
                    "devices",
                    match device.kind() {
                        PoolKind::Exclusive => "exclusive device",
                        PoolKind::Partitions => "partition",
                        PoolKind::Shared => "shared device",
                    },
                );
            }
        }
        Ok(())
    }

    /// Checks that claims are reserved only for bound pods. A claim with a failed request may be reserved for any
    /// existing pod: the failed request can be that of Unreserve, which neither schedc nor kube-scheduler repeats.
    pub(crate) fn check_reservations(&self) -> Result<(), Violation> {
        let pods_by_uid: BTreeMap<Arc<str>, PodFacts> =
            self.pods().map(|(object, pod)| (uid(object), PodFacts::of(pod))).collect();
        for (object, claim) in self.claims() {
            let reserved = claim.status.as_ref().and_then(|status| status.reserved_for.as_ref());
            for consumer in reserved.into_iter().flatten() {
                let pod = pods_by_uid.get(&*consumer.uid).filter(|pod| !pod.finished);
                let is_needed =
                    pod.is_some_and(|pod| pod.node.is_some() || self.cluster.faulted.contains(&uid(object)));
                if !is_needed {
                    let description = format!("{} is reserved for {}: {pod:?}", object.name(), consumer.name);
                    return violated(Invariant::ReservationsAreReleased, description);
                }
            }
        }
        Ok(())
    }

    fn claims(&self) -> impl Iterator<Item = (&AnyObject, &ResourceClaim)> {
        self.cluster.server.list("ResourceClaim").filter_map(|object| match &**object {
            AnyObject::ResourceClaim(claim) => Some((&**object, &**claim)),
            _ => None,
        })
    }

    fn claim(&self, name: &str) -> Option<&ResourceClaim> {
        let key = Key { kind: "ResourceClaim", namespace: NAMESPACE.into(), name: name.into() };
        match &**self.cluster.server.get(&key)? {
            AnyObject::ResourceClaim(claim) => Some(claim),
            _ => None,
        }
    }

    fn pods(&self) -> impl Iterator<Item = (&AnyObject, &Pod)> {
        self.cluster.server.list("Pod").filter_map(|object| match &**object {
            AnyObject::Pod(pod) => Some((&**object, &**pod)),
            _ => None,
        })
    }
}

/// Returns whether a pod has a claim for an extended resource, because its node does not have the resource.
fn needs_claim(pod: &PodFacts, node: &str) -> bool {
    let has_devices = || node.strip_prefix('n').and_then(|node| own_devices(node.parse().ok()?)).is_some();
    match &pod.extended {
        Some((resource, _)) => resource != ExtendedResource::Explicit.name() || !has_devices(),
        None => false,
    }
}

/// Returns the name of the claim for a pod's extended resources; empty if there is none.
fn extended_claim_name(pod: &Pod) -> String {
    let status = pod.status.as_ref().and_then(|status| status.extended_resource_claim_status.as_ref());
    status.map(|status| status.resource_claim_name.clone()).unwrap_or_default()
}

/// Returns the names of the claims of a pod that it names or that are generated for it.
fn claim_names(pod: &Pod) -> BTreeSet<String> {
    let claims = pod.spec.iter().flat_map(|spec| spec.resource_claims.iter().flatten());
    let named = claims.filter_map(|claim| claim.resource_claim_name.clone());
    let statuses = pod.status.iter().flat_map(|status| status.resource_claim_statuses.iter().flatten());
    named.chain(statuses.filter_map(|status| status.resource_claim_name.clone())).collect()
}
