//! Turns an evaluation into a decision, in the same way for full evaluations and cached answers.

use std::sync::Arc;

use super::phases::Choice;
use super::scheduling_cycle::SchedulingCycle;
use super::{Decision, FailedAttempt, RejectedPod, Unschedulable};
use crate::engine::observer::{Observer, Point};
use crate::model::cache::Cache;
use crate::model::{NodeIndex, Pod};
use crate::plugin_api::diagnosis::Diagnosis;
use crate::profile_api::profile::{PostFilterContext, PostFilterRun, Profile};

/// An evaluated pod.
pub(super) trait Evaluated<P: Profile> {
    /// Returns the `k`-th of the nodes with the highest total, in the order of node indices.
    fn kth_best(&self, k: usize) -> Option<NodeIndex>;
    /// Returns the reasons why no node is feasible.
    fn diagnose(&mut self, pod: &Arc<Pod>, cache: &Cache<P::State>) -> Diagnosis;
    /// Returns the state of the attempt, for PostFilter.
    fn failed(&self) -> FailedAttempt<'_, P>;
}

/// A pod that PreFilter rejected for all nodes has no best node.
impl<P: Profile> Evaluated<P> for RejectedPod<P> {
    fn kth_best(&self, _: usize) -> Option<NodeIndex> {
        None
    }
    fn diagnose(&mut self, _: &Arc<Pod>, cache: &Cache<P::State>) -> Diagnosis {
        self.diagnosis(cache)
    }
    fn failed(&self) -> FailedAttempt<'_, P> {
        let RejectedPod { compiled, cycle, pre_filter, .. } = self;
        FailedAttempt { compiled, equivalence_class: None, cycle: cycle.as_ref(), pre_filter }
    }
}

impl<P: Profile, D: FnMut(usize) -> usize, O: Observer> SchedulingCycle<'_, P, D, O> {
    /// Turns the choice of an evaluation into a decision.
    #[inline(always)]
    pub(super) fn decide(mut self, plugins: &P, choice: Choice, evaluated: &mut impl Evaluated<P>) -> Decision {
        let node = match choice {
            Choice::Node(node) => Some(node),
            Choice::Best { ties } => evaluated.kth_best((self.draw)(ties)),
            Choice::NoNode => {
                let diagnosis = evaluated.diagnose(self.pod, self.cache);
                return self.post_filter(plugins, diagnosis, &evaluated.failed());
            }
        };
        match node {
            Some(node) => Decision::Node(node),
            None => Decision::Error("the draw is beyond the number of best nodes".into()),
        }
    }

    /// Runs PostFilter.
    #[inline(never)]
    fn post_filter(mut self, plugins: &P, diagnosis: Diagnosis, failed: &FailedAttempt<'_, P>) -> Decision {
        let has_plugins = !plugins.info().plugins("post-filter").is_empty();
        let seed = if has_plugins { (self.draw)(usize::MAX) as u64 } else { 0 };
        let FailedAttempt { compiled, equivalence_class, cycle, pre_filter } = *failed;
        let cx = PostFilterContext {
            profile: plugins,
            pod: self.pod,
            compiled,
            cycle,
            equivalence_class,
            pre_filter,
            cache: self.cache,
            diagnosis: &diagnosis,
            now: self.now,
            lists_preemption_candidates: self.lists_preemption_candidates,
            seed,
        };
        let mut run = PostFilterRun::default();
        self.observer.point_started(Point::PostFilter);
        plugins.post_filter(&mut run, cx);
        let result = run.finish();
        if let Some(result) = &result {
            self.observer.point_ended(Point::PostFilter, result.status.code);
        }
        Decision::Unschedulable(Box::new(Unschedulable::new(diagnosis, result)))
    }
}
