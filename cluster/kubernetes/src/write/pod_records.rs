//! Versions and statuses of pods at the API server, for writes.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use k8s_openapi::api::core::v1 as api;
use schedc_core::map::Map;
use schedc_core::model::Uid;

use super::ObjectListeners;
use crate::status_patch::{ConditionOrders, ObservedStatus};

/// Records of all pods, and the listeners of object updates. Clones share the content.
#[derive(Clone, Debug, Default)]
pub struct PodRecords {
    state: Arc<Mutex<State>>,
    listeners: ObjectListeners,
}

#[derive(Debug, Default)]
struct State {
    pods: Map<Uid, CachedRecord>,
    orders: ConditionOrders,
}

#[derive(Debug)]
struct CachedRecord {
    record: PodRecord,
    /// The record comes from a response, and the watch has not reported it yet.
    is_ahead: bool,
}

/// State of a pod at the API server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodRecord {
    /// `metadata.resourceVersion`
    pub version: u64,
    /// Fields of the status that status patches depend on.
    pub status: ObservedStatus,
}

impl PodRecords {
    /// Records a pod that the watch reports. Call it before the scheduler receives the change.
    pub fn set(&self, uid: &Uid, pod: &api::Pod) {
        let State { pods, orders } = &mut *self.lock();
        let record = PodRecord::new(pod, orders);
        if pods.get(uid).is_none_or(|known| !known.is_ahead || known.record.version <= record.version) {
            pods.insert(uid.clone(), CachedRecord { record, is_ahead: false });
        }
    }

    /// Records a pod that a response contains. Pods without a record are ignored.
    pub(crate) fn record_response(&self, uid: &Uid, pod: &api::Pod) {
        let State { pods, orders } = &mut *self.lock();
        let Some(known) = pods.get_mut(uid).filter(|_| pod.metadata.uid.as_deref() == Some(&*uid.0)) else { return };
        let record = PodRecord::new(pod, orders);
        if known.record.version < record.version {
            *known = CachedRecord { record, is_ahead: true };
        }
    }

    /// Removes the record of a deleted pod.
    pub fn remove(&self, uid: &Uid) {
        self.lock().pods.remove(uid);
    }

    /// Returns the record of a pod.
    pub fn get(&self, uid: &Uid) -> Option<PodRecord> {
        self.lock().pods.get(uid).map(|known| known.record.clone())
    }

    /// Returns the listeners of object updates.
    pub(crate) fn listeners(&self) -> &ObjectListeners {
        &self.listeners
    }

    /// Locks the records. A panic under the lock leaves no half-made change, so poisoning is ignored.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PodRecord {
    fn new(pod: &api::Pod, orders: &mut ConditionOrders) -> Self {
        let version = pod.metadata.resource_version.as_deref().and_then(|version| version.parse().ok()).unwrap_or(0);
        PodRecord { version, status: ObservedStatus::new(pod, orders) }
    }
}

#[cfg(test)]
mod tests {
    use schedc_objects::testing::api_pod;

    use super::*;

    #[test]
    fn a_late_watch_event_does_not_replace_a_newer_response() {
        let (records, uid) = (PodRecords::default(), Uid("u".into()));
        let pod = |version: u64, node: &str| {
            api_pod(&format!(
                "{{metadata: {{name: p, uid: u, resourceVersion: '{version}'}}, status: {{nominatedNodeName: {node}}}}}"
            ))
        };
        let nominated = || records.get(&uid).and_then(|record| record.status.nominated_node);
        records.record_response(&uid, &pod(9, "n9"));
        assert_eq!(nominated(), None, "the pod has no record");
        records.set(&uid, &pod(10, "n10"));
        records.record_response(&uid, &pod(12, "n12"));
        records.record_response(&uid, &pod(11, "n11"));
        records.set(&uid, &pod(11, "n11"));
        assert_eq!(nominated().as_deref(), Some("n12"));
        records.set(&uid, &pod(12, "n12"));
        // A server that was restored from a backup sends older versions. The watch is authoritative.
        records.set(&uid, &pod(9, "n9"));
        assert_eq!(nominated().as_deref(), Some("n9"));
        records.remove(&uid);
        assert_eq!(records.get(&uid), None);
    }
}
