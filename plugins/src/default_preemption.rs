//! DefaultPreemption
//!
//! **What it does.** For a pod that fits nowhere, looks for a node where it would fit if pods of lower priority went, and
//! takes the one where that does the least harm. The pod gets the node nominated; removing the victims is the caller's, and
//! while they are being removed, the pod is held.
//!
//! **Extension points.** PreEnqueue, PostFilter.
//!
//! **Arguments.** [`DefaultPreemptionArgs`].
//!
//! **Upstream.** `plugins/defaultpreemption` and `framework/preemption` (kube-scheduler 1.36.2).
//!
//! **Differences.** None in what can be decided. Nodes are tried one after the other, so that a seed repeats which ones are
//! if not all are. Of pods of equal importance, any number keeps its order, not twelve at most.

use schedc_core::diagnosis::Diagnosis;
use schedc_core::extenders::Extenders;
use schedc_core::extension_points::{
    Nomination, PostFilterContext, PostFilterPlugin, PostFilterResult, PreEnqueuePlugin,
};
use schedc_core::handle::Handle;
use schedc_core::model::{NodeIndex, Pod, PodSpec, PreemptionPolicy};
use schedc_core::plugin::{Compile, IndexView, Plugin, View};
use schedc_core::profile::Profile;
use schedc_core::random::Random;
use schedc_core::status::Status;

mod args;
mod budgets;
mod choice;
mod dry_run;
mod hint;
mod importance;
mod victims;

pub use args::DefaultPreemptionArgs;

use crate::indexes::DisruptionBudgets;
use dry_run::{DryRun, dry_run};

/// Makes room for a pod at the expense of pods of lower priority.
#[derive(Debug)]
pub struct DefaultPreemption {
    handle: Handle,
}

impl Plugin for DefaultPreemption {
    const NAME: &'static str = "DefaultPreemption";
    type Args = DefaultPreemptionArgs;
    type Columns = ();
    type Indexes = DisruptionBudgets;
    type Reads = ();
    type Pod = ();

    fn new(_: &'static DefaultPreemptionArgs, handle: &Handle) -> Result<Self, String> {
        Ok(DefaultPreemption { handle: handle.clone() })
    }

    fn compile(_: &DefaultPreemptionArgs, _: &PodSpec, _: Compile<'_, Self>) {}

    fn compile_epoch(_: &DisruptionBudgets) -> Option<u64> {
        Some(0)
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
        let mut random = Random::new(cx.seed);
        let nodes: Vec<NodeIndex> = cx.diagnosis.resolvable.iter().collect();
        let found = match cx.cycle {
            Some(cycle) => {
                let from_there = nodes.iter().cycle().skip(random.below(nodes.len())).take(nodes.len());
                dry_run(&cx, cycle, view.indexes, from_there, args.enough(nodes.len()))
            }
            None => DryRun::default(),
        };
        if found.candidates.is_empty() {
            return in_vain(found, view.nodes());
        }
        let mut candidates = match cx.profile.extenders().preempt(cx.pod, view.base, found.candidates) {
            Ok(candidates) => candidates,
            Err(reason) => return PostFilterResult::nothing(Status::error(format!("preemption: {reason}"))),
        };
        let ties = choice::mark_best(&mut candidates, cx.now);
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
}

/// What is told of a preemption that works nowhere. A nomination is of no use any more.
fn in_vain(found: DryRun, nodes: usize) -> PostFilterResult {
    let DryRun { tried, mut reasons, errors, .. } = found;
    if !errors.is_empty() {
        return PostFilterResult::nothing(Status::error(format!("preemption: {}", errors.message())));
    }
    if tried < nodes {
        reasons.insert("Preemption is not helpful for scheduling".into(), nodes - tried);
    }
    let message = Diagnosis { nodes, reasons, ..Diagnosis::default() }.message();
    let told = PostFilterResult::unschedulable(format!("preemption: {message}"));
    PostFilterResult { nomination: Nomination::Clear, ..told }
}

/// Whether a pod may make others go: `PodEligibleToPreemptOthers`.
fn eligible<P: Profile>(cx: &PostFilterContext<'_, P>) -> Result<(), &'static str> {
    if cx.pod.spec.preemption_policy == PreemptionPolicy::Never {
        return Err("not eligible due to preemptionPolicy=Never.");
    }
    let base = &cx.cache.base;
    // If its node is out of the question by now, it may look for another.
    let node = cx.pod.nominated_node.and_then(|name| base.node(name));
    let waits_for = |node: NodeIndex| {
        let mut pods = base.infos()[node.get()].pods.iter();
        pods.any(|pod| pod.preempted && victims::may_go(pod, cx.pod))
    };
    match node.filter(|&node| cx.diagnosis.resolvable.contains(node)) {
        Some(node) if waits_for(node) => Err("not eligible due to a terminating pod on the nominated node."),
        _ => Ok(()),
    }
}
