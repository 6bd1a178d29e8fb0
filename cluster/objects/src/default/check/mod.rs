//! Validation of objects, limited to the API server's rules that concern scheduling.

mod devices;
mod pod;
mod resources;
mod selectors;
mod sources;
mod storage;
mod workload;

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::Node;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use schedc_core::model::{dns_subdomain_problems, label_key_problems, label_value_problems};
use schedc_kinds::{AnyObject, object_name};

use super::ProblemReporter;
pub(super) use pod::{pod, preemption_policy};

/// Returns the name of an object for messages: its kind, its namespace and its name.
pub(super) fn name(kind: &str, metadata: &ObjectMeta) -> String {
    object_name(kind, metadata)
}

/// Checks an object that is not a node, a pod or a priority class.
pub(super) fn other(object: &AnyObject, reporter: &mut ProblemReporter<'_>) {
    metadata(object.metadata(), reporter);
    match object {
        AnyObject::Service(service) => {
            let selector = service.spec.as_ref().and_then(|spec| spec.selector.as_ref());
            workload::plain_selector(selector, false, reporter);
        }
        AnyObject::ReplicationController(controller) => {
            let selector = controller.spec.as_ref().and_then(|spec| spec.selector.as_ref());
            workload::plain_selector(selector, true, reporter);
        }
        AnyObject::ReplicaSet(set) => workload::selector(set.spec.as_ref().map(|spec| &spec.selector), reporter),
        AnyObject::StatefulSet(set) => workload::selector(set.spec.as_ref().map(|spec| &spec.selector), reporter),
        AnyObject::Deployment(deployment) => {
            workload::selector(deployment.spec.as_ref().map(|spec| &spec.selector), reporter);
        }
        AnyObject::PodDisruptionBudget(budget) => workload::budget(budget, reporter),
        AnyObject::PersistentVolume(volume) => storage::volume(volume, reporter),
        AnyObject::PersistentVolumeClaim(claim) => storage::claim(claim, reporter),
        AnyObject::StorageClass(class) => storage::class(class, reporter),
        AnyObject::CsiNode(node) => storage::csi_node(node, reporter),
        AnyObject::CsiStorageCapacity(capacity) => storage::capacity(capacity, reporter),
        AnyObject::VolumeAttachment(attachment) => storage::attachment(attachment, reporter),
        AnyObject::ResourceClaim(claim) => devices::claim("spec", &claim.spec, reporter),
        AnyObject::ResourceClaimTemplate(template) => devices::claim("spec.spec", &template.spec.spec, reporter),
        AnyObject::ResourceSlice(slice) => devices::slice(&slice.spec, reporter),
        AnyObject::DeviceClass(class) => devices::class(&class.spec, reporter),
        // Nodes, pods and priority classes are checked by other functions. The others have only metadata to check.
        AnyObject::Node(_)
        | AnyObject::Pod(_)
        | AnyObject::PriorityClass(_)
        | AnyObject::Namespace(_)
        | AnyObject::CsiDriver(_)
        | AnyObject::Custom(_) => {}
    }
}

pub(super) fn node(node: &Node, reporter: &mut ProblemReporter<'_>) {
    metadata(&node.metadata, reporter);
    if let Some(status) = &node.status {
        resources::amounts("status.allocatable", status.allocatable.as_ref(), reporter);
        resources::amounts("status.capacity", status.capacity.as_ref(), reporter);
    }
    let taints = node.spec.as_ref().and_then(|spec| spec.taints.as_deref()).unwrap_or_default();
    for (i, taint) in taints.iter().enumerate() {
        let path = format!("spec.taints[{i}]");
        key(&format!("{path}.key"), &taint.key, reporter);
        value(&format!("{path}.value"), taint.value.as_deref().unwrap_or_default(), reporter);
        effect(&format!("{path}.effect"), &taint.effect, reporter);
        if taints.iter().take(i).any(|other| (&other.key, &other.effect) == (&taint.key, &taint.effect)) {
            reporter.report(path, "is a second taint with this key and effect; remove one of them");
        }
    }
}

/// Checks the name, the namespace and the labels of an object.
pub(super) fn metadata(metadata: &ObjectMeta, reporter: &mut ProblemReporter<'_>) {
    match metadata.name.as_deref().unwrap_or_default() {
        "" => reporter.report("metadata.name", "is missing; every object needs a name"),
        name => syntax("metadata.name", name, dns_subdomain_problems(name), reporter),
    }
    if let Some(namespace) = metadata.namespace.as_deref().filter(|namespace| !namespace.is_empty()) {
        syntax("metadata.namespace", namespace, dns_subdomain_problems(namespace), reporter);
    }
    labels("metadata.labels", metadata.labels.as_ref(), reporter);
}

fn labels(path: &str, labels: Option<&BTreeMap<String, String>>, reporter: &mut ProblemReporter<'_>) {
    for (name, text) in labels.into_iter().flatten() {
        key(path, name, reporter);
        value(&format!("{path}[{name}]"), text, reporter);
    }
}

fn key(path: &str, text: &str, reporter: &mut ProblemReporter<'_>) {
    syntax(path, text, label_key_problems(text), reporter);
}

fn value(path: &str, text: &str, reporter: &mut ProblemReporter<'_>) {
    syntax(path, text, label_value_problems(text), reporter);
}

/// Reports the first of Kubernetes' errors about a text, without its examples and its regular expression.
fn syntax(path: &str, text: &str, problems: Vec<String>, reporter: &mut ProblemReporter<'_>) {
    if let Some(problem) = problems.first() {
        let problem = problem.split(" (e.g. ").next().unwrap_or_default();
        reporter.report(path, format!("`{text}`: {problem}"));
    }
}

fn effect(path: &str, text: &str, reporter: &mut ProblemReporter<'_>) {
    one_of(path, text, &["NoSchedule", "PreferNoSchedule", "NoExecute"], reporter);
}

/// Checks that a text is one of the known words.
fn one_of(path: &str, text: &str, known: &[&str], reporter: &mut ProblemReporter<'_>) -> bool {
    let is_known = known.contains(&text);
    if !is_known {
        let quoted: Vec<_> = known.iter().map(|known| format!("`{known}`")).collect();
        let one_of = if known.len() == 1 { "" } else { "one of " };
        reporter.report(path, format!("is `{text}`, but must be {one_of}{}", quoted.join(", ")));
    }
    is_known
}
