//! Table of API kinds.

/// A kind of objects.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Kind {
    /// The kind, such as `CSINode`.
    pub(crate) kind: &'static str,
    /// API group; empty for the core group.
    pub(crate) group: &'static str,
    /// Version in the group.
    pub(crate) version: &'static str,
    /// Resource name in paths.
    pub(crate) plural: &'static str,
    /// Whether its objects are namespaced.
    pub(crate) is_namespaced: bool,
    /// Whether it has a `/status` subresource.
    pub(crate) has_status: bool,
    /// Whether its objects have a generation.
    pub(crate) has_generation: bool,
}

const NAMESPACED: u8 = 1;
const STATUS: u8 = 2;
const GENERATION: u8 = 4;

const fn kind(kind: &'static str, group: &'static str, plural: &'static str, flags: u8) -> Kind {
    Kind {
        kind,
        group,
        version: "v1",
        plural,
        is_namespaced: flags & NAMESPACED != 0,
        has_status: flags & STATUS != 0,
        has_generation: flags & GENERATION != 0,
    }
}

/// All kinds. Unlike on a real server, an event is a different object in each of its two groups.
pub(crate) static KINDS: &[Kind] = &[
    kind("ConfigMap", "", "configmaps", NAMESPACED),
    kind("Event", "", "events", NAMESPACED),
    kind("Namespace", "", "namespaces", STATUS),
    kind("Node", "", "nodes", STATUS),
    kind("PersistentVolume", "", "persistentvolumes", STATUS),
    kind("PersistentVolumeClaim", "", "persistentvolumeclaims", NAMESPACED | STATUS),
    kind("Pod", "", "pods", NAMESPACED | STATUS | GENERATION),
    kind("ReplicationController", "", "replicationcontrollers", NAMESPACED | STATUS | GENERATION),
    kind("Service", "", "services", NAMESPACED | STATUS),
    kind("ServiceAccount", "", "serviceaccounts", NAMESPACED),
    kind("DaemonSet", "apps", "daemonsets", NAMESPACED | STATUS | GENERATION),
    kind("Deployment", "apps", "deployments", NAMESPACED | STATUS | GENERATION),
    kind("ReplicaSet", "apps", "replicasets", NAMESPACED | STATUS | GENERATION),
    kind("StatefulSet", "apps", "statefulsets", NAMESPACED | STATUS | GENERATION),
    kind("Lease", "coordination.k8s.io", "leases", NAMESPACED),
    kind("Event", "events.k8s.io", "events", NAMESPACED),
    kind("PodDisruptionBudget", "policy", "poddisruptionbudgets", NAMESPACED | STATUS | GENERATION),
    kind("DeviceClass", "resource.k8s.io", "deviceclasses", GENERATION),
    kind("ResourceClaim", "resource.k8s.io", "resourceclaims", NAMESPACED | STATUS),
    kind("ResourceClaimTemplate", "resource.k8s.io", "resourceclaimtemplates", NAMESPACED),
    kind("ResourceSlice", "resource.k8s.io", "resourceslices", GENERATION),
    kind("PriorityClass", "scheduling.k8s.io", "priorityclasses", GENERATION),
    // A custom resource.
    Kind {
        version: "v1alpha1",
        ..kind("PodGroup", "scheduling.x-k8s.io", "podgroups", NAMESPACED | STATUS | GENERATION)
    },
    kind("CSIDriver", "storage.k8s.io", "csidrivers", 0),
    kind("CSINode", "storage.k8s.io", "csinodes", 0),
    kind("CSIStorageCapacity", "storage.k8s.io", "csistoragecapacities", NAMESPACED),
    kind("StorageClass", "storage.k8s.io", "storageclasses", 0),
    kind("VolumeAttachment", "storage.k8s.io", "volumeattachments", STATUS),
];

impl Kind {
    /// Returns the kind with this resource name in an API version such as `storage.k8s.io/v1`.
    pub(crate) fn of_path(api_version: &str, plural: &str) -> Option<&'static Kind> {
        KINDS.iter().find(|kind| kind.plural == plural && kind.api_version() == api_version)
    }

    /// Returns the kind of an object by its `apiVersion` and `kind`.
    pub(crate) fn of_object(api_version: &str, name: &str) -> Option<&'static Kind> {
        KINDS.iter().find(|kind| kind.kind == name && kind.api_version() == api_version)
    }

    /// Returns the `apiVersion` of its objects.
    pub(crate) fn api_version(&self) -> String {
        match self.group {
            "" => self.version.to_owned(),
            group => format!("{group}/{}", self.version),
        }
    }

    /// Returns its name in messages, such as `leases.coordination.k8s.io`.
    pub(crate) fn qualified(&self) -> String {
        match self.group {
            "" => self.plural.to_owned(),
            group => format!("{}.{group}", self.plural),
        }
    }
}
