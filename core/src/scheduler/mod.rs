//! The scheduler around the profiles of a binary, as a state machine: what the cluster says and the time come in, calls to
//! the cluster go out as [`Tasks`]. It does no I/O and has no clock, threads or runtime of its own.
//!
//! | module | idea | kube-scheduler |
//! |---|---|---|
//! | `changes` | objects come, change and go | event handlers |
//! | `cycle` | from a popped pod to Permit | `schedulingCycle` |
//! | `binding` | from Permit to bound, or back | `bindingCycle` |
//! | `failure` | a failed attempt: requeue, nomination, condition | `handleSchedulingFailure` |
//! | `preemption` | room is made | `prepareCandidateAsync` |
//! | `status_writer` | one patch of a pod at a time | |
//! | `observer` | when decisions begin and end | metrics |
//! | `duration_metrics` | how long what takes time took | metrics |
//! | `queue_context` | what the queue asks of the profiles | |
//! | `timed_activations` | pods that plugins want to be tried at a time | |
//! | `background` | tasks of plugins beside the scheduler | plugins' goroutines and informers |
//! | `plugin_requests` | what plugins ask for through their handle | |
//! | `tasks` | calls that are not waited for | goroutines |
//! | `templates` | pods of one template share their specs | |

mod background;
mod binding;
mod changes;
mod cycle;
mod duration_metrics;
mod failure;
mod object_writer;
mod observer;
mod outcome;
mod plugin_requests;
mod preemption;
mod queue_context;
mod status_writer;
mod tasks;
mod templates;
mod timed_activations;

pub use changes::Change;
pub use duration_metrics::{DurationHistogram, DurationMetrics};
pub use observer::{Observer, Point};
pub use outcome::{Failure, Outcome, Placed};
pub use tasks::{Completed, Tasks};

use std::sync::Arc;

use crate::cache::{Cache, State, UnplacedPod};
use crate::client::{Client, Event, EventType};
use crate::engine::Engine;
use crate::events::{ClusterEvent, ObjectEvent};
use crate::explain::Explanation;
use crate::extenders::{self, Extenders, Overrides};
use crate::handle::{Handle, WaitingPodMap};
use crate::intern::Symbol;
use crate::map::Map;
use crate::model::{NodeIndex, Pod, Uid};
use crate::profile::{Bundle, Profile, ProfileInfo, StartErrors, Visitor};
use crate::queue::{self, Attempt, Backoff, Cause, QueueContext, QueueCounts, QueueKind, QueuePlace, SchedulingQueue};
use crate::random::Random;
use crate::status::Status;

use background::Background;
use binding::Binding;
use cycle::Cycle;
use object_writer::ObjectWriter;
use queue_context::{BundleOrder, BundleQueueContext};
use status_writer::StatusWriter;
use tasks::Work;
use templates::Templates;
use timed_activations::TimedActivations;

/// Which of several equally good nodes is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TieBreak {
    /// One that is drawn, every one equally likely.
    #[default]
    Random,
    /// The first, in the order in which nodes came.
    First,
}

impl TieBreak {
    /// Picks one of `n` equally good nodes.
    #[inline]
    fn draw(self, random: &mut Random, n: usize) -> usize {
        match self {
            TieBreak::Random => random.below(n),
            TieBreak::First => 0,
        }
    }

    /// The draws of an attempt. All callers use these, so that an engine is compiled once for them.
    #[inline]
    pub(crate) fn draw_fn(self, random: &mut Random) -> impl FnMut(usize) -> usize {
        move |n| self.draw(random, n)
    }
}

/// What can be set for a run; what belongs to a profile is compiled in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// What is drawn repeats with it.
    pub seed: u64,
    /// Which of several equally good nodes is taken.
    pub tie_break: TieBreak,
    /// The index of a profile that serves every pod, whatever scheduler it names.
    pub serve_all: Option<usize>,
    /// After how many nanoseconds a parked pod is tried without any event: `podMaxInUnschedulablePodsDuration`.
    pub leftover_after: i64,
    /// How long pods wait after a failure, if not as long as the profiles say.
    pub backoff: Option<Backoff>,
    /// How many events are kept for pods in flight; see [`queue::Options::max_in_flight_events`].
    pub max_in_flight_events: usize,
    /// What is different here from what profiles say of extenders.
    pub extenders: &'static Overrides,
}

impl Default for Options {
    /// kube-scheduler's.
    fn default() -> Self {
        let queue::Options { leftover_after, max_in_flight_events, .. } = queue::Options::default();
        Options {
            seed: 0,
            tie_break: TieBreak::Random,
            serve_all: None,
            leftover_after,
            backoff: None,
            max_in_flight_events,
            extenders: Overrides::NONE,
        }
    }
}

/// All profiles of a binary over one cache and one queue.
///
/// Whoever drives it tells it what the cluster says ([`Scheduler::on_change`]), the time ([`Scheduler::tick`]) and which tasks
/// are done ([`Scheduler::on_completed`]), and lets it work ([`Scheduler::schedule_one`]).
pub struct Scheduler<B: Bundle, C> {
    /// The cluster as it is known here. To be looked at: changes go through [`Scheduler::on_change`], but for new strings.
    pub cache: Cache<B::State>,
    client: C,
    options: Options,
    bundle: B,
    handle: Handle,
    queue: SchedulingQueue<BundleOrder<B>, ObjectEvent>,
    /// Pods by namespace and name: only one of a name can be there.
    names: Map<(Symbol, Arc<str>), Uid>,
    templates: Templates,
    waiting: WaitingPodMap,
    bindings: Map<Uid, Binding>,
    status: StatusWriter,
    objects: ObjectWriter,
    /// Pods that a plugin wants to be tried at a time.
    timed_activations: TimedActivations,
    background: Background,
    outcomes: Vec<Outcome>,
    duration_metrics: DurationMetrics,
    /// The first event of the last change.
    last_event: Option<ClusterEvent>,
    random: Random,
    now: i64,
}

impl<B: Bundle, C: Client> Scheduler<B, C> {
    /// Makes every plugin of every profile, and their extenders ready.
    ///
    /// # Errors
    /// All plugins that failed, or extenders that cannot be asked.
    pub fn new(client: C, options: Options) -> Result<Self, StartErrors> {
        Self::with_factory(B::new, client, options)
    }

    /// The same of profiles that somebody else makes.
    ///
    /// # Errors
    /// What `make` says, or extenders that cannot be asked.
    pub fn with_factory(
        make: impl FnOnce(&Handle) -> Result<B, StartErrors>,
        client: C,
        options: Options,
    ) -> Result<Self, StartErrors> {
        let handle = Handle::default();
        let mut bundle = make(&handle)?;
        extenders::set_up(&mut bundle, options.extenders)?;
        Ok(Scheduler {
            cache: Cache::default(),
            client,
            options,
            queue: SchedulingQueue::new(queue_options(&options, bundle.profiles())),
            bundle,
            handle,
            names: Map::default(),
            templates: Templates::default(),
            waiting: WaitingPodMap::default(),
            bindings: Map::default(),
            status: StatusWriter::default(),
            objects: ObjectWriter::default(),
            timed_activations: TimedActivations::default(),
            background: Background::default(),
            outcomes: Vec::new(),
            duration_metrics: DurationMetrics::default(),
            last_event: None,
            random: Random::new(options.seed),
            now: 0,
        })
    }

    /// The time is `now`, in nanoseconds of the clock that the caller keeps; it never goes back. Backoff ends, patience in
    /// Permit does, and pods that no event woke for long are tried again.
    pub fn tick(&mut self, now: i64, tasks: &mut impl Tasks) {
        self.at(now);
        let now = self.now;
        self.handle.publish_now(now);
        let (queue, mut context) = self.queue();
        queue.tick(&mut context, now);
        self.waiting.time_out(now);
        self.activate_due_pods(now);
        self.background.wake(now);
        self.settle(tasks);
    }

    /// The time is `now`, as of [`Scheduler::tick`], and nothing is done about it: for what is measured to be exact.
    pub fn at(&mut self, now: i64) {
        self.now = self.now.max(now);
    }

    /// When [`Scheduler::tick`] has something to do next; none if only something else than time can change anything.
    pub fn next_tick(&self) -> Option<i64> {
        let of_plugins = self.next_activation().into_iter().chain(self.next_wake());
        self.queue.next_tick().into_iter().chain(self.next_deadline()).chain(of_plugins).min()
    }

    /// When a pod is tried next because a plugin wants it to be, at that time.
    pub fn next_activation(&self) -> Option<i64> {
        self.timed_activations.next()
    }
    /// Whether a plugin wants a pod to be tried at some time.
    pub fn has_activation(&self, uid: &Uid) -> bool {
        self.timed_activations.is_set(uid)
    }

    /// When the backoff of a pod ends next.
    pub fn next_backoff_end(&self) -> Option<i64> {
        self.queue.next_backoff_end()
    }

    /// When the patience of a Permit plugin ends next.
    pub fn next_deadline(&self) -> Option<i64> {
        self.waiting.next_deadline()
    }

    /// Tries the next pod: kube-scheduler's `ScheduleOne`. Returns whether there was one.
    pub fn schedule_one(&mut self, tasks: &mut impl Tasks) -> bool {
        self.schedule_one_with_observer(tasks, &mut ())
    }

    /// The same, while somebody looks on.
    pub fn schedule_one_with_observer(&mut self, tasks: &mut impl Tasks, observer: &mut impl Observer) -> bool {
        self.settle(tasks);
        loop {
            let now = self.now;
            observer.before_pop();
            let (queue, mut context) = self.queue();
            let Some(attempt) = queue.pop(&mut context, now) else { return false };
            let pod = attempt.pod().clone();
            let Some(unplaced) = self.unplaced(&pod) else {
                self.drop_obsolete(attempt);
                continue;
            };
            observer.attempt_started(attempt.profile(), &pod);
            let pod = self.with_nomination(pod);
            let (random, tie_break) = (&mut self.random, self.options.tie_break);
            let cycle = Cycle {
                client: &self.client,
                pod: &pod,
                unplaced,
                cache: &mut self.cache,
                draw: tie_break.draw_fn(random),
                waiting: &mut self.waiting,
                now,
                observer: &mut *observer,
            };
            let decision = self.bundle.with(attempt.profile(), cycle);
            observer.decided(&pod, decision.is_ok());
            match decision {
                Ok(permitted) => self.begin_binding(attempt, permitted, tasks),
                Err(failure) => self.failed(attempt, failure, tasks),
            }
            self.settle(tasks);
            return true;
        }
    }

    /// Returns the pod that [`Scheduler::schedule_one`] would try now. Pods that need no attempt any more leave the queue.
    pub fn next_pod(&mut self, tasks: &mut impl Tasks) -> Option<Arc<Pod>> {
        self.settle(tasks);
        let now = self.now;
        loop {
            let (queue, mut context) = self.queue();
            let pod = queue.peek(&mut context, now)?.clone();
            if self.unplaced(&pod).is_some() {
                return Some(self.with_nomination(pod));
            }
            let (queue, mut context) = self.queue();
            let attempt = queue.pop(&mut context, now)?;
            self.drop_obsolete(attempt);
        }
    }

    /// Returns none if a queued pod needs no attempt: it is being deleted, or has a node.
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

    /// The pod with the nomination that is known here, which its status may not say yet.
    #[inline]
    fn with_nomination(&self, pod: Arc<Pod>) -> Arc<Pod> {
        let nominated_node = self.cache.nominator.node(&pod.uid);
        if pod.nominated_node == nominated_node { pod } else { nominated(&pod, nominated_node) }
    }

    /// A task is done.
    pub fn on_completed(&mut self, completed: Completed, tasks: &mut impl Tasks) {
        match completed.0 {
            Work::Status { pod } => {
                self.status.completed(&pod, &self.client, tasks);
                self.proceed(&pod, tasks);
            }
            Work::PreBound { pod, attempt, result } => self.pre_bound(&pod, attempt, result, tasks),
            Work::Bound { pod, attempt, result } => self.bound(&pod, attempt, result, tasks),
            Work::Preempted { preemptor, since, was_done } => self.preempted(&preemptor, since, was_done),
            Work::Written { request, result } => self.on_object_written(&request, result, tasks),
            Work::Background(task) => self.background_ended(task),
            Work::Called => {}
            Work::RequestsAvailable => self.on_requests_available(),
        }
        self.settle(tasks);
    }

    /// What became of pods since this was asked last, in order.
    pub fn take_outcomes(&mut self) -> Vec<Outcome> {
        std::mem::take(&mut self.outcomes)
    }

    /// The calls of extenders since this was asked last, as far back as they are remembered.
    pub fn take_extender_calls(&mut self) -> Vec<extenders::ExtenderCall> {
        let mut calls = Vec::new();
        for profile in 0..B::PROFILES.len() {
            self.bundle.with(profile, TakeCalls(&mut calls));
        }
        calls
    }

    /// Puts a pod that was not placed into the active queue. Returns whether it is there now: not if it is unknown, in
    /// flight, or if PreEnqueue still holds it.
    pub fn activate(&mut self, uid: &Uid) -> bool {
        let now = self.now;
        let (queue, mut context) = self.queue();
        queue.activate(uid, &mut context, now)
    }

    /// Explains what a cycle would find for a pod now. Of several equally good nodes, it is the one that the next attempt
    /// would draw.
    pub fn explain(&mut self, profile: usize, pod: &Arc<Pod>, all_filters: bool) -> Explanation {
        let (random, tie_break) = (self.random.clone(), self.options.tie_break);
        self.bundle.with(profile, Explain { pod, cache: &mut self.cache, all_filters, random, tie_break })
    }

    /// Whether a cycle may choose a node for a pod now, if that can be told sooner than [`Scheduler::explain`] would.
    pub fn may_choose(&mut self, profile: usize, pod: &Arc<Pod>, node: NodeIndex) -> Option<bool> {
        self.bundle.with(profile, MayChoose { pod, cache: &mut self.cache, node })
    }

    /// Where a pod is in the queue. None: it is not there.
    pub fn place(&self, uid: &Uid) -> Option<QueuePlace> {
        self.queue.place(uid)
    }
    /// What holds a pod in PreEnqueue, if it does.
    pub fn gate_status(&mut self, uid: &Uid) -> Option<Status> {
        if self.queue.place(uid) != Some(QueuePlace::Gated) {
            return None;
        }
        let pod = self.queue.pod(uid)?.clone();
        let profile = self.profile_of(&pod)?;
        let (_, mut context) = self.queue();
        context.pre_enqueue(profile, &pod).err()
    }
    /// A pod that has no node, as it is known here.
    pub fn pending(&self, uid: &Uid) -> Option<&Arc<Pod>> {
        self.queue.pod(uid)
    }
    /// Number of pods that can be tried now.
    pub fn ready(&self) -> usize {
        self.queue.ready()
    }

    /// What is under way; nothing, if nothing happens and every task is done.
    pub fn in_progress(&self) -> InProgressCounts {
        InProgressCounts {
            attempts: self.queue.in_flight(),
            events: self.queue.in_flight_events(),
            bindings: self.bindings.len(),
            waiting: self.waiting.iter().count(),
            status_writes: self.status.len(),
            preemptions: self.handle.preempting(),
            object_writes: self.objects.len(),
        }
    }
    /// How many pods were bound that no event woke: see [`SchedulingQueue::bound_after_flush`].
    pub fn bound_after_flush(&self) -> u64 {
        self.queue.bound_after_flush()
    }

    /// How many pods are in each place of the queue.
    pub fn queue_counts(&self) -> QueueCounts {
        self.queue.queue_counts()
    }
    /// How many pods each plugin of each profile rejected that were not tried again since, or gates. Looks at every pod.
    pub fn rejected_pod_counts(&self) -> Vec<(usize, &'static str, usize)> {
        self.queue.rejected_pod_counts()
    }
    /// How often pods came to each queue, by why.
    pub fn incoming_counts(&self) -> impl Iterator<Item = (Cause, QueueKind, u64)> {
        self.queue.incoming_counts()
    }
    /// What happened that is kept for pods that are being tried.
    pub fn events_in_flight(&self) -> impl Iterator<Item = ClusterEvent> {
        self.queue.events_in_flight().map(|happened| happened.event)
    }
    /// All pods that have no node, in no order.
    pub fn pending_pods(&self) -> impl Iterator<Item = &Arc<Pod>> {
        self.queue.pods()
    }
    /// How long what takes time took so far.
    pub fn duration_metrics(&self) -> &DurationMetrics {
        &self.duration_metrics
    }
    /// The first event of the last change that was told, if it was one.
    pub fn last_event(&self) -> Option<ClusterEvent> {
        self.last_event
    }

    /// How long the pod of an attempt has been waiting.
    fn waited(&self, attempt: &Attempt) -> i64 {
        self.queue.first_ready(attempt).map_or(0, |since| self.now.saturating_sub(since))
    }

    /// The queue, and what it needs of the rest.
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

/// What is under way, in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InProgressCounts {
    /// Pods that were popped and did not come back.
    pub attempts: usize,
    /// Events that are kept for them.
    pub events: usize,
    /// Pods that have a node and are not bound.
    pub bindings: usize,
    /// Of those, pods that wait in Permit.
    pub waiting: usize,
    /// Pods whose status is being written.
    pub status_writes: usize,
    /// Pods for which others are being removed.
    pub preemptions: usize,
    /// Objects that are being written for plugins.
    pub object_writes: usize,
}

impl<B: Bundle, C> Drop for Scheduler<B, C> {
    /// Closes every plugin.
    fn drop(&mut self) {
        for profile in 0..self.bundle.profiles().len() {
            self.bundle.with(profile, Close);
        }
    }
}

/// The pod with this nomination.
#[cold]
fn nominated(pod: &Pod, nominated_node: Option<Symbol>) -> Arc<Pod> {
    Arc::new(Pod { nominated_node, ..Pod::clone(pod) })
}

/// The queue's options: those of the run, and the constants that all profiles of a binary share.
fn queue_options(options: &Options, profiles: &[ProfileInfo]) -> queue::Options {
    let backoff = profiles
        .first()
        .map(|profile| Backoff::seconds(profile.pod_initial_backoff_seconds, profile.pod_max_backoff_seconds));
    queue::Options {
        backoff: options.backoff.or(backoff).unwrap_or(queue::Options::default().backoff),
        leftover_after: options.leftover_after,
        max_in_flight_events: options.max_in_flight_events,
    }
}

struct TakeCalls<'a>(&'a mut Vec<extenders::ExtenderCall>);
impl<S: State> Visitor<S> for TakeCalls<'_> {
    type Output = ();
    fn visit<P: Profile<State = S>>(self, engine: &mut Engine<P>) {
        self.0.append(&mut engine.plugins.extenders().take_calls());
    }
}

struct Explain<'a, S> {
    pod: &'a Arc<Pod>,
    cache: &'a mut Cache<S>,
    all_filters: bool,
    random: Random,
    tie_break: TieBreak,
}
impl<S: State> Visitor<S> for Explain<'_, S> {
    type Output = Explanation;
    fn visit<P: Profile<State = S>>(mut self, engine: &mut Engine<P>) -> Explanation {
        let draw = self.tie_break.draw_fn(&mut self.random);
        engine.explain_with_draw(self.pod, self.cache, self.all_filters, draw)
    }
}

struct MayChoose<'a, S> {
    pod: &'a Arc<Pod>,
    cache: &'a mut Cache<S>,
    node: NodeIndex,
}
impl<S: State> Visitor<S> for MayChoose<'_, S> {
    type Output = Option<bool>;
    fn visit<P: Profile<State = S>>(self, engine: &mut Engine<P>) -> Option<bool> {
        engine.may_choose(self.pod, self.cache, self.node)
    }
}

/// Close of all plugins.
struct Close;
impl<S: State> Visitor<S> for Close {
    type Output = ();
    fn visit<P: Profile<State = S>>(self, engine: &mut Engine<P>) {
        engine.plugins.close();
    }
}
