//! Controllers that scheduling depends on: they bind claims, provision volumes, create the claims of generic ephemeral
//! volumes, generate and release resource claims, and update the status of disruption budgets.
//!
//! They read the server's change log and write to the server. The driver decides when they run.

mod claims;
mod disruption;
mod ephemeral;
mod missed_deletions;
mod provisioning;
mod resource_claims;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use k8s_openapi::api::core::v1 as api;
use schedc_core::intern::{Interner, Symbol};
use schedc_core::model::{Object, PersistentVolume, StorageClass};
use schedc_objects::{AnyObject, convert_object};

use crate::server::{ApiServer, Change, ChangeKind, Key};

pub use disruption::is_given_budget_status;

/// Annotation of a claim whose binding is complete.
const BIND_COMPLETED: &str = "pv.kubernetes.io/bind-completed";
/// Annotation of a claim or a volume that the controller, not the user, bound.
const BOUND_BY_CONTROLLER: &str = "pv.kubernetes.io/bound-by-controller";
/// Annotation of a volume that a provisioner created.
const PROVISIONED_BY: &str = "pv.kubernetes.io/provisioned-by";
/// Annotation that the scheduler sets on a claim that is to be provisioned for a node.
const SELECTED_NODE: &str = "volume.kubernetes.io/selected-node";

/// All controllers.
///
/// - **Binding** (`PersistentVolumeController`): a claim is bound to the volume that it names, or that names it. Any
///   other claim gets the smallest matching volume, unless its class waits for the first consumer.
/// - **Provisioning**, like an external provisioner: a claim without a matching volume gets a new one if its class has
///   a provisioner. If the class waits for the first consumer, the volume is created once the scheduler has selected a
///   node. The volume is deleted with its claim, unless the class retains it.
/// - **Generic ephemeral volumes**: a pod's claims are created and deleted with the pod.
/// - **Resource claims** (`resourceclaim`): claims are generated from the claim templates that pods reference, released
///   when their pods are done, deallocated when no pod uses them, and deleted with the pods that own them. The binding
///   conditions of allocated devices are reported as true at once, unless the claim already has a status of the device.
/// - **Disruption** (`DisruptionController`): the status of each budget follows its pods and their controllers.
#[derive(Clone, Debug, Default)]
pub struct Controllers {
    /// The version of the last change that was processed.
    seen: u64,
    interner: Interner,
    volumes: BTreeMap<Arc<str>, Arc<PersistentVolume>>,
    classes: BTreeMap<Symbol, Arc<StorageClass>>,
    unbound: BTreeSet<Key>,
    /// Claims of `unbound` that may have become bindable.
    queue: BTreeSet<Key>,
    disruption: disruption::Disruption,
    resource_claims: resource_claims::ResourceClaims,
}

impl Controllers {
    /// Processes all changes.
    pub fn run(&mut self, server: &mut ApiServer, now: i64) {
        loop {
            self.observe_all(server, now);
            match self.queue.pop_first() {
                Some(claim) => self.sync_claim(server, &claim, now),
                None if self.disruption.sync_one(server, now) => {}
                None => break,
            }
        }
        self.free_unused_strings();
    }

    /// Frees the strings of objects that are gone.
    fn free_unused_strings(&mut self) {
        let volumes = self.volumes.values().cloned().map(Object::PersistentVolume);
        let classes = self.classes.values().cloned().map(Object::StorageClass);
        self.interner.free_all_except(volumes.chain(classes), []);
        self.disruption.free_unused_strings();
    }

    fn observe_all(&mut self, server: &mut ApiServer, now: i64) {
        if !server.store().has_changes_since(self.seen) {
            // The statuses of budgets do not show whether the controller computed them, so its state is kept.
            let mut disruption = std::mem::take(&mut self.disruption);
            disruption.remove_deleted(server);
            *self = Controllers { seen: server.store().version(), disruption, ..Controllers::default() };
            let objects: Vec<_> = server.objects().cloned().collect();
            for object in objects {
                let key = Key::of(&object);
                let added = Change { version: 0, kind: ChangeKind::Added, key, previous: None, object };
                self.observe(server, &added, now);
            }
            missed_deletions::process(server, now);
        }
        while let Some(change) = server.store().after(self.seen).cloned() {
            self.seen = change.version;
            self.observe(server, &change, now);
        }
    }

    fn observe(&mut self, server: &mut ApiServer, change: &Change, now: i64) {
        self.disruption.observe(server, change);
        self.resource_claims.observe(server, change, now);
        let is_gone = change.kind == ChangeKind::Deleted;
        match &*change.object {
            AnyObject::Pod(pod) if is_gone => ephemeral::delete_claims(server, pod, now),
            AnyObject::Pod(pod) => ephemeral::create_claims(server, pod, now),
            AnyObject::PersistentVolumeClaim(claim) if is_gone => {
                self.unbound.remove(&change.key);
                self.queue.remove(&change.key);
                if let Some(volume) = claim.spec.as_ref().and_then(|spec| spec.volume_name.as_deref()) {
                    claims::release(server, volume, claim.metadata.uid.as_deref().unwrap_or_default(), now);
                }
            }
            AnyObject::PersistentVolumeClaim(claim) => {
                let key = &change.key;
                if is_bound(claim) {
                    self.unbound.remove(key);
                    self.queue.remove(key);
                } else {
                    self.unbound.insert(key.clone());
                    self.queue.insert(key.clone());
                }
            }
            AnyObject::PersistentVolume(volume) => self.observe_volume(server, change, volume),
            AnyObject::StorageClass(_) => {
                if let Some(Object::StorageClass(class)) = convert_object(&change.object, &mut self.interner) {
                    match is_gone {
                        true => self.classes.remove(&class.name),
                        false => self.classes.insert(class.name, class),
                    };
                    self.queue.extend(self.unbound.iter().cloned());
                }
            }
            _ => {}
        }
    }

    fn observe_volume(&mut self, server: &mut ApiServer, change: &Change, volume: &api::PersistentVolume) {
        let name = change.object.name();
        let claim = volume.spec.as_ref().and_then(|spec| spec.claim_ref.as_ref());
        let claim = claim.map(claim_key);
        if change.kind == ChangeKind::Deleted {
            self.volumes.remove(name);
            if let Some(claim) = claim {
                mark_lost(server, &claim, name);
            }
            return;
        }
        let phase = volume.status.as_ref().and_then(|status| status.phase.as_deref()).unwrap_or_default();
        if matches!(phase, "" | "Pending") {
            // This update is a new change; the volume is processed with that one.
            let mut volume = Box::new(volume.clone());
            volume.status.get_or_insert_default().phase = Some("Available".to_owned());
            return update(server, AnyObject::PersistentVolume(volume));
        }
        if let Some(Object::PersistentVolume(volume)) = convert_object(&change.object, &mut self.interner) {
            self.volumes.insert(name.into(), volume);
        }
        match claim {
            Some(claim) => self.queue.extend(self.unbound.get(&claim).cloned()),
            None => self.queue.extend(self.unbound.iter().cloned()),
        }
    }
}

/// Returns the key of the claim that a volume references.
fn claim_key(claim: &api::ObjectReference) -> Key {
    Key {
        kind: "PersistentVolumeClaim",
        namespace: claim.namespace.as_deref().unwrap_or_default().into(),
        name: claim.name.as_deref().unwrap_or_default().into(),
    }
}

fn is_bound(claim: &api::PersistentVolumeClaim) -> bool {
    claim.metadata.annotations.as_ref().is_some_and(|annotations| annotations.contains_key(BIND_COMPLETED))
}

/// Marks a claim as lost if it names this volume, which no longer exists.
fn mark_lost(server: &mut ApiServer, key: &Key, volume: &str) {
    let Some(AnyObject::PersistentVolumeClaim(claim)) = server.get(key).map(|object| &**object) else { return };
    if claim.spec.as_ref().and_then(|spec| spec.volume_name.as_deref()) != Some(volume) {
        return;
    }
    let mut claim = claim.clone();
    claim.status.get_or_insert_default().phase = Some("Lost".to_owned());
    update(server, AnyObject::PersistentVolumeClaim(claim));
}

/// Updates an object. In a conflict, the update is dropped: the newer change is still to be processed and leads to
/// another update.
fn update(server: &mut ApiServer, object: AnyObject) {
    let _outdated = server.update(object);
}

#[cfg(test)]
mod tests;
