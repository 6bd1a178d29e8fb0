//! Validation: what an API server refuses to create, as far as it concerns scheduling.

mod pod;
mod resources;
mod selectors;
mod storage;
mod workload;

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::Node;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use schedc_core::model::{dns_subdomain_problems, label_key_problems, label_value_problems};

use super::Complaints;
use crate::kinds::{AnyObject, object_name};
pub(super) use pod::{pod, preemption_policy};

/// What an object is called.
pub(super) fn name(kind: &str, metadata: &ObjectMeta) -> String {
    object_name(kind, metadata)
}

/// An object that is neither a node nor a pod nor a priority class.
pub(super) fn other(object: &AnyObject, complaints: &mut Complaints<'_>) {
    metadata(object.metadata(), complaints);
    match object {
        AnyObject::Service(service) => {
            let selector = service.spec.as_ref().and_then(|spec| spec.selector.as_ref());
            workload::plain_selector(selector, false, complaints);
        }
        AnyObject::ReplicationController(controller) => {
            let selector = controller.spec.as_ref().and_then(|spec| spec.selector.as_ref());
            workload::plain_selector(selector, true, complaints);
        }
        AnyObject::ReplicaSet(set) => workload::selector(set.spec.as_ref().map(|spec| &spec.selector), complaints),
        AnyObject::StatefulSet(set) => workload::selector(set.spec.as_ref().map(|spec| &spec.selector), complaints),
        AnyObject::Deployment(deployment) => {
            workload::selector(deployment.spec.as_ref().map(|spec| &spec.selector), complaints);
        }
        AnyObject::PodDisruptionBudget(budget) => workload::budget(budget, complaints),
        AnyObject::PersistentVolume(volume) => storage::volume(volume, complaints),
        AnyObject::PersistentVolumeClaim(claim) => storage::claim(claim, complaints),
        AnyObject::StorageClass(class) => storage::class(class, complaints),
        AnyObject::CsiNode(node) => storage::csi_node(node, complaints),
        AnyObject::CsiStorageCapacity(capacity) => storage::capacity(capacity, complaints),
        AnyObject::VolumeAttachment(attachment) => storage::attachment(attachment, complaints),
        // The others have checks elsewhere, or nothing to check.
        AnyObject::Node(_)
        | AnyObject::Pod(_)
        | AnyObject::PriorityClass(_)
        | AnyObject::Namespace(_)
        | AnyObject::CsiDriver(_)
        | AnyObject::ResourceClaim(_)
        | AnyObject::ResourceSlice(_)
        | AnyObject::DeviceClass(_)
        | AnyObject::Custom(_) => {}
    }
}

pub(super) fn node(node: &Node, complaints: &mut Complaints<'_>) {
    metadata(&node.metadata, complaints);
    if let Some(status) = &node.status {
        resources::amounts("status.allocatable", status.allocatable.as_ref(), complaints);
        resources::amounts("status.capacity", status.capacity.as_ref(), complaints);
    }
    let taints = node.spec.as_ref().and_then(|spec| spec.taints.as_deref()).unwrap_or_default();
    for (i, taint) in taints.iter().enumerate() {
        let path = format!("spec.taints[{i}]");
        key(&format!("{path}.key"), &taint.key, complaints);
        value(&format!("{path}.value"), taint.value.as_deref().unwrap_or_default(), complaints);
        effect(&format!("{path}.effect"), &taint.effect, complaints);
        if taints.iter().take(i).any(|other| (&other.key, &other.effect) == (&taint.key, &taint.effect)) {
            complaints.say(path, "is a second taint with this key and effect; remove one of them");
        }
    }
}

/// The name and the labels of an object.
pub(super) fn metadata(metadata: &ObjectMeta, complaints: &mut Complaints<'_>) {
    match metadata.name.as_deref().unwrap_or_default() {
        "" => complaints.say("metadata.name", "is missing; every object needs a name"),
        name => syntax("metadata.name", name, dns_subdomain_problems(name), complaints),
    }
    if let Some(namespace) = metadata.namespace.as_deref().filter(|namespace| !namespace.is_empty()) {
        syntax("metadata.namespace", namespace, dns_subdomain_problems(namespace), complaints);
    }
    labels("metadata.labels", metadata.labels.as_ref(), complaints);
}

fn labels(path: &str, labels: Option<&BTreeMap<String, String>>, complaints: &mut Complaints<'_>) {
    for (name, text) in labels.into_iter().flatten() {
        key(path, name, complaints);
        value(&format!("{path}[{name}]"), text, complaints);
    }
}

fn key(path: &str, text: &str, complaints: &mut Complaints<'_>) {
    syntax(path, text, label_key_problems(text), complaints);
}

fn value(path: &str, text: &str, complaints: &mut Complaints<'_>) {
    syntax(path, text, label_value_problems(text), complaints);
}

/// Passes on the first of Kubernetes' complaints about a text, without the regular expression.
fn syntax(path: &str, text: &str, problems: Vec<String>, complaints: &mut Complaints<'_>) {
    if let Some(problem) = problems.first() {
        let problem = problem.split(" (e.g. ").next().unwrap_or_default();
        complaints.say(path, format!("`{text}`: {problem}"));
    }
}

fn effect(path: &str, text: &str, complaints: &mut Complaints<'_>) {
    one_of(path, text, &["NoSchedule", "PreferNoSchedule", "NoExecute"], complaints);
}

/// Whether a text is one of the words that there are.
fn one_of(path: &str, text: &str, known: &[&str], complaints: &mut Complaints<'_>) -> bool {
    let is_known = known.contains(&text);
    if !is_known {
        let quoted: Vec<_> = known.iter().map(|known| format!("`{known}`")).collect();
        let one_of = if known.len() == 1 { "" } else { "one of " };
        complaints.say(path, format!("is `{text}`, but must be {one_of}{}", quoted.join(", ")));
    }
    is_known
}
