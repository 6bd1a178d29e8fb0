//! PrioritySort
//!
//! **What it does.** Orders pending pods: higher priority first, then those that came into the queue earlier.
//!
//! **Extension points.** QueueSort.
//!
//! **Arguments.** None.
//!
//! **Upstream.** `plugins/queuesort` (kube-scheduler 1.36.2).
//!
//! **Differences.** None.

use schedc_core::args::NoArgs;
use schedc_core::extension_points::{QueueSortPlugin, QueuedPod};
use schedc_core::handle::Handle;
use schedc_core::model::PodSpec;
use schedc_core::plugin::{Compile, Plugin};

/// Sorts by priority, then by age in the queue.
#[derive(Debug)]
pub struct PrioritySort;

impl Plugin for PrioritySort {
    const NAME: &'static str = "PrioritySort";
    type Args = NoArgs;
    type Columns = ();
    type Indexes = ();
    type Reads = ();
    type Pod = ();

    fn new(_: &'static NoArgs, _: &Handle) -> Result<Self, String> {
        Ok(PrioritySort)
    }

    fn compile(_: &NoArgs, _: &PodSpec, _: Compile<'_, Self>) {}
}

impl QueueSortPlugin for PrioritySort {
    #[inline]
    fn less(_: &NoArgs, a: &QueuedPod, b: &QueuedPod) -> bool {
        let (a_priority, b_priority) = (a.pod.spec.priority, b.pod.spec.priority);
        a_priority > b_priority || a_priority == b_priority && a.timestamp < b.timestamp
    }
}
