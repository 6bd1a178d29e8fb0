//! Plugins as objects: an interface for each extension point, and adapters that bring the plugins behind them.

use std::rc::Rc;

use schedc_core::column::ColumnSet;
use schedc_core::extension_points::{
    Extent, FilterPlugin, NormalizeScore, PreFilterPlugin, PreScorePlugin, PrepareScore, ScorePlugin,
};
use schedc_core::mask::Mask;
use schedc_core::model::NodeIndex;
use schedc_core::plugin::{Plugin, Refs, Slices, View};
use schedc_core::status::{Reasons, Status};

use super::CycleState;
use crate::support::way::Cluster;

pub(super) trait PreFilter {
    fn name(&self) -> &'static str;
    /// Whether Filter is left out.
    fn pre_filter(&self, state: &mut CycleState, cluster: &Cluster) -> Result<bool, Status>;
}

pub(super) trait Filter {
    fn name(&self) -> &'static str;
    fn filter(&self, state: &CycleState, cluster: &Cluster, node: NodeIndex) -> Option<Status>;
}

pub(super) trait PreScore {
    fn name(&self) -> &'static str;
    /// Whether Score is left out.
    fn pre_score(&self, state: &mut CycleState, cluster: &Cluster, feasible: &Mask) -> Result<bool, Status>;
}

pub(super) trait Score {
    fn name(&self) -> &'static str;
    fn score(&self, state: &CycleState, cluster: &Cluster, node: NodeIndex) -> Result<i64, Status>;
    fn normalize(&self, _scores: &mut [i64]) {}
}

/// A plugin with what it made of the pod.
pub(super) struct Bound<P: Plugin> {
    pub(super) plugin: P,
    pub(super) args: &'static P::Args,
    pub(super) pod: Rc<P::Pod>,
    pub(super) columns: for<'a> fn(&'a Cluster) -> Slices<'a, P>,
    pub(super) indexes: for<'a> fn(&'a Cluster) -> Refs<'a, P>,
}

impl<P: Plugin<Reads = ()>> Bound<P> {
    fn view<'a>(&self, cluster: &'a Cluster) -> View<'a, P> {
        View { columns: (self.columns)(cluster), indexes: (self.indexes)(cluster), reads: (), base: &cluster.base }
    }
}

/// A plugin at an extension point where it needs no state but the pod.
pub(super) struct Direct<P: Plugin>(pub(super) Rc<Bound<P>>);
/// A plugin at an extension point where it reads what it left in the cycle's state.
pub(super) struct Stateful<P: Plugin>(pub(super) Rc<Bound<P>>);
/// As [`Stateful`], with scores that are normalised.
pub(super) struct Normalized<P: Plugin>(pub(super) Stateful<P>);
/// As [`Stateful`], with state that PreScore looks up.
pub(super) struct Prepared<P: Plugin>(pub(super) Rc<Bound<P>>);

impl<P: PreFilterPlugin<Reads = ()>> PreFilter for Stateful<P> {
    fn name(&self) -> &'static str {
        P::NAME
    }
    fn pre_filter(&self, state: &mut CycleState, cluster: &Cluster) -> Result<bool, Status> {
        let Bound { plugin, args, pod, .. } = &*self.0;
        let answer = plugin.pre_filter(args, pod, self.0.view(cluster))?;
        state.data.insert(P::NAME, Box::new(Rc::clone(pod)));
        Ok(answer.slot.skip)
    }
}

fn filter<P: FilterPlugin<Cycle = ()>>(
    bound: &Bound<P>,
    pod: &P::Pod,
    cluster: &Cluster,
    node: NodeIndex,
) -> Option<Status> {
    let row = P::Columns::row((bound.columns)(cluster), node.get());
    let rejection = P::filter(bound.args, pod, &(), row).err()?;
    let mut reasons = Reasons::new(&cluster.base.interner);
    P::explain(bound.args, pod, &(), row, rejection, &mut reasons);
    Some(Status {
        code: P::code(&rejection),
        plugin: "",
        reasons: reasons.into_list().into_iter().map(Into::into).collect(),
    })
}

impl<P: FilterPlugin<Cycle = ()>> Filter for Direct<P> {
    fn name(&self) -> &'static str {
        P::NAME
    }
    fn filter(&self, _: &CycleState, cluster: &Cluster, node: NodeIndex) -> Option<Status> {
        filter(&self.0, &self.0.pod, cluster, node)
    }
}

impl<P: FilterPlugin<Cycle = ()>> Filter for Stateful<P> {
    fn name(&self) -> &'static str {
        P::NAME
    }
    fn filter(&self, state: &CycleState, cluster: &Cluster, node: NodeIndex) -> Option<Status> {
        filter(&self.0, state.read::<Rc<P::Pod>>(P::NAME), cluster, node)
    }
}

impl<P: PreScorePlugin<Reads = ()>> PreScore for Stateful<P> {
    fn name(&self) -> &'static str {
        P::NAME
    }
    fn pre_score(&self, state: &mut CycleState, cluster: &Cluster, feasible: &Mask) -> Result<bool, Status> {
        let Bound { plugin, args, pod, .. } = &*self.0;
        let slot = plugin.pre_score(args, pod, self.0.view(cluster), feasible)?;
        state.data.insert(P::NAME, Box::new(Rc::clone(pod)));
        Ok(slot.skip)
    }
}

fn score<P: ScorePlugin>(
    bound: &Bound<P>,
    pod: &P::Pod,
    cycle: &<P as ScorePlugin>::Cycle,
    cluster: &Cluster,
    node: NodeIndex,
) -> Result<i64, Status> {
    let row = P::Columns::row((bound.columns)(cluster), node.get());
    P::score(bound.args, pod, cycle, row).map_err(|error| Status::error(error.0))
}

impl<P: ScorePlugin<Cycle = ()>> Score for Stateful<P> {
    fn name(&self) -> &'static str {
        P::NAME
    }
    fn score(&self, state: &CycleState, cluster: &Cluster, node: NodeIndex) -> Result<i64, Status> {
        score(&self.0, state.read::<Rc<P::Pod>>(P::NAME), &(), cluster, node)
    }
}

impl<P: NormalizeScore + ScorePlugin<Cycle = ()>> Score for Normalized<P> {
    fn name(&self) -> &'static str {
        P::NAME
    }
    fn score(&self, state: &CycleState, cluster: &Cluster, node: NodeIndex) -> Result<i64, Status> {
        self.0.score(state, cluster, node)
    }
    fn normalize(&self, scores: &mut [i64]) {
        let mut extent = Extent::EMPTY;
        scores.iter().for_each(|&score| extent.include(score));
        for score in scores {
            *score = P::normalize(self.0.0.args, extent, *score);
        }
    }
}

impl<P: PrepareScore<Reads = ()>> PreScore for Prepared<P> {
    fn name(&self) -> &'static str {
        P::NAME
    }
    fn pre_score(&self, state: &mut CycleState, cluster: &Cluster, _: &Mask) -> Result<bool, Status> {
        let Bound { plugin, args, pod, .. } = &*self.0;
        state.data.insert(P::NAME, Box::new(plugin.prepare(args, pod, self.0.view(cluster))));
        Ok(false)
    }
}

impl<P: PrepareScore<Reads = ()>> Score for Prepared<P> {
    fn name(&self) -> &'static str {
        P::NAME
    }
    fn score(&self, state: &CycleState, cluster: &Cluster, node: NodeIndex) -> Result<i64, Status> {
        score(&self.0, &self.0.pod, state.read::<<P as ScorePlugin>::Cycle>(P::NAME), cluster, node)
    }
}
