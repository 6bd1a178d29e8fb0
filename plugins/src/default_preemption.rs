//! DefaultPreemption
//!
//! **What it does.** For a pod without a feasible node, evaluates nodes as if their pods of lower priority were
//! removed, until there are enough candidates. Selects the node with the least important victims, and nominates it for
//! the pod. The scheduler deletes the victims; PreEnqueue holds the pod until then.
//!
//! **Extension points.** PreEnqueue, PostFilter.
//!
//! **Arguments.** [`DefaultPreemptionArgs`].
//!
//! **Upstream.** `plugins/defaultpreemption` and `framework/preemption` (kube-scheduler 1.36.2).
//!
//! **Differences.** None in the possible decisions. If the search ends early, the seed determines which nodes were
//! evaluated, because nodes are evaluated one after the other. Pods of equal importance keep their order in lists of
//! any length; in kube-scheduler, only in lists of at most twelve, because Go's sort is not stable.

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
use schedc_core::verdict::Verdict;
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
use dry_run::{Candidates, DryRun, failure_reasons, no_lower_priority};
use trials::{LastText, PreemptionTrials, TrialCache};

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
        let resolvable = &cx.diagnosis.resolvable;
        if resolvable.is_empty() {
            return self.trials.without_trials(|text| no_candidates_result([], text, view.nodes()));
        }
        if cx.cycle.is_some() && !view.base.may_have_pods_below(cx.pod.spec.priority) {
            let failures = [(&no_lower_priority(), resolvable.count())];
            return self.trials.without_trials(|text| no_candidates_result(failures, text, view.nodes()));
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
    let mut text = std::mem::take(&mut trials.failure_text);
    let found = search(args, cx, view, trials);
    let result = found.unwrap_or_else(|| {
        let failures = cx.cycle.iter().flat_map(|_| trials.failures());
        no_candidates_result(failures, &mut text, view.nodes())
    });
    trials.failure_text = text;
    result
}

/// Returns the result of preemption. `None`: it helps on no evaluated node, or there is no cycle state.
fn search<P: Profile>(
    args: &DefaultPreemptionArgs,
    cx: &PostFilterContext<'_, P>,
    view: View<'_, DefaultPreemption>,
    trials: &mut PreemptionTrials,
) -> Option<PostFilterResult> {
    let mut random = Random::new(cx.seed);
    let resolvable = cx.diagnosis.resolvable.count();
    let first = cx.diagnosis.resolvable.nth(random.below(resolvable)).unwrap_or(NodeIndex(0));
    let dry_run = DryRun::new(cx, cx.cycle?, view.indexes);
    let Candidates { mut listed, mut best } = dry_run.candidates(trials, first, args.candidate_count(resolvable));
    let cost = |candidate: &Candidate| VictimCost::of(candidate.victims.iter(), candidate.violations, cx.now);
    let is_found = !best.nodes().is_empty();
    if !P::Extenders::NONE && is_found {
        listed = match cx.profile.extenders().preempt(cx.pod, view.base, listed) {
            Ok(remaining) => remaining,
            Err(reason) => return Some(PostFilterResult::nothing(Status::error(format!("preemption: {reason}")))),
        };
        best.clear();
        listed.iter().for_each(|candidate| best.add(candidate.node, &cost(candidate)));
    }
    listed.iter_mut().for_each(|candidate| candidate.best = Some(&cost(candidate)) == best.cost());
    let drawn = random.below(best.nodes().len());
    let result = match best.nodes().get(drawn) {
        Some(&node) => match listed.iter().find(|candidate| candidate.node == node) {
            Some(chosen) => PostFilterResult::nominate(node, chosen.to_be_removed().map(|pod| pod.uid.clone())),
            None => {
                let victims = trials.victims(node, view.base).filter(|pod| !pod.deleting);
                PostFilterResult::nominate(node, victims.map(|pod| pod.uid.clone()))
            }
        },
        None => PostFilterResult::unschedulable("preemption: no candidate node for preemption"),
    };
    trials.recycle(best);
    is_found.then(|| result.with_candidates(listed))
}

/// Returns the result if preemption helps on no node. It clears the nomination, unless a trial failed with an error.
fn no_candidates_result<'a>(
    failures: impl IntoIterator<Item = (&'a Verdict, usize)>,
    text: &mut LastText,
    nodes: usize,
) -> PostFilterResult {
    match failure_reasons(failures, nodes) {
        Ok(reasons) => {
            let text = text.compose(|text| {
                text.push_str("preemption: ");
                reasons.write_message(nodes, text);
            });
            PostFilterResult { nomination: Nomination::Clear, ..PostFilterResult::unschedulable(text) }
        }
        Err(errors) => PostFilterResult::nothing(Status::error(format!("preemption: {errors}"))),
    }
}

/// Checks whether a pod may preempt others (`PodEligibleToPreemptOthers`). An error is the reason why it may not.
fn eligible<P: Profile>(cx: &PostFilterContext<'_, P>) -> Result<(), &'static str> {
    if cx.pod.spec.preemption_policy == PreemptionPolicy::Never {
        return Err("not eligible due to preemptionPolicy=Never.");
    }
    let base = &cx.cache.base;
    // If preemption can no longer help on the nominated node, the pod may preempt pods of another node.
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
