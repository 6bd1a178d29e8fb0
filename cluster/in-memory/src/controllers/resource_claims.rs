//! Controllers of resource claims. Claims are generated from templates, and released and deleted with their pods. The
//! binding conditions of allocated devices are reported as true.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::core::v1::{Pod, PodResourceClaimStatus};
use k8s_openapi::api::resource::v1::{
    AllocatedDeviceStatus, DeviceRequestAllocationResult, ResourceClaim, ResourceClaimConsumerReference,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, OwnerReference};
use schedc_core::model::RESOURCE_CLAIM_FINALIZER;
use schedc_objects::default::complete_claim_spec;
use schedc_objects::{AnyObject, is_finished};

use super::update;
use crate::server::{ApiServer, Change, ChangeKind, Key, Request, time};

/// Annotation of a generated claim: the claim's name in the pod's `resourceClaims`.
const POD_CLAIM_NAME: &str = "resource.kubernetes.io/pod-claim-name";

/// The controller `resourceclaim`, the part of `garbagecollector` that deletes claims of pods, and a device driver,
/// which reports binding conditions as true at once.
#[derive(Clone, Debug, Default)]
pub(super) struct ResourceClaims {
    /// Claims by the uids of their owners and of the pods for which they are reserved.
    by_pod: BTreeMap<String, BTreeSet<Key>>,
    /// Uids under which `by_pod` lists a claim.
    pods: BTreeMap<Key, BTreeSet<String>>,
}

impl ResourceClaims {
    pub(super) fn observe(&mut self, server: &mut ApiServer, change: &Change, now: i64) {
        let is_gone = change.kind == ChangeKind::Deleted;
        match &*change.object {
            AnyObject::ResourceClaim(claim) => {
                let key = change.key.clone();
                self.index_claim(&key, if is_gone { BTreeSet::new() } else { pods_of(claim) });
                if !is_gone {
                    sync_claim(server, &key);
                    report_devices(server, &key, now);
                }
            }
            AnyObject::Pod(pod) if is_gone || is_done(pod) => {
                let uid = uid_of(pod);
                for key in self.by_pod.get(uid).cloned().into_iter().flatten() {
                    sync_claim(server, &key);
                    let claim = server.get(&key).map(|claim| claim.metadata());
                    if claim.is_some_and(|claim| claim.owner_references.iter().flatten().any(|owner| owner.uid == uid))
                    {
                        // Cannot fail, because the claim exists.
                        let _ = server.handle(&Request::Delete(key, None), now);
                    }
                }
            }
            AnyObject::Pod(pod) => self.generate_claims(server, pod, now),
            AnyObject::ResourceClaimTemplate(template) if !is_gone => {
                let name = template.metadata.name.as_deref().unwrap_or_default();
                for pod in pods_with_template(server, &change.key.namespace, name) {
                    self.generate_claims(server, &pod, now);
                }
            }
            _ => {}
        }
    }

    /// Updates the index: it lists the claim under these uids only.
    fn index_claim(&mut self, key: &Key, pods: BTreeSet<String>) {
        for uid in self.pods.remove(key).into_iter().flatten() {
            if let Some(keys) = self.by_pod.get_mut(&uid) {
                keys.remove(key);
                if keys.is_empty() {
                    self.by_pod.remove(&uid);
                }
            }
        }
        for uid in &pods {
            self.by_pod.entry(uid.clone()).or_default().insert(key.clone());
        }
        if !pods.is_empty() {
            self.pods.insert(key.clone(), pods);
        }
    }

    /// Creates the missing claims of a pod, and adds their names to its status (`syncPod`).
    fn generate_claims(&mut self, server: &mut ApiServer, seen: &Pod, now: i64) {
        let Some(AnyObject::Pod(pod)) = server.get(&key_of(seen)).map(|object| &**object) else { return };
        if templates(pod).next().is_none() || uid_of(pod) != uid_of(seen) {
            return;
        }
        // Uses the current pod, because claims may have been generated since `seen`.
        let pod = &Pod::clone(pod);
        let known =
            pod.status.as_ref().and_then(|status| status.resource_claim_statuses.as_deref()).unwrap_or_default();
        let mut missing = templates(pod).filter(|(claim, _)| !known.iter().any(|it| it.name == *claim)).peekable();
        if missing.peek().is_none() || is_done(pod) || pod.metadata.deletion_timestamp.is_some() {
            return;
        }
        let mut statuses = known.to_vec();
        for (claim, template) in missing {
            let name = self.generated(server, pod, claim).or_else(|| generate(server, pod, claim, template, now));
            if let Some(name) = name {
                statuses.push(PodResourceClaimStatus { name: claim.to_owned(), resource_claim_name: Some(name) });
            }
        }
        if statuses.len() > known.len() {
            let mut pod = pod.clone();
            pod.status.get_or_insert_default().resource_claim_statuses = Some(statuses);
            update(server, AnyObject::from(pod));
        }
    }

    /// Returns the name of a claim that was generated already, although the pod's status does not have it yet.
    fn generated(&self, server: &ApiServer, pod: &Pod, claim: &str) -> Option<String> {
        let claims = self.by_pod.get(uid_of(pod)).into_iter().flatten();
        let mut generated = claims.filter_map(|key| server.get(key)).filter(|claim_object| {
            let metadata = claim_object.metadata();
            let name = metadata.annotations.as_ref().and_then(|annotations| annotations.get(POD_CLAIM_NAME));
            let owners = metadata.owner_references.iter().flatten();
            name.is_some_and(|name| name == claim) && owners.into_iter().any(|owner| owner.uid == uid_of(pod))
        });
        generated.next().map(|claim_object| claim_object.name().to_owned())
    }
}

/// Returns the claims of a pod that have templates: the claim's name in the pod, and the template's name.
fn templates(pod: &Pod) -> impl Iterator<Item = (&str, &str)> {
    let claims = pod.spec.iter().flat_map(|spec| spec.resource_claims.iter().flatten());
    claims.filter_map(|claim| Some((claim.name.as_str(), claim.resource_claim_template_name.as_deref()?)))
}

fn pods_with_template(server: &ApiServer, namespace: &str, template: &str) -> Vec<Pod> {
    let pods = server.list_in("Pod", namespace).filter_map(|object| match &**object {
        AnyObject::Pod(pod) => Some(pod),
        _ => None,
    });
    pods.filter(|pod| templates(pod).any(|(_, name)| name == template)).map(|pod| Pod::clone(pod)).collect()
}

/// Generates a claim, and returns its name. `None`: the template does not exist yet, or the claim cannot be created.
fn generate(server: &mut ApiServer, pod: &Pod, claim: &str, template: &str, now: i64) -> Option<String> {
    let namespace = pod.metadata.namespace.as_deref().unwrap_or("default");
    let key = Key { kind: "ResourceClaimTemplate", namespace: namespace.into(), name: template.into() };
    let AnyObject::ResourceClaimTemplate(template) = &**server.get(&key)? else { return None };
    let pod_name = pod.metadata.name.clone().unwrap_or_default();
    let mut generated = ResourceClaim::default();
    let metadata = &mut generated.metadata;
    if let Some(from) = &template.spec.metadata {
        metadata.labels.clone_from(&from.labels);
        metadata.annotations.clone_from(&from.annotations);
    }
    metadata.annotations.get_or_insert_default().insert(POD_CLAIM_NAME.to_owned(), claim.to_owned());
    metadata.namespace = Some(namespace.to_owned());
    metadata.generate_name = Some(format!("{pod_name}-{claim}-"));
    metadata.owner_references = Some(vec![OwnerReference {
        api_version: "v1".to_owned(),
        kind: "Pod".to_owned(),
        name: pod_name,
        uid: uid_of(pod).to_owned(),
        controller: Some(true),
        block_owner_deletion: Some(true),
    }]);
    generated.spec = template.spec.spec.clone();
    complete_claim_spec(&mut generated.spec);
    let generated = server.create(generated.into(), now).ok()?;
    Some(generated.name().to_owned())
}

/// Returns the UIDs of the owners of a claim and of the pods for which it is reserved.
fn pods_of(claim: &ResourceClaim) -> BTreeSet<String> {
    let owners = claim.metadata.owner_references.iter().flatten().map(|owner| owner.uid.clone());
    let consumers = claim.status.iter().flat_map(|status| status.reserved_for.iter().flatten());
    owners.chain(consumers.map(|consumer| consumer.uid.clone())).collect()
}

/// Removes reservations for pods that are done (`syncClaim`). A claim with [`RESOURCE_CLAIM_FINALIZER`] is deallocated
/// if its last reservation was removed, or if it is being deleted and has no reservation.
fn sync_claim(server: &mut ApiServer, key: &Key) {
    let Some(AnyObject::ResourceClaim(old)) = server.get(key).map(|object| &**object) else { return };
    let reserved = old.status.as_ref().and_then(|status| status.reserved_for.as_deref()).unwrap_or_default();
    let remaining: Vec<_> = reserved.iter().filter(|consumer| is_in_use(server, key, consumer)).cloned().collect();
    let is_released = remaining.len() < reserved.len();
    let is_being_deleted = old.metadata.deletion_timestamp.is_some();
    let has_finalizer = old.metadata.finalizers.iter().flatten().any(|finalizer| finalizer == RESOURCE_CLAIM_FINALIZER);
    if !(is_released || is_being_deleted && has_finalizer && remaining.is_empty()) {
        return;
    }
    let mut claim = old.clone();
    if remaining.is_empty() && has_finalizer {
        if let Some(status) = &mut claim.status {
            status.allocation = None;
            // An API server removes the status of devices that are not allocated.
            status.devices = None;
        }
        let finalizers = claim.metadata.finalizers.take().into_iter().flatten();
        let others: Vec<_> = finalizers.filter(|finalizer| finalizer != RESOURCE_CLAIM_FINALIZER).collect();
        claim.metadata.finalizers = (!others.is_empty()).then_some(others);
    }
    claim.status.get_or_insert_default().reserved_for = (!remaining.is_empty()).then_some(remaining);
    update(server, AnyObject::ResourceClaim(claim));
}

/// Returns whether a reservation is needed. Reservations for consumers other than pods are always needed.
fn is_in_use(server: &ApiServer, claim: &Key, consumer: &ResourceClaimConsumerReference) -> bool {
    if !consumer.api_group.as_deref().unwrap_or_default().is_empty() || consumer.resource != "pods" {
        return true;
    }
    let pod = server.get(&Key::pod(claim.namespace.clone(), consumer.name.as_str()));
    match pod.map(|object| &**object) {
        Some(AnyObject::Pod(pod)) => uid_of(pod) == consumer.uid && !is_done(pod),
        _ => false,
    }
}

/// Reports all binding conditions of newly allocated devices as true, unless a status was reported already.
fn report_devices(server: &mut ApiServer, key: &Key, now: i64) {
    let Some(AnyObject::ResourceClaim(old)) = server.get(key).map(|object| &**object) else { return };
    let Some(status) = &old.status else { return };
    let results = status.allocation.iter().flat_map(|allocation| allocation.devices.as_ref()?.results.as_ref());
    let reported = status.devices.as_deref().unwrap_or_default();
    let new: Vec<_> = results
        .flatten()
        .filter(|result| result.binding_conditions.as_ref().is_some_and(|conditions| !conditions.is_empty()))
        .filter(|result| !reported.iter().any(|status| is_status_of(status, result)))
        .map(|result| prepared_status(result, now))
        .collect();
    if !new.is_empty() {
        let mut claim = old.clone();
        claim.status.get_or_insert_default().devices.get_or_insert_default().extend(new);
        update(server, AnyObject::ResourceClaim(claim));
    }
}

fn is_status_of(status: &AllocatedDeviceStatus, result: &DeviceRequestAllocationResult) -> bool {
    (&status.driver, &status.pool, &status.device) == (&result.driver, &result.pool, &result.device)
}

fn prepared_status(result: &DeviceRequestAllocationResult, now: i64) -> AllocatedDeviceStatus {
    let condition = |kind: &String| Condition {
        type_: kind.clone(),
        status: "True".to_owned(),
        reason: "Prepared".to_owned(),
        message: String::new(),
        observed_generation: None,
        last_transition_time: time(now),
    };
    AllocatedDeviceStatus {
        driver: result.driver.clone(),
        pool: result.pool.clone(),
        device: result.device.clone(),
        share_id: result.share_id.clone(),
        conditions: Some(result.binding_conditions.iter().flatten().map(condition).collect()),
        ..AllocatedDeviceStatus::default()
    }
}

/// Returns whether a pod will no longer run (`isPodDone`).
fn is_done(pod: &Pod) -> bool {
    let node = pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref()).unwrap_or_default();
    is_finished(pod) || (pod.metadata.deletion_timestamp.is_some() && node.is_empty())
}

fn key_of(pod: &Pod) -> Key {
    let namespace = pod.metadata.namespace.as_deref().unwrap_or("default");
    Key::pod(namespace, pod.metadata.name.as_deref().unwrap_or_default())
}

fn uid_of(pod: &Pod) -> &str {
    pod.metadata.uid.as_deref().unwrap_or_default()
}

#[cfg(test)]
mod tests;
