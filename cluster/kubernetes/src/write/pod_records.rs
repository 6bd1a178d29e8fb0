//! Versions and statuses of pods at the API server, for writes.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use k8s_openapi::api::core::v1 as api;
use schedc_core::map::{Map, shrink_after_burst};
use schedc_core::model::Uid;

use super::ObjectListeners;
use crate::status_patch::{ObservedStatus, SharedConditions};

/// Records of all pods, and the listeners of object updates. Clones share the content.
#[derive(Clone, Debug, Default)]
pub struct PodRecords {
    state: Arc<Mutex<State>>,
    listeners: ObjectListeners,
}

#[derive(Debug, Default)]
struct State {
    pods: Map<Uid, CachedRecord>,
    shared: SharedConditions,
    /// Times at which the watch reported pods that have had no attempt yet.
    receipts: Map<Uid, Duration>,
}

#[derive(Debug)]
struct CachedRecord {
    record: PodRecord,
    /// Whether the record comes from a response, and the watch has not reported this version yet.
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
        let State { pods, shared, receipts } = &mut *self.lock();
        if has_node(pod) {
            receipts.remove(uid);
        }
        let record = PodRecord::new(pod, shared);
        if pods.get(uid).is_none_or(|known| !known.is_ahead || known.record.version <= record.version) {
            pods.insert(uid.clone(), CachedRecord { record, is_ahead: false });
        }
    }

    /// Records a pod that a response contains. Pods without a record are ignored.
    pub(crate) fn record_response(&self, uid: &Uid, pod: &api::Pod) {
        let State { pods, shared, .. } = &mut *self.lock();
        let Some(known) = pods.get_mut(uid).filter(|_| pod.metadata.uid.as_deref() == Some(&*uid.0)) else { return };
        let record = PodRecord::new(pod, shared);
        if known.record.version < record.version {
            *known = CachedRecord { record, is_ahead: true };
        }
    }

    /// Removes the record of a deleted pod.
    pub fn remove(&self, uid: &Uid) {
        let State { pods, receipts, .. } = &mut *self.lock();
        pods.remove(uid);
        receipts.remove(uid);
        shrink_after_burst(pods);
        shrink_after_burst(receipts);
    }

    /// Records the time at which the watch reported a new pod. Call it before [`PodRecords::set`]. Pods with scheduling
    /// gates are left out: they wait for other components.
    pub(crate) fn set_receipt(&self, uid: &Uid, pod: &api::Pod, received: Duration) {
        let State { pods, receipts, .. } = &mut *self.lock();
        let is_gated =
            pod.spec.as_ref().is_some_and(|spec| !spec.scheduling_gates.as_deref().unwrap_or_default().is_empty());
        if !pods.contains_key(uid) && !has_node(pod) && !is_gated {
            receipts.insert(uid.clone(), received);
        }
    }

    /// Removes and returns the time at which the watch reported a new pod; `None` after its first attempt.
    pub(crate) fn take_receipt(&self, uid: &Uid) -> Option<Duration> {
        self.lock().receipts.remove(uid)
    }

    /// Returns the record of a pod.
    pub fn get(&self, uid: &Uid) -> Option<PodRecord> {
        self.lock().pods.get(uid).map(|known| known.record.clone())
    }

    /// Returns the number of pods.
    pub(crate) fn len(&self) -> usize {
        self.lock().pods.len()
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
    fn new(pod: &api::Pod, shared: &mut SharedConditions) -> Self {
        let version = pod.metadata.resource_version.as_deref().and_then(|version| version.parse().ok()).unwrap_or(0);
        PodRecord { version, status: ObservedStatus::new(pod, shared) }
    }
}

fn has_node(pod: &api::Pod) -> bool {
    pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref()).is_some_and(|node| !node.is_empty())
}

#[cfg(test)]
mod tests {
    use schedc_objects::testing::api_pod;

    use super::*;

    #[test]
    fn new_pods_without_gates_and_node_have_one_receipt() {
        let records = PodRecords::default();
        let report = |uid: &str, spec: &str, second| {
            let (uid, pod) =
                (Uid(uid.into()), api_pod(&format!("{{metadata: {{name: p, uid: {uid}}}, spec: {spec}}}")));
            records.set_receipt(&uid, &pod, Duration::from_secs(second));
            records.set(&uid, &pod);
        };
        let take = |uid: &str| records.take_receipt(&Uid(uid.into())).map(|time| time.as_secs());
        report("new", "{containers: [{name: c}]}", 1);
        report("new", "{containers: [{name: c}]}", 2);
        assert_eq!((take("new"), take("new")), (Some(1), None));
        report("new", "{containers: [{name: c}]}", 3);
        assert_eq!(take("new"), None, "the pod is not new");
        report("gated", "{containers: [{name: c}], schedulingGates: [{name: g}]}", 1);
        assert_eq!(take("gated"), None);
        report("bound", "{containers: [{name: c}]}", 1);
        report("bound", "{containers: [{name: c}], nodeName: node-1}", 2);
        assert_eq!(take("bound"), None, "another scheduler bound the pod");
        report("deleted", "{containers: [{name: c}]}", 1);
        records.remove(&Uid("deleted".into()));
        assert_eq!(take("deleted"), None);
    }

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
