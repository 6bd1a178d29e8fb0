//! The extension points of scoring, and those after the decision.

use schedc_core::cache::Cache;
use schedc_core::extension_points::{
    Extent, NormalizeScore, Placement, PreBindPlugin, PreFlightResult, PreScorePlugin, PrepareScore, Preview,
    ReservePlugin, ScoreClass, ScoreError, ScorePlugin,
};
use schedc_core::incremental::{
    ClassKernel, DependsOn, Incremental, NeedsFullEvaluation, NormalizedScores, ScoreChanges, ScoreUpdate,
};
use schedc_core::node_mask::NodeMask;
use schedc_core::node_set::NodeSet;
use schedc_core::plugin::{CycleSlot, Plugin, Row};
use schedc_core::status::Status;

use super::cycle::row;
use super::{
    AnyValue, Inputs, Instance, PodValue, Reads, downcast_pod, downcast_value, downcast_value_mut, slot_state, view,
};
use crate::plugins::Columns;
use crate::state::State;

erased_point! {
    trait PreScore for PreScorePlugin, Incremental {
        fn pre_score(
            &self,
            pod: &dyn PodValue,
            cache: &Cache<State>,
            feasible: &NodeMask,
        ) -> Result<CycleSlot<Box<AnyValue>>, Status> {
            let slot = self.plugin.pre_score(self.args, downcast_pod::<P>(pod), view(cache), feasible)?;
            let skip = slot.skip;
            Ok(CycleSlot { state: Box::new(slot), skip })
        }
        /// Updates the state in a cached answer.
        ///
        /// # Errors
        /// Returns an error if the answer cannot be updated.
        fn update(
            &self,
            pod: &dyn PodValue,
            state: &mut AnyValue,
            cache: &Cache<State>,
            scores: &mut ScoreUpdate<'_>,
        ) -> Result<(), NeedsFullEvaluation> {
            let slot: &mut CycleSlot<<P as PreScorePlugin>::Cycle> = downcast_value_mut(state);
            self.plugin.update_score(self.args, downcast_pod::<P>(pod), slot, view(cache), scores)
        }
        fn recycle(&self, state: Box<AnyValue>) {
            if let Ok(slot) = state.downcast::<CycleSlot<<P as PreScorePlugin>::Cycle>>() {
                self.plugin.recycle(slot.state);
            }
        }
    }
}

erased_point! {
    trait Prepare for PrepareScore, Incremental {
        fn prepare(&self, pod: &dyn PodValue, cache: &Cache<State>) -> Box<AnyValue> {
            Box::new(CycleSlot::ready(self.plugin.prepare(self.args, downcast_pod::<P>(pod), view(cache))))
        }
        /// Updates the prepared state in a cached answer.
        fn update(&self, pod: &dyn PodValue, state: &mut AnyValue, cache: &Cache<State>, scores: &mut ScoreUpdate<'_>) {
            let slot: &mut CycleSlot<<P as ScorePlugin>::Cycle> = downcast_value_mut(state);
            self.plugin.update_prepared(self.args, downcast_pod::<P>(pod), &mut slot.state, view(cache), scores);
        }
        fn recycle(&self, state: Box<AnyValue>) {
            if let Ok(slot) = state.downcast::<CycleSlot<<P as ScorePlugin>::Cycle>>() {
                self.plugin.recycle(slot.state);
            }
        }
    }
}

erased_point! {
    /// `state` is `None` for a plugin that has no PrepareScore and whose PreScore is not in the profile.
    trait Score for ScorePlugin<Cycle: Default>, Incremental {
        fn score(
            &self,
            pod: &dyn PodValue,
            state: Option<&AnyValue>,
            columns: &Columns<'_>,
            index: usize,
        ) -> Result<i64, ScoreError> {
            let (pod, row) = (downcast_pod::<P>(pod), row::<P>(columns, index));
            match state {
                Some(state) => P::score(self.args, pod, slot_state(state), row),
                None => P::score(self.args, pod, &Default::default(), row),
            }
        }
        /// Returns what the scores depend on, as the plugin promises.
        fn depends_on(&self, pod: &dyn PodValue) -> DependsOn {
            P::score_depends_on(downcast_pod::<P>(pod))
        }
    }
}

erased_point! {
    trait Normalize for NormalizeScore<Cycle: Default>, Incremental {
        /// Adds a raw score to the extremes.
        fn include(&self, extent: &mut Extent, raw: i64) {
            extent.include_for::<P>(raw);
        }
        fn normalize(&self, extent: Extent, raw: i64) -> i64 {
            P::normalize(self.args, extent, raw)
        }
        /// Returns whether the update of the state reports all nodes with other scores, as the plugin promises.
        fn reports_all_scores(&self) -> bool {
            P::REPORTS_ALL_SCORES
        }
        /// Applies the update of the state to the cached scores.
        ///
        /// # Errors
        /// Returns an error if Score failed.
        fn update_scores(
            &self,
            inputs: Inputs<'_>,
            scores: &mut NormalizedScores,
            changes: &ScoreChanges,
            feasible: &NodeMask,
            totals: &mut [i32],
        ) -> Result<(), NeedsFullEvaluation> {
            let default = Default::default();
            scores.update(self.class_kernel(inputs, &default), changes, feasible, totals)
        }
        /// Runs Score for the changed nodes whose score may differ.
        ///
        /// # Errors
        /// Returns an error if Score failed.
        fn score_nodes(
            &self,
            inputs: Inputs<'_>,
            scores: &mut NormalizedScores,
            changes: &ScoreChanges,
            feasible: &NodeMask,
            totals: &mut [i32],
        ) -> Result<(), NeedsFullEvaluation> {
            let default = Default::default();
            let kernel = self.class_kernel(inputs, &default);
            let depends = P::score_depends_on(kernel.pod);
            let nodes = changes.nodes_to_score::<P>(depends, P::REPORTS_ALL_SCORES);
            if nodes.is_empty() {
                return Ok(());
            }
            scores.score(kernel, nodes, changes.nodes_with_new_class(depends), feasible, totals)
        }
        /// Normalises changed scores, and updates the totals.
        ///
        /// # Errors
        /// Returns an error if a normalised score is out of range.
        fn normalize_scores(
            &self,
            scores: &mut NormalizedScores,
            weight: i64,
            feasible: &NodeMask,
            totals: &mut [i32],
            retotalled: &mut NodeSet,
        ) -> Result<(), NeedsFullEvaluation> {
            scores.normalize::<P>(self.args, weight, feasible, totals, retotalled)
        }
    }
}

/// [`Incremental::score_class`] of a plugin.
type ClassFn<P> = fn(
    &<P as Plugin>::Args,
    &<P as Plugin>::Pod,
    &<P as ScorePlugin>::Cycle,
    Row<'_, P>,
) -> Result<ScoreClass, ScoreError>;
/// [`Incremental::score_of_class`] of a plugin.
type ScoreFn<P> = fn(&<P as Plugin>::Args, &<P as Plugin>::Pod, &<P as ScorePlugin>::Cycle, ScoreClass) -> i64;

impl<P: Reads + NormalizeScore + Incremental> Instance<P> {
    fn class_kernel<'a>(
        &'a self,
        inputs: Inputs<'a>,
        default: &'a <P as ScorePlugin>::Cycle,
    ) -> ClassKernel<'a, P, ClassFn<P>, ScoreFn<P>> {
        ClassKernel {
            args: self.args,
            pod: downcast_pod::<P>(inputs.pod),
            state: inputs.state.map_or(default, slot_state),
            columns: inputs.columns::<P>(),
            class: P::score_class,
            score: P::score_of_class,
        }
    }
}

erased_point! {
    trait Reserve for ReservePlugin {
        fn reserve(&self, placement: &Placement, cache: &Cache<State>) -> Result<Box<AnyValue>, Status> {
            Ok(Box::new(self.plugin.reserve(self.args, placement, view(cache))?))
        }
        fn preview(&self, placement: &Placement, cache: &Cache<State>) -> Option<Preview> {
            let resources = self.plugin.preview(self.args, placement, view(cache))?;
            Some(Preview { plugin: P::NAME, resources })
        }
        fn unreserve(&self, placement: &Placement, reserved: Option<&AnyValue>) {
            self.plugin.unreserve(self.args, placement, reserved.map(downcast_value));
        }
    }
}

erased_point! {
    trait PreBind for PreBindPlugin<Reserved: Default> {
        fn pre_flight(&self, placement: &Placement, reserved: &AnyValue) -> Result<PreFlightResult, Status> {
            self.plugin.pre_bind_pre_flight(self.args, placement, downcast_value(reserved))
        }
        /// Returns the Reserve state for a profile without this plugin's Reserve.
        fn default_reserved(&self) -> Box<AnyValue> {
            Box::<<P as PreBindPlugin>::Reserved>::default()
        }
    }
}
