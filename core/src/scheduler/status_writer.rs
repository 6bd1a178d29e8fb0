//! Patches of pod status: one at a time for each pod, because a late patch must not replace a newer one.

use std::sync::Arc;

use super::tasks::{Completed, Tasks, Work};
use crate::model::map::Map;
use crate::model::{Pod, Uid};
use crate::plugin_api::client::{Client, StatusPatch};

/// Pods with a status patch in progress, and their next patches.
#[derive(Default)]
pub(super) struct StatusWriter {
    busy: Map<Uid, Option<(Arc<Pod>, StatusPatch)>>,
}

impl StatusWriter {
    /// Starts a patch, or queues it behind the one in progress.
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

    /// Handles a completed patch.
    pub(super) fn completed(&mut self, uid: &Uid, client: &impl Client, tasks: &mut impl Tasks) {
        match self.busy.get_mut(uid).and_then(Option::take) {
            Some((pod, patch)) => spawn(client, pod, patch, tasks),
            None => drop(self.busy.remove(uid)),
        }
    }

    /// Discards the next patch of a deleted pod.
    pub(super) fn forget(&mut self, uid: &Uid) {
        if let Some(next) = self.busy.get_mut(uid) {
            *next = None;
        }
    }

    /// Returns whether a patch of a pod is in progress.
    pub(super) fn is_busy(&self, uid: &Uid) -> bool {
        self.busy.contains_key(uid)
    }
    /// Returns the number of pods with a patch in progress.
    pub(super) fn len(&self) -> usize {
        self.busy.len()
    }
}

fn spawn(client: &impl Client, pod: Arc<Pod>, patch: StatusPatch, tasks: &mut impl Tasks) {
    let client = client.clone();
    tasks.spawn(async move {
        // The next attempt writes a status that could not be written.
        let _lost = client.patch_pod_status(&pod, &patch).await;
        Completed(Work::Status { pod: pod.uid.clone() })
    });
}
