//! The kernel reads the instance, which may change between two pods.

use schedc_core::args::NoArgs;
use schedc_core::extension_points::FilterPlugin;
use schedc_core::handle::Handle;
use schedc_core::model::PodSpec;
use schedc_core::plugin::{CompileContext, Plugin};
use schedc_core::status::{Code, Reasons};

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

impl FilterPlugin for Mine {
    type Cycle = ();
    type Rejection = ();
    fn filter(&self, _: &NoArgs, _: &(), _: &(), _: ()) -> Result<(), ()> {
        Ok(())
    }
    fn code(_: &()) -> Code {
        Code::Unschedulable
    }
    fn explain(_: &NoArgs, _: &(), _: &(), _: (), _: (), _: &mut Reasons<'_>) {}
}

fn main() {}
