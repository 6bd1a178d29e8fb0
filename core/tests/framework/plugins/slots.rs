//! Filter that reads its own column: a node takes as many pods as its allocatable `pods`.

use schedc_core::args::NoArgs;
use schedc_core::column::Column;
use schedc_core::extension_points::FilterPlugin;
use schedc_core::intern::Interner;
use schedc_core::model::{Node, Pod};
use schedc_core::status::{Code, Reasons};
use schedc_core::{Plugin, plugin};

use super::stage::note;

#[derive(Default)]
pub struct Slots;

/// Number of pods of a node, and its maximum.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SlotCount {
    pub taken: i64,
    pub allowed: i64,
}

impl Column for SlotCount {
    fn build(node: &Node, _: &Interner) -> Self {
        SlotCount { taken: 0, allowed: node.allowed_pods }
    }
    fn add_pod(&mut self, _: &Pod) {
        self.taken += 1;
    }
    fn remove_pod(&mut self, _: &Pod) {
        self.taken -= 1;
    }
}

#[plugin]
impl Plugin for Slots {
    type Columns = SlotCount;
}

impl FilterPlugin for Slots {
    type Cycle = ();
    type Rejection = ();

    fn filter(_: &NoArgs, _: &(), _: &(), node: &SlotCount) -> Result<(), ()> {
        note("Slots filter");
        if node.taken < node.allowed { Ok(()) } else { Err(()) }
    }

    fn code(_: &()) -> Code {
        Code::Unschedulable
    }

    fn explain(_: &NoArgs, _: &(), _: &(), _: &SlotCount, _: (), out: &mut Reasons<'_>) {
        out.push("node(s) were full");
    }
}
