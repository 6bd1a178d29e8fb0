//! What an API server says of pods that only whoever writes to it needs to know.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use k8s_openapi::api::core::v1 as api;
use schedc_core::map::Map;
use schedc_core::model::Uid;

use crate::status_patch::{ConditionOrders, ObservedStatus};
use crate::write::ObjectListeners;

/// A record for each pod, and who waits for news of any objects. Clones are the same.
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
    /// An answer said so, and the watch did not yet.
    is_ahead: bool,
}

/// What is known of a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodRecord {
    /// `metadata.resourceVersion`
    pub version: u64,
    /// What its status says.
    pub status: ObservedStatus,
}

impl PodRecords {
    /// The watch says that a pod is like this. To be told before the scheduler is.
    pub fn set(&self, uid: &Uid, pod: &api::Pod) {
        let State { pods, orders } = &mut *self.lock();
        let record = PodRecord::new(pod, orders);
        if pods.get(uid).is_none_or(|known| !known.is_ahead || known.record.version <= record.version) {
            pods.insert(uid.clone(), CachedRecord { record, is_ahead: false });
        }
    }

    /// An answer says that a pod is like this now. One that is not known any more stays so.
    pub fn record_response(&self, uid: &Uid, pod: &api::Pod) {
        let State { pods, orders } = &mut *self.lock();
        let Some(known) = pods.get_mut(uid).filter(|_| pod.metadata.uid.as_deref() == Some(&*uid.0)) else { return };
        let record = PodRecord::new(pod, orders);
        if known.record.version < record.version {
            *known = CachedRecord { record, is_ahead: true };
        }
    }

    /// A pod went.
    pub fn remove(&self, uid: &Uid) {
        self.lock().pods.remove(uid);
    }

    /// What is known of a pod.
    pub fn get(&self, uid: &Uid) -> Option<PodRecord> {
        self.lock().pods.get(uid).map(|known| known.record.clone())
    }

    /// Who is to be told when something happens to an object.
    pub fn listeners(&self) -> &ObjectListeners {
        &self.listeners
    }

    /// Nothing is left half done under the lock, so a panic elsewhere does not spoil what it holds.
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
        assert_eq!(nominated(), None, "nobody knows it");
        records.set(&uid, &pod(10, "n10"));
        records.record_response(&uid, &pod(12, "n12"));
        records.record_response(&uid, &pod(11, "n11"));
        records.set(&uid, &pod(11, "n11"));
        assert_eq!(nominated().as_deref(), Some("n12"));
        records.set(&uid, &pod(12, "n12"));
        // A server that was set back tells of older versions. It is right.
        records.set(&uid, &pod(9, "n9"));
        assert_eq!(nominated().as_deref(), Some("n9"));
        records.remove(&uid);
        assert_eq!(records.get(&uid), None);
    }
}
