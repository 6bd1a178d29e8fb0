//! PreEnqueue: a pod with the label `gate` is held until the answer of `Gate open` is `Done`.

use schedc_core::Plugin;
use schedc_core::args::NoArgs;
use schedc_core::extension_points::PreEnqueuePlugin;
use schedc_core::handle::Handle;
use schedc_core::model::{LabelsExt, Pod, PodSpec};
use schedc_core::plugin::{CompileContext, IndexView};
use schedc_core::status::Status;

use super::stage::{Answer, answer};

pub struct Gate;

impl Plugin for Gate {
    const NAME: &'static str = "Gate";
    type Args = NoArgs;
    type Columns = ();
    type Indexes = ();
    type Reads = ();
    type Pod = ();

    fn new(_: &'static NoArgs, _: &Handle) -> Result<Self, String> {
        Ok(Gate)
    }

    fn compile(_: &NoArgs, _: &PodSpec, _: CompileContext<'_, Self>) {}
}

impl PreEnqueuePlugin for Gate {
    fn pre_enqueue(&self, _: &NoArgs, pod: &Pod, view: IndexView<'_, Self>) -> Result<(), Status> {
        let interner = view.interner();
        let gate = interner.get("gate").and_then(|key| pod.spec.labels.value(key));
        match gate {
            Some(gate) if !matches!(answer("Gate open", &pod.name), Answer::Done) => {
                Err(Status::unresolvable(format!("waiting for {}", interner.resolve(gate))))
            }
            _ => Ok(()),
        }
    }
}
