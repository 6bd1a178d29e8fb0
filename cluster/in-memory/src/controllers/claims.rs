//! Binding of claims to existing volumes.

use k8s_openapi::api::core::v1 as api;
use schedc_core::model::{Object, PersistentVolume, PersistentVolumeClaim};
use schedc_core::quantity::Quantity;
use schedc_objects::{AnyObject, convert_object};

use super::{BIND_COMPLETED, BOUND_BY_CONTROLLER, Controllers, update};
use crate::server::{ApiServer, Key};

/// A claim without a volume.
pub(super) struct UnboundClaim<'a> {
    pub(super) key: &'a Key,
    /// The object of the API server.
    pub(super) written: &'a api::PersistentVolumeClaim,
    /// The claim, converted to the model.
    pub(super) claim: &'a PersistentVolumeClaim,
}

impl Controllers {
    /// Processes an unbound claim (`syncUnboundClaim`).
    pub(super) fn sync_claim(&mut self, server: &mut ApiServer, key: &Key, now: i64) {
        let Some(object) = server.get(key).cloned() else { return };
        let AnyObject::PersistentVolumeClaim(written) = &*object else { return };
        let Some(Object::PersistentVolumeClaim(claim)) = convert_object(&object, &mut self.interner) else { return };
        if claim.deleting {
            return;
        }
        if let Some(name) = claim.volume {
            let volume = self.volumes.get(self.interner.resolve(name)).filter(|volume| match &volume.claim {
                Some(_) => volume.is_for(&claim),
                None => satisfies_claim(volume, &claim),
            });
            if let Some(volume) = volume {
                bind(server, self.interner.resolve(volume.name), key, written);
            }
            return;
        }
        let class = self.classes.get(&claim.class).cloned();
        let waits = class.as_ref().is_some_and(|class| class.wait_for_first_consumer == Some(true));
        if let Some(volume) = self.best_volume(&claim, waits) {
            bind(server, self.interner.resolve(volume.name), key, written);
        } else if let Some(class) = class.filter(|class| class.provisions && (!waits || claim.selected_node.is_some()))
        {
            self.provision(server, UnboundClaim { key, written, claim: &claim }, &class, now);
        }
    }

    /// Returns the best existing volume (`FindMatchingVolume`): one that references the claim, or else the smallest
    /// matching one. For a claim that waits for its first consumer, the scheduler chooses among the matching volumes,
    /// and this function returns only a volume that references the claim.
    fn best_volume(&self, claim: &PersistentVolumeClaim, waits: bool) -> Option<&PersistentVolume> {
        let references_claim =
            |volume: &&PersistentVolume| volume.is_for(claim) && !volume.deleting && has_size_and_mode(volume, claim);
        let mut volumes = self.volumes.values().map(|volume| &**volume);
        if let Some(volume) = volumes.find(references_claim) {
            return Some(volume);
        }
        let free = self.volumes.values().map(|volume| &**volume).filter(|volume| {
            !waits && volume.available && !volume.deleting && volume.claim.is_none() && satisfies_claim(volume, claim)
        });
        free.filter(|volume| is_selected(volume, claim)).min_by_key(|volume| &volume.capacity)
    }
}

/// Deletes or releases a volume if it still references the deleted claim with this uid (`reclaimVolume`).
pub(super) fn release(server: &mut ApiServer, volume: &str, claim: &str, now: i64) {
    let key = Key::cluster("PersistentVolume", volume);
    let Some(AnyObject::PersistentVolume(volume)) = server.get(&key).map(|object| &**object) else { return };
    let spec = volume.spec.as_ref();
    let owner = spec.and_then(|spec| spec.claim_ref.as_ref()).and_then(|claim| claim.uid.as_deref());
    if owner != Some(claim) {
        return;
    }
    if spec.and_then(|spec| spec.persistent_volume_reclaim_policy.as_deref()) == Some("Delete") {
        // Cannot fail, because the volume exists.
        let _ = server.handle(&crate::server::Request::Delete(key, None), now);
        return;
    }
    let mut volume = volume.clone();
    volume.status.get_or_insert_default().phase = Some("Released".to_owned());
    update(server, AnyObject::PersistentVolume(volume));
}

/// Binds the volume and the claim to each other (`bind`). If one of them did not name the other before, annotates it as
/// bound by the controller.
pub(super) fn bind(server: &mut ApiServer, volume: &str, key: &Key, claim: &api::PersistentVolumeClaim) {
    let volume_key = Key::cluster("PersistentVolume", volume);
    let Some(AnyObject::PersistentVolume(volume)) = server.get(&volume_key).map(|object| &**object) else { return };
    let (mut volume, mut claim) = (volume.clone(), Box::new(claim.clone()));
    let spec = volume.spec.get_or_insert_default();
    if spec.claim_ref.is_none() {
        annotate(&mut volume.metadata.annotations, BOUND_BY_CONTROLLER);
    }
    spec.claim_ref = Some(reference(key, &claim));
    volume.status.get_or_insert_default().phase = Some("Bound".to_owned());
    let claim_spec = claim.spec.get_or_insert_default();
    if claim_spec.volume_name.is_none() {
        annotate(&mut claim.metadata.annotations, BOUND_BY_CONTROLLER);
    }
    claim_spec.volume_name.clone_from(&volume.metadata.name);
    annotate(&mut claim.metadata.annotations, BIND_COMPLETED);
    let status = claim.status.get_or_insert_default();
    status.phase = Some("Bound".to_owned());
    status.capacity.clone_from(&spec.capacity);
    status.access_modes.clone_from(&spec.access_modes);
    update(server, AnyObject::PersistentVolume(volume));
    update(server, AnyObject::PersistentVolumeClaim(claim));
}

/// Returns the reference to a claim in its volume.
pub(super) fn reference(key: &Key, claim: &api::PersistentVolumeClaim) -> api::ObjectReference {
    api::ObjectReference {
        api_version: Some("v1".to_owned()),
        kind: Some("PersistentVolumeClaim".to_owned()),
        namespace: Some(key.namespace.to_string()),
        name: Some(key.name.to_string()),
        uid: claim.metadata.uid.clone(),
        ..api::ObjectReference::default()
    }
}

fn annotate(annotations: &mut Option<std::collections::BTreeMap<String, String>>, name: &str) {
    annotations.get_or_insert_default().insert(name.to_owned(), "yes".to_owned());
}

/// Returns whether the volume has at least the requested size, and the requested mode.
fn has_size_and_mode(volume: &PersistentVolume, claim: &PersistentVolumeClaim) -> bool {
    volume.mode == claim.mode && claim.request.as_ref().unwrap_or(&Quantity::ZERO) <= &volume.capacity
}

/// Returns whether the volume satisfies the claim (`checkVolumeSatisfyClaim`).
fn satisfies_claim(volume: &PersistentVolume, claim: &PersistentVolumeClaim) -> bool {
    has_size_and_mode(volume, claim)
        && volume.class == claim.class
        && volume.attributes_class == claim.attributes_class
        && claim.access_modes.iter().all(|mode| volume.access_modes.contains(mode))
}

/// Returns whether the claim's selector matches the volume.
fn is_selected(volume: &PersistentVolume, claim: &PersistentVolumeClaim) -> bool {
    match &claim.selector {
        Ok(None) => true,
        Ok(Some(selector)) => selector.matches(&volume.labels),
        Err(_) => false,
    }
}
