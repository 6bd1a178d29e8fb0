//! A scheduler with an erased type.

use std::sync::Arc;

use super::client::AnyClient;
use super::record::{AttemptObserver, Recorder};
use super::tasks::{AnyTasks, BoxedTasks};
use crate::engine::bundle::Bundle;
use crate::engine::explain::Explanation;
use crate::model::cache::{Base, PodState};
use crate::model::cache_size::CacheSize;
use crate::model::intern::Symbol;
use crate::model::{NodeIndex, Pod, Uid};
use crate::plugin_api::claim_metrics::ClaimMetrics;
use crate::plugin_api::events::ClusterEvent;
use crate::plugin_api::status::Status;
use crate::profile_api::extenders::ExtenderCall;
use crate::scheduler::queue::{Cause, QueueCounts, QueueKind, QueuePlace};
use crate::scheduler::{Change, Completed, DurationMetrics, InProgressCounts, Outcome, Scheduler};

/// Declares [`AnyScheduler`], whose methods call those of [`Scheduler`]. The sections have the methods with tasks of
/// any type (`tasks`), with an unchanged signature (`read`, `write`), with an iterator of any type (`boxed`), and with
/// a list instead of an iterator (`listed`).
macro_rules! any_scheduler {
    (
        $(#[$about:meta])*
        tasks { $(fn $step:ident($($input:ident: $input_type:ty),*);)* }
        write { $(fn $write:ident($($with:ident: $with_type:ty),*) $(-> $written:ty)?;)* }
        read { $(fn $read:ident($($of:ident: $of_type:ty),*) -> $found:ty;)* }
        boxed { $(fn $boxed:ident() -> $item:ty;)* }
        listed { $(fn $listed:ident() -> $entry:ty;)* }
    ) => {
        $(#[$about])*
        pub trait AnyScheduler: Send {
            /// Returns nodes and names. Changes go through [`AnyScheduler::on_change`].
            fn base(&self) -> &Base;
            /// Returns nodes and names, to intern new strings.
            fn base_mut(&mut self) -> &mut Base;
            /// Returns a pod that the cache has on a node, with this node and the pod's state.
            fn pod(&self, uid: &Uid) -> Option<(&Arc<Pod>, Symbol, PodState)>;
            /// Returns all pods that the cache has on nodes, unordered.
            fn pods(&self) -> Box<dyn Iterator<Item = (&Arc<Pod>, Symbol, PodState)> + '_>;
            fn schedule_one(&mut self, tasks: &mut dyn AnyTasks, observer: &mut dyn AttemptObserver) -> bool;
            fn next_pod(&mut self, tasks: &mut dyn AnyTasks) -> Option<Arc<Pod>>;
            $(fn $step(&mut self, $($input: $input_type,)* tasks: &mut dyn AnyTasks);)*
            $(fn $write(&mut self, $($with: $with_type),*) $(-> $written)?;)*
            $(fn $read(&self, $($of: $of_type),*) -> $found;)*
            $(fn $boxed(&self) -> Box<dyn Iterator<Item = $item> + '_>;)*
            $(fn $listed(&self) -> Vec<$entry>;)*
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
            fn schedule_one(&mut self, tasks: &mut dyn AnyTasks, observer: &mut dyn AttemptObserver) -> bool {
                self.schedule_one_with_observer(&mut BoxedTasks(tasks), &mut Recorder::new(observer))
            }
            fn next_pod(&mut self, tasks: &mut dyn AnyTasks) -> Option<Arc<Pod>> {
                self.next_pod(&mut BoxedTasks(tasks))
            }
            $(fn $step(&mut self, $($input: $input_type,)* tasks: &mut dyn AnyTasks) {
                self.$step($($input,)* &mut BoxedTasks(tasks));
            })*
            $(fn $write(&mut self, $($with: $with_type),*) $(-> $written)? {
                self.$write($($with),*)
            })*
            $(fn $read(&self, $($of: $of_type),*) -> $found {
                self.$read($($of),*)
            })*
            $(fn $boxed(&self) -> Box<dyn Iterator<Item = $item> + '_> {
                Box::new(self.$boxed())
            })*
            $(fn $listed(&self) -> Vec<$entry> {
                self.$listed().collect()
            })*
        }
    };
}

any_scheduler! {
    /// A [`Scheduler`] of any profiles. Its methods are those of [`Scheduler`]; that type documents them.
    #[expect(missing_docs, reason = "the methods of `Scheduler` have the documentation")]
    tasks {
        fn on_change(change: Change);
        fn on_completed(completed: Completed);
        fn tick(now: i64);
        fn start_background();
    }
    write {
        fn set_now(now: i64);
        fn free_unused_strings();
        fn stop_background();
        fn take_outcomes() -> Vec<Outcome>;
        fn take_extender_calls() -> Vec<ExtenderCall>;
        fn explain(profile: usize, pod: &Arc<Pod>, all_filters: bool) -> Explanation;
        fn explain_shortages(profile: usize, pod: &Arc<Pod>, explanation: &mut Explanation);
        fn may_choose(profile: usize, pod: &Arc<Pod>, node: NodeIndex) -> Option<bool>;
        fn gate_status(uid: &Uid) -> Option<Status>;
        fn cache_sizes() -> Vec<CacheSize>;
    }
    read {
        fn next_tick() -> Option<i64>;
        fn next_activation() -> Option<i64>;
        fn next_backoff_end() -> Option<i64>;
        fn next_deadline() -> Option<i64>;
        fn next_wake() -> Option<i64>;
        fn has_activation(uid: &Uid) -> bool;
        fn profile_of(pod: &Pod) -> Option<usize>;
        fn place(uid: &Uid) -> Option<QueuePlace>;
        fn pending(uid: &Uid) -> Option<&Arc<Pod>>;
        fn in_progress() -> InProgressCounts;
        fn background_tasks() -> usize;
        fn bound_after_flush() -> u64;
        fn queue_counts() -> QueueCounts;
        fn rejected_pod_counts() -> Vec<(usize, &'static str, usize)>;
        fn duration_metrics() -> &DurationMetrics;
        fn claim_metrics() -> ClaimMetrics;
        fn last_event() -> Option<ClusterEvent>;
    }
    boxed {
        fn pending_pods() -> &Arc<Pod>;
    }
    listed {
        fn incoming_counts() -> (Cause, QueueKind, u64);
        fn events_in_flight() -> ClusterEvent;
    }
}
