//! Writes of resource claims, and the pods for which a scheduler makes them.

use schedc_core::model::EXTENDED_RESOURCE_CLAIM_ANNOTATION;
use schedc_kubernetes::shadow::earlier_answers::ClaimWrite;
use serde_json::Value;

/// Namespace and name of a pod or claim.
pub(super) type Name = (String, String);

/// Returns the claim write that a recorded object represents. Returns `None` if the object is not a claim.
pub(super) fn claim_write(object: &Value) -> Option<ClaimWrite<Name, Name>> {
    if object["kind"] != "ResourceClaim" {
        return None;
    }
    let metadata = &object["metadata"];
    let namespace = metadata["namespace"].as_str()?;
    let name_of = |reference: &Value| Some((namespace.to_owned(), reference["name"].as_str()?.to_owned()));
    let is_extended = metadata["annotations"][EXTENDED_RESOURCE_CLAIM_ANNOTATION] == "true";
    let mut owners = items(&metadata["ownerReferences"]).filter(|owner| is_extended && owner["kind"] == "Pod");
    let consumers = items(&object["status"]["reservedFor"]).filter(|consumer| consumer["resource"] == "pods");
    Some(ClaimWrite {
        claim: name_of(metadata)?,
        created_for: owners.find_map(name_of),
        is_allocated: object["status"]["allocation"].is_object(),
        reserved_for: consumers.filter_map(name_of).collect(),
    })
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}
