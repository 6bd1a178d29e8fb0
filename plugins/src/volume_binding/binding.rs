//! What PreBind does: it tells the cluster what was assumed, and waits until it is so.

use std::sync::Arc;
use std::time::Duration;

use schedc_core::client::{ApiReason, Client, ObjectRef};
use schedc_core::extension_points::Placement;
use schedc_core::intern::{Interner, Symbol};
use schedc_core::model::{PersistentVolume, PersistentVolumeClaim};
use serde_json::{Value, json};

use super::binding_wait::BindingWait;
use crate::columns::NodeLabels;

const BOUND_BY_CONTROLLER: &str = "pv.kubernetes.io/bound-by-controller";
pub(super) const SELECTED_NODE: &str = "volume.kubernetes.io/selected-node";

/// How often something is written at most.
const MAX_ATTEMPTS: u32 = 3;

/// What is to be done for a pod's unbound claims. It is in words, since it is done beside the scheduler, whose symbols are not
/// there.
#[derive(Debug)]
pub(super) struct BindingPlan {
    pod: ObjectRef,
    pub(super) node: Arc<str>,
    pub(super) labels: Box<[(Arc<str>, Arc<str>)]>,
    pub(super) bindings: Vec<(ObjectRef, PlannedClaim)>,
    pub(super) provisions: Vec<PlannedClaim>,
}

#[derive(Debug)]
pub(super) struct PlannedClaim {
    pub(super) object: ObjectRef,
    uid: Arc<str>,
}

/// Why it was not done.
enum BindError {
    /// This cluster has no volumes: all is as it should be.
    NoVolumes,
    Failed(String),
}

impl BindingPlan {
    /// Nothing yet, for a pod that goes to a node.
    pub(super) fn new(placement: &Placement, node: &NodeLabels, interner: &Interner) -> BindingPlan {
        let label = |&(key, value): &(Symbol, Symbol)| (interner.share(key), interner.share(value));
        BindingPlan {
            pod: object("Pod", placement.pod.namespace.clone(), placement.pod.name.clone()),
            node: placement.node_name.clone(),
            labels: node.labels.iter().map(label).collect(),
            bindings: Vec::new(),
            provisions: Vec::new(),
        }
    }

    /// The claim gets this volume.
    pub(super) fn bind(&mut self, volume: &PersistentVolume, claim: &PersistentVolumeClaim, interner: &Interner) {
        let volume = object("PersistentVolume", "".into(), interner.share(volume.name));
        self.bindings.push((volume, PlannedClaim::new(claim, interner)));
    }

    /// The claim gets a volume that is made for the node.
    pub(super) fn provision(&mut self, claim: &PersistentVolumeClaim, interner: &Interner) {
        self.provisions.push(PlannedClaim::new(claim, interner));
    }

    /// Does it, and waits for so many seconds at most (`BindPodVolumes`).
    ///
    /// # Errors
    /// The cluster refused, or something else came of it, or it takes too long.
    pub(super) async fn run(&self, client: &impl Client, timeout: i64) -> Result<(), String> {
        // Nothing is missed that happens while it writes.
        let mut news =
            client.watch_objects(self.watched_objects(), Duration::from_secs(timeout.try_into().unwrap_or_default()));
        let written = match self.write(client).await {
            Ok(written) => written,
            Err(BindError::NoVolumes) => return Ok(()),
            Err(BindError::Failed(reason)) => return Err(reason),
        };
        BindingWait::new(self, written)
            .wait_until_bound(&mut news)
            .await
            .map_err(|reason| format!("binding volumes: {reason}"))
    }

    /// What is followed from the beginning: the pod, the node, the volumes, and the claims whose volumes are made.
    fn watched_objects(&self) -> Vec<ObjectRef> {
        let node = object("Node", "".into(), self.node.clone());
        let volumes = self.bindings.iter().map(|(volume, _)| volume.clone());
        let claims = self.provisions.iter().map(|claim| claim.object.clone());
        [self.pod.clone(), node].into_iter().chain(volumes).chain(claims).collect()
    }

    /// Tells the cluster (`bindAPIUpdate`). What is there must be what the decision was made of, or what was decided. Returns
    /// what was written, as it is then: the volumes, and the claims whose volumes are made.
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

    /// What is to be written so that a volume is made for the claim. `None`: it is written.
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

/// Changes an object by the patch that follows from how it is, and returns how it is then. A patch that came too late, or of
/// which nobody knows whether it was done, is made anew of what is there.
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
    fn new(claim: &PersistentVolumeClaim, interner: &Interner) -> PlannedClaim {
        let (namespace, name) = (interner.share(claim.namespace), interner.share(claim.name));
        PlannedClaim { object: object("PersistentVolumeClaim", namespace, name), uid: claim.uid.clone() }
    }

    /// What is to be written so that the claim gets a volume. `None`: it is written.
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

    /// Whether a volume's `claimRef` names it, with this uid.
    fn is_referenced_by(&self, claim_ref: &Value, uid: &str) -> bool {
        text(&claim_ref["name"]) == &*self.object.name
            && text(&claim_ref["namespace"]) == &*self.object.namespace
            && text(&claim_ref["uid"]) == uid
    }
}

pub(super) fn object(kind: &str, namespace: Arc<str>, name: Arc<str>) -> ObjectRef {
    ObjectRef { api_version: "v1".into(), kind: kind.into(), namespace, name }
}

async fn get(client: &impl Client, object: &ObjectRef) -> Result<Value, BindError> {
    client.get(object).await.map_err(|error| match error.reason {
        ApiReason::Unsupported => BindError::NoVolumes,
        _ => BindError::Failed(error.message),
    })
}

/// What an API server says of a change to another version than there is.
fn modified(object: &ObjectRef) -> BindError {
    let resource = object.kind.to_ascii_lowercase();
    BindError::Failed(format!(
        "Operation cannot be fulfilled on {resource}s {:?}: the object has been modified; please apply your changes to the \
         latest version and try again",
        object.name
    ))
}

/// The condition that an object is still of this version.
fn version(object: &Value) -> Value {
    match &object["metadata"]["resourceVersion"] {
        Value::Null => json!({}),
        version => json!({ "resourceVersion": version }),
    }
}

pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

pub(super) fn annotation<'a>(object: &'a Value, key: &str) -> Option<&'a str> {
    object["metadata"]["annotations"][key].as_str()
}
