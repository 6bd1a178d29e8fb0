//! Writes of claims: by PreBind, and by Unreserve to undo them.

use schedc_core::background::BackgroundClient;
use schedc_core::client::{ApiError, ApiReason, Client, ObjectRef};
use schedc_core::extension_points::Placement;
use schedc_core::handle::Handle;
use schedc_core::model::{Pod, RESOURCE_CLAIM_FINALIZER, Uid};
use schedc_core::pending_allocations::WrittenAllocation;
use serde_json::{Value, json};

use super::json::{manifest, mappings, text, timestamp};
use super::removals::Removals;
use super::{BindingPlan, ClaimTarget, PlannedClaim, WrittenClaim, object};

/// Maximum number of attempts to write an object, the first included. Only conflicts are retried.
const MAX_ATTEMPTS: u32 = 5;

/// A claim to write for a pod, with its object.
#[derive(Clone, Copy)]
struct Write<'a> {
    handle: &'a Handle,
    pod: &'a Pod,
    claim: &'a PlannedClaim,
    object: &'a ObjectRef,
    uid: &'a Uid,
}

impl BindingPlan {
    /// Writes a claim of the pod. Returns a reference to the claim.
    ///
    /// # Errors
    /// A request to the API server fails, or the claim has changed so that the pod cannot use it.
    pub(super) async fn write(
        &self,
        client: &impl Client,
        placement: &Placement,
        handle: &Handle,
        claim: &PlannedClaim,
    ) -> Result<ObjectRef, String> {
        let pod = &placement.pod;
        match &claim.target {
            ClaimTarget::Existing { namespace, name, uid } => {
                let object = object(namespace.clone(), name.clone());
                self.bind_claim(client, Write { handle, pod, claim, object: &object, uid }, None).await?;
                Ok(object)
            }
            ClaimTarget::New { extended, texts } => {
                let manifest = manifest(pod, extended, texts);
                let (object, uid, created) = self.create(client, placement, handle, &manifest).await?;
                self.bind_claim(client, Write { handle, pod, claim, object: &object, uid: &uid }, Some(created))
                    .await?;
                report_extended(client, pod, &object, &mappings(&extended.mappings, texts)).await?;
                Ok(object)
            }
        }
    }

    /// Creates the claim for extended resources.
    async fn create(
        &self,
        client: &impl Client,
        placement: &Placement,
        handle: &Handle,
        manifest: &Value,
    ) -> Result<(ObjectRef, Uid, Value), String> {
        let mut object = object(placement.pod.namespace.clone(), "".into());
        let created = client.create(&object, manifest).await;
        handle.claim_metrics().add_creation(created.is_ok());
        let created = created.map_err(|error| format!("create claim for extended resources: {error}"))?;
        object.name = text(&created["metadata"]["name"]).into();
        let uid = Uid(text(&created["metadata"]["uid"]).into());
        self.written().push(WrittenClaim { object: object.clone(), uid: uid.clone(), is_new: true });
        Ok((object, uid, created))
    }

    /// Writes the allocation and the reservation of a claim (`bindClaim`). After a conflict, the claim is read again.
    async fn bind_claim(&self, client: &impl Client, write: Write<'_>, known: Option<Value>) -> Result<(), String> {
        let name = format!("{}/{}", write.object.namespace, write.object.name);
        let mut known = known;
        let mut attempts = MAX_ATTEMPTS;
        loop {
            let current = match known.take() {
                Some(current) => current,
                None => client.get(write.object).await.map_err(|error| format!("get updated claim {name}: {error}"))?,
            };
            attempts -= 1;
            match self.write_version(client, write, &current).await {
                Ok(()) => return Ok(()),
                Err(WriteError::Failed(reason)) => return Err(reason),
                Err(WriteError::Conflict(reason)) if attempts == 0 => return Err(reason),
                Err(WriteError::Conflict(_)) => {}
            }
        }
    }

    async fn write_version(&self, client: &impl Client, write: Write<'_>, current: &Value) -> Result<(), WriteError> {
        let Write { handle, pod, claim, object, uid } = write;
        let name = format!("{}/{}", object.namespace, object.name);
        let failed = |reason: String| Err(WriteError::Failed(reason));
        if text(&current["metadata"]["uid"]) != &*uid.0 {
            return failed(format!("claim {name} got replaced in the meantime"));
        }
        if !current["metadata"]["deletionTimestamp"].is_null() {
            return failed(format!("claim {name} got deleted in the meantime"));
        }
        let mut version = current["metadata"]["resourceVersion"].clone();
        let is_allocated = !current["status"]["allocation"].is_null();
        let mut reserved_for = current["status"]["reservedFor"].as_array().cloned().unwrap_or_default();
        let mut status = json!({});
        match &claim.new {
            Some(_) if is_allocated => return failed(format!("claim {name} got allocated elsewhere in the meantime")),
            None if !is_allocated => return failed(format!("claim {name} got deallocated elsewhere in the meantime")),
            Some(new) => {
                let mut finalizers = current["metadata"]["finalizers"].as_array().cloned().unwrap_or_default();
                if !finalizers.iter().any(|finalizer| finalizer == RESOURCE_CLAIM_FINALIZER) {
                    finalizers.push(RESOURCE_CLAIM_FINALIZER.into());
                    let patch = json!({ "metadata": { "resourceVersion": version, "finalizers": finalizers } });
                    let what = format!("add finalizer to claim {name}");
                    let updated = client.patch(object, &patch).await.map_err(|error| WriteError::of(&what, &error))?;
                    version = updated["metadata"]["resourceVersion"].clone();
                }
                status["allocation"] = new.allocation.to_json(&new.texts);
            }
            None if is_reserved_for(&reserved_for, &pod.uid) => {
                self.remember(claim, object, uid);
                return Ok(());
            }
            None => {}
        }
        if current["status"]["allocation"]["allocationTimestamp"].is_null() {
            status["allocation"]["allocationTimestamp"] = timestamp(handle.now());
        }
        reserved_for.push(json!({ "resource": "pods", "name": *pod.name, "uid": *pod.uid.0 }));
        status["reservedFor"] = reserved_for.into();
        let patch = json!({ "metadata": { "resourceVersion": version }, "status": status });
        let what = match claim.new {
            Some(_) => format!("add allocation and reservation to claim {name}"),
            None => format!("add reservation to claim {name}"),
        };
        let updated = client.patch_status(object, &patch).await.map_err(|error| WriteError::of(&what, &error))?;
        if let Some(new) = &claim.new {
            let version = text(&updated["metadata"]["resourceVersion"]).into();
            let written = WrittenAllocation { object: object.clone(), uid: uid.clone(), version };
            handle.pending_allocations().mark_written(&new.uid, written);
        }
        self.remember(claim, object, uid);
        Ok(())
    }

    /// Remembers a reservation for Unreserve.
    fn remember(&self, claim: &PlannedClaim, object: &ObjectRef, uid: &Uid) {
        let mut written = self.written();
        if !claim.is_reserved && !written.iter().any(|known| known.uid == *uid) {
            written.push(WrittenClaim { object: object.clone(), uid: uid.clone(), is_new: false });
        }
    }

    /// Undoes the writes of PreBind in background tasks: removes the pod's reservations, also those of earlier
    /// attempts, and deletes the claim for extended resources. A removal is retried only after a conflict. If it fails
    /// for another reason, the reservation stays until a later attempt is undone.
    pub(in super::super) fn undo(&self, handle: &Handle, pod: &Uid, removals: &Removals) {
        let written = std::mem::take(&mut *self.written());
        let reserved_before =
            self.claims.iter().filter(|claim| claim.is_reserved).filter_map(|claim| match &claim.target {
                ClaimTarget::Existing { namespace, name, uid } => {
                    let object = object(namespace.clone(), name.clone());
                    Some(WrittenClaim { object, uid: uid.clone(), is_new: false })
                }
                ClaimTarget::New { .. } => None,
            });
        let created = self.pending().find(|new| new.claim.is_none()).map(|new| &new.uid);
        for WrittenClaim { object, uid, is_new } in written.into_iter().chain(reserved_before) {
            let (pod, removal) = (pod.clone(), removals.begin(pod));
            let created = created.filter(|_| is_new).map(|created| (handle.clone(), created.clone()));
            handle.spawn(|client| async move {
                if !is_new {
                    let _ = remove_reservation(&client, &object, &uid, &pod).await;
                } else if delete(&client, &object, &uid).await.is_ok()
                    && let Some((handle, created)) = created
                {
                    handle.pending_allocations().remove(&created);
                }
                drop(removal);
            });
        }
    }
}

enum WriteError {
    Conflict(String),
    Failed(String),
}

impl WriteError {
    fn of(what: &str, error: &ApiError) -> Self {
        let reason = format!("{what}: {error}");
        if error.reason == ApiReason::Conflict { WriteError::Conflict(reason) } else { WriteError::Failed(reason) }
    }
}

/// Writes the name and the mappings of the claim for extended resources to the pod's status.
async fn report_extended(client: &impl Client, pod: &Pod, claim: &ObjectRef, mappings: &Value) -> Result<(), String> {
    let name = format!("{}/{}", pod.namespace, pod.name);
    if mappings.as_array().is_none_or(Vec::is_empty) {
        return Err(format!("nil or empty request mappings, no update of pod {name} ExtendedResourceClaimStatus"));
    }
    let object = ObjectRef {
        api_version: "v1".into(),
        kind: "Pod".into(),
        namespace: pod.namespace.clone(),
        name: pod.name.clone(),
    };
    let status = json!({ "requestMappings": mappings, "resourceClaimName": *claim.name });
    let patch = json!({
        "metadata": { "uid": *pod.uid.0 },
        "status": { "extendedResourceClaimStatus": status },
    });
    let written = client.patch_status(&object, &patch).await;
    written.map(|_| ()).map_err(|error| format!("update pod {name} ExtendedResourceClaimStatus: {error}"))
}

fn is_reserved_for(reserved_for: &[Value], pod: &Uid) -> bool {
    reserved_for.iter().any(|consumer| text(&consumer["uid"]) == &*pod.0)
}

/// Removes a pod from the users of a claim. After a conflict, the claim is read again.
async fn remove_reservation(
    client: &BackgroundClient,
    object: &ObjectRef,
    uid: &Uid,
    pod: &Uid,
) -> Result<(), ApiError> {
    let mut attempts = MAX_ATTEMPTS;
    loop {
        let current = client.get(object).await?;
        let mut reserved_for = current["status"]["reservedFor"].as_array().cloned().unwrap_or_default();
        if text(&current["metadata"]["uid"]) != &*uid.0 || !is_reserved_for(&reserved_for, pod) {
            return Ok(());
        }
        reserved_for.retain(|consumer| text(&consumer["uid"]) != &*pod.0);
        let reserved_for = if reserved_for.is_empty() { Value::Null } else { reserved_for.into() };
        let version = &current["metadata"]["resourceVersion"];
        let patch = json!({ "metadata": { "resourceVersion": version }, "status": { "reservedFor": reserved_for } });
        attempts -= 1;
        match client.patch_status(object, &patch).await {
            Err(error) if error.reason == ApiReason::Conflict && attempts > 0 => {}
            result => return result.map(drop),
        }
    }
}

/// Deletes a claim that was created for extended resources. If the claim is already gone, this is not an error.
async fn delete(client: &BackgroundClient, object: &ObjectRef, uid: &Uid) -> Result<(), ApiError> {
    let patch = json!({ "metadata": { "uid": *uid.0, "finalizers": null } });
    let deleted = match client.patch(object, &patch).await {
        Ok(_) => client.delete(object, Some(uid)).await,
        Err(error) => Err(error),
    };
    match deleted {
        Err(error) if error.reason == ApiReason::NotFound => Ok(()),
        result => result,
    }
}
