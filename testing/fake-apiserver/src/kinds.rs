//! What kinds of objects there are, and where.

/// A kind of objects.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Kind {
    /// Its kind, such as `CSINode`.
    pub(crate) kind: &'static str,
    /// Its group; empty for the kinds that have none.
    pub(crate) group: &'static str,
    /// Its version in the group.
    pub(crate) version: &'static str,
    /// Its name in paths.
    pub(crate) plural: &'static str,
    /// Whether its objects are in namespaces.
    pub(crate) is_namespaced: bool,
    /// Whether its status is written apart, at `/status`.
    pub(crate) has_status: bool,
    /// Whether its objects count how often they were specified anew.
    pub(crate) has_generation: bool,
}

const NAMESPACED: u8 = 1;
const STATUS: u8 = 2;
const GENERATION: u8 = 4;

const fn kind(kind: &'static str, group: &'static str, plural: &'static str, has: u8) -> Kind {
    Kind {
        kind,
        group,
        version: "v1",
        plural,
        is_namespaced: has & NAMESPACED != 0,
        has_status: has & STATUS != 0,
        has_generation: has & GENERATION != 0,
    }
}

/// All of them. An event is another object in either of its groups, which is not so at a real server.
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
    /// The kind of an API (such as `storage.k8s.io/v1`) that has this name in paths.
    pub(crate) fn of_path(api_version: &str, plural: &str) -> Option<&'static Kind> {
        KINDS.iter().find(|kind| kind.plural == plural && kind.api_version() == api_version)
    }

    /// The kind that an object says it is of.
    pub(crate) fn of_object(api_version: &str, name: &str) -> Option<&'static Kind> {
        KINDS.iter().find(|kind| kind.kind == name && kind.api_version() == api_version)
    }

    /// Its API, as objects name it.
    pub(crate) fn api_version(&self) -> String {
        match self.group {
            "" => self.version.to_owned(),
            group => format!("{group}/{}", self.version),
        }
    }

    /// Its name in messages, such as `leases.coordination.k8s.io`.
    pub(crate) fn qualified(&self) -> String {
        match self.group {
            "" => self.plural.to_owned(),
            group => format!("{}.{group}", self.plural),
        }
    }

    /// Its position in the table.
    pub(crate) fn index(&self) -> usize {
        KINDS.iter().position(|kind| kind == self).unwrap_or_default()
    }
}
