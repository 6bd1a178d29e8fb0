//! Loading of manifests in one step: reading, defaults and validation.

use std::collections::BTreeMap;
use std::path::Path;

use k8s_openapi::Resource;
use k8s_openapi::api::core::v1::{Node, Pod};
use k8s_openapi::api::scheduling::v1::PriorityClass;
use schedc_kinds::{AnyObject, Kinds};

use crate::default::{self, Admission};
use crate::manifests::{Error, Manifests, Sourced};
use crate::validation::{IgnoredErrors, ObjectReader, Validation};

/// Options for loading manifests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Whether to apply the API server's defaults and validation for created objects.
    ///
    /// Objects from a cluster already have the defaults, so applying them changes nothing.
    pub api_server_defaults: bool,
    /// Kinds that plugins declare, which are read in addition to the built-in ones.
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
    /// Nodes, in the order of the manifests.
    pub nodes: Vec<Sourced<Node>>,
    /// Pods, running and pending, in the order of the manifests.
    pub pods: Vec<Sourced<Pod>>,
    /// Priority classes.
    pub priority_classes: Vec<Sourced<PriorityClass>>,
    /// Objects of all other kinds that schedulers read, in the order of the manifests.
    pub others: Vec<Sourced<AnyObject>>,
    /// Namespaces that contain pods but are missing in the manifests; an API server would refuse these pods.
    pub implied: Vec<AnyObject>,
    /// Number of objects of kinds that schedulers ignore, by kind.
    pub skipped: BTreeMap<String, usize>,
    /// Completes objects that are added later; `None` if defaults are not applied.
    pub admission: Option<Admission>,
    /// Kinds that plugins declared when the objects were read.
    pub kinds: Kinds,
    /// Treatment of unknown fields.
    pub validation: Validation,
    /// Errors that were ignored.
    pub ignored: IgnoredErrors,
}

impl Objects {
    /// Reads manifests from files, folders and, for `-`, standard input. See [`Manifests::read`].
    ///
    /// # Errors
    /// Returns all problems of the manifests.
    pub fn load<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>, options: Options) -> Result<Objects, Error> {
        let reader = ObjectReader::new(options.kinds, options.validation);
        Objects::new(Manifests::read_with(paths, reader)?, options)
    }

    /// Completes and validates manifests, as `options` require.
    ///
    /// # Errors
    /// If defaults are applied, returns all problems for which an API server would refuse the objects; otherwise, only
    /// missing names.
    pub fn new(mut manifests: Manifests, options: Options) -> Result<Objects, Error> {
        let admission = match options.api_server_defaults {
            true => Some(default::complete(&mut manifests)?),
            false => {
                default::require_names(&manifests)?;
                None
            }
        };
        let Manifests { nodes, pods, priority_classes, others, implied, skipped, ignored, .. } = manifests;
        let Options { kinds, validation, .. } = options;
        Ok(Objects { nodes, pods, priority_classes, others, implied, skipped, admission, kinds, validation, ignored })
    }

    /// Returns all objects that schedulers read, without nodes, pods and priority classes.
    pub fn others(&self) -> impl Iterator<Item = &AnyObject> {
        self.others.iter().map(|other| &other.object).chain(&self.implied)
    }

    /// Returns the number of objects in the manifests by kind, without nodes and pods.
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
