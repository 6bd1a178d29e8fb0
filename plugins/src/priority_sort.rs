//! PrioritySort
//!
//! **What it does.** Orders pending pods by priority, then by the time at which they entered the queue.
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
use schedc_core::{Plugin, plugin};

/// Sorts by priority, then by time in the queue.
#[derive(Debug, Default)]
pub struct PrioritySort;

#[plugin]
impl Plugin for PrioritySort {}

impl QueueSortPlugin for PrioritySort {
    #[inline]
    fn less(_: &NoArgs, a: &QueuedPod, b: &QueuedPod) -> bool {
        a.priority > b.priority || a.priority == b.priority && a.timestamp < b.timestamp
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use schedc_core::intern::Interner;
    use schedc_objects::testing::pod;

    use super::*;

    #[test]
    fn priority_first_then_age() {
        let queued = |priority: i32, timestamp: i64| {
            let pod = pod(&format!("spec: {{priority: {priority}}}"), &mut Interner::default());
            QueuedPod::new(Arc::new(pod), timestamp)
        };
        for (a, b, less) in [
            ((10, 5), (0, 1), true),
            ((0, 1), (10, 5), false),
            ((-1, 1), (0, 2), false),
            ((3, 1), (3, 2), true),
            ((3, 2), (3, 1), false),
            ((3, 1), (3, 1), false),
        ] {
            assert_eq!(PrioritySort::less(&NoArgs, &queued(a.0, a.1), &queued(b.0, b.1)), less, "{a:?} {b:?}");
        }
    }
}
