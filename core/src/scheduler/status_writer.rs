//! Patches of pod status: one at a time for each pod, because a late patch must not replace a newer one.

use std::collections::VecDeque;
use std::sync::Arc;

use super::tasks::{Completed, Tasks, Work};
use crate::model::map::{Map, shrink_after_burst};
use crate::model::{Pod, Uid};
use crate::plugin_api::client::{Client, StatusPatch};

/// Maximum number of patches in progress. An API server processes fewer patches at a time, so a higher number saves no
/// time. Each patch takes memory, and thousands of pods can become unschedulable at once.
const MAX_IN_PROGRESS: usize = 96;

/// Pods with a status patch in progress or waiting.
#[derive(Default)]
pub(super) struct StatusWriter {
    /// For each of the pods: the next patch, if one waits.
    busy: Map<Uid, Option<(Arc<Pod>, StatusPatch)>>,
    /// Pods without a patch in progress, in order.
    waiting: VecDeque<Uid>,
}

impl StatusWriter {
    /// Starts a patch, or queues it behind those in progress.
    pub(super) fn write(&mut self, client: &impl Client, pod: Arc<Pod>, patch: StatusPatch, tasks: &mut impl Tasks) {
        let in_progress = self.busy.len() - self.waiting.len();
        match self.busy.get_mut(&pod.uid) {
            Some(next) => {
                let earlier = next.take().map(|(_, patch)| patch).unwrap_or_default();
                *next = Some((pod, earlier.then(patch)));
            }
            None if in_progress < MAX_IN_PROGRESS => {
                self.busy.insert(pod.uid.clone(), None);
                spawn(client, pod, patch, tasks);
            }
            None => {
                self.waiting.push_back(pod.uid.clone());
                self.busy.insert(pod.uid.clone(), Some((pod, patch)));
            }
        }
    }

    /// Handles a completed patch.
    pub(super) fn completed(&mut self, uid: &Uid, client: &impl Client, tasks: &mut impl Tasks) {
        if let Some((pod, patch)) = self.take(uid) {
            return spawn(client, pod, patch, tasks);
        }
        self.busy.remove(uid);
        let Some(first) = self.waiting.pop_front() else {
            self.waiting = VecDeque::new();
            return shrink_after_burst(&mut self.busy);
        };
        match self.take(&first) {
            Some((pod, patch)) => spawn(client, pod, patch, tasks),
            // Callers wait for the end of every patch, also of a discarded one.
            None => tasks.spawn(async { Completed(Work::Status { pod: first }) }),
        }
    }

    fn take(&mut self, uid: &Uid) -> Option<(Arc<Pod>, StatusPatch)> {
        self.busy.get_mut(uid).and_then(Option::take)
    }

    /// Discards the next patch of a deleted pod.
    pub(super) fn forget(&mut self, uid: &Uid) {
        if let Some(next) = self.busy.get_mut(uid) {
            *next = None;
        }
    }

    /// Returns whether a patch of a pod is in progress or waits.
    pub(super) fn is_busy(&self, uid: &Uid) -> bool {
        self.busy.contains_key(uid)
    }
    /// Returns the number of pods with a patch in progress or waiting.
    pub(super) fn len(&self) -> usize {
        self.busy.len()
    }
}

fn spawn(client: &impl Client, pod: Arc<Pod>, patch: StatusPatch, tasks: &mut impl Tasks) {
    let client = client.clone();
    tasks.spawn(async move {
        // If the patch fails, the status stays as it is until the pod's next attempt writes it.
        let _lost = client.patch_pod_status(&pod, &patch).await;
        Completed(Work::Status { pod: pod.uid.clone() })
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheduler::minimal_cluster::NoopClient;

    /// Counts tasks, and runs none.
    struct CountedTasks(usize);

    impl Tasks for CountedTasks {
        fn spawn(&mut self, _: impl Future<Output = Completed> + Send + 'static) {
            self.0 += 1;
        }
    }

    #[test]
    fn patches_beyond_the_limit_wait() {
        let (mut writer, mut tasks) = (StatusWriter::default(), CountedTasks(0));
        let pods: Vec<_> = (0..MAX_IN_PROGRESS + 3)
            .map(|number| Arc::new(Pod { uid: Uid(number.to_string().into()), ..Pod::default() }))
            .collect();
        let write = |writer: &mut StatusWriter, pod: &Arc<Pod>, tasks: &mut CountedTasks| {
            writer.write(&NoopClient, pod.clone(), StatusPatch::default(), tasks);
        };
        pods.iter().for_each(|pod| write(&mut writer, pod, &mut tasks));
        // More patches of these pods are merged with those that wait.
        pods.iter().rev().take(3).for_each(|pod| write(&mut writer, pod, &mut tasks));
        assert_eq!((tasks.0, writer.len()), (MAX_IN_PROGRESS, MAX_IN_PROGRESS + 3));
        // A task also completes for a discarded patch.
        writer.forget(&pods[MAX_IN_PROGRESS].uid);
        for (at, pod) in pods.iter().enumerate() {
            assert!(writer.is_busy(&pod.uid));
            writer.completed(&pod.uid, &NoopClient, &mut tasks);
            assert_eq!(tasks.0, (MAX_IN_PROGRESS + at + 1).min(pods.len()));
        }
        assert_eq!((writer.len(), writer.waiting.len()), (0, 0));
    }
}
