//! QueueSort: higher priority first.

use schedc_core::args::NoArgs;
use schedc_core::extension_points::{QueueSortPlugin, QueuedPod};
use schedc_core::{Plugin, plugin};

#[derive(Default)]
pub struct Priority;

#[plugin]
impl Plugin for Priority {}

impl QueueSortPlugin for Priority {
    fn less(_: &NoArgs, a: &QueuedPod, b: &QueuedPod) -> bool {
        a.pod.spec.priority > b.pod.spec.priority
    }
}
