//! The plugin reads the state of a plugin without state.

use schedc_core::args::NoArgs;
use schedc_core::extension_points::StateOf;
use schedc_core::handle::Handle;
use schedc_core::model::PodSpec;
use schedc_core::plugin::{CompileContext, Plugin};
use schedc_plugins::NodeName;

pub struct Mine;

impl Plugin for Mine {
    const NAME: &'static str = "Mine";
    type Args = NoArgs;
    type Columns = ();
    type Indexes = ();
    type Reads = StateOf<NodeName>;
    type Pod = ();
    fn new(_: &'static NoArgs, _: &Handle) -> Result<Self, String> {
        Ok(Mine)
    }
    fn compile(_: &NoArgs, _: &PodSpec, _: CompileContext<'_, Self>) -> Self::Pod {
        todo!()
    }
}

fn main() {}
