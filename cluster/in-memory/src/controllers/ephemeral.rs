//! Claims of generic ephemeral volumes.

use k8s_openapi::api::core::v1 as api;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use schedc_objects::default::{complete_claim, default_class};
use schedc_objects::{AnyObject, is_finished};

use crate::server::{ApiServer, Key, Request};

/// Creates the missing claims of a pod.
pub(super) fn create_claims(server: &mut ApiServer, pod: &api::Pod, now: i64) {
    if pod.metadata.deletion_timestamp.is_some() || is_finished(pod) {
        return;
    }
    for (key, template) in claims(pod) {
        let mut claim = api::PersistentVolumeClaim::default();
        if let Some(metadata) = &template.metadata {
            claim.metadata.labels.clone_from(&metadata.labels);
            claim.metadata.annotations.clone_from(&metadata.annotations);
        }
        claim.metadata.namespace = Some(key.namespace.to_string());
        claim.metadata.name = Some(key.name.to_string());
        claim.metadata.owner_references = Some(vec![OwnerReference {
            api_version: "v1".to_owned(),
            kind: "Pod".to_owned(),
            name: pod.metadata.name.clone().unwrap_or_default(),
            uid: pod.metadata.uid.clone().unwrap_or_default(),
            controller: Some(true),
            block_owner_deletion: Some(true),
        }]);
        claim.spec = Some(template.spec.clone());
        let classes = server.list("StorageClass").filter_map(|class| match &**class {
            AnyObject::StorageClass(class) => Some(&**class),
            _ => None,
        });
        let default_class = default_class(classes);
        complete_claim(&mut claim, default_class.as_ref());
        claim.status.get_or_insert_default().phase = Some("Pending".to_owned());
        // An existing claim of that name is kept; the scheduler checks its owner.
        let _ = server.create(claim.into(), now);
    }
}

/// Deletes the claims that a deleted pod owns.
pub(super) fn delete_claims(server: &mut ApiServer, pod: &api::Pod, now: i64) {
    for (key, _) in claims(pod) {
        let is_pod = |owner: &OwnerReference| Some(&owner.uid) == pod.metadata.uid.as_ref();
        let claim = server.get(&key).map(|claim| claim.metadata());
        if claim.is_some_and(|claim| claim.owner_references.iter().flatten().any(is_pod)) {
            // Cannot fail, because the claim exists.
            let _ = server.handle(&Request::Delete(key, None), now);
        }
    }
}

fn claims(pod: &api::Pod) -> impl Iterator<Item = (Key, &api::PersistentVolumeClaimTemplate)> {
    let volumes = pod.spec.as_ref().and_then(|spec| spec.volumes.as_ref()).into_iter().flatten();
    volumes.filter_map(|volume| {
        let template = volume.ephemeral.as_ref()?.volume_claim_template.as_ref()?;
        let name = format!("{}-{}", pod.metadata.name.as_deref().unwrap_or_default(), volume.name);
        let namespace = pod.metadata.namespace.as_deref().unwrap_or("default");
        Some((Key { kind: "PersistentVolumeClaim", namespace: namespace.into(), name: name.into() }, template))
    })
}
