//! Resource claims of a scenario, which placed pods allocate and reserve.

use std::collections::HashMap;

use k8s_openapi::api::resource::v1::{
    AllocationResult, DeviceClaim, ResourceClaim, ResourceClaimConsumerReference, ResourceClaimSpec,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference, Time};
use k8s_openapi::jiff::Timestamp;
use schedc_core::erased::SCENARIO_TIME;
use schedc_core::model::Pod;
use schedc_objects::AnyObject;
use serde_json::{Value, json};

/// Finalizer that keeps an allocated claim from being deleted.
const FINALIZER: &str = "resource.kubernetes.io/delete-protection";
/// Annotation that marks the claim for a pod's extended resources.
const EXTENDED_CLAIM_ANNOTATION: &str = "resource.kubernetes.io/extended-resource-claim";

/// The resource claims as they are in the cluster.
#[derive(Default)]
pub(super) struct Claims {
    /// By `namespace/name`.
    claims: HashMap<String, ResourceClaim>,
    /// Number of share IDs that were assigned so far.
    shares: usize,
}

impl Claims {
    /// Adds or replaces an object, if it is a claim.
    pub(super) fn set(&mut self, object: &AnyObject) {
        if let AnyObject::ResourceClaim(claim) = object {
            self.claims.insert(format!("{}/{}", object.namespace(), object.name()), (**claim).clone());
        }
    }

    /// Removes an object, if it is a claim.
    pub(super) fn remove(&mut self, kind: &str, namespace: &str, name: &str) {
        if kind == "ResourceClaim" {
            self.claims.remove(&format!("{namespace}/{name}"));
        }
    }

    /// Returns the claims of a pod after its placement. `entries` are the pod's allocations on its node.
    pub(super) fn placed(&mut self, pod: &Pod, entries: &Value) -> Vec<AnyObject> {
        let entries = entries.as_array().into_iter().flatten();
        entries.filter_map(|entry| self.placed_claim(pod, entry)).map(Into::into).collect()
    }

    fn placed_claim(&mut self, pod: &Pod, entry: &Value) -> Option<ResourceClaim> {
        let mut claim = match entry["claim"].as_str() {
            Some(name) => self.claims.get(name)?.clone(),
            None => extended_claim(pod, entry),
        };
        if entry["new"] == true {
            let finalizers = claim.metadata.finalizers.get_or_insert_default();
            if finalizers.iter().all(|finalizer| finalizer != FINALIZER) {
                finalizers.push(FINALIZER.to_owned());
            }
            claim.status.get_or_insert_default().allocation = Some(self.allocation(entry));
        }
        let status = claim.status.get_or_insert_default();
        if entry["reserves"] == true {
            let (name, uid) = (pod.name.to_string(), pod.uid.0.to_string());
            let consumer = ResourceClaimConsumerReference { api_group: None, name, resource: "pods".to_owned(), uid };
            status.reserved_for.get_or_insert_default().push(consumer);
        }
        if let Some(allocation) = &mut status.allocation {
            allocation.allocation_timestamp.get_or_insert_with(now);
        }
        Some(claim)
    }

    /// Converts an entry to an allocation. Each share of a device gets a separate id.
    fn allocation(&mut self, entry: &Value) -> AllocationResult {
        let mut devices = json!({"results": entry["results"], "config": entry["config"]});
        for result in devices["results"].as_array_mut().into_iter().flatten() {
            if result["shareID"].is_string() {
                self.shares += 1;
                result["shareID"] = format!("share-{}", self.shares).into();
            }
        }
        serde_json::from_value(json!({"devices": devices, "nodeSelector": entry["nodeSelector"]})).unwrap_or_default()
    }
}

/// Returns the fixed time at which all decisions are made.
fn now() -> Time {
    Time(Timestamp::from_nanosecond(SCENARIO_TIME.into()).unwrap_or(Timestamp::MAX))
}

/// Returns the claim for a pod's extended resources, without status.
fn extended_claim(pod: &Pod, entry: &Value) -> ResourceClaim {
    let owner = OwnerReference {
        api_version: "v1".to_owned(),
        kind: "Pod".to_owned(),
        name: pod.name.to_string(),
        uid: pod.uid.0.to_string(),
        controller: Some(true),
        block_owner_deletion: None,
    };
    ResourceClaim {
        metadata: ObjectMeta {
            namespace: Some(pod.namespace.to_string()),
            name: Some(format!("{}-extended-resources", pod.name)),
            annotations: Some([(EXTENDED_CLAIM_ANNOTATION.to_owned(), "true".to_owned())].into()),
            owner_references: Some(vec![owner]),
            ..ObjectMeta::default()
        },
        spec: ResourceClaimSpec {
            devices: Some(DeviceClaim {
                requests: serde_json::from_value(entry["requests"].clone()).unwrap_or_default(),
                ..DeviceClaim::default()
            }),
        },
        status: None,
    }
}
