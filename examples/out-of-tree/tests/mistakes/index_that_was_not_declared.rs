//! PreFilter reads an index that the plugin does not declare.

use schedc_core::args::NoArgs;
use schedc_core::handle::Handle;
use schedc_core::model::PodSpec;
use schedc_core::plugin::{CompileContext, Plugin, View};

pub struct Mine;

impl Plugin for Mine {
    const NAME: &'static str = "Mine";
    type Args = NoArgs;
    type Columns = ();
    type Indexes = ();
    type Reads = ();
    type Pod = ();
    fn new(_: &'static NoArgs, _: &Handle) -> Result<Self, String> {
        Ok(Mine)
    }
    fn compile(_: &NoArgs, _: &PodSpec, _: CompileContext<'_, Self>) -> Self::Pod {
        todo!()
    }
}

pub fn busy(view: View<'_, Mine>) -> bool {
    view.indexes.len() > 3
}

fn main() {}
