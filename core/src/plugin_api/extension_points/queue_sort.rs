//! QueueSort: the order in which pending pods are attempted.

use std::sync::Arc;

use crate::model::Pod;
use crate::plugin_api::plugin::{IndexView, Plugin};

/// A pod in the scheduling queue: kube-scheduler's `QueuedPodInfo`.
#[derive(Clone, Debug)]
pub struct QueuedPod {
    /// The pod.
    pub pod: Arc<Pod>,
    /// Time for the order of the queue, in nanoseconds of the scheduler's clock: the creation of a new pod, or the return
    /// of the pod after an attempt, unless [`QueueSortPlugin::timestamp`] returns another time.
    pub timestamp: i64,
    /// Number of attempts.
    pub attempts: u32,
    /// Copy of the priority in the pod's spec: ordering a million pods then reads no other memory.
    pub priority: i32,
}

impl QueuedPod {
    /// Makes a queued pod without attempts.
    pub fn new(pod: Arc<Pod>, timestamp: i64) -> Self {
        QueuedPod { timestamp, attempts: 0, priority: pod.spec.priority, pod }
    }
}

/// Orders the queue. A profile has exactly one QueueSort plugin, and all profiles of a program have the same one.
#[diagnostic::on_unimplemented(
    message = "plugin `{Self}` does not implement the extension point `queue-sort`",
    note = "possible causes: a profile uses the plugin at this extension point, or the plugin's catalog entry lists it; remedy: implement `schedc_core::extension_points::QueueSortPlugin`"
)]
pub trait QueueSortPlugin: Plugin {
    /// Returns whether `a` precedes `b`. Pods that are equal both ways are attempted in order of arrival.
    fn less(args: &Self::Args, a: &QueuedPod, b: &QueuedPod) -> bool;

    /// Returns the [`QueuedPod::timestamp`] of a pod that enters the queue, also if it enters again. Default: the
    /// parameter `timestamp`. A plugin that keeps pods together returns the same time for all of them.
    fn timestamp(&self, _args: &Self::Args, _pod: &Pod, timestamp: i64, _view: IndexView<'_, Self>) -> i64 {
        timestamp
    }
}
