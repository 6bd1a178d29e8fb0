extern crate self as mine;

use schedc_core::custom::{CustomResource, Lister};
use schedc_core::events::{Action, EventResource};
use schedc_core::extension_points::{EnqueueExtensions, FilterPlugin, QueueSortPlugin, QueuedPod, Registration};
use schedc_core::args::NoArgs;
use schedc_core::handle::Handle;
use schedc_core::model::PodSpec;
use schedc_core::plugin::{Compile, Plugin};
use schedc_core::status::{Code, Reasons};

pub struct Shift;

impl<'de> serde::Deserialize<'de> for Shift {
    fn deserialize<D: serde::Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        Ok(Shift)
    }
}

impl CustomResource for Shift {
    const RESOURCE: &'static str = "shifts.v1.example.com";
}

pub struct Mine;

impl Plugin for Mine {
    const NAME: &'static str = "Mine";
    type Args = NoArgs;
    type Columns = ();
    type Indexes = Lister<Shift>;
    type Reads = ();
    type Pod = ();
    fn new(_: &'static NoArgs, _: &Handle) -> Result<Self, String> {
        Ok(Mine)
    }
    fn compile(_: &NoArgs, _: &PodSpec, _: Compile<'_, Self>) -> Self::Pod {}
}

impl QueueSortPlugin for Mine {
    fn less(_: &NoArgs, a: &QueuedPod, b: &QueuedPod) -> bool {
        a.timestamp < b.timestamp
    }
}

impl FilterPlugin for Mine {
    type Cycle = ();
    type Rejection = ();
    fn filter(_: &NoArgs, _: &(), _: &(), _: ()) -> Result<(), ()> {
        Ok(())
    }
    fn code(_: &()) -> Code {
        Code::Unschedulable
    }
    fn explain(_: &NoArgs, _: &(), _: &(), _: (), _: (), _: &mut Reasons<'_>) {}
}

impl EnqueueExtensions for Mine {
    const EVENTS: &'static [Registration] = &[
        Registration::always(EventResource::Custom(Shift::RESOURCE), Action::ADD),
        Registration::always(EventResource::Custom("teams.v1.example.com"), Action::ADD),
    ];
}

include!("unwatched.txt");

fn main() {}
