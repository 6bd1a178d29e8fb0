//! A scheduler with an erased type.

use std::sync::Arc;

use super::client::AnyClient;
use super::record::{AttemptObserver, Recorder};
use super::tasks::{AnyTasks, BoxedTasks};
use crate::engine::bundle::Bundle;
use crate::engine::explain::Explanation;
use crate::model::cache::{Base, PodState};
use crate::model::intern::Symbol;
use crate::model::{NodeIndex, Pod, Uid};
use crate::plugin_api::events::ClusterEvent;
use crate::plugin_api::status::Status;
use crate::profile_api::extenders::ExtenderCall;
use crate::scheduler::queue::{Cause, QueueCounts, QueueKind, QueuePlace};
use crate::scheduler::{Change, Completed, DurationMetrics, InProgressCounts, Outcome, Scheduler};

/// A [`Scheduler`] of any profiles. Its methods are those of [`Scheduler`]; that type documents them.
#[expect(missing_docs, reason = "the methods of `Scheduler` have the documentation")]
pub trait AnyScheduler: Send {
    /// Returns nodes and names. Changes go through [`AnyScheduler::on_change`].
    fn base(&self) -> &Base;
    /// Returns nodes and names, to intern new strings.
    fn base_mut(&mut self) -> &mut Base;
    /// Returns a pod that has a node in the cache, the node, and the pod's state.
    fn pod(&self, uid: &Uid) -> Option<(&Arc<Pod>, Symbol, PodState)>;
    /// Returns all pods that have a node in the cache, unordered.
    fn pods(&self) -> Box<dyn Iterator<Item = (&Arc<Pod>, Symbol, PodState)> + '_>;

    fn on_change(&mut self, change: Change, tasks: &mut dyn AnyTasks);
    fn on_completed(&mut self, completed: Completed, tasks: &mut dyn AnyTasks);
    fn tick(&mut self, now: i64, tasks: &mut dyn AnyTasks);
    fn at(&mut self, now: i64);
    fn schedule_one(&mut self, tasks: &mut dyn AnyTasks, observer: &mut dyn AttemptObserver) -> bool;
    fn next_pod(&mut self, tasks: &mut dyn AnyTasks) -> Option<Arc<Pod>>;
    fn start_background(&mut self, tasks: &mut dyn AnyTasks);
    fn stop_background(&mut self);
    fn take_outcomes(&mut self) -> Vec<Outcome>;
    fn take_extender_calls(&mut self) -> Vec<ExtenderCall>;

    fn next_tick(&self) -> Option<i64>;
    fn next_activation(&self) -> Option<i64>;
    fn next_backoff_end(&self) -> Option<i64>;
    fn next_deadline(&self) -> Option<i64>;
    fn next_wake(&self) -> Option<i64>;
    fn has_activation(&self, uid: &Uid) -> bool;

    fn explain(&mut self, profile: usize, pod: &Arc<Pod>, all_filters: bool) -> Explanation;
    fn may_choose(&mut self, profile: usize, pod: &Arc<Pod>, node: NodeIndex) -> Option<bool>;
    fn profile_of(&self, pod: &Pod) -> Option<usize>;
    fn place(&self, uid: &Uid) -> Option<QueuePlace>;
    fn gate_status(&mut self, uid: &Uid) -> Option<Status>;
    fn pending(&self, uid: &Uid) -> Option<&Arc<Pod>>;
    fn pending_pods(&self) -> Box<dyn Iterator<Item = &Arc<Pod>> + '_>;

    fn in_progress(&self) -> InProgressCounts;
    fn background_tasks(&self) -> usize;
    fn bound_after_flush(&self) -> u64;
    fn queue_counts(&self) -> QueueCounts;
    fn rejected_pod_counts(&self) -> Vec<(usize, &'static str, usize)>;
    fn incoming_counts(&self) -> Vec<(Cause, QueueKind, u64)>;
    fn events_in_flight(&self) -> Vec<ClusterEvent>;
    fn duration_metrics(&self) -> &DurationMetrics;
    fn last_event(&self) -> Option<ClusterEvent>;
}

impl<B: Bundle> AnyScheduler for Scheduler<B, AnyClient> {
    fn base(&self) -> &Base {
        &self.cache.base
    }
    fn base_mut(&mut self) -> &mut Base {
        &mut self.cache.base
    }
    fn pod(&self, uid: &Uid) -> Option<(&Arc<Pod>, Symbol, PodState)> {
        self.cache.pod(uid)
    }
    fn pods(&self) -> Box<dyn Iterator<Item = (&Arc<Pod>, Symbol, PodState)> + '_> {
        Box::new(self.cache.pods())
    }

    fn on_change(&mut self, change: Change, tasks: &mut dyn AnyTasks) {
        self.on_change(change, &mut BoxedTasks(tasks));
    }
    fn on_completed(&mut self, completed: Completed, tasks: &mut dyn AnyTasks) {
        self.on_completed(completed, &mut BoxedTasks(tasks));
    }
    fn tick(&mut self, now: i64, tasks: &mut dyn AnyTasks) {
        self.tick(now, &mut BoxedTasks(tasks));
    }
    fn at(&mut self, now: i64) {
        self.at(now);
    }
    fn schedule_one(&mut self, tasks: &mut dyn AnyTasks, observer: &mut dyn AttemptObserver) -> bool {
        self.schedule_one_with_observer(&mut BoxedTasks(tasks), &mut Recorder::new(observer))
    }
    fn next_pod(&mut self, tasks: &mut dyn AnyTasks) -> Option<Arc<Pod>> {
        self.next_pod(&mut BoxedTasks(tasks))
    }
    fn start_background(&mut self, tasks: &mut dyn AnyTasks) {
        self.start_background(&mut BoxedTasks(tasks));
    }
    fn stop_background(&mut self) {
        self.stop_background();
    }
    fn take_outcomes(&mut self) -> Vec<Outcome> {
        self.take_outcomes()
    }
    fn take_extender_calls(&mut self) -> Vec<ExtenderCall> {
        self.take_extender_calls()
    }

    fn next_tick(&self) -> Option<i64> {
        self.next_tick()
    }
    fn next_activation(&self) -> Option<i64> {
        self.next_activation()
    }
    fn next_backoff_end(&self) -> Option<i64> {
        self.next_backoff_end()
    }
    fn next_deadline(&self) -> Option<i64> {
        self.next_deadline()
    }
    fn next_wake(&self) -> Option<i64> {
        self.next_wake()
    }
    fn has_activation(&self, uid: &Uid) -> bool {
        self.has_activation(uid)
    }

    fn explain(&mut self, profile: usize, pod: &Arc<Pod>, all_filters: bool) -> Explanation {
        self.explain(profile, pod, all_filters)
    }
    fn may_choose(&mut self, profile: usize, pod: &Arc<Pod>, node: NodeIndex) -> Option<bool> {
        self.may_choose(profile, pod, node)
    }
    fn profile_of(&self, pod: &Pod) -> Option<usize> {
        self.profile_of(pod)
    }
    fn place(&self, uid: &Uid) -> Option<QueuePlace> {
        self.place(uid)
    }
    fn gate_status(&mut self, uid: &Uid) -> Option<Status> {
        self.gate_status(uid)
    }
    fn pending(&self, uid: &Uid) -> Option<&Arc<Pod>> {
        self.pending(uid)
    }
    fn pending_pods(&self) -> Box<dyn Iterator<Item = &Arc<Pod>> + '_> {
        Box::new(self.pending_pods())
    }

    fn in_progress(&self) -> InProgressCounts {
        self.in_progress()
    }
    fn background_tasks(&self) -> usize {
        self.background_tasks()
    }
    fn bound_after_flush(&self) -> u64 {
        self.bound_after_flush()
    }
    fn queue_counts(&self) -> QueueCounts {
        self.queue_counts()
    }
    fn rejected_pod_counts(&self) -> Vec<(usize, &'static str, usize)> {
        self.rejected_pod_counts()
    }
    fn incoming_counts(&self) -> Vec<(Cause, QueueKind, u64)> {
        self.incoming_counts().collect()
    }
    fn events_in_flight(&self) -> Vec<ClusterEvent> {
        self.events_in_flight().collect()
    }
    fn duration_metrics(&self) -> &DurationMetrics {
        self.duration_metrics()
    }
    fn last_event(&self) -> Option<ClusterEvent> {
        self.last_event()
    }
}
