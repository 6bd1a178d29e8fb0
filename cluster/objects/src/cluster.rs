//! From files to objects that are ready to be scheduled, in one step.

use std::collections::BTreeMap;
use std::path::Path;

use k8s_openapi::Resource;
use k8s_openapi::api::core::v1::{Node, Pod};
use k8s_openapi::api::scheduling::v1::PriorityClass;

use crate::default::{self, Admission};
use crate::kinds::{AnyObject, Kinds};
use crate::manifests::{Error, Manifests, Sourced};
use crate::validation::{IgnoredFields, ObjectReader, Validation};

/// How manifests are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Whether to add what an API server adds when an object is created, and to refuse what it refuses.
    ///
    /// Objects that come from a cluster have all that already, and stay as they are.
    pub api_server_defaults: bool,
    /// The kinds that plugins declare, of which objects are read besides those that all schedulers know.
    pub kinds: Kinds,
    /// Treatment of fields that an object's kind does not have.
    pub validation: Validation,
}

impl Default for Options {
    fn default() -> Options {
        Options { api_server_defaults: true, kinds: Kinds::default(), validation: Validation::default() }
    }
}

/// The objects of a cluster.
#[derive(Clone, Debug, Default)]
pub struct Objects {
    /// Nodes, in the order in which they are written.
    pub nodes: Vec<Sourced<Node>>,
    /// Pods, running and pending, in the order in which they are written.
    pub pods: Vec<Sourced<Pod>>,
    /// Priority classes.
    pub priority_classes: Vec<Sourced<PriorityClass>>,
    /// Objects of all other kinds that scheduling looks at, in the order in which they are written.
    pub others: Vec<Sourced<AnyObject>>,
    /// Namespaces that are nowhere written, but that pods are in; an API server would not take those pods otherwise.
    pub implied: Vec<AnyObject>,
    /// How many objects of still other kinds there were, by kind.
    pub skipped: BTreeMap<String, usize>,
    /// What completes objects that come later; none if objects are taken as they are.
    pub admission: Option<Admission>,
    /// The kinds that plugins declare, as they were when the objects were read.
    pub kinds: Kinds,
    /// How fields were validated.
    pub validation: Validation,
    /// Fields that the objects' kinds do not have, and that were ignored.
    pub ignored: IgnoredFields,
}

impl Objects {
    /// Reads manifests from files, folders and, for `-`, standard input. See [`Manifests::read`].
    ///
    /// # Errors
    /// All problems that there are.
    pub fn load<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>, options: Options) -> Result<Objects, Error> {
        let reader = ObjectReader::new(options.kinds, options.validation);
        Objects::new(Manifests::read_with(paths, reader)?, options)
    }

    /// Takes manifests that were read.
    ///
    /// # Errors
    /// What an API server would refuse, if it is to be asked.
    pub fn new(mut manifests: Manifests, options: Options) -> Result<Objects, Error> {
        let admission = match options.api_server_defaults {
            true => Some(default::complete(&mut manifests)?),
            false => None,
        };
        let Manifests { nodes, pods, priority_classes, others, implied, skipped, ignored } = manifests;
        let Options { kinds, validation, .. } = options;
        Ok(Objects { nodes, pods, priority_classes, others, implied, skipped, admission, kinds, validation, ignored })
    }

    /// All objects besides nodes, pods and priority classes that scheduling looks at.
    pub fn others(&self) -> impl Iterator<Item = &AnyObject> {
        self.others.iter().map(|other| &other.object).chain(&self.implied)
    }

    /// How many objects are written besides nodes and pods that scheduling looks at, by kind.
    pub fn others_by_kind(&self) -> BTreeMap<&'static str, usize> {
        let mut counts = BTreeMap::new();
        if !self.priority_classes.is_empty() {
            counts.insert(PriorityClass::KIND, self.priority_classes.len());
        }
        for other in &self.others {
            *counts.entry(other.object.kind()).or_default() += 1;
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{convert_node, convert_pod};

    #[test]
    fn a_file_becomes_a_model() {
        let file = std::env::temp_dir().join(format!("schedc-cluster-{}.yaml", std::process::id()));
        let text = "
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {capacity: {cpu: 4, memory: 8Gi, pods: 110}}
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec: {containers: [{name: c, image: nginx, resources: {limits: {cpu: 1}}}]}
---
apiVersion: v1
kind: Service
metadata: {name: web}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: web}
";
        std::fs::write(&file, text).unwrap();
        let objects = Objects::load([&file], Options::default()).unwrap();
        std::fs::remove_file(&file).unwrap();
        let mut interner = schedc_core::intern::Interner::default();
        let node = convert_node(&objects.nodes[0].object, &mut interner);
        let pod = convert_pod(&objects.pods[0].object, &mut interner);
        assert_eq!((node.allocatable.milli_cpu, node.allowed_pods), (4000, 110));
        assert_eq!(pod.spec.requests.milli_cpu, 1000);
        assert_eq!(objects.pods[0].place.line, 7);
        assert_eq!(objects.skipped["DaemonSet"], 1);
        assert_eq!(objects.others_by_kind().into_iter().collect::<Vec<_>>(), [("Service", 1)]);
        assert_eq!(objects.others[0].object.name(), "web");
    }
}
