//! PodTopologySpread
//!
//! **What it does.** Spreads pods over topology domains; a constraint selects the pods. A domain is the set of nodes
//! with the same value of a label. A hard constraint (`DoNotSchedule`) compares two numbers of pods: that of the
//! node's domain after it gets the pod, and that of the domain with the fewest pods. It rejects the node if the
//! difference is more than the maximum skew. A soft constraint (`ScheduleAnyway`) prefers domains with fewer pods.
//! Pods without constraints get the default constraints of the profile, with a selector from their Services and
//! controller.
//!
//! **Extension points.** PreFilter (skips without hard constraints), Filter, PreScore (skips without soft
//! constraints), Score, NormalizeScore.
//!
//! **Arguments.** [`PodTopologySpreadArgs`].
//!
//! **Upstream.** `plugins/podtopologyspread` (kube-scheduler 1.36.2), and `DefaultSelector` of `plugins/helper`.
//!
//! **Differences.** Logarithms are those of the platform. If one differs from Go's in the last bit, a sum on
//! the border between two scores can be rounded differently.
//!
//! After a change of a Service or controller, pods in its namespace that define no constraints are compiled again,
//! because their default constraints depend on it.
//!
//! Changes of pods update the cached counts. Only the nodes of domains whose verdict changes are evaluated again: one
//! domain that becomes infeasible, or all domains that become feasible because the minimum increases. Node changes
//! that can affect the constraints cause a new count.

use schedc_core::column::Position;
use schedc_core::extension_points::{
    FilterPlugin, PreFilterPlugin, PreFilterResult, PreScorePlugin, ScoreClass, ScoreError, ScorePlugin, SkipFrequency,
};
use schedc_core::handle::Handle;
use schedc_core::incremental::{DependsOn, FilterUpdate, Incremental, NeedsFullEvaluation, ScoreUpdate};
use schedc_core::model::{NodeIndex, Pod, PodSpec};
use schedc_core::node_mask::NodeMask;
use schedc_core::plugin::{CompileContext, CycleSlot, Refs, Row, View};
use schedc_core::scratch::Scratch;
use schedc_core::status::{Code, Reasons, Status};
use schedc_core::{Plugin, plugin};

mod args;
mod constraints;
mod hint;
mod score;
mod skew;

pub use args::{
    AffinityPolicy, DefaultConstraint, DefaultingType, PodTopologySpreadArgs, TaintsPolicy, WhenUnsatisfiable,
};
pub use constraints::PodTopologySpreadPod;
pub use score::SpreadScores;
pub use skew::{SpreadCounts, SpreadRejection};

use crate::columns::{NodeLabels, NodeTaints};
use crate::indexes::{SelectorCounts, Topology, WorkloadSelectors};

/// The label with a node's name: each node is a domain.
const HOSTNAME: &str = "kubernetes.io/hostname";
/// The label with a node's zone.
const ZONE: &str = "topology.kubernetes.io/zone";

/// Spreads pods over topology domains.
#[derive(Debug, Default)]
pub struct PodTopologySpread {
    counting: Scratch<skew::SkewScratch>,
    scoring: Scratch<score::ScoreScratch>,
}

#[plugin]
impl Plugin for PodTopologySpread {
    type Args = PodTopologySpreadArgs;
    type Columns = (NodeLabels, NodeTaints, Position);
    type Indexes = (Topology, SelectorCounts, WorkloadSelectors);
    type Pod = PodTopologySpreadPod;

    fn new(args: &'static PodTopologySpreadArgs, _: &Handle) -> Result<Self, String> {
        args.check()?;
        Ok(PodTopologySpread::default())
    }

    fn compile(args: &PodTopologySpreadArgs, pod: &PodSpec, cx: CompileContext<'_, Self>) -> PodTopologySpreadPod {
        constraints::compile(args, pod, cx.interner, cx.indexes)
    }
}

impl PreFilterPlugin for PodTopologySpread {
    type Cycle = SpreadCounts;

    #[inline]
    fn pre_filter(
        &self,
        _: &PodTopologySpreadArgs,
        pod: &PodTopologySpreadPod,
        view: View<'_, Self>,
    ) -> Result<PreFilterResult<SpreadCounts>, Status> {
        match &pod.hard {
            Err(error) => {
                let what = "get constraints from pod: obtaining pod's hard topology spread constraints";
                Err(Status::error(format!("{what}: {error}")))
            }
            Ok(constraints) if constraints.is_empty() => Ok(PreFilterResult::skip(SpreadCounts::default())),
            Ok(constraints) => {
                Ok(PreFilterResult::ready(skew::count(pod, constraints, view, &mut self.counting.lock())))
            }
        }
    }

    #[inline]
    fn recycle(&self, cycle: SpreadCounts) {
        // Most states are empty.
        if !cycle.is_empty() {
            self.counting.lock().reclaim(cycle);
        }
    }

    fn add_pod(pod: &Self::Pod, cycle: &mut SpreadCounts, other: &Pod, view: View<'_, Self>, node: NodeIndex) {
        skew::apply_hypothetical_pod(pod, cycle, other, view, node, 1);
    }

    fn remove_pod(pod: &Self::Pod, cycle: &mut SpreadCounts, other: &Pod, view: View<'_, Self>, node: NodeIndex) {
        skew::apply_hypothetical_pod(pod, cycle, other, view, node, -1);
    }
}

impl FilterPlugin for PodTopologySpread {
    type Cycle = SpreadCounts;
    type Rejection = SpreadRejection;

    #[inline(always)]
    fn filter(
        _: &PodTopologySpreadArgs,
        _: &PodTopologySpreadPod,
        cycle: &SpreadCounts,
        (_, _, node): Row<'_, Self>,
    ) -> Result<(), SpreadRejection> {
        cycle.admit(node)
    }

    fn code(rejection: &SpreadRejection) -> Code {
        match rejection {
            SpreadRejection::MissingLabel => Code::UnschedulableAndUnresolvable,
            SpreadRejection::Skew => Code::Unschedulable,
            SpreadRejection::NotPrepared => Code::Error,
        }
    }

    fn explain(
        _: &PodTopologySpreadArgs,
        _: &PodTopologySpreadPod,
        _: &SpreadCounts,
        _: Row<'_, Self>,
        rejection: SpreadRejection,
        out: &mut Reasons<'_>,
    ) {
        out.push(match rejection {
            SpreadRejection::MissingLabel => {
                "node(s) didn't match pod topology spread constraints (missing required label)"
            }
            SpreadRejection::Skew => "node(s) didn't match pod topology spread constraints",
            SpreadRejection::NotPrepared => "reading \"PreFilterPodTopologySpread\" from cycleState: not found",
        });
    }
}

impl PreScorePlugin for PodTopologySpread {
    type Cycle = SpreadScores;

    fn pre_score(
        &self,
        _: &PodTopologySpreadArgs,
        pod: &PodTopologySpreadPod,
        view: View<'_, Self>,
        feasible: &NodeMask,
    ) -> Result<CycleSlot<SpreadScores>, Status> {
        match &pod.soft {
            Err(error) => {
                let what = "calculating preScoreState: obtaining pod's soft topology spread constraints";
                Err(Status::error(format!("{what}: {error}")))
            }
            Ok(constraints) if constraints.is_empty() => Ok(CycleSlot::skip(SpreadScores::default())),
            Ok(constraints) => {
                Ok(CycleSlot::ready(score::count(pod, constraints, view, feasible, &mut self.scoring.lock())))
            }
        }
    }

    fn recycle(&self, cycle: SpreadScores) {
        self.scoring.lock().reclaim(cycle);
    }
}

const WITHOUT_PRE_SCORE: ScoreError =
    ScoreError("error reading \"PreScorePodTopologySpread\" from cycleState: not found");

impl ScorePlugin for PodTopologySpread {
    type Cycle = SpreadScores;

    /// Returns the number of matching pods, weighted to count more in constraints with many domains.
    #[inline(always)]
    fn score(
        _: &PodTopologySpreadArgs,
        pod: &PodTopologySpreadPod,
        cycle: &SpreadScores,
        (_, _, node): Row<'_, Self>,
    ) -> Result<i64, ScoreError> {
        cycle.of_node(pod, node).ok_or(WITHOUT_PRE_SCORE)
    }
}

impl Incremental for PodTopologySpread {
    const SKIPS: SkipFrequency = SkipFrequency::Usually;
    const REPORTS_ALL_VERDICTS: bool = true;
    const FILTER_CAN_FAIL: bool = false;

    #[inline]
    fn reasons_key(rejection: &SpreadRejection) -> Option<u32> {
        Some(*rejection as u32)
    }

    #[inline]
    fn compile_epoch((topology, counts, workloads): Refs<'_, Self>) -> Option<u64> {
        Some(topology.epoch() + counts.epoch() + workloads.epoch())
    }

    #[inline]
    fn filter_depends_on(pod: &PodTopologySpreadPod, _: &SpreadCounts) -> DependsOn {
        match &pod.hard {
            Ok(constraints) if constraints.is_empty() => DependsOn::Node,
            _ => DependsOn::Cluster,
        }
    }

    #[inline]
    fn score_depends_on(pod: &PodTopologySpreadPod) -> DependsOn {
        match &pod.soft {
            Ok(constraints) if constraints.is_empty() => DependsOn::Node,
            _ => DependsOn::Cluster,
        }
    }

    fn update_filter(
        &self,
        _: &PodTopologySpreadArgs,
        pod: &PodTopologySpreadPod,
        slot: &mut CycleSlot<SpreadCounts>,
        view: View<'_, Self>,
        verdicts: &mut FilterUpdate<'_>,
    ) -> Result<(), NeedsFullEvaluation> {
        let Ok(constraints) = &pod.hard else { return Err(NeedsFullEvaluation) };
        if constraints.is_empty() {
            return Ok(());
        }
        let scratch = &mut *self.counting.lock();
        if !skew::update(pod, &mut slot.state, view, verdicts, scratch) {
            let new = skew::count(pod, constraints, view, scratch);
            // The failed update may have changed the old state already. A comparison of both states would miss nodes.
            verdicts.reevaluate_all();
            scratch.reclaim(std::mem::replace(&mut slot.state, new));
        }
        Ok(())
    }

    fn update_score(
        &self,
        _: &PodTopologySpreadArgs,
        pod: &PodTopologySpreadPod,
        slot: &mut CycleSlot<SpreadScores>,
        view: View<'_, Self>,
        scores: &mut ScoreUpdate<'_>,
    ) -> Result<(), NeedsFullEvaluation> {
        let Ok(constraints) = &pod.soft else { return Err(NeedsFullEvaluation) };
        if constraints.is_empty() {
            return Ok(());
        }
        let scratch = &mut *self.scoring.lock();
        if !score::update(pod, &mut slot.state, view, scores, scratch) {
            let new = score::count(pod, constraints, view, scores.feasible, scratch);
            scores.reevaluate_all();
            scratch.reclaim(std::mem::replace(&mut slot.state, new));
        }
        Ok(())
    }

    #[inline(always)]
    fn score_class(
        _: &PodTopologySpreadArgs,
        pod: &PodTopologySpreadPod,
        cycle: &SpreadScores,
        (_, _, node): Row<'_, Self>,
    ) -> Result<ScoreClass, ScoreError> {
        cycle.class_of(pod, node).ok_or(WITHOUT_PRE_SCORE)
    }

    fn score_of_class(
        _: &PodTopologySpreadArgs,
        pod: &PodTopologySpreadPod,
        cycle: &SpreadScores,
        class: ScoreClass,
    ) -> i64 {
        cycle.of_class(pod, class)
    }
}

#[cfg(test)]
mod tests;
