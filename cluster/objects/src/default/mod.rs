//! The API server's effect on created objects, as far as it concerns scheduling: defaults, admission plugins that are
//! enabled by default, and validation.
//!
//! Manifests often come from a running cluster and have these values already; existing values are not changed. For the
//! same reason, a `spec.priority` is accepted without its class, and fields that schedulers ignore are not validated:
//! a container may have no image, and an extended resource may have no limit.
//!
//! Not implemented: LimitRange, the overhead of a RuntimeClass, and the taint `node.kubernetes.io/not-ready`, which a
//! new node loses once its kubelet is ready. Controllers do not run: claims stay unbound, generic ephemeral volumes get
//! no claims, and a budget without a status allows no disruption.

mod admission;
mod check;
mod devices;
mod label_keys;
mod names;
mod namespaces;
mod node;
mod pod;
mod priority;
mod storage;
mod workload;

use std::collections::BTreeMap;

use k8s_openapi::Resource;
use k8s_openapi::api::core::v1::{Node, Pod};
use k8s_openapi::api::scheduling::v1::PriorityClass;
use k8s_openapi::apimachinery::pkg::api::resource::Quantity as Text;
use schedc_kinds::AnyObject;

pub use admission::Admission;
pub use devices::complete_claim_spec;
pub use names::generated_name;
pub use storage::{complete_claim, default_class};

use crate::manifests::{Error, Manifests, Problem};
use crate::source_location::SourceLocation;

type ResourceList = BTreeMap<String, Text>;

/// Applies defaults to all objects in place, and validates the result. The returned value completes objects that are
/// added later.
///
/// # Errors
/// Returns the problems of all objects.
pub fn complete(manifests: &mut Manifests) -> Result<Admission, Error> {
    let mut problems = Vec::new();
    let mut admission = Admission { names: names::complete(manifests), ..Admission::default() };
    let Manifests { nodes, pods, priority_classes, others, implied, texts, .. } = manifests;
    for other in others.iter() {
        if let AnyObject::StorageClass(class) = &other.object {
            admission.default_classes.set(class);
        }
    }
    for other in others.iter_mut() {
        admission.complete(other, &mut problems);
    }
    *implied = namespaces::implied(pods, others);
    for class in priority_classes.iter() {
        admission.class(&class.object, &class.place, &mut problems);
    }
    for node in nodes.iter_mut() {
        admission.node(&mut node.object, &node.place, &mut problems);
    }
    for pod in pods.iter_mut() {
        admission.pod(&mut pod.object, &pod.place, &mut problems);
    }
    texts.set_lines(&mut problems);
    Error::error_if_any(problems)?;
    Ok(admission)
}

/// Checks that every object has a name, for manifests whose objects are used as given.
///
/// # Errors
/// Returns the problems of all objects without a name.
pub fn require_names(manifests: &Manifests) -> Result<(), Error> {
    let Manifests { nodes, pods, priority_classes, others, texts, .. } = manifests;
    let nodes = nodes.iter().map(|node| (Node::KIND, &node.object.metadata, &node.place));
    let pods = pods.iter().map(|pod| (Pod::KIND, &pod.object.metadata, &pod.place));
    let classes = priority_classes.iter().map(|class| (PriorityClass::KIND, &class.object.metadata, &class.place));
    let others = others.iter().map(|other| (other.object.kind(), other.object.metadata(), &other.place));
    let mut problems: Vec<Problem> = nodes
        .chain(pods)
        .chain(classes)
        .chain(others)
        .filter(|(_, metadata, _)| metadata.name.as_deref().unwrap_or_default().is_empty())
        .map(|(kind, _, place)| Problem {
            place: place.clone(),
            object: Some(format!("{kind} without a name")),
            field: Some("metadata.name".to_owned()),
            message: "is missing; every object needs a name".to_owned(),
        })
        .collect();
    texts.set_lines(&mut problems);
    Error::error_if_any(problems)
}

/// Collector of the problems of one object.
struct ProblemReporter<'a> {
    place: &'a SourceLocation,
    object: &'a str,
    problems: &'a mut Vec<Problem>,
}

impl ProblemReporter<'_> {
    fn report(&mut self, field: impl Into<String>, message: impl Into<String>) {
        self.problems.push(Problem {
            place: self.place.clone(),
            object: Some(self.object.to_owned()),
            field: Some(field.into()),
            message: message.into(),
        });
    }
}

#[cfg(test)]
mod tests;
