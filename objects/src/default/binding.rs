//! Claims that name their volume. That is no API server's work: a moment after it, the controller of volumes binds them
//! (`syncUnboundClaim`), which is too plain to keep pods waiting for.

use std::collections::HashMap;

use k8s_openapi::api::core::v1::{ObjectReference, PersistentVolume, PersistentVolumeClaim};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use schedc_core::quantity::Quantity;

use super::Written;
use crate::convert::volume::{BIND_COMPLETED, CLASS_ANNOTATION};
use crate::kinds::{AnyObject, namespace};
use crate::manifests::Sourced;

/// Binds claims to the volumes that they name, if those are there and will do.
pub(super) fn bind(objects: &mut [Sourced<AnyObject>]) {
    let volumes: HashMap<String, usize> = objects
        .iter()
        .enumerate()
        .filter(|(_, object)| matches!(object.object, AnyObject::PersistentVolume(_)))
        .map(|(at, object)| (object.object.name().to_owned(), at))
        .collect();
    for at in 0..objects.len() {
        let AnyObject::PersistentVolumeClaim(claim) = &objects[at].object else { continue };
        let name = claim.spec.as_ref().and_then(|spec| spec.volume_name.as_deref()).unwrap_or_default();
        let Some(&volume_at) = volumes.get(name) else { continue };
        let AnyObject::PersistentVolume(volume) = &objects[volume_at].object else { continue };
        if annotation(&claim.metadata, BIND_COMPLETED).is_some() || !is_for(volume, claim) || !will_do(volume, claim) {
            continue;
        }
        let reference = reference(claim);
        if let AnyObject::PersistentVolume(volume) = &mut objects[volume_at].object {
            volume.spec.get_or_insert_default().claim_ref = Some(reference);
            volume.status.get_or_insert_default().phase = Some("Bound".to_owned());
        }
        if let AnyObject::PersistentVolumeClaim(claim) = &mut objects[at].object {
            claim.metadata.annotations.get_or_insert_default().insert(BIND_COMPLETED.to_owned(), "yes".to_owned());
            claim.status.get_or_insert_default().phase = Some("Bound".to_owned());
        }
    }
}

fn annotation<'a>(metadata: &'a ObjectMeta, name: &str) -> Option<&'a String> {
    metadata.annotations.as_ref().and_then(|annotations| annotations.get(name))
}

fn reference(claim: &PersistentVolumeClaim) -> ObjectReference {
    ObjectReference {
        api_version: Some("v1".to_owned()),
        kind: Some("PersistentVolumeClaim".to_owned()),
        namespace: Some(namespace(&claim.metadata).to_owned()),
        name: claim.metadata.name.clone(),
        uid: claim.metadata.uid.clone(),
        ..ObjectReference::default()
    }
}

/// Whether a volume is nobody's, or this claim's (`IsVolumeBoundToClaim`).
fn is_for(volume: &PersistentVolume, claim: &PersistentVolumeClaim) -> bool {
    let Some(owner) = volume.spec.as_ref().and_then(|spec| spec.claim_ref.as_ref()) else { return true };
    let own = reference(claim);
    let uid = owner.uid.as_ref().filter(|uid| !uid.is_empty());
    (&owner.namespace, &owner.name) == (&own.namespace, &own.name)
        && uid.is_none_or(|uid| Some(uid) == own.uid.as_ref())
}

/// Whether a volume gives what a claim asks for (`checkVolumeSatisfyClaim`).
fn will_do(volume: &PersistentVolume, claim: &PersistentVolumeClaim) -> bool {
    let (Some(has), Some(asks)) = (&volume.spec, &claim.spec) else { return false };
    let requests = asks.resources.as_ref().and_then(|resources| resources.requests.as_ref());
    let mode = |mode: &Option<String>| mode.clone().unwrap_or_else(|| "Filesystem".to_owned());
    let modes = has.access_modes.as_deref().unwrap_or_default();
    class(&volume.metadata, has.storage_class_name.as_ref()) == class(&claim.metadata, asks.storage_class_name.as_ref())
        && bytes(requests) <= bytes(has.capacity.as_ref())
        && mode(&has.volume_mode) == mode(&asks.volume_mode)
        && asks.access_modes.iter().flatten().all(|mode| modes.contains(mode))
}

fn class<'a>(metadata: &'a ObjectMeta, field: Option<&'a String>) -> &'a str {
    annotation(metadata, CLASS_ANNOTATION).or(field).map(String::as_str).unwrap_or_default()
}

fn bytes(amounts: Option<&Written>) -> Quantity {
    let text = amounts.and_then(|amounts| amounts.get("storage"));
    text.and_then(|text| Quantity::parse(&text.0).ok()).unwrap_or(Quantity::ZERO)
}
