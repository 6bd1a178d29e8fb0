//! Creation of objects.

use std::sync::Arc;

use k8s_openapi::jiff::Timestamp;
use serde_json::{Value, json};

use super::{WriteOrigin, check_names, set_condition, text, time};
use crate::kinds::Kind;
use crate::request::Target;
use crate::status_error::StatusError;
use crate::store::{Key, Store};

/// Creates an object, and sets the fields that a server sets.
pub(crate) fn create(
    store: &mut Store,
    target: &Target,
    sent: &Value,
    origin: WriteOrigin,
    now: Timestamp,
) -> Result<Arc<Value>, StatusError> {
    check_names(target, sent)?;
    let mut object = sent.clone();
    if !object["metadata"].is_object() {
        object["metadata"] = json!({});
    }
    if !text(&object, "/metadata/resourceVersion").is_empty() && origin == WriteOrigin::Client {
        return Err(StatusError::unnamed("resourceVersion should not be set on objects to be created"));
    }
    let kind = target.kind;
    let number = store.version() + 1;
    let name = match (text(&object, "/metadata/name"), text(&object, "/metadata/generateName")) {
        ("", "") => {
            let problem = "Required value: name or generateName is required";
            return Err(StatusError::invalid(kind, "", "metadata.name", problem));
        }
        ("", start) => format!("{start}{number:05}"),
        (name, _) => name.to_owned(),
    };
    let key = Key::new(kind, &*target.namespace, &*name);
    if store.get(&key).is_some() {
        return Err(StatusError::already_exists(kind, &name));
    }
    object["kind"] = kind.kind.into();
    object["apiVersion"] = kind.api_version().into();
    let metadata = &mut object["metadata"];
    metadata["name"] = name.as_str().into();
    if kind.is_namespaced {
        metadata["namespace"] = target.namespace.as_str().into();
    }
    // Only a test may choose the uid.
    if origin == WriteOrigin::Client || metadata.get("uid").is_none() {
        metadata["uid"] = format!("00000000-0000-4000-8000-{number:012x}").into();
    }
    if origin == WriteOrigin::Client || metadata.get("creationTimestamp").is_none() {
        metadata["creationTimestamp"] = time(now);
    }
    if kind.has_generation && (origin == WriteOrigin::Client || metadata.get("generation").is_none()) {
        metadata["generation"] = 1.into();
    }
    if kind.has_status && kind.kind != "Node" && origin == WriteOrigin::Client {
        // The status is written separately, later.
        object.as_object_mut().and_then(|fields| fields.remove("status"));
    }
    match kind.kind {
        "Event" => check_event(kind, &object, &name)?,
        "Namespace" => object["metadata"]["labels"]["kubernetes.io/metadata.name"] = name.as_str().into(),
        "Pod" => default_pod(store, &mut object, now),
        "PersistentVolume" | "PersistentVolumeClaim" if origin == WriteOrigin::Client => {
            object["status"] = json!({"phase": "Pending"});
        }
        _ => {}
    }
    Ok(store.put(&key, object))
}

fn check_event(kind: &Kind, event: &Value, name: &str) -> Result<(), StatusError> {
    if text(event, "/note").chars().count() > 1024 {
        return Err(StatusError::invalid(
            kind,
            name,
            "message",
            "Invalid value: \"\": can have at most 1024 characters",
        ));
    }
    if kind.group.is_empty() {
        return Ok(());
    }
    if text(event, "/eventTime").is_empty() {
        return Err(StatusError::invalid(kind, name, "eventTime", "Required value"));
    }
    for field in ["reportingController", "reportingInstance", "action", "reason"] {
        if text(event, &format!("/{field}")).is_empty() {
            return Err(StatusError::invalid(kind, name, field, "Required value"));
        }
    }
    if !["Normal", "Warning"].contains(&text(event, "/type")) {
        let problem = format!("Invalid value: \"\": has invalid value: {}", text(event, "/type"));
        return Err(StatusError::invalid(kind, name, "type", &problem));
    }
    Ok(())
}

/// Sets only those defaults that schedulers read.
fn default_pod(store: &Store, pod: &mut Value, now: Timestamp) {
    if !pod["spec"].is_object() {
        pod["spec"] = json!({});
    }
    let (priority, policy) = priority(store, text(pod, "/spec/priorityClassName"));
    let spec = &mut pod["spec"];
    for (field, value) in [
        ("schedulerName", json!("default-scheduler")),
        ("restartPolicy", json!("Always")),
        ("terminationGracePeriodSeconds", json!(30)),
        ("priority", priority),
        ("preemptionPolicy", policy),
    ] {
        if spec.get(field).is_none_or(Value::is_null) {
            spec[field] = value;
        }
    }
    if !pod["status"].is_object() {
        pod["status"] = json!({});
    }
    if pod["status"].get("phase").is_none() {
        pod["status"]["phase"] = "Pending".into();
    }
    let is_gated = pod["spec"]["schedulingGates"].as_array().is_some_and(|gates| !gates.is_empty());
    if is_gated && pod["status"].get("conditions").is_none() {
        let message = "Scheduling is blocked due to non-empty scheduling gates";
        let reason = "SchedulingGated";
        let condition = json!({
            "type": "PodScheduled", "status": "False", "reason": reason, "message": message,
            "lastTransitionTime": time(now)
        });
        set_condition(pod, condition);
    }
}

/// Returns the priority and preemption policy of a class; without a class, those of the default class if it exists.
fn priority(store: &Store, name: &str) -> (Value, Value) {
    let builtin = match name {
        "system-cluster-critical" => Some(2_000_000_000),
        "system-node-critical" => Some(2_000_001_000),
        _ => None,
    };
    let classes = Kind::of_object("scheduling.k8s.io/v1", "PriorityClass");
    let mut classes = classes.into_iter().flat_map(|kind| store.list(kind, ""));
    let class = classes.find(|class| match name {
        "" => class["globalDefault"] == true,
        name => class["metadata"]["name"] == name,
    });
    let value = class.map(|class| class["value"].clone()).or(builtin.map(Value::from)).unwrap_or(json!(0));
    let policy = class.and_then(|class| class.get("preemptionPolicy").cloned());
    (value, policy.unwrap_or(json!("PreemptLowerPriority")))
}
