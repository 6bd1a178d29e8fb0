//! Bindings of pods.

use k8s_openapi::jiff::Timestamp;
use serde_json::{Value, json};

use super::update::failed_precondition;
use super::{set_condition, text, time};
use crate::kinds::Kind;
use crate::request::Target;
use crate::status_error::StatusError;
use crate::store::{Key, Store};

/// Node labels that a binding copies to the pod.
const TOPOLOGY: [&str; 2] = ["topology.kubernetes.io/zone", "topology.kubernetes.io/region"];

/// Binds a pod: sets its node, the annotations of the binding, the node's topology labels and the condition
/// `PodScheduled`, and clears the pod's nomination.
pub(crate) fn bind(store: &mut Store, target: &Target, binding: &Value, now: Timestamp) -> Result<(), StatusError> {
    let kind = target.kind;
    let name = &target.name;
    for (field, url) in [("name", name), ("namespace", &target.namespace)] {
        let given = text(binding, &format!("/metadata/{field}"));
        if !given.is_empty() && given != url {
            return Err(StatusError::new(400, format!("{field} in URL does not match {field} in Binding object")));
        }
    }
    let node = text(binding, "/target/name");
    if node.is_empty() {
        return Err(StatusError::unnamed("target.name: Required value"));
    }
    let key = target.key();
    let known = store.get(&key).ok_or_else(|| StatusError::not_found(kind, name))?;
    if let Some(reason) = failed_precondition(&key, binding, known, "UID")
        .or_else(|| failed_precondition(&key, binding, known, "ResourceVersion"))
    {
        return Err(StatusError::conflict(kind, "pods", name, reason));
    }
    let refuse = |reason: String| Err(StatusError::conflict(kind, "pods/binding", name, reason));
    if known["metadata"].get("deletionTimestamp").is_some() {
        return refuse(format!("pod {name} is being deleted, cannot be assigned to a host"));
    }
    let bound = text(known, "/spec/nodeName");
    if !bound.is_empty() {
        return refuse(format!("pod {name} is already assigned to node \"{bound}\""));
    }
    if known["spec"]["schedulingGates"].as_array().is_some_and(|gates| !gates.is_empty()) {
        return refuse(format!("pod {name} has non-empty .spec.schedulingGates"));
    }

    let mut pod = (**known).clone();
    pod["spec"]["nodeName"] = node.into();
    for (name, value) in binding["metadata"]["annotations"].as_object().into_iter().flatten() {
        pod["metadata"]["annotations"][name] = value.clone();
    }
    let node = Kind::of_object("v1", "Node").and_then(|kind| store.get(&Key::new(kind, "", node)));
    for label in TOPOLOGY {
        if let Some(value) = node.and_then(|node| node["metadata"]["labels"].get(label)) {
            pod["metadata"]["labels"][label] = value.clone();
        }
    }
    if let Some(status) = pod["status"].as_object_mut() {
        status.remove("nominatedNodeName");
    }
    let condition = json!({"type": "PodScheduled", "status": "True", "lastTransitionTime": time(now)});
    set_condition(&mut pod, condition);
    store.put(&key, pod);
    Ok(())
}
