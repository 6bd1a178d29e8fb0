//! The scheduler of the profiles of a program, as a state machine. Inputs are cluster changes and the time; outputs are
//! [`Tasks`] with calls to the cluster. It does no I/O and has no clock, threads or runtime.
//!
//! | module | content | kube-scheduler |
//! |---|---|---|
//! | `changes` | objects are added, changed and removed | event handlers |
//! | `cycle` | from a popped pod to Permit | `schedulingCycle` |
//! | `binding` | from Permit to bound, or back | `bindingCycle` |
//! | `failure` | a failed attempt: requeue, nomination, condition | `handleSchedulingFailure` |
//! | `preemption` | removal of victims | `prepareCandidateAsync` |
//! | `status_writer` | status patches, one at a time for each pod | |
//! | `object_writer` | fire-and-forget writes of plugins | |
//! | `duration_metrics` | histograms of durations | metrics |
//! | `outcome` | results of attempts, for callers | |
//! | `queue_context` | calls of the queue to the profiles | |
//! | `timed_activations` | retries of pods at a time set by a plugin | |
//! | `options` | settings of a run | |
//! | `inspection` | pods in the queue, counts and metrics, for callers | |
//! | `background` | background tasks of plugins | plugins' goroutines and informers |
//! | `plugin_requests` | requests of plugins through their handle | |
//! | `tasks` | asynchronous calls | goroutines |
//! | `pod_names` | pods by namespace and name | |
//! | `templates` | pods of one template share their specs | |
//! | `unused_strings` | strings of objects that left the cluster are freed | garbage collection |
//! | [`queue`] | the pending pods | `SchedulingQueue` |
//! | [`snapshot`], [`minimal_cluster`], [`erased`] | entry points for programs | |

mod background;
mod binding;
mod changes;
mod cycle;
mod duration_metrics;
pub mod erased;
mod failure;
mod inspection;
pub mod minimal_cluster;
mod object_writer;
mod options;
mod outcome;
mod plugin_requests;
mod pod_names;
mod preemption;
pub mod queue;
mod queue_context;
pub mod snapshot;
mod status_writer;
mod tasks;
mod templates;
mod timed_activations;
mod unused_strings;

pub use crate::engine::observer::{Observer, Point};
pub use crate::engine::tie_break::TieBreak;
pub use crate::model::change::{Change, ObjectId};
pub use duration_metrics::{DurationHistogram, DurationMetrics};
pub use inspection::InProgressCounts;
pub use options::Options;
pub use outcome::{Failure, Outcome, Placed};
pub use tasks::{Completed, Tasks};
pub use templates::Templates;

use std::sync::Arc;

use crate::engine::bundle::{Bundle, set_up_extenders, with_profile};
use crate::engine::explain::Explanation;
use crate::model::cache::{Cache, UnplacedPod};
use crate::model::intern::Symbol;
use crate::model::map::Map;
use crate::model::{NodeIndex, Pod, Uid};
use crate::plugin_api::client::{Client, Event, EventType};
use crate::plugin_api::events::{ClusterEvent, ObjectEvent};
use crate::plugin_api::handle::{Handle, WaitingPodMap};
use crate::plugin_api::random::Random;
use crate::profile_api::extenders::{ExtenderCall, Extenders};
use crate::profile_api::profile::StartErrors;
use crate::scheduler::queue::{Attempt, SchedulingQueue};

use background::Background;
use binding::Binding;
use cycle::Cycle;
use object_writer::ObjectWriter;
use pod_names::PodNames;
use queue_context::{BundleOrder, BundleQueueContext};
use status_writer::StatusWriter;
use tasks::Work;
use timed_activations::TimedActivations;
use unused_strings::StringPass;

/// All profiles of a program over one cache and one queue.
///
/// The driver passes cluster changes ([`Scheduler::on_change`]), the time ([`Scheduler::tick`]) and completed tasks
/// ([`Scheduler::on_completed`]), and calls [`Scheduler::schedule_one`].
pub struct Scheduler<B: Bundle, C> {
    /// The scheduler's view of the cluster, for reading and for interning strings. Changes go through
    /// [`Scheduler::on_change`].
    pub cache: Cache<B::State>,
    client: C,
    options: Options,
    bundle: B,
    handle: Handle,
    queue: SchedulingQueue<BundleOrder<B>, ObjectEvent>,
    names: PodNames,
    templates: Templates,
    waiting: WaitingPodMap,
    bindings: Map<Uid, Binding>,
    status: StatusWriter,
    objects: ObjectWriter,
    /// Retries of pods at a time set by a plugin.
    timed_activations: TimedActivations,
    background: Background,
    string_pass: Option<StringPass>,
    /// Number of strings ever created, at the last call of [`Scheduler::free_unused_strings`].
    strings_seen: u64,
    outcomes: Vec<Outcome>,
    duration_metrics: DurationMetrics,
    /// The first event of the last change, if it caused one.
    last_event: Option<ClusterEvent>,
    random: Random,
    now: i64,
}

impl<B: Bundle, C: Client> Scheduler<B, C> {
    /// Creates every plugin of every profile, and the extenders.
    ///
    /// # Errors
    /// The failures of all plugins, or extenders that cannot be called.
    pub fn new(client: C, options: Options) -> Result<Self, StartErrors> {
        Self::with_factory(B::new, client, options)
    }

    /// Creates a scheduler of profiles that `make` creates.
    ///
    /// # Errors
    /// The errors of `make`, or extenders that cannot be called.
    pub fn with_factory(
        make: impl FnOnce(&Handle) -> Result<B, StartErrors>,
        client: C,
        options: Options,
    ) -> Result<Self, StartErrors> {
        let handle = if options.real_time { Handle::in_real_time() } else { Handle::default() };
        let mut bundle = make(&handle)?;
        set_up_extenders(&mut bundle, options.extenders)?;
        Ok(Scheduler {
            cache: Cache::default(),
            client,
            options,
            queue: SchedulingQueue::new(options.for_queue(bundle.profiles())),
            bundle,
            handle,
            names: PodNames::default(),
            templates: Templates::default(),
            waiting: WaitingPodMap::default(),
            bindings: Map::default(),
            status: StatusWriter::default(),
            objects: ObjectWriter::default(),
            timed_activations: TimedActivations::default(),
            background: Background::default(),
            string_pass: None,
            strings_seen: 0,
            outcomes: Vec::new(),
            duration_metrics: DurationMetrics::default(),
            last_event: None,
            random: Random::new(options.seed),
            now: 0,
        })
    }

    /// Sets the time to `now`, in nanoseconds of the caller's clock; it never goes back. Ends backoffs and waits in
    /// Permit that are due, and wakes sleeping background tasks whose time has come. Pods are retried if they were
    /// unschedulable for too long, or if the time that a plugin has set for a retry has come.
    pub fn tick(&mut self, now: i64, tasks: &mut impl Tasks) {
        self.set_now(now);
        let now = self.now;
        self.handle.publish_now(now);
        let (queue, mut context) = self.queue();
        queue.tick(&mut context, now);
        self.waiting.time_out(now);
        self.activate_due_pods(now);
        self.background.wake(now);
        self.settle(tasks);
    }

    /// Sets the time like [`Scheduler::tick`], without any other effect, for precise metrics.
    pub fn set_now(&mut self, now: i64) {
        self.now = self.now.max(now);
    }

    /// Returns the time when [`Scheduler::tick`] may have work next; `None` if time alone changes nothing.
    pub fn next_tick(&self) -> Option<i64> {
        let of_plugins = self.next_activation().into_iter().chain(self.next_wake());
        self.queue.next_tick().into_iter().chain(self.next_deadline()).chain(of_plugins).min()
    }

    /// Returns the earliest time that a plugin has set for a retry.
    pub fn next_activation(&self) -> Option<i64> {
        self.timed_activations.next()
    }
    /// Returns whether a plugin has set a time to retry a pod.
    pub fn has_activation(&self, uid: &Uid) -> bool {
        self.timed_activations.is_set(uid)
    }

    /// Returns the end of the next backoff.
    pub fn next_backoff_end(&self) -> Option<i64> {
        self.queue.next_backoff_end()
    }

    /// Returns the next deadline of a Permit plugin.
    pub fn next_deadline(&self) -> Option<i64> {
        self.waiting.next_deadline()
    }

    /// Attempts the next pod: kube-scheduler's `ScheduleOne`. Returns whether there was one.
    pub fn schedule_one(&mut self, tasks: &mut impl Tasks) -> bool {
        self.schedule_one_with_observer(tasks, &mut ())
    }

    /// Attempts the next pod and notifies the observer.
    pub fn schedule_one_with_observer(&mut self, tasks: &mut impl Tasks, observer: &mut impl Observer) -> bool {
        self.settle(tasks);
        loop {
            let now = self.now;
            observer.before_pop();
            let (queue, mut context) = self.queue();
            let Some(attempt) = queue.pop(&mut context, now) else { return false };
            let Some(unplaced) = self.unplaced(attempt.pod()) else {
                self.drop_obsolete(attempt);
                continue;
            };
            observer.attempt_started(attempt.profile(), attempt.pod());
            let nominated = self.with_other_nomination(attempt.pod());
            let pod = nominated.as_ref().unwrap_or(attempt.pod());
            let (random, tie_break) = (&mut self.random, self.options.tie_break);
            let cycle = Cycle {
                client: &self.client,
                pod,
                unplaced,
                cache: &mut self.cache,
                lists_preemption_candidates: self.options.lists_preemption_candidates,
                draw: tie_break.draw_fn(random),
                waiting: &mut self.waiting,
                now,
                observer: &mut *observer,
            };
            let decision = self.bundle.with(attempt.profile(), cycle);
            observer.decided(pod, decision.is_ok());
            match decision {
                Ok(permitted) => self.begin_binding(attempt, permitted, tasks),
                Err(failure) => self.failed(attempt, failure, tasks),
            }
            self.settle(tasks);
            return true;
        }
    }

    /// Returns the pod that [`Scheduler::schedule_one`] would attempt now. Pods that no longer need an attempt leave the
    /// queue.
    pub fn next_pod(&mut self, tasks: &mut impl Tasks) -> Option<Arc<Pod>> {
        self.settle(tasks);
        let now = self.now;
        loop {
            let (queue, mut context) = self.queue();
            let pod = queue.peek(&mut context, now)?.clone();
            if self.unplaced(&pod).is_some() {
                return Some(self.with_other_nomination(&pod).unwrap_or(pod));
            }
            let (queue, mut context) = self.queue();
            let attempt = queue.pop(&mut context, now)?;
            self.drop_obsolete(attempt);
        }
    }

    /// Returns the proof that a queued pod has no node. `None`: it needs no attempt, because it has a node or is being
    /// deleted.
    #[inline]
    fn unplaced(&self, pod: &Pod) -> Option<UnplacedPod> {
        if pod.deleting { None } else { self.cache.unplaced(&pod.uid) }
    }

    #[cold]
    fn drop_obsolete(&mut self, attempt: Attempt) {
        let pod = attempt.pod().clone();
        if pod.deleting {
            let note = format!("skip schedule deleting pod: {}", pod.namespaced_name());
            self.forget_name(&pod);
            self.record(pod, EventType::Warning, "FailedScheduling", note);
        }
        let (queue, mut context) = self.queue();
        queue.dropped(attempt, &mut context);
    }

    /// Returns the pod with its current nomination, if it differs from the one in the pod's status.
    #[inline]
    fn with_other_nomination(&self, pod: &Pod) -> Option<Arc<Pod>> {
        let nominated_node = self.cache.nominator.node(&pod.uid);
        (pod.nominated_node != nominated_node).then(|| nominated(pod, nominated_node))
    }

    /// Handles a completed task.
    pub fn on_completed(&mut self, completed: Completed, tasks: &mut impl Tasks) {
        match completed.0 {
            Work::Status { pod } => {
                self.status.completed(&pod, &self.client, tasks);
                self.proceed(&pod, tasks);
            }
            Work::PreBound { pod, attempt, result } => self.pre_bound(&pod, attempt, result, tasks),
            Work::Bound { pod, attempt, result } => self.bound(&pod, attempt, result, tasks),
            Work::Preempted { preemptor, since, succeeded } => self.preempted(&preemptor, since, succeeded),
            Work::Written { request, result } => self.on_object_written(&request, result, tasks),
            Work::Background(task) => self.background_ended(task),
            Work::Called => {}
            Work::RequestsAvailable => self.on_requests_available(),
        }
        self.settle(tasks);
    }

    /// Returns the outcomes since the last call, in order.
    pub fn take_outcomes(&mut self) -> Vec<Outcome> {
        std::mem::take(&mut self.outcomes)
    }

    /// Takes the recorded extender calls of all profiles.
    pub fn take_extender_calls(&mut self) -> Vec<ExtenderCall> {
        let mut calls = Vec::new();
        for profile in 0..self.bundle.profiles().len() {
            with_profile!(self.bundle, profile, fn(engine, calls: &mut Vec<ExtenderCall> = &mut calls) {
                calls.append(&mut engine.plugins.extenders().take_calls());
            });
        }
        calls
    }

    /// Moves a pod without a node to the active queue. Returns whether it is there now. It is not if it is unknown or
    /// in flight, or if PreEnqueue still holds it.
    pub fn activate(&mut self, uid: &Uid) -> bool {
        let now = self.now;
        let (queue, mut context) = self.queue();
        queue.activate(uid, &mut context, now)
    }

    /// Adds the shortages of infeasible nodes to an explanation of the pod. The cluster must be unchanged since the
    /// explanation.
    pub fn explain_shortages(&mut self, profile: usize, pod: &Arc<Pod>, explanation: &mut Explanation) {
        with_profile!(
            self.bundle,
            profile,
            fn(
                engine,
                pod: &Arc<Pod> = pod,
                cache: &mut Cache<S> = &mut self.cache,
                explanation: &mut Explanation = explanation,
            ) {
                engine.explain_shortages(pod, cache, explanation);
            }
        );
    }

    /// Explains the decision that a scheduling cycle would make about a pod now. Among equally good nodes, the decision
    /// is the node that the next attempt would draw.
    pub fn explain(&mut self, profile: usize, pod: &Arc<Pod>, all_filters: bool) -> Explanation {
        let (mut random, tie_break) = (self.random.clone(), self.options.tie_break);
        with_profile!(
            self.bundle,
            profile,
            fn(
                engine,
                pod: &Arc<Pod> = pod,
                cache: &mut Cache<S> = &mut self.cache,
                all_filters: bool = all_filters,
                random: &mut Random = &mut random,
                tie_break: TieBreak = tie_break,
            ) -> Explanation {
                engine.explain_with_draw(pod, cache, all_filters, tie_break.draw_fn(random))
            }
        )
    }

    /// Returns whether a scheduling cycle may choose a node for a pod now. `None` if only [`Scheduler::explain`] can
    /// find out.
    pub fn may_choose(&mut self, profile: usize, pod: &Arc<Pod>, node: NodeIndex) -> Option<bool> {
        with_profile!(
            self.bundle,
            profile,
            fn(
                engine,
                pod: &Arc<Pod> = pod,
                cache: &mut Cache<S> = &mut self.cache,
                node: NodeIndex = node,
            ) -> Option<bool> {
                engine.may_choose(pod, cache, node)
            }
        )
    }

    /// Returns the time for which the pod of an attempt has been waiting.
    fn waited(&self, attempt: &Attempt) -> i64 {
        self.queue.first_ready(attempt).map_or(0, |since| self.now.saturating_sub(since))
    }

    fn queue(&mut self) -> (&mut SchedulingQueue<BundleOrder<B>, ObjectEvent>, BundleQueueContext<'_, B>) {
        (&mut self.queue, BundleQueueContext { bundle: &mut self.bundle, cache: &mut self.cache })
    }

    fn record(&self, regarding: Arc<Pod>, event_type: EventType, reason: &'static str, note: String) {
        let Some(profile) = self.profile_of(&regarding) else { return };
        let scheduler = self.bundle.profiles()[profile].scheduler_name;
        let (related, action) = (None, "Scheduling");
        self.client.record(Event { scheduler, regarding, related, event_type, reason, action, note });
    }
}

impl<B: Bundle, C> Drop for Scheduler<B, C> {
    /// Closes every plugin.
    fn drop(&mut self) {
        for profile in 0..self.bundle.profiles().len() {
            with_profile!(self.bundle, profile, fn(engine) { engine.plugins.close(); });
        }
    }
}

/// Returns the pod with this nomination.
#[cold]
fn nominated(pod: &Pod, nominated_node: Option<Symbol>) -> Arc<Pod> {
    Arc::new(Pod { nominated_node, ..Pod::clone(pod) })
}
