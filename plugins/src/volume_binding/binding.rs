//! PreBind: writes the assumed bindings, and waits until the claims are bound.

use std::time::Duration;

use schedc_core::client::{ApiReason, Client, ObjectRef};
use serde_json::{Value, json};

use super::binding_plan::{BindingPlan, PlannedClaim, SELECTED_NODE, annotation, object, text};
use super::binding_wait::BindingWait;

const BOUND_BY_CONTROLLER: &str = "pv.kubernetes.io/bound-by-controller";

/// Maximum number of attempts to write an object.
const MAX_ATTEMPTS: u32 = 3;

/// Reason for the failure of a binding.
enum BindError {
    /// The cluster does not support volumes, like a minimal cluster. In this case, PreBind succeeds.
    NoVolumes,
    Failed(String),
}

impl BindingPlan {
    /// Writes the bindings, and waits at most `timeout` seconds until the claims are bound (`BindPodVolumes`).
    ///
    /// # Errors
    /// A request to the API server fails, another client has changed an object, the claims cannot be bound, or the
    /// timeout passes.
    pub(super) async fn run(&self, client: &impl Client, timeout: i64) -> Result<(), String> {
        // Subscribes before the writes, so no update is missed.
        let mut updates =
            client.watch_objects(self.watched_objects(), Duration::from_secs(timeout.try_into().unwrap_or_default()));
        let written = match self.write(client).await {
            Ok(written) => written,
            Err(BindError::NoVolumes) => return Ok(()),
            Err(BindError::Failed(reason)) => return Err(reason),
        };
        BindingWait::new(self, written)
            .wait_until_bound(&mut updates)
            .await
            .map_err(|reason| format!("binding volumes: {reason}"))
    }

    /// Returns the objects to watch from the start: the pod, the node, the volumes, and the claims to provision.
    fn watched_objects(&self) -> Vec<ObjectRef> {
        let node = object("Node", "".into(), self.node.clone());
        let volumes = self.bindings.iter().map(|(volume, _)| volume.clone());
        let claims = self.provisions.iter().map(|claim| claim.object.clone());
        [self.pod.clone(), node].into_iter().chain(volumes).chain(claims).collect()
    }

    /// Writes the bindings (`bindAPIUpdate`). An object must be unchanged since the decision, or already have the
    /// new value. Returns the written volumes, and the claims to provision, as they are after the writes.
    async fn write(&self, client: &impl Client) -> Result<Vec<Value>, BindError> {
        let mut written = Vec::with_capacity(self.bindings.len() + self.provisions.len());
        for (volume, claim) in &self.bindings {
            written.push(change(client, volume, |now| claim.claim_ref_patch(volume, now)).await?);
        }
        for claim in &self.provisions {
            written.push(change(client, &claim.object, |now| self.selected_node_patch(claim, now)).await?);
        }
        Ok(written)
    }

    /// Returns the patch that requests the provisioning of the claim's volume, `None` if it is already written.
    fn selected_node_patch(&self, claim: &PlannedClaim, now: &Value) -> Result<Option<Value>, BindError> {
        if annotation(now, SELECTED_NODE) == Some(&*self.node) {
            return Ok(None);
        }
        let is_free = annotation(now, SELECTED_NODE).is_none() && text(&now["spec"]["volumeName"]).is_empty();
        if !is_free || text(&now["metadata"]["uid"]) != &*claim.uid {
            return Err(modified(&claim.object));
        }
        let mut patch = json!({ "metadata": version(now) });
        patch["metadata"]["annotations"] = json!({ SELECTED_NODE: *self.node });
        Ok(Some(patch))
    }
}

/// Patches an object and returns its new state. After an error other than NotFound and Invalid, the patch is computed
/// again from the current object.
async fn change(
    client: &impl Client,
    object: &ObjectRef,
    patch: impl Fn(&Value) -> Result<Option<Value>, BindError>,
) -> Result<Value, BindError> {
    let mut attempts = MAX_ATTEMPTS;
    loop {
        let now = get(client, object).await?;
        let Some(patch) = patch(&now)? else { return Ok(now) };
        attempts -= 1;
        match client.patch(object, &patch).await {
            Ok(now) => return Ok(now),
            Err(error) if attempts == 0 || matches!(error.reason, ApiReason::NotFound | ApiReason::Invalid) => {
                return Err(BindError::Failed(error.message));
            }
            Err(_) => {}
        }
    }
}

impl PlannedClaim {
    /// Returns the patch that binds the volume to the claim, `None` if it is already written.
    fn claim_ref_patch(&self, volume: &ObjectRef, now: &Value) -> Result<Option<Value>, BindError> {
        let taken = &now["spec"]["claimRef"];
        if self.is_referenced_by(taken, &self.uid) {
            return Ok(None);
        }
        let is_promised = self.is_referenced_by(taken, "");
        if !taken.is_null() && !is_promised {
            return Err(modified(volume));
        }
        let claim_ref = json!({
            "apiVersion": "v1", "kind": "PersistentVolumeClaim", "uid": *self.uid,
            "namespace": *self.object.namespace, "name": *self.object.name,
        });
        let mut patch = json!({ "metadata": version(now), "spec": { "claimRef": claim_ref } });
        if !is_promised {
            patch["metadata"]["annotations"] = json!({ BOUND_BY_CONTROLLER: "yes" });
        }
        Ok(Some(patch))
    }

    /// Returns whether a volume's `claimRef` has the claim's namespace and name, and this uid.
    fn is_referenced_by(&self, claim_ref: &Value, uid: &str) -> bool {
        text(&claim_ref["name"]) == &*self.object.name
            && text(&claim_ref["namespace"]) == &*self.object.namespace
            && text(&claim_ref["uid"]) == uid
    }
}

async fn get(client: &impl Client, object: &ObjectRef) -> Result<Value, BindError> {
    client.get(object).await.map_err(|error| match error.reason {
        ApiReason::Unsupported => BindError::NoVolumes,
        _ => BindError::Failed(error.message),
    })
}

/// Returns the API server's error for a patch of an outdated version.
fn modified(object: &ObjectRef) -> BindError {
    let resource = object.kind.to_ascii_lowercase();
    BindError::Failed(format!(
        "Operation cannot be fulfilled on {resource}s {:?}: the object has been modified; please apply your changes to the \
         latest version and try again",
        object.name
    ))
}

/// Returns the metadata of a patch that requires the current version of an object.
fn version(object: &Value) -> Value {
    match &object["metadata"]["resourceVersion"] {
        Value::Null => json!({}),
        version => json!({ "resourceVersion": version }),
    }
}
