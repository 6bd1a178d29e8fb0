//! The extension points of the queue (PreEnqueue, queueing hints, QueueSort) and of filtering (PreFilter, Filter,
//! PostFilter).

use schedc_core::cache::Cache;
use schedc_core::column::ColumnSet;
use schedc_core::events::EventObject;
use schedc_core::extension_points::{
    self as points, EnqueueExtensions, FilterPlugin, HintContext, HintError, PostFilterContext, PostFilterPlugin,
    PostFilterResult, PreEnqueuePlugin, PreFilterPlugin, QueueSortPlugin, QueueingHint,
};
use schedc_core::incremental::{
    DependsOn, FilterKernel, FilterUpdate, Incremental, NeedsFullEvaluation, UpdateScratch,
};
use schedc_core::model::{NodeIndex, Pod};
use schedc_core::node_mask::NodeMask;
use schedc_core::plugin::{CycleSlot, Row};
use schedc_core::status::{Code, Reasons, Status};

use super::{
    AnyValue, FilterState, Inputs, Instance, PodValue, Reads, downcast_pod, downcast_value_mut, index_view, slot_state,
    view,
};
use crate::Pipeline;
use crate::plugins::Columns;
use crate::state::State;

erased_point! {
    trait PreEnqueue for PreEnqueuePlugin {
        fn pre_enqueue(&self, pod: &Pod, cache: &Cache<State>) -> Result<(), Status> {
            self.plugin.pre_enqueue(self.args, pod, index_view(cache))
        }
    }
}

erased_point! {
    trait QueueingHints for EnqueueExtensions {
        fn hint(&self, rejected: &Pod, object: EventObject<'_>, cache: &Cache<State>) -> Result<QueueingHint, HintError> {
            self.plugin.queueing_hint(self.args, HintContext { rejected, object, view: index_view(cache) })
        }
    }
}

erased_point! {
    trait QueueSort for QueueSortPlugin {
        fn timestamp(&self, pod: &Pod, timestamp: i64, cache: &Cache<State>) -> i64 {
            self.plugin.timestamp(self.args, pod, timestamp, index_view(cache))
        }
    }
}

erased_point! {
    trait PreFilter for PreFilterPlugin, Incremental {
        fn pre_filter(
            &self,
            pod: &dyn PodValue,
            cache: &Cache<State>,
        ) -> Result<points::PreFilterResult<FilterState>, Status> {
            let found = self.plugin.pre_filter(self.args, downcast_pod::<P>(pod), view(cache))?;
            let points::PreFilterResult { slot, candidates } = found;
            let skip = slot.skip;
            Ok(points::PreFilterResult { slot: CycleSlot { state: FilterState(Box::new(slot)), skip }, candidates })
        }
        /// Updates the state in a cached answer.
        ///
        /// # Errors
        /// Returns an error if the answer cannot be updated.
        fn update(
            &self,
            pod: &dyn PodValue,
            state: &mut FilterState,
            cache: &Cache<State>,
            verdicts: &mut FilterUpdate<'_>,
        ) -> Result<(), NeedsFullEvaluation> {
            let slot: &mut CycleSlot<<P as PreFilterPlugin>::Cycle> = downcast_value_mut(state.value_mut());
            self.plugin.update_filter(self.args, downcast_pod::<P>(pod), slot, view(cache), verdicts)
        }
        fn recycle(&self, state: FilterState) {
            if let Some(CycleSlot { state, .. }) = state.downcast() {
                self.plugin.recycle(state);
            }
        }
        fn add_pod(&self, pod: &dyn PodValue, state: &mut AnyValue, other: &Pod, cache: &Cache<State>, node: NodeIndex) {
            P::add_pod(downcast_pod::<P>(pod), downcast_cycle::<P>(state), other, view(cache), node);
        }
        fn remove_pod(&self, pod: &dyn PodValue, state: &mut AnyValue, other: &Pod, cache: &Cache<State>, node: NodeIndex) {
            P::remove_pod(downcast_pod::<P>(pod), downcast_cycle::<P>(state), other, view(cache), node);
        }
    }
}

fn downcast_cycle<P: PreFilterPlugin>(state: &mut AnyValue) -> &mut P::Cycle {
    let slot: &mut CycleSlot<P::Cycle> = downcast_value_mut(state);
    &mut slot.state
}

erased_point! {
    /// `state` is `None` for a plugin whose PreFilter is not in the profile.
    trait Filter for FilterPlugin<Cycle: Default>, Incremental {
        /// # Errors
        /// Returns the code of the rejection.
        fn filter(
            &self,
            pod: &dyn PodValue,
            state: Option<&AnyValue>,
            columns: &Columns<'_>,
            index: usize,
        ) -> Result<(), Code> {
            let (pod, row) = (downcast_pod::<P>(pod), row::<P>(columns, index));
            let verdict = match state {
                Some(state) => P::filter(self.args, pod, slot_state(state), row),
                None => P::filter(self.args, pod, &Default::default(), row),
            };
            verdict.map_err(|rejection| P::code(&rejection))
        }
        /// Returns what the verdicts depend on, as the plugin promises.
        fn depends_on(&self, pod: &dyn PodValue, state: Option<&AnyValue>) -> DependsOn {
            let pod = downcast_pod::<P>(pod);
            match state {
                Some(state) => P::filter_depends_on(pod, slot_state(state)),
                None => P::filter_depends_on(pod, &Default::default()),
            }
        }
        /// Runs Filter for the nodes whose verdict may have changed, and stores the verdicts in `passing`.
        ///
        /// # Errors
        /// Returns an error if Filter failed on a node.
        fn evaluate(
            &self,
            inputs: Inputs<'_>,
            depends: DependsOn,
            work: &mut UpdateScratch,
            passing: &mut NodeMask,
        ) -> Result<(), NeedsFullEvaluation> {
            if !work.affects_filter::<P>(depends, P::REPORTS_ALL_VERDICTS) {
                return Ok(());
            }
            let default = Default::default();
            let kernel = FilterKernel::<P> {
                args: self.args,
                pod: downcast_pod::<P>(inputs.pod),
                state: inputs.state.map_or(&default, slot_state),
                columns: inputs.columns::<P>(),
            };
            work.evaluate(kernel, (depends, P::REPORTS_ALL_VERDICTS), passing, inputs.cache.base.alive())
        }
        /// Runs Filter again for a rejected node, and adds the reasons.
        fn explain(
            &self,
            pod: &dyn PodValue,
            state: Option<&AnyValue>,
            columns: &Columns<'_>,
            index: usize,
            out: &mut Reasons<'_>,
        ) {
            let default = Default::default();
            let state: &<P as FilterPlugin>::Cycle = state.map_or(&default, slot_state);
            let (pod, row) = (downcast_pod::<P>(pod), row::<P>(columns, index));
            if let Err(rejection) = P::filter(self.args, pod, state, row) {
                P::explain(self.args, pod, state, row, rejection, out);
            }
        }
    }
}

/// Returns the plugin's columns of a node.
pub(super) fn row<'a, P: Reads>(columns: &Columns<'a>, index: usize) -> Row<'a, P> {
    P::Columns::row(P::columns(columns), index)
}

erased_point! {
    trait PostFilter for PostFilterPlugin {
        fn post_filter(&self, cx: PostFilterContext<'_, Pipeline>) -> PostFilterResult {
            let view = view(cx.cache);
            self.plugin.post_filter(self.args, cx, view)
        }
    }
}
