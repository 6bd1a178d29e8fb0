//! What an API server does to an object that is created, as far as scheduling can tell: defaults, the admission plugins
//! that are on everywhere, and validation.
//!
//! Manifests are often taken from a running cluster, where all this has happened already, so it changes nothing that
//! is there. For that reason a `spec.priority` is accepted without its class, and nothing is said of what scheduling
//! does not look at (a container without an image, an extended resource without a limit).
//!
//! Not done: LimitRange, the overhead of a RuntimeClass, and `node.kubernetes.io/not-ready`, which a new node loses as
//! soon as its kubelet is up. Nor what controllers do afterwards: claims stay unbound, nobody makes the claims of generic
//! ephemeral volumes, and a budget without a status allows no disruption.

mod admission;
mod check;
mod label_keys;
mod names;
mod namespaces;
mod node;
mod pod;
mod priority;
mod storage;
mod workload;

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::api::resource::Quantity as Text;

pub use admission::Admission;
pub use storage::{complete_claim, default_class};

use crate::kinds::AnyObject;
use crate::manifests::{Error, Manifests, Problem, SourceLocation};

/// A resource list as an object has it.
type ResourceList = BTreeMap<String, Text>;

/// Completes all objects as an API server would, in place, and checks the result. Objects that come later are completed
/// by what is returned.
///
/// # Errors
/// All that an API server would refuse.
pub fn complete(manifests: &mut Manifests) -> Result<Admission, Error> {
    let mut problems = Vec::new();
    let mut admission = Admission { names: names::complete(manifests), ..Admission::default() };
    let Manifests { nodes, pods, priority_classes, others, implied, .. } = manifests;
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
    Error::error_if_any(problems)?;
    Ok(admission)
}

/// Where complaints about one object go.
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
