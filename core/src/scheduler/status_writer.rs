//! Writes the status of pods: one patch of a pod at a time, so that a late one never undoes a newer one.

use std::sync::Arc;

use super::tasks::{Completed, Tasks, Work};
use crate::client::{Client, StatusPatch};
use crate::map::Map;
use crate::model::{Pod, Uid};

/// Pods whose status is being written, and what is to be written after that.
#[derive(Default)]
pub(super) struct StatusWriter {
    busy: Map<Uid, Option<(Arc<Pod>, StatusPatch)>>,
}

impl StatusWriter {
    /// Writes, now or when what is being written is.
    pub(super) fn write(&mut self, client: &impl Client, pod: Arc<Pod>, patch: StatusPatch, tasks: &mut impl Tasks) {
        match self.busy.get_mut(&pod.uid) {
            Some(next) => {
                let earlier = next.take().map(|(_, patch)| patch).unwrap_or_default();
                *next = Some((pod, earlier.then(patch)));
            }
            None => {
                self.busy.insert(pod.uid.clone(), None);
                spawn(client, pod, patch, tasks);
            }
        }
    }

    /// Something was written.
    pub(super) fn completed(&mut self, uid: &Uid, client: &impl Client, tasks: &mut impl Tasks) {
        match self.busy.get_mut(uid).and_then(Option::take) {
            Some((pod, patch)) => spawn(client, pod, patch, tasks),
            None => drop(self.busy.remove(uid)),
        }
    }

    /// A pod went: what is not sent yet will not be.
    pub(super) fn forget(&mut self, uid: &Uid) {
        if let Some(next) = self.busy.get_mut(uid) {
            *next = None;
        }
    }

    /// Whether something about a pod is being written.
    pub(super) fn is_busy(&self, uid: &Uid) -> bool {
        self.busy.contains_key(uid)
    }
    /// Number of pods about which something is being written.
    pub(super) fn len(&self) -> usize {
        self.busy.len()
    }
}

fn spawn(client: &impl Client, pod: Arc<Pod>, patch: StatusPatch, tasks: &mut impl Tasks) {
    let client = client.clone();
    tasks.spawn(async move {
        // A status that could not be written is written with the next attempt.
        let _lost = client.patch_pod_status(&pod, &patch).await;
        Completed(Work::Status { pod: pod.uid.clone() })
    });
}
