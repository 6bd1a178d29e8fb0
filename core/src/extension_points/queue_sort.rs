//! QueueSort: in which order pending pods are tried.

use std::sync::Arc;

use crate::model::Pod;
use crate::plugin::{IndexView, Plugin};

/// A pod in the scheduling queue: kube-scheduler's `QueuedPodInfo`.
#[derive(Clone, Debug)]
pub struct QueuedPod {
    /// The pod.
    pub pod: Arc<Pod>,
    /// When it came into the queue this time, in nanoseconds of the scheduler's clock.
    pub timestamp: i64,
    /// How often it was tried.
    pub attempts: u32,
    /// The priority of its spec: here, so that who orders a million pods looks at nothing else.
    pub priority: i32,
}

impl QueuedPod {
    /// A pod that was never tried.
    pub fn new(pod: Arc<Pod>, timestamp: i64) -> Self {
        QueuedPod { timestamp, attempts: 0, priority: pod.spec.priority, pod }
    }
}

/// Orders the queue. A profile has exactly one, and all profiles of a binary the same.
#[diagnostic::on_unimplemented(
    message = "plugin `{Self}` does not implement the extension point `queue-sort`",
    note = "a profile or the plugin's catalog entry lists it there; it must implement `schedc_core::extension_points::QueueSortPlugin`"
)]
pub trait QueueSortPlugin: Plugin {
    /// Whether `a` is to be tried before `b`. Pods that are equal both ways are tried in order of arrival.
    fn less(args: &Self::Args, a: &QueuedPod, b: &QueuedPod) -> bool;

    /// The pod's [`QueuedPod::timestamp`], asked for when it comes into the queue and when it comes back: `timestamp`, unless
    /// the plugin knows better. One that keeps pods together gives all of them the same.
    fn timestamp(&self, _args: &Self::Args, _pod: &Pod, timestamp: i64, _view: IndexView<'_, Self>) -> i64 {
        timestamp
    }
}
