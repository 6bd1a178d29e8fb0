//! DefaultPreemption
//!
//! **What it does.** For a pod without a feasible node, evaluates each node without its pods of lower priority.
//! Selects the node with the least important victims, and nominates it for the pod. The scheduler deletes the
//! victims; PreEnqueue holds the pod until then.
//!
//! **Extension points.** PreEnqueue, PostFilter.
//!
//! **Arguments.** [`DefaultPreemptionArgs`].
//!
//! **Upstream.** `plugins/defaultpreemption` and `framework/preemption` (kube-scheduler 1.36.2).
//!
//! **Differences.** None in the possible decisions. If not all nodes are evaluated, the seed determines which ones
//! are, because they are evaluated one after the other. Pods of equal importance keep their order in lists of any
//! length; in kube-scheduler, only in lists of at most twelve.

use schedc_core::extenders::Extenders;
use schedc_core::extension_points::{
    Candidate, Nomination, PostFilterContext, PostFilterPlugin, PostFilterResult, PreEnqueuePlugin,
};
use schedc_core::handle::Handle;
use schedc_core::incremental::Incremental;
use schedc_core::model::{NodeIndex, Pod, PreemptionPolicy};
use schedc_core::plugin::{IndexView, View};
use schedc_core::profile::Profile;
use schedc_core::random::Random;
use schedc_core::status::Status;
use schedc_core::{Plugin, plugin};

mod args;
mod budgets;
mod choice;
mod dry_run;
mod hint;
mod importance;
mod trials;
mod victims;

pub use args::DefaultPreemptionArgs;

use crate::indexes::DisruptionBudgets;
use choice::VictimCost;
use dry_run::{Candidates, DryRun, failure_diagnosis};
use trials::{PreemptionTrials, TrialCache};

/// Makes room for a pod by removing pods of lower priority.
#[derive(Debug)]
pub struct DefaultPreemption {
    handle: Handle,
    trials: TrialCache,
}

#[plugin]
impl Plugin for DefaultPreemption {
    type Args = DefaultPreemptionArgs;
    type Indexes = DisruptionBudgets;

    fn new(_: &'static DefaultPreemptionArgs, handle: &Handle) -> Result<Self, String> {
        Ok(DefaultPreemption { handle: handle.clone(), trials: TrialCache::new(handle) })
    }
}

impl PreEnqueuePlugin for DefaultPreemption {
    fn pre_enqueue(&self, _: &DefaultPreemptionArgs, pod: &Pod, _: IndexView<'_, Self>) -> Result<(), Status> {
        if self.handle.is_preempting(&pod.uid) {
            return Err(Status::unresolvable("waiting for the preemption for this pod to be finished"));
        }
        Ok(())
    }
}

impl PostFilterPlugin for DefaultPreemption {
    fn post_filter<P: Profile>(
        &self,
        args: &DefaultPreemptionArgs,
        cx: PostFilterContext<'_, P>,
        view: View<'_, Self>,
    ) -> PostFilterResult {
        if let Err(reason) = eligible(&cx) {
            return PostFilterResult::unschedulable(format!("preemption: {reason}"));
        }
        if cx.diagnosis.resolvable.is_empty() {
            return no_candidates_result(None, view.nodes());
        }
        self.trials.with(&cx, view.indexes, |trials| preempt(args, &cx, view, trials))
    }
}

impl Incremental for DefaultPreemption {
    #[inline]
    fn compile_epoch(_: &DisruptionBudgets) -> Option<u64> {
        Some(0)
    }
}

fn preempt<P: Profile>(
    args: &DefaultPreemptionArgs,
    cx: &PostFilterContext<'_, P>,
    view: View<'_, DefaultPreemption>,
    trials: &mut PreemptionTrials,
) -> PostFilterResult {
    let Some(cycle) = cx.cycle else { return no_candidates_result(None, view.nodes()) };
    let mut random = Random::new(cx.seed);
    let resolvable = cx.diagnosis.resolvable.count();
    let first = cx.diagnosis.resolvable.nth(random.below(resolvable)).unwrap_or(NodeIndex(0));
    let found = DryRun::new(cx, cycle, view.indexes).candidates(trials, first, args.candidate_count(resolvable));
    if found.nodes.is_empty() {
        return no_candidates_result(Some(trials), view.nodes());
    }
    let Candidates { nodes: mut candidates, mut costs } = found;
    if !P::Extenders::NONE {
        candidates = match cx.profile.extenders().preempt(cx.pod, view.base, candidates) {
            Ok(candidates) => candidates,
            Err(reason) => return PostFilterResult::nothing(Status::error(format!("preemption: {reason}"))),
        };
        let cost = |candidate: &Candidate| VictimCost::of(&candidate.victims, candidate.violations, cx.now);
        costs = candidates.iter().map(cost).collect();
    }
    let ties = choice::mark_best(&mut candidates, &costs);
    let drawn = random.below(ties);
    match candidates.iter().filter(|candidate| candidate.best).nth(drawn) {
        Some(chosen) => {
            let victims = chosen.to_be_removed().map(|pod| pod.uid.clone()).collect();
            PostFilterResult::nominate(chosen.node, victims)
        }
        None => PostFilterResult::unschedulable("preemption: no candidate node for preemption"),
    }
    .with_candidates(candidates)
}

/// Returns the result if preemption helps on no node. It clears the nomination.
fn no_candidates_result(trials: Option<&PreemptionTrials>, nodes: usize) -> PostFilterResult {
    match failure_diagnosis(trials, nodes) {
        Ok(diagnosis) => {
            let result = PostFilterResult::unschedulable(format!("preemption: {}", diagnosis.message()));
            PostFilterResult { nomination: Nomination::Clear, ..result }
        }
        Err(errors) => PostFilterResult::nothing(Status::error(format!("preemption: {errors}"))),
    }
}

/// Checks whether a pod may preempt others (`PodEligibleToPreemptOthers`).
fn eligible<P: Profile>(cx: &PostFilterContext<'_, P>) -> Result<(), &'static str> {
    if cx.pod.spec.preemption_policy == PreemptionPolicy::Never {
        return Err("not eligible due to preemptionPolicy=Never.");
    }
    let base = &cx.cache.base;
    // If the pod's nominated node is no longer possible, another node may be selected.
    let node = cx.pod.nominated_node.and_then(|name| base.node(name));
    let waits_for = |node: NodeIndex| {
        let mut pods = base.infos()[node.get()].pods.iter();
        pods.any(|pod| pod.preempted && victims::may_evict(pod, cx.pod))
    };
    match node.filter(|&node| cx.diagnosis.resolvable.contains(node)) {
        Some(node) if waits_for(node) => Err("not eligible due to a terminating pod on the nominated node."),
        _ => Ok(()),
    }
}
