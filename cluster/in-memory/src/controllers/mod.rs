//! The controllers that scheduling waits for: claims get their volumes, volumes are made, generic ephemeral volumes get their
//! claims, disruption budgets their status.
//!
//! They read the server's log and act on the server. When they do is up to the driver.

mod claims;
mod disruption;
mod ephemeral;
mod provisioning;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use k8s_openapi::api::core::v1 as api;
use schedc_core::intern::{Interner, Symbol};
use schedc_core::model::{Object, PersistentVolume, StorageClass};
use schedc_objects::{AnyObject, convert_object};

use crate::server::{ApiServer, Change, ChangeKind, Key};

pub use disruption::is_given_budget_status;

/// What a controller notes on a claim that has its volume for good.
const BIND_COMPLETED: &str = "pv.kubernetes.io/bind-completed";
/// What it notes on a claim or a volume whose other half it has chosen itself.
const BOUND_BY_CONTROLLER: &str = "pv.kubernetes.io/bound-by-controller";
/// What it notes on a volume that a provisioner has made.
const PROVISIONED_BY: &str = "pv.kubernetes.io/provisioned-by";
/// What the scheduler notes on a claim whose volume is to be made for a node.
const SELECTED_NODE: &str = "volume.kubernetes.io/selected-node";

/// The controllers, all in one.
///
/// - **Binding** (`PersistentVolumeController`): a claim that names a volume gets it, and so does one that a volume names. A claim
///   of a class that binds immediately gets the smallest volume that will do.
/// - **Provisioning**, as an external provisioner does it: a claim that gets no volume that way, of a class with a
///   provisioner, gets one that is made for it: at once, or for the node that the scheduler has selected. Whoever deletes
///   such a claim deletes the volume, unless its class retains it.
/// - **Generic ephemeral volumes**: a pod's claims are made when the pod is, and go when it goes.
/// - **Disruption** (`DisruptionController`): the status of each budget follows its pods and their controllers.
#[derive(Clone, Debug, Default)]
pub struct Controllers {
    /// The version of the last change that they have seen.
    seen: u64,
    interner: Interner,
    volumes: BTreeMap<Arc<str>, Arc<PersistentVolume>>,
    classes: BTreeMap<Symbol, Arc<StorageClass>>,
    unbound: BTreeSet<Key>,
    /// Claims of `unbound` that something may be done for.
    queue: BTreeSet<Key>,
    disruption: disruption::Disruption,
}

impl Controllers {
    /// Does everything that there is to do.
    pub fn run(&mut self, server: &mut ApiServer, now: i64) {
        loop {
            self.observe_all(server, now);
            match self.queue.pop_first() {
                Some(claim) => self.sync_claim(server, &claim, now),
                None if self.disruption.sync_one(server, now) => {}
                None => return,
            }
        }
    }

    fn observe_all(&mut self, server: &mut ApiServer, now: i64) {
        if !server.log().reaches_back_to(self.seen) {
            let disruption = std::mem::take(&mut self.disruption);
            *self = Controllers { seen: server.log().version(), disruption, ..Controllers::default() };
            let objects: Vec<_> = server.objects().cloned().collect();
            for object in objects {
                self.observe(server, &Change { version: 0, kind: ChangeKind::Added, object }, now);
            }
        }
        while let Some(change) = server.log().after(self.seen).cloned() {
            self.seen = change.version;
            self.observe(server, &change, now);
        }
    }

    fn observe(&mut self, server: &mut ApiServer, change: &Change, now: i64) {
        self.disruption.observe(server, change);
        let is_gone = change.kind == ChangeKind::Deleted;
        match &*change.object {
            AnyObject::Pod(pod) if is_gone => ephemeral::delete_claims(server, pod, now),
            AnyObject::Pod(pod) => ephemeral::create_claims(server, pod, now),
            AnyObject::PersistentVolumeClaim(claim) if is_gone => {
                let key = Key::of(&change.object);
                self.unbound.remove(&key);
                self.queue.remove(&key);
                self.release(server, claim, now);
            }
            AnyObject::PersistentVolumeClaim(claim) => {
                let key = Key::of(&change.object);
                if is_bound(claim) {
                    self.unbound.remove(&key);
                    self.queue.remove(&key);
                } else {
                    self.unbound.insert(key.clone());
                    self.queue.insert(key);
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
        let claim = claim.map(|claim| Key {
            kind: "PersistentVolumeClaim",
            namespace: claim.namespace.as_deref().unwrap_or_default().into(),
            name: claim.name.as_deref().unwrap_or_default().into(),
        });
        if change.kind == ChangeKind::Deleted {
            self.volumes.remove(name);
            if let Some(claim) = claim {
                mark_lost(server, &claim, name);
            }
            return;
        }
        let phase = volume.status.as_ref().and_then(|status| status.phase.as_deref()).unwrap_or_default();
        if matches!(phase, "" | "Pending") {
            // Its own change comes next.
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

fn is_bound(claim: &api::PersistentVolumeClaim) -> bool {
    claim.metadata.annotations.as_ref().is_some_and(|annotations| annotations.contains_key(BIND_COMPLETED))
}

/// A bound claim whose volume is gone is lost.
fn mark_lost(server: &mut ApiServer, key: &Key, volume: &str) {
    let Some(AnyObject::PersistentVolumeClaim(claim)) = server.get(key).map(|object| &**object) else { return };
    if claim.spec.as_ref().and_then(|spec| spec.volume_name.as_deref()) != Some(volume) {
        return;
    }
    let mut claim = claim.clone();
    claim.status.get_or_insert_default().phase = Some("Lost".to_owned());
    update(server, AnyObject::PersistentVolumeClaim(claim));
}

/// Changes an object that was read. One that has changed since is left as it is: its next change is still to be seen.
fn update(server: &mut ApiServer, object: AnyObject) {
    let _outdated = server.update(object);
}

#[cfg(test)]
mod tests;
