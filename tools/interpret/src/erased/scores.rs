//! The extension points of scoring, and those after the decision.

use schedc_core::cache::Cache;
use schedc_core::extension_points::{
    Extent, NormalizeScore, Placement, PreBindPlugin, PreFlightResult, PreScorePlugin, PrepareScore, Preview,
    ReservePlugin, ScoreError, ScorePlugin,
};
use schedc_core::incremental::{NeedsFullEvaluation, ScoreUpdate};
use schedc_core::node_mask::NodeMask;
use schedc_core::plugin::CycleSlot;
use schedc_core::status::Status;

use super::cycle::row;
use super::{AnyValue, Instance, PodValue, Reads, downcast_pod, downcast_value, downcast_value_mut, view};
use crate::plugins::Columns;
use crate::state::State;

erased_point! {
    trait PreScore for PreScorePlugin {
        fn pre_score(
            &self,
            pod: &dyn PodValue,
            cache: &Cache<State>,
            feasible: &NodeMask,
        ) -> Result<CycleSlot<Box<AnyValue>>, Status> {
            let CycleSlot { state, skip } =
                self.plugin.pre_score(self.args, downcast_pod::<P>(pod), view(cache), feasible)?;
            Ok(CycleSlot { state: Box::new(state), skip })
        }
        /// Runs PreScore again for a cached answer. All feasible nodes are scored again if the state differs.
        ///
        /// # Errors
        /// The answer cannot be updated.
        fn update(
            &self,
            pod: &dyn PodValue,
            slot: &mut CycleSlot<Box<AnyValue>>,
            cache: &Cache<State>,
            scores: &mut ScoreUpdate<'_>,
        ) -> Result<(), NeedsFullEvaluation> {
            let new = self.plugin.pre_score(self.args, downcast_pod::<P>(pod), view(cache), scores.feasible);
            let new = new.map_err(|_| NeedsFullEvaluation)?;
            if new.skip != slot.skip {
                return Err(NeedsFullEvaluation);
            }
            let state: &mut <P as PreScorePlugin>::Cycle = downcast_value_mut(&mut *slot.state);
            if new.state != *state {
                scores.reevaluate_all();
            }
            self.plugin.recycle(std::mem::replace(state, new.state));
            Ok(())
        }
        fn recycle(&self, state: Box<AnyValue>) {
            if let Ok(state) = state.downcast::<<P as PreScorePlugin>::Cycle>() {
                self.plugin.recycle(*state);
            }
        }
    }
}

erased_point! {
    trait Prepare for PrepareScore {
        fn prepare(&self, pod: &dyn PodValue, cache: &Cache<State>) -> Box<AnyValue> {
            Box::new(self.plugin.prepare(self.args, downcast_pod::<P>(pod), view(cache)))
        }
        /// Runs PrepareScore again for a cached answer. All feasible nodes are scored again if the data differ.
        fn update(
            &self,
            pod: &dyn PodValue,
            data: &mut Box<AnyValue>,
            cache: &Cache<State>,
            scores: &mut ScoreUpdate<'_>,
        ) {
            let new = self.plugin.prepare(self.args, downcast_pod::<P>(pod), view(cache));
            let data: &mut <P as ScorePlugin>::Cycle = downcast_value_mut(&mut **data);
            if new != *data {
                scores.reevaluate_all();
            }
            self.plugin.recycle(std::mem::replace(data, new));
        }
        fn recycle(&self, state: Box<AnyValue>) {
            if let Ok(state) = state.downcast::<<P as ScorePlugin>::Cycle>() {
                self.plugin.recycle(*state);
            }
        }
    }
}

erased_point! {
    /// `state` is `None` for a plugin without PreScore in the profile and without PrepareScore.
    trait Score for ScorePlugin<Cycle: Default> {
        fn score(
            &self,
            pod: &dyn PodValue,
            state: Option<&AnyValue>,
            columns: &Columns<'_>,
            index: usize,
        ) -> Result<i64, ScoreError> {
            let (pod, row) = (downcast_pod::<P>(pod), row::<P>(columns, index));
            match state {
                Some(state) => P::score(self.args, pod, downcast_value(state), row),
                None => P::score(self.args, pod, &Default::default(), row),
            }
        }
    }
}

erased_point! {
    trait Normalize for NormalizeScore {
        /// Adds a raw score to the extremes.
        fn include(&self, extent: &mut Extent, raw: i64) {
            extent.include_for::<P>(raw);
        }
        /// Returns the extremes of the raw scores of feasible nodes.
        fn extent(&self, raw: &[i64], feasible: &NodeMask) -> Extent {
            let mut extent = Extent::EMPTY;
            feasible.iter().for_each(|node| extent.include_for::<P>(raw[node.get()]));
            extent
        }
        fn normalize(&self, extent: Extent, raw: i64) -> i64 {
            P::normalize(self.args, extent, raw)
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
