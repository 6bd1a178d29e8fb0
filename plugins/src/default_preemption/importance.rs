//! Which of two pods matters more.

use std::cmp::Reverse;
use std::sync::Arc;

use schedc_core::model::Pod;

/// When a pod started; one that has not yet starts now (`GetPodStartTime`).
pub(super) fn start_time(pod: &Pod, now: i64) -> i64 {
    pod.started.unwrap_or(now)
}

/// Sorts pods by descending importance (`MoreImportantPod`): by priority, then by how long they run. Equal ones keep their
/// order.
pub(super) fn sort_by_importance(pods: &mut [Arc<Pod>], now: i64) {
    pods.sort_by_key(|pod| (Reverse(pod.spec.priority), start_time(pod, now)));
}
