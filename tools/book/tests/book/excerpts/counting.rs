//! A PreFilter that updates its state from the log of an index.

use schedc_core::args::NoArgs;
use schedc_core::change_log::ChangeLog;
use schedc_core::column::Index;
use schedc_core::extension_points::{PreFilterPlugin, PreFilterResult, rerun_pre_filter};
use schedc_core::incremental::{FilterUpdate, Incremental, NeedsFullEvaluation};
use schedc_core::intern::Symbol;
use schedc_core::model::{Object, PodSpec};
use schedc_core::plugin::{CompileContext, CycleSlot, View};
use schedc_core::status::Status;
use schedc_core::{Plugin, plugin};

/// Namespaces with added, updated or deleted claims, in order.
pub struct ClaimLog {
    log: ChangeLog<Symbol>,
}

impl Default for ClaimLog {
    fn default() -> Self {
        ClaimLog { log: ChangeLog::with_capacity(1024) }
    }
}

impl Index for ClaimLog {
    fn set_object(&mut self, old: Option<&Object>, new: Option<&Object>) {
        if let Some(Object::PersistentVolumeClaim(claim)) = new.or(old) {
            self.log.push(claim.namespace);
        }
    }
}

/// Number of a pod's volumes, and the position in the log at which they were counted.
#[derive(Clone, PartialEq)]
pub struct Counts {
    claims: usize,
    seen: u64,
}

#[derive(PartialEq, Eq, Hash)]
pub struct Claimed(usize);

#[derive(Default)]
pub struct Counting;

#[plugin]
impl Plugin for Counting {
    type Indexes = ClaimLog;
    type Pod = Claimed;

    fn compile(_: &NoArgs, pod: &PodSpec, _: CompileContext<'_, Self>) -> Claimed {
        Claimed(pod.volumes.len())
    }
}

impl PreFilterPlugin for Counting {
    type Cycle = Counts;

    fn pre_filter(&self, _: &NoArgs, pod: &Claimed, view: View<'_, Self>) -> Result<PreFilterResult<Counts>, Status> {
        Ok(PreFilterResult::ready(Counts { claims: pod.0, seen: view.indexes.log.end() }))
    }
}

impl Incremental for Counting {
    fn update_filter(
        &self,
        args: &NoArgs,
        pod: &Claimed,
        slot: &mut CycleSlot<Counts>,
        view: View<'_, Self>,
        verdicts: &mut FilterUpdate<'_>,
    ) -> Result<(), NeedsFullEvaluation> {
        // No claim has changed since: the counts are current.
        if slot.state.seen == view.indexes.log.end() {
            return Ok(());
        }
        rerun_pre_filter(self, args, pod, slot, view, verdicts)
    }
}
