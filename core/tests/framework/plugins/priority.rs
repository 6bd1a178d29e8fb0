//! QueueSort: higher priority first.

use schedc_core::Plugin;
use schedc_core::args::NoArgs;
use schedc_core::extension_points::{QueueSortPlugin, QueuedPod};
use schedc_core::handle::Handle;
use schedc_core::model::PodSpec;
use schedc_core::plugin::CompileContext;

pub struct Priority;

impl Plugin for Priority {
    const NAME: &'static str = "Priority";
    type Args = NoArgs;
    type Columns = ();
    type Indexes = ();
    type Reads = ();
    type Pod = ();

    fn new(_: &'static NoArgs, _: &Handle) -> Result<Self, String> {
        Ok(Priority)
    }

    fn compile(_: &NoArgs, _: &PodSpec, _: CompileContext<'_, Self>) {}
}

impl QueueSortPlugin for Priority {
    fn less(_: &NoArgs, a: &QueuedPod, b: &QueuedPod) -> bool {
        a.pod.spec.priority > b.pod.spec.priority
    }
}
