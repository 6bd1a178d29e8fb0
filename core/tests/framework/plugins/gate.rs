//! PreEnqueue: a pod with the label `gate` is held until the answer of `Gate open` is `Done`.

use schedc_core::args::NoArgs;
use schedc_core::extension_points::PreEnqueuePlugin;
use schedc_core::model::{LabelsExt, Pod};
use schedc_core::plugin::IndexView;
use schedc_core::status::Status;
use schedc_core::{Plugin, plugin};

use super::stage::{Answer, answer};

#[derive(Default)]
pub struct Gate;

#[plugin]
impl Plugin for Gate {}

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
