//! The JSON of claims that PreBind writes, and of plans for reports.

use schedc_core::intern::{Interner, Resolve, SharedTexts};
use schedc_core::model::{AllocationResult, EXTENDED_RESOURCE_CLAIM_ANNOTATION, Pod};
use serde_json::{Value, json};

use super::super::extended::{ExtendedClaim, RequestMapping};
use super::{ClaimTarget, PlannedClaim};

impl PlannedClaim {
    pub(super) fn preview(&self, interner: &Interner) -> Value {
        let mut entry = json!({ "new": self.new.is_some() });
        match &self.target {
            ClaimTarget::Existing { namespace, name, .. } => {
                entry["claim"] = format!("{namespace}/{name}").into();
                if let Some(name) = &self.pod_claim {
                    entry["podClaim"] = (**name).into();
                }
            }
            ClaimTarget::New { extended, .. } => {
                entry["extended"] = true.into();
                if !extended.spec.requests.is_empty() {
                    entry["requests"] = extended.spec.to_json(interner)["devices"]["requests"].take();
                    entry["mappings"] = mappings(&extended.mappings, interner);
                }
            }
        }
        if let Some(allocation) = self.allocation() {
            let mut written = allocation.to_json(interner);
            let results = written["devices"]["results"].as_array_mut().into_iter().flatten();
            // Share ids are arbitrary, and would make reports of equal allocations differ.
            results.filter(|result| result["shareID"].is_string()).for_each(|result| result["shareID"] = "*".into());
            for (field, value) in [
                ("results", written["devices"]["results"].take()),
                ("config", written["devices"]["config"].take()),
                ("nodeSelector", written["nodeSelector"].take()),
            ] {
                if !value.is_null() {
                    entry[field] = value;
                }
            }
        }
        if !self.is_reserved {
            entry["reserves"] = true.into();
        }
        entry
    }
}

/// Returns a time, in nanoseconds since 1970, as the JSON of `allocationTimestamp`.
pub(super) fn timestamp(now: i64) -> Value {
    let allocation = AllocationResult { timestamp: Some(now), ..AllocationResult::default() };
    allocation.to_json(&SharedTexts::default())["allocationTimestamp"].take()
}

/// Returns `requestMappings` of a pod's status.
pub(super) fn mappings(mappings: &[RequestMapping], texts: &impl Resolve) -> Value {
    let text = |symbol| texts.resolve(symbol);
    let mapping = |mapping: &RequestMapping| {
        json!({
            "containerName": text(mapping.container),
            "resourceName": text(mapping.resource),
            "requestName": text(mapping.request),
        })
    };
    mappings.iter().map(mapping).collect()
}

/// Returns the manifest of a claim for extended resources.
pub(super) fn manifest(pod: &Pod, extended: &ExtendedClaim, texts: &impl Resolve) -> Value {
    let owner = json!({ "apiVersion": "v1", "kind": "Pod", "name": *pod.name, "uid": *pod.uid.0, "controller": true });
    json!({
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {
            "namespace": *pod.namespace,
            "generateName": format!("{}-extended-resources-", pod.name),
            "annotations": { EXTENDED_RESOURCE_CLAIM_ANNOTATION: "true" },
            "ownerReferences": [owner],
        },
        "spec": { "devices": { "requests": extended.spec.to_json(texts)["devices"]["requests"].take() } },
    })
}

/// Returns the value of a JSON string; an empty text for other values.
pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
