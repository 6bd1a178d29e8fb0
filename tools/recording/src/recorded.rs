//! The fields of objects that are recorded: an allow-list, which keeps secrets out of recordings.
//!
//! Objects arrive with the fields that [`schedc_objects::decode`] selects: those that scheduling reads. They include no
//! environment, command, volume secret or managed field. This module also removes fields that decisions do not depend
//! on: versions, most annotations, opaque parameters of devices, and messages of conditions other than the scheduler's.

use std::mem;
use std::sync::LazyLock;

use k8s_openapi::api::core::v1::{Node, Pod, Volume};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use schedc_objects::AnyObject;
use serde_json::Value;

use crate::entry::ObjectText;

/// Annotations that decisions depend on.
const ANNOTATIONS: &[&str] = &[
    "pv.kubernetes.io/bind-completed",
    "pv.kubernetes.io/bound-by-controller",
    "resource.kubernetes.io/extended-resource-claim",
    "storage.alpha.kubernetes.io/migrated-plugins",
    "volume.beta.kubernetes.io/storage-class",
    "volume.kubernetes.io/selected-node",
];

static EMPTY_VOLUME: LazyLock<Volume> = LazyLock::new(Volume::default);

/// Returns the object with its recorded fields, except for those that [`text`] removes.
pub(crate) fn select(mut object: AnyObject) -> AnyObject {
    clean_metadata(object.metadata_mut());
    match &mut object {
        AnyObject::Pod(pod) => {
            clean_pod_conditions(pod);
            clean_pod_volumes(pod);
        }
        AnyObject::Node(node) => clean_node_conditions(node),
        _ => {}
    }
    object
}

/// Returns the text of a selected object, or `None` if it cannot be written as JSON, which does not happen in practice.
pub(crate) fn text(object: &AnyObject) -> Option<ObjectText> {
    match object {
        AnyObject::ResourceClaim(_) | AnyObject::DeviceClass(_) => {
            let mut json = object.to_json().ok()?;
            remove_opaque(&mut json);
            ObjectText::new(&json)
        }
        _ => object.to_json_text().ok().map(ObjectText::from),
    }
}

fn clean_metadata(metadata: &mut ObjectMeta) {
    metadata.resource_version = None;
    metadata.managed_fields = None;
    metadata.generation = None;
    metadata.self_link = None;
    if let Some(annotations) = &mut metadata.annotations {
        annotations.retain(|key, _| ANNOTATIONS.contains(&key.as_str()));
        if annotations.is_empty() {
            metadata.annotations = None;
        }
    }
}

/// Removes the fields of resource claims and device classes that only drivers read: parameters of opaque
/// configurations, and the data of allocated devices.
fn remove_opaque(object: &mut Value) {
    for pointer in ["/spec/config", "/spec/devices/config", "/status/allocation/devices/config"] {
        for configuration in object.pointer_mut(pointer).and_then(Value::as_array_mut).into_iter().flatten() {
            if let Some(opaque) = configuration.get_mut("opaque").and_then(Value::as_object_mut) {
                opaque.remove("parameters");
            }
        }
    }
    for device in object.pointer_mut("/status/devices").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(device) = device.as_object_mut() {
            device.remove("data");
            device.remove("networkData");
        }
    }
}

/// Removes the texts and times of conditions, except for the text of the scheduler's decision.
fn clean_pod_conditions(pod: &mut Pod) {
    let conditions = pod.status.as_mut().and_then(|status| status.conditions.as_mut());
    for condition in conditions.into_iter().flatten() {
        condition.last_probe_time = None;
        condition.last_transition_time = None;
        condition.observed_generation = None;
        if condition.type_ != "PodScheduled" {
            condition.message = None;
        }
    }
}

/// Removes the volumes of which only the name was decoded: scheduling does not read them. Names of token volumes differ
/// by pod, which would give each pod a different template.
fn clean_pod_volumes(pod: &mut Pod) {
    let Some(spec) = &mut pod.spec else { return };
    let Some(volumes) = &mut spec.volumes else { return };
    volumes.retain_mut(|volume| {
        let name = mem::take(&mut volume.name);
        let has_source = *volume != *EMPTY_VOLUME;
        volume.name = name;
        has_source
    });
    if volumes.is_empty() {
        spec.volumes = None;
    }
}

/// Removes the texts and times of conditions.
fn clean_node_conditions(node: &mut Node) {
    let conditions = node.status.as_mut().and_then(|status| status.conditions.as_mut());
    for condition in conditions.into_iter().flatten() {
        condition.last_heartbeat_time = None;
        condition.last_transition_time = None;
        condition.message = None;
    }
}

#[cfg(test)]
mod tests {
    use schedc_objects::decode::KindReader;
    use serde_json::json;

    use super::*;

    /// Returns the recorded text of an object that an API server returns.
    fn text(kind: &str, object: &Value) -> String {
        let read = KindReader::Known(kind).read_json(&object.to_string());
        super::text(&select(read.expect("an object"))).expect("JSON").parse().to_string()
    }

    #[test]
    fn secrets_are_not_recorded() {
        let secret = "s3cret";
        let metadata = json!({
            "name": "a", "namespace": "n", "uid": "u", "resourceVersion": "7", "labels": {"app": "web"},
            "annotations": {"kubectl.kubernetes.io/last-applied-configuration": secret, "note": secret},
            "managedFields": [{"manager": secret}],
        });
        let pod = json!({"metadata": metadata, "spec": {
            "containers": [{
                "name": "c", "image": "i", "command": [secret], "args": [secret],
                "env": [{"name": "TOKEN", "value": secret}], "envFrom": [{"secretRef": {"name": secret}}],
                "livenessProbe": {"httpGet": {"httpHeaders": [{"name": "Authorization", "value": secret}], "port": 1}},
                "resources": {"requests": {"cpu": "1"}},
            }],
            "volumes": [
                {"name": "v", "secret": {"secretName": secret}},
                {"name": "w", "csi": {"driver": "d", "volumeAttributes": {"key": secret}, "nodePublishSecretRef": {"name": secret}}},
            ],
            "imagePullSecrets": [{"name": secret}], "serviceAccountName": secret, "hostAliases": [{"ip": secret}],
        }, "status": {"message": secret, "conditions": [{"type": "Ready", "status": "False", "message": secret}]}});
        let volume = json!({"metadata": metadata, "spec": {"capacity": {"storage": "1Gi"}, "csi": {
            "driver": "d", "volumeHandle": "h", "volumeAttributes": {"key": secret},
            "nodeStageSecretRef": {"name": secret, "namespace": secret},
        }}});
        let claim = json!({"metadata": metadata, "spec": {"devices": {"config": [
            {"opaque": {"driver": "d", "parameters": {"key": secret}}},
        ]}}, "status": {"devices": [{"driver": "d", "pool": "p", "device": "x", "data": {"key": secret}}]}});
        let node = json!({"metadata": metadata, "spec": {}, "status": {
            "allocatable": {"cpu": "4"}, "conditions": [{"type": "Ready", "status": "True", "message": secret}],
            "addresses": [{"type": "InternalIP", "address": secret}],
        }});
        for (kind, object, present) in [
            ("Pod", &pod, "\"cpu\":\"1\""),
            ("PersistentVolume", &volume, "\"volumeHandle\":\"h\""),
            ("ResourceClaim", &claim, "\"driver\":\"d\""),
            ("Node", &node, "\"cpu\":\"4\""),
        ] {
            let text = text(kind, object);
            assert!(!text.contains(secret), "{kind}: {text}");
            assert!(text.contains(present), "{kind}: {text}");
        }
    }

    #[test]
    fn a_heartbeat_changes_nothing() {
        let node = |version: &str, time: &str| {
            text(
                "Node",
                &json!({"metadata": {"name": "n", "resourceVersion": version}, "status": {"conditions": [
                    {"type": "Ready", "status": "True", "lastHeartbeatTime": time, "lastTransitionTime": time},
                ]}}),
            )
        };
        assert_eq!(node("1", "2026-01-01T00:00:00Z"), node("2", "2026-01-01T00:05:00Z"));
    }

    #[test]
    fn annotations_that_decisions_depend_on_are_recorded() {
        let claim = json!({"metadata": {"name": "c", "annotations": {"volume.kubernetes.io/selected-node": "n1"}}});
        assert!(text("PersistentVolumeClaim", &claim).contains("\"volume.kubernetes.io/selected-node\":\"n1\""));
    }
}
