//! Consequences of deletions that were missed, found in the objects that are left.

use schedc_objects::AnyObject;

use super::{claim_key, claims, is_bound, mark_lost};
use crate::server::{ApiServer, Key, Request};

/// Deletes claims whose pods no longer exist, marks claims of deleted volumes as lost, and releases volumes of deleted
/// claims.
pub(super) fn process(server: &mut ApiServer, now: i64) {
    let objects: Vec<_> = server.objects().cloned().collect();
    for object in &objects {
        match &**object {
            AnyObject::PersistentVolumeClaim(_) | AnyObject::ResourceClaim(_) if has_deleted_pod(server, object) => {
                // Cannot fail, because the claim exists.
                let _ = server.handle(&Request::Delete(Key::of(object), None), now);
            }
            AnyObject::PersistentVolumeClaim(claim) if is_bound(claim) => {
                let volume = claim.spec.as_ref().and_then(|spec| spec.volume_name.as_deref()).unwrap_or_default();
                if server.get(&Key::cluster("PersistentVolume", volume)).is_none() {
                    mark_lost(server, &Key::of(object), volume);
                }
            }
            AnyObject::PersistentVolume(volume) => {
                let claim = volume.spec.as_ref().and_then(|spec| spec.claim_ref.as_ref());
                if let Some((claim, uid)) = claim.and_then(|claim| Some((claim, claim.uid.as_deref()?)))
                    && !exists(server, &claim_key(claim), uid)
                {
                    claims::release(server, object.name(), uid, now);
                }
            }
            _ => {}
        }
    }
}

/// Returns whether an owner of the claim is a pod that no longer exists.
fn has_deleted_pod(server: &ApiServer, claim: &AnyObject) -> bool {
    let owners = claim.metadata().owner_references.iter().flatten();
    let mut pods = owners.filter(|owner| owner.kind == "Pod");
    pods.any(|pod| !exists(server, &Key::pod(claim.namespace(), pod.name.as_str()), &pod.uid))
}

fn exists(server: &ApiServer, key: &Key, uid: &str) -> bool {
    server.get(key).is_some_and(|object| object.metadata().uid.as_deref() == Some(uid))
}
