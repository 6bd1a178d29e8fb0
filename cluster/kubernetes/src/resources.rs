//! Kinds of objects and their paths at an API server.

use schedc_core::model::CustomKind;
use schedc_objects::decode::KindReader;

use crate::transport::Format;

/// Kind of objects that an API server serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resource {
    /// Kind, such as `CSINode`. For a kind that a plugin declares, the full name, such as
    /// `podgroups.v1alpha1.scheduling.x-k8s.io`.
    pub kind: &'static str,
    /// API version, such as `storage.k8s.io/v1`.
    pub api_version: &'static str,
    /// Name in paths, such as `csinodes`.
    pub plural: &'static str,
    /// Whether the objects have namespaces.
    pub is_namespaced: bool,
    /// The plugin's declaration, for a kind that only a plugin reads.
    pub custom: Option<&'static CustomKind>,
}

const fn resource(
    kind: &'static str,
    api_version: &'static str,
    plural: &'static str,
    is_namespaced: bool,
) -> Resource {
    Resource { kind, api_version, plural, is_namespaced, custom: None }
}

const PODS: Resource = resource("Pod", "v1", "pods", true);

/// All built-in kinds that a scheduler reads or writes.
pub const RESOURCES: &[Resource] = &[
    resource("Node", "v1", "nodes", false),
    PODS,
    resource("Namespace", "v1", "namespaces", false),
    resource("Service", "v1", "services", true),
    resource("ReplicationController", "v1", "replicationcontrollers", true),
    resource("ReplicaSet", "apps/v1", "replicasets", true),
    resource("StatefulSet", "apps/v1", "statefulsets", true),
    resource("PersistentVolume", "v1", "persistentvolumes", false),
    resource("PersistentVolumeClaim", "v1", "persistentvolumeclaims", true),
    resource("StorageClass", "storage.k8s.io/v1", "storageclasses", false),
    resource("CSINode", "storage.k8s.io/v1", "csinodes", false),
    resource("CSIDriver", "storage.k8s.io/v1", "csidrivers", false),
    resource("CSIStorageCapacity", "storage.k8s.io/v1", "csistoragecapacities", true),
    resource("VolumeAttachment", "storage.k8s.io/v1", "volumeattachments", false),
    resource("PodDisruptionBudget", "policy/v1", "poddisruptionbudgets", true),
    resource("ResourceClaim", "resource.k8s.io/v1", "resourceclaims", true),
    resource("ResourceSlice", "resource.k8s.io/v1", "resourceslices", false),
    resource("DeviceClass", "resource.k8s.io/v1", "deviceclasses", false),
    resource("Lease", "coordination.k8s.io/v1", "leases", true),
    resource("Event", "events.k8s.io/v1", "events", true),
];

/// Priority classes. The scheduler does not read them: API servers use them to set the priorities of new pods.
pub const PRIORITY_CLASSES: Resource = resource("PriorityClass", "scheduling.k8s.io/v1", "priorityclasses", false);

/// Returns the resource `pods`.
pub fn pods() -> &'static Resource {
    &PODS
}

/// Kinds that are written but not watched.
const WRITTEN_ONLY: [&str; 2] = ["Lease", "Event"];

impl Resource {
    /// Returns whether the objects of this kind are watched.
    pub fn is_watched(&self) -> bool {
        !WRITTEN_ONLY.contains(&self.kind)
    }

    /// Returns the built-in kind with this name.
    pub fn of(kind: &str) -> Option<&'static Resource> {
        RESOURCES.iter().find(|resource| resource.kind == kind)
    }

    /// Returns the built-in kind with this name and API version.
    pub fn of_api(api_version: &str, kind: &str) -> Option<&'static Resource> {
        Resource::of(kind).filter(|resource| resource.api_version == api_version)
    }

    /// Creates the resource of a kind that a plugin declares.
    pub fn declared(kind: &'static CustomKind) -> Resource {
        let CustomKind { name, api_version, plural, is_namespaced, .. } = *kind;
        Resource { kind: name, api_version, plural, is_namespaced, custom: Some(kind) }
    }

    /// Creates the resource of a declared kind with static lifetime, for reflectors; the memory is never freed.
    pub fn declared_static(kind: &'static CustomKind) -> &'static Resource {
        Box::leak(Box::new(Resource::declared(kind)))
    }

    /// Returns the decoder for objects of this kind.
    pub fn reader(&self) -> KindReader<'static> {
        self.custom.map_or(KindReader::Known(self.kind), KindReader::Custom)
    }

    /// Returns the preferred format in responses.
    pub fn format(&self) -> Format {
        if self.custom.is_some() { Format::Json } else { Format::Protobuf }
    }

    /// Returns the API group; empty for the core group.
    pub fn group(&self) -> &'static str {
        self.api_version.split_once('/').map_or("", |(group, _)| group)
    }

    /// Returns the path of all objects, in all namespaces.
    pub fn all(&self) -> String {
        [self.root(), self.api_version, "/", self.plural].concat()
    }

    /// Returns the path of a namespace's objects, for lists and creation. Kinds without namespaces ignore the
    /// namespace.
    pub fn collection(&self, namespace: &str) -> String {
        match self.is_namespaced {
            true => [self.root(), self.api_version, "/namespaces/", namespace, "/", self.plural].concat(),
            false => self.all(),
        }
    }

    /// Returns the path of one object.
    pub fn path(&self, namespace: &str, name: &str) -> String {
        [&self.collection(namespace), "/", name].concat()
    }

    fn root(&self) -> &'static str {
        if self.group().is_empty() { "/api/" } else { "/apis/" }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use schedc_objects::AnyObject;
    use serde_json::{Value, from_str};

    use super::*;

    #[test]
    fn the_resources_match_the_kinds_of_objects() {
        for resource in RESOURCES.iter().filter(|resource| resource.is_watched()) {
            let known = AnyObject::kind_named(resource.kind);
            assert_eq!(known, Some((resource.kind, resource.api_version)));
            assert_eq!(AnyObject::is_namespaced(resource.kind), Some(resource.is_namespaced), "{}", resource.kind);
        }
        let missing: Vec<_> = schedc_objects::KINDS.iter().filter(|kind| Resource::of(kind).is_none()).collect();
        assert_eq!(
            missing,
            [&"Deployment", &"PriorityClass", &"ResourceClaimTemplate"],
            "only API servers and controllers read them"
        );
    }

    /// kube-scheduler watches the same resources.
    #[test]
    fn the_paths_equal_those_of_kube_scheduler() {
        let recording = include_str!("../tests/recordings/requests.jsonl");
        let requests = recording.lines().map(|line| from_str::<Value>(line).unwrap());
        let watched: BTreeSet<String> = requests
            .filter(|request| request["verb"] == "watch")
            .map(|request| request["path"].as_str().unwrap().split('?').next().unwrap().to_owned())
            .collect();
        let ours = RESOURCES.iter().filter(|resource| resource.is_watched()).map(Resource::all);
        assert_eq!(ours.collect::<BTreeSet<_>>(), watched);
    }

    #[test]
    fn paths() {
        let path = |kind: &str| Resource::of(kind).unwrap().path("ns", "a");
        assert_eq!(path("Pod"), "/api/v1/namespaces/ns/pods/a");
        assert_eq!(path("Node"), "/api/v1/nodes/a");
        assert_eq!(path("CSINode"), "/apis/storage.k8s.io/v1/csinodes/a");
        assert_eq!(path("Lease"), "/apis/coordination.k8s.io/v1/namespaces/ns/leases/a");
        assert_eq!(Resource::of_api("v1", "ReplicaSet"), None);
    }
}
