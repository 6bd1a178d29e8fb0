//! Devices of each node that back an extended resource, for plugins that score resource usage.

use std::sync::Arc;

use crate::model::Uid;
use crate::model::intern::Symbol;
use crate::model::map::Set;

/// Devices of a node that back an extended resource.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceCount {
    /// Number of devices.
    pub allocatable: i64,
    /// Number of devices that claims hold.
    pub used: i64,
}

/// Counts of all nodes, by node index.
pub type NodeDeviceCounts = Arc<Vec<DeviceCount>>;

/// Counts for the pod of the current attempt. The plugin that allocates devices sets them in PreFilter, and plugins that
/// score resource usage read them in PreScore.
#[derive(Clone, Debug, Default)]
pub struct DeviceCounts {
    requested: Set<&'static str>,
    pod: Option<Uid>,
    counts: Vec<(Symbol, NodeDeviceCounts)>,
}

impl DeviceCounts {
    /// Requests counts of a resource, for all attempts.
    pub fn request(&mut self, resource: &'static str) {
        self.requested.insert(resource);
    }
    /// Returns whether a plugin requests counts of a resource.
    pub fn is_requested(&self, resource: &str) -> bool {
        self.requested.contains(resource)
    }
    /// Sets the counts for a pod, by resource. They replace those for any other pod.
    pub fn set(&mut self, pod: Uid, counts: Vec<(Symbol, NodeDeviceCounts)>) {
        self.pod = Some(pod);
        self.counts = counts;
    }
    /// Returns the counts of a resource for a pod; `None` if no devices back the resource, or if the counts are those
    /// of another pod.
    pub fn get(&self, pod: &Uid, resource: Symbol) -> Option<&NodeDeviceCounts> {
        let of_pod = self.counts.iter().filter(|_| self.pod.as_ref() == Some(pod));
        of_pod.into_iter().find(|(known, _)| *known == resource).map(|(_, counts)| counts)
    }
}
