//! Clusters from a few lines of YAML, and their state as text: for tests and experiments.

use std::collections::HashSet;
use std::fmt::Write;

use k8s_openapi::api::core::v1::{Namespace, Node, Pod, PodCondition};
use schedc_core::client::ApiError;
use schedc_objects::{
    AnyObject, KindInfo, Kinds, Manifests, SourceLocation, Sourced, UnknownField, UnknownFields, default,
};
use serde_json::Value;

use super::{SimulationHooks, Simulator};
use crate::server::{Key, Request, uid_of};

/// State of the admission, which applies defaults and creates missing namespaces.
#[derive(Debug, Default)]
pub(super) struct Admission {
    admission: default::Admission,
    namespaces: HashSet<String>,
}

impl Admission {
    /// Applies an API server's defaults to objects, and adds their missing namespaces.
    fn admit(&mut self, manifests: Manifests) -> Result<Vec<AnyObject>, String> {
        let Manifests { nodes, pods, priority_classes, others, .. } = manifests;
        let mut all: Vec<Sourced<AnyObject>> = priority_classes.into_iter().map(any).collect();
        all.extend(others);
        all.extend(nodes.into_iter().map(any));
        all.extend(pods.into_iter().map(any));
        let namespaces = all.iter().filter_map(|object| match &object.object {
            AnyObject::Namespace(_) => Some(object.object.name()),
            _ => None,
        });
        self.namespaces.extend(namespaces.map(str::to_owned));
        let mut implied = Vec::new();
        for object in all.iter().filter(|object| !object.object.namespace().is_empty()) {
            if self.namespaces.insert(object.object.namespace().to_owned()) {
                let mut namespace = Namespace::default();
                namespace.metadata.name = Some(object.object.namespace().to_owned());
                implied.push(Sourced { object: namespace.into(), place: object.place.clone() });
            }
        }
        let mut problems = Vec::new();
        let mut admitted = Vec::new();
        for mut object in implied.into_iter().chain(all) {
            self.admission.admit(&mut object, &mut problems);
            admitted.push(object.object);
        }
        match problems.first() {
            None => Ok(admitted),
            Some(problem) => Err(problem.to_string()),
        }
    }
}

fn any<T: Into<AnyObject>>(Sourced { object, place }: Sourced<T>) -> Sourced<AnyObject> {
    Sourced { object: object.into(), place: SourceLocation::clone(&place) }
}

impl<H: SimulationHooks> Simulator<H> {
    /// Creates or updates objects like `kubectl apply`, with an API server's defaults. The scheduler receives the
    /// changes when the simulation continues.
    ///
    /// # Panics
    /// Panics if the manifests are invalid.
    #[track_caller]
    pub fn apply(&mut self, yaml: &str) {
        let manifests =
            Manifests::parse_with("manifests", yaml, self.kinds()).unwrap_or_else(|error| panic!("{error}\n{yaml}"));
        let objects = self.admission.admit(manifests).unwrap_or_else(|error| panic!("{error}\n{yaml}"));
        for object in objects {
            self.request(Request::Apply(Box::new(object))).unwrap_or_else(|error| panic!("{error}\n{yaml}"));
        }
    }

    /// Applies a JSON merge patch to an object. The name of a pod or another namespaced object is `namespace/name`;
    /// `default/` may be omitted.
    ///
    /// # Panics
    /// Panics if the object does not exist, or the patch is invalid or has unknown fields.
    #[track_caller]
    pub fn patch(&mut self, kind: &str, name: &str, patch: Value) {
        let Some(key) = key(kind, name, self.kinds()) else { panic!("there are no objects of kind {kind}") };
        if let Some(field) = unknown_field(kind, &patch, self.kinds()) {
            panic!("{kind} {name}: {field}: unknown field");
        }
        self.request(Request::Patch(key, patch)).unwrap_or_else(|error| panic!("{error}"));
    }

    /// Deletes an object, named as in [`Simulator::patch`]. A running pod has a grace period.
    ///
    /// # Panics
    /// Panics if the object does not exist.
    #[track_caller]
    pub fn delete(&mut self, kind: &str, name: &str) {
        let Some(key) = key(kind, name, self.kinds()) else { panic!("there are no objects of kind {kind}") };
        self.request(Request::Delete(key, None)).unwrap_or_else(|error| panic!("{error}"));
    }

    /// Sends a request to the server on behalf of a user.
    ///
    /// # Errors
    /// Returns the server's error.
    pub fn request(&mut self, request: Request) -> Result<(), ApiError> {
        self.progress.record_change();
        let response = self.server.handle(&request, self.now);
        self.hooks.on_response(self.now, &request, &response);
        response.map(drop)
    }

    /// Returns a pod of the cluster.
    pub fn pod(&self, name: &str) -> Option<&Pod> {
        match &**self.server.get(&key("Pod", name, Kinds::default())?)? {
            AnyObject::Pod(pod) => Some(pod),
            _ => None,
        }
    }

    /// Returns the manifest of an object of the cluster, named as in [`Simulator::patch`].
    pub fn object(&self, kind: &str, name: &str) -> Option<Value> {
        self.server.get(&key(kind, name, self.kinds())?)?.to_json().ok()
    }

    /// Returns a node of the cluster.
    pub fn node(&self, name: &str) -> Option<&Node> {
        match &**self.server.get(&Key::cluster("Node", name))? {
            AnyObject::Node(node) => Some(node),
            _ => None,
        }
    }

    /// Returns the node of a bound pod.
    pub fn node_of(&self, pod: &str) -> Option<&str> {
        node_of(self.pod(pod)?)
    }

    /// Returns the nominated node in a pod's status.
    pub fn nominated_node_of(&self, pod: &str) -> Option<&str> {
        self.pod(pod)?.status.as_ref()?.nominated_node_name.as_deref()
    }

    /// Returns a condition of a pod, such as `PodScheduled`.
    pub fn condition(&self, pod: &str, kind: &str) -> Option<&PodCondition> {
        condition(self.pod(pod)?, kind)
    }

    /// Returns a line for each pod: its node, or the reason why it has none.
    ///
    /// ```text
    /// default/web-1 on n1
    /// default/web-2: Unschedulable: 0/1 nodes are available: 1 Insufficient cpu. (nominated for n1)
    /// default/web-3: held by SchedulingGates: waiting for scheduling gates: [example.com/gate]
    /// default/web-4: not tried
    /// ```
    pub fn pods(&mut self) -> String {
        let mut lines = String::new();
        let pods: Vec<_> = self.server.list("Pod").cloned().collect();
        for object in pods {
            let AnyObject::Pod(pod) = &*object else { continue };
            lines += &format!("{}/{}", object.namespace(), object.name());
            // Writing to a string cannot fail.
            let _ = match (node_of(pod), condition(pod, "PodScheduled"), self.scheduler.gate_status(&uid_of(&object))) {
                (Some(node), ..) => write!(lines, " on {node}"),
                (None, _, Some(held)) => write!(lines, ": held by {}: {}", held.plugin, held.message()),
                (None, Some(condition), None) => {
                    let text = |text: &Option<String>| text.clone().unwrap_or_default();
                    write!(lines, ": {}: {}", text(&condition.reason), text(&condition.message))
                }
                (None, None, None) => write!(lines, ": not tried"),
            };
            if let Some(node) = pod.status.as_ref().and_then(|status| status.nominated_node_name.as_ref()) {
                let _ = write!(lines, " (nominated for {node})");
            }
            if pod.metadata.deletion_timestamp.is_some() {
                lines += " (being deleted)";
            }
            lines.push('\n');
        }
        lines
    }
}

/// Parses the key of an object. A name may have its namespace before a slash.
fn key(kind: &str, name: &str, kinds: Kinds) -> Option<Key> {
    let KindInfo { kind, is_namespaced, .. } = kinds.named(kind)?;
    let (namespace, name) = match is_namespaced {
        true => name.split_once('/').unwrap_or(("default", name)),
        false => ("", name),
    };
    Some(Key { kind, namespace: namespace.into(), name: name.into() })
}

/// Returns the path of the first field of a patch that the kind does not have.
fn unknown_field(kind: &str, patch: &Value, kinds: Kinds) -> Option<String> {
    let KindInfo { manifest_kind, api_version, .. } = kinds.named(kind)?;
    let mut object = patch.clone();
    object
        .as_object_mut()?
        .extend([("apiVersion", api_version), ("kind", manifest_kind)].map(|(k, v)| (k.to_owned(), v.into())));
    let mut unknown = UnknownFields::default();
    // Errors about values are ignored: the server checks values, and `null`, which removes a field, fits no type.
    let _ = kinds.read_collecting_unknown(api_version, manifest_kind, object, &mut unknown);
    unknown.found.first().map(UnknownField::path)
}

fn node_of(pod: &Pod) -> Option<&str> {
    pod.spec.as_ref()?.node_name.as_deref().filter(|node| !node.is_empty())
}

fn condition<'a>(pod: &'a Pod, kind: &str) -> Option<&'a PodCondition> {
    pod.status.as_ref()?.conditions.iter().flatten().find(|condition| condition.type_ == kind)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn misspelt_fields_of_patches_are_found() {
        let check = |kind: &str, patch: Value, expected: Option<&str>| {
            assert_eq!(unknown_field(kind, &patch, Kinds::default()).as_deref(), expected, "{patch}");
        };
        check("Node", json!({"spec": {"unschedulabel": true}}), Some("spec.unschedulabel"));
        check("Node", json!({"spec": {"unschedulable": true}, "status": {"allocatable": {"cpu": null}}}), None);
        check("Node", json!({"status": {"allocatable": {"cpu": null}}, "lables": {}}), Some("lables"));
        check("Pod", json!({"metadata": {"labels": null}, "spec": null}), None);
    }
}
