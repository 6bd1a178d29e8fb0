//! The compiled pod is compared for equality, but does not support it.

use schedc_core::args::NoArgs;
use schedc_core::handle::Handle;
use schedc_core::model::PodSpec;
use schedc_core::plugin::{CompileContext, Plugin};

pub struct MinePod {
    pub floor: i64,
}

pub struct Mine;

impl Plugin for Mine {
    const NAME: &'static str = "Mine";
    type Args = NoArgs;
    type Columns = ();
    type Indexes = ();
    type Reads = ();
    type Pod = MinePod;
    fn new(_: &'static NoArgs, _: &Handle) -> Result<Self, String> {
        Ok(Mine)
    }
    fn compile(_: &NoArgs, _: &PodSpec, _: CompileContext<'_, Self>) -> Self::Pod {
        todo!()
    }
}

fn main() {}
