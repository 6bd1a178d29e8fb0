//! The pods for which a scheduler writes a claim.

use schedc_core::model::EXTENDED_RESOURCE_CLAIM_ANNOTATION;
use serde_json::Value;

/// The pods of a claim.
pub(super) struct Reservations<'o> {
    /// Namespace of the claim and the pods.
    pub(super) namespace: &'o str,
    /// Name of the claim.
    pub(super) claim: &'o str,
    /// The pods for which the claim is allocated, and the pod for whose extended resources it was created.
    pub(super) pods: Vec<&'o str>,
}

impl<'o> Reservations<'o> {
    /// Reads a recorded object. `None`: it is not a claim.
    pub(super) fn of(object: &'o Value) -> Option<Self> {
        if object["kind"] != "ResourceClaim" {
            return None;
        }
        let metadata = &object["metadata"];
        let is_extended = metadata["annotations"][EXTENDED_RESOURCE_CLAIM_ANNOTATION] == "true";
        let owners = items(&metadata["ownerReferences"]).filter(|owner| is_extended && owner["kind"] == "Pod");
        let is_allocated = object["status"]["allocation"].is_object();
        let consumers =
            items(&object["status"]["reservedFor"]).filter(|consumer| is_allocated && consumer["resource"] == "pods");
        Some(Reservations {
            namespace: metadata["namespace"].as_str()?,
            claim: metadata["name"].as_str()?,
            pods: owners.chain(consumers).filter_map(|reference| reference["name"].as_str()).collect(),
        })
    }
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}
