//! Simulation of a scheduler and an in-memory cluster in virtual time.

mod hooks;
mod manifests;
mod progress;

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use schedc_core::client::ApiError;
use schedc_core::erased::{AnyBundle, AnyClient, AnyScheduler, AnyTasks};
use schedc_core::model::{Pod, Uid};
use schedc_core::originals::RequiredOriginals;
use schedc_core::profile::{Bundle, StartErrors};
use schedc_core::queue::QueuePlace;
use schedc_core::scheduler::{self, Completed, Outcome};
use schedc_objects::original::original;
use schedc_objects::{AnyObject, Kinds};

use crate::client::{InMemoryClient, PendingCall, PendingSleep};
use crate::controllers::Controllers;
use crate::executor::Executor;
use crate::input::TimedInput;
use crate::server::{ApiServer, ApiServerOptions, Request};
use crate::watch;

pub use hooks::{CallTreatment, SimulationHooks};

use hooks::Decisions;
use progress::ProgressTracker;

/// Options of a simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Options of the scheduler.
    pub scheduler: scheduler::Options,
    /// Options of the server.
    pub server: ApiServerOptions,
    /// Start time, in nanoseconds since 1970.
    pub start: i64,
    /// Maximum number of attempts without progress. Progress is a change of anything but a pod's status. The simulation
    /// ends once every retried pod has had this number of attempts, and only further attempts are due. After as many
    /// wake-ups of background tasks without progress, it no longer waits for these tasks.
    pub attempts_without_progress: u32,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            scheduler: scheduler::Options::default(),
            server: ApiServerOptions::default(),
            start: 0,
            attempts_without_progress: 8,
        }
    }
}

/// Reason for the end of a simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SimulationEnd {
    /// No work is left, except for periodic retries of unschedulable pods and for background tasks that change nothing.
    Idle,
    /// Pods are retried repeatedly without any other change.
    NoProgress,
    /// The time limit was reached.
    TimeLimit,
}

/// An in-memory cluster, its scheduler, and the clock.
///
/// Only intended delays take time: backoff, waiting in Permit, grace periods of pods, sleeps of tasks, and calls that
/// [`SimulationHooks::on_call`] delays. At each time, the simulator repeats these steps until no work is left: it
/// applies inputs, runs the controllers, delivers changes to the scheduler, runs the scheduler's tasks, and responds to
/// their calls. If none of these has any work, it makes one scheduling attempt, or else removes the pods whose grace
/// period is over. Therefore a pod is bound, and its victims without a grace period are gone, before the next attempt.
///
/// Equal inputs and options give equal histories.
pub struct Simulator<H = ()> {
    /// The scheduler under simulation.
    pub scheduler: Box<dyn AnyScheduler>,
    /// The API server with the cluster's objects.
    pub server: ApiServer,
    /// Hooks of the simulation.
    pub hooks: H,
    options: Options,
    originals: RequiredOriginals,
    client: InMemoryClient,
    controllers: Controllers,
    tasks: Executor<Completed>,
    /// Future inputs, by time and in the order of their registration.
    inputs: BTreeMap<(i64, u64), Request>,
    delayed: BTreeMap<(i64, u64), PendingCall>,
    sleeps: BTreeMap<(i64, u64), PendingSleep>,
    /// Orders events at the same time.
    ticket: u64,
    /// The version of the last change that the scheduler received.
    delivered: u64,
    progress: ProgressTracker,
    now: i64,
    admission: manifests::Admission,
}

impl AnyTasks for Executor<Completed> {
    fn spawn_boxed(&mut self, task: Pin<Box<dyn Future<Output = Completed> + Send>>) {
        Executor::spawn_boxed(self, task);
    }
}

impl Simulator {
    /// Returns an empty cluster with the profiles `B`.
    ///
    /// # Errors
    /// Returns the errors of plugins that cannot start.
    pub fn of<B: Bundle>(options: Options) -> Result<Self, StartErrors> {
        Simulator::new(&AnyBundle::running::<B>(), options, ())
    }
}

impl<H: SimulationHooks> Simulator<H> {
    /// Returns an empty cluster.
    ///
    /// # Errors
    /// Returns the errors of plugins that cannot start.
    pub fn new(bundle: &AnyBundle, options: Options, hooks: H) -> Result<Self, StartErrors> {
        let kinds = Kinds::declared(bundle.kinds);
        let client = InMemoryClient::with_kinds(kinds);
        let mut simulator = Simulator {
            scheduler: bundle.scheduler(AnyClient::new(client.clone()), options.scheduler)?,
            server: ApiServer::new(ApiServerOptions { kinds, ..options.server }),
            hooks,
            options: Options { server: ApiServerOptions { kinds, ..options.server }, ..options },
            originals: bundle.originals,
            client,
            controllers: Controllers::default(),
            tasks: Executor::new(),
            inputs: BTreeMap::new(),
            delayed: BTreeMap::new(),
            sleeps: BTreeMap::new(),
            ticket: 0,
            delivered: 0,
            progress: ProgressTracker::default(),
            now: options.start,
            admission: manifests::Admission::default(),
        };
        simulator.scheduler.tick(options.start, &mut simulator.tasks);
        simulator.scheduler.start_background(&mut simulator.tasks);
        Ok(simulator)
    }

    /// Returns the kinds that plugins declare.
    fn kinds(&self) -> Kinds {
        self.options.server.kinds
    }

    /// Returns the current time, in nanoseconds since 1970.
    pub fn now(&self) -> i64 {
        self.now
    }

    /// Registers an input. Inputs with equal times are applied in the order of their registration.
    pub fn schedule(&mut self, TimedInput { at, input }: TimedInput) {
        let key = self.event_key(at);
        self.inputs.insert(key, input.into());
    }

    /// Creates or updates an object without applying defaults. Returns the stored object.
    ///
    /// # Errors
    /// Returns an error if the object has no name.
    pub fn add(&mut self, object: AnyObject) -> Result<Arc<AnyObject>, ApiError> {
        self.progress.record_change();
        self.server.apply(object, self.now)
    }

    /// Applies the inputs that are due, runs the controllers, and delivers all changes to the scheduler, without a
    /// scheduling attempt.
    pub fn deliver_changes(&mut self) {
        self.take_inputs();
        self.controllers.run(&mut self.server, self.now);
        self.notify_scheduler();
    }

    /// Continues until no work is left, or there is no progress.
    pub fn run(&mut self) -> SimulationEnd {
        self.run_until(i64::MAX)
    }

    /// Continues for a duration.
    pub fn run_for(&mut self, time: Duration) -> SimulationEnd {
        self.run_until(self.now.saturating_add(nanoseconds(time)))
    }

    /// Continues until `end`, even if no work is left earlier, and finishes the work at that time. If `end` is
    /// `i64::MAX`, continues until no work is left, or there is no progress.
    pub fn run_until(&mut self, end: i64) -> SimulationEnd {
        let has_end = end < i64::MAX;
        loop {
            self.settle();
            let due = self.next();
            // With a given end, time passes anyway, and unschedulable pods are retried periodically.
            let leftovers = self.scheduler.next_tick().filter(|_| has_end);
            match due.into_iter().chain(leftovers).min() {
                Some(next) if next <= end && !has_end && self.is_stuck() => return SimulationEnd::NoProgress,
                Some(next) if next <= end => self.advance(next),
                _ => {
                    if has_end {
                        self.advance(end);
                        self.settle();
                    }
                    return if due.is_some() { SimulationEnd::TimeLimit } else { SimulationEnd::Idle };
                }
            }
        }
    }

    /// Finishes all work at the current time.
    pub fn settle(&mut self) {
        while self.step() {}
    }

    /// Runs until just before the first attempt of a pod for which `is_wanted` returns true. Returns false if the
    /// simulation ends before such an attempt.
    pub fn run_to_attempt(&mut self, mut is_wanted: impl FnMut(&Pod) -> bool) -> bool {
        loop {
            while self.catch_up() {}
            if self.scheduler.next_pod(&mut self.tasks).is_some_and(|pod| is_wanted(&pod)) {
                return true;
            }
            if self.schedule_one() || self.end_pods() {
                continue;
            }
            match self.next() {
                Some(next) if !self.is_stuck() => self.advance(next),
                _ => return false,
            }
        }
    }

    /// Performs one round of the work at the current time: delivers changes and runs tasks, or else makes one
    /// scheduling attempt, or else removes the pods whose grace period is over. Returns whether there was any work.
    pub fn step(&mut self) -> bool {
        self.catch_up() || self.schedule_one() || self.end_pods()
    }

    /// Delivers changes to the scheduler, and runs its tasks, without a scheduling attempt. Returns whether there was
    /// any work.
    pub fn catch_up(&mut self) -> bool {
        let before = self.delivered;
        self.deliver_changes();
        let has_delivered = before < self.delivered;
        let has_run = self.run_tasks();
        has_delivered || has_run
    }

    /// Removes pods whose grace period is over. Returns whether there were any.
    fn end_pods(&mut self) -> bool {
        // Pods are removed only after all attempts that are possible while they exist.
        if self.server.next_removal().is_none_or(|end| end > self.now) {
            return false;
        }
        self.server.tick(self.now);
        self.progress.record_change();
        true
    }

    /// Returns the time of the next event, including retries of unschedulable pods, if no further input is registered.
    pub fn next_time(&mut self) -> Option<i64> {
        self.next().into_iter().chain(self.scheduler.next_tick()).min()
    }

    /// Advances the time to `time`, or to the next retry of unschedulable pods if that is earlier. The clock does not
    /// stop for other events in between; they are performed at the new time, some by [`Simulator::step`]. Time never
    /// goes back.
    pub fn advance_to(&mut self, time: i64) {
        if time > self.now {
            self.advance(time);
        }
    }

    /// Applies the inputs that are due.
    fn take_inputs(&mut self) {
        while let Some(input) = self.inputs.first_entry().filter(|input| input.key().0 <= self.now) {
            let request = input.remove();
            let response = self.server.handle(&request, self.now);
            self.hooks.on_response(self.now, &request, &response);
            self.progress.record_change();
        }
    }

    /// Delivers changes to the scheduler.
    fn notify_scheduler(&mut self) {
        while let Some(change) = self.server.store().after(self.delivered) {
            self.delivered = change.version;
            self.hooks.on_change(self.now, change);
            if let Some(delivered) = watch::scheduler_change(change, &mut self.scheduler.base_mut().interner) {
                self.hooks.before_change(&*self.scheduler);
                let originals = &mut self.scheduler.base_mut().originals;
                originals.update(self.originals, &delivered, || original(&change.object));
                self.scheduler.on_change(delivered, &mut self.tasks);
                self.hooks.after_change(self.now, change, &mut *self.scheduler);
            }
        }
        self.scheduler.free_unused_strings();
        // The controllers have processed these changes, too.
        self.server.forget(self.delivered);
    }

    /// Runs tasks, and processes their calls. Returns whether there was any work.
    fn run_tasks(&mut self) -> bool {
        let mut has_any = false;
        while let Some(completed) = self.tasks.run_until_one_ends() {
            has_any = true;
            self.scheduler.on_completed(completed, &mut self.tasks);
        }
        for sleep in self.client.take_sleeps() {
            has_any = true;
            let key = self.event_key(self.now.saturating_add(nanoseconds(sleep.time)));
            self.sleeps.insert(key, sleep);
        }
        for call in self.client.take_calls() {
            has_any = true;
            match self.hooks.on_call(self.now, &call.request) {
                CallTreatment::Immediate => self.respond(call),
                CallTreatment::After(time) => {
                    let key = self.event_key(self.now.saturating_add(nanoseconds(time)));
                    self.delayed.insert(key, call);
                }
                CallTreatment::Refuse(error) => {
                    let response = Err(error);
                    self.hooks.on_response(self.now, &call.request, &response);
                    call.answer(response);
                }
                CallTreatment::LoseResponse => {
                    let _lost = self.handle(&call.request);
                }
            }
        }
        let outcomes = self.scheduler.take_outcomes();
        has_any |= !outcomes.is_empty();
        outcomes.iter().for_each(|outcome| self.finish_attempt(outcome));
        has_any
    }

    fn respond(&mut self, call: PendingCall) {
        let response = self.handle(&call.request);
        call.answer(response);
    }

    fn handle(&mut self, request: &Request) -> crate::server::Response {
        let version = self.server.store().version();
        let response = self.server.handle(request, self.now);
        if self.server.store().version() > version && !matches!(request, Request::PatchPodStatus { .. }) {
            self.progress.record_change();
        }
        self.hooks.on_response(self.now, request, &response);
        response
    }

    fn finish_attempt(&mut self, outcome: &Outcome) {
        self.progress.record_attempt(outcome);
        self.hooks.on_outcome(self.now, outcome, self.scheduler.base());
    }

    fn schedule_one(&mut self) -> bool {
        if self.hooks.observes_attempts()
            && let Some(pod) = self.scheduler.next_pod(&mut self.tasks)
        {
            self.hooks.before_attempt(self.now, &pod, &mut *self.scheduler);
        }
        self.scheduler.schedule_one(&mut self.tasks, &mut Decisions(&mut self.hooks))
    }

    /// Returns the time of the next event that may cause a change. Retries of unschedulable pods are ignored.
    fn next(&mut self) -> Option<i64> {
        while self.sleeps.first_key_value().is_some_and(|(_, sleep)| sleep.is_abandoned()) {
            self.sleeps.pop_first();
        }
        let first = [
            self.inputs.first_key_value().map(|((at, _), _)| *at),
            self.delayed.first_key_value().map(|((at, _), _)| *at),
            self.sleeps.first_key_value().map(|((at, _), _)| *at),
            self.server.next_removal(),
            self.scheduler.next_deadline(),
            self.scheduler.next_backoff_end(),
            self.scheduler.next_activation(),
            self.next_wake(),
        ];
        first.into_iter().flatten().min()
    }

    /// Returns the next wake-up of a plugin's background task, unless such tasks woke up often enough without a change.
    /// Without this limit, a simulation with a periodic task would never end.
    fn next_wake(&self) -> Option<i64> {
        self.scheduler.next_wake().filter(|_| !self.progress.has_woken_often(self.options.attempts_without_progress))
    }

    /// Returns whether only further attempts are due, and every pod has had enough of them.
    fn is_stuck(&mut self) -> bool {
        let waits = !self.inputs.is_empty() || !self.delayed.is_empty() || self.server.next_removal().is_some();
        if waits || self.next_wake().is_some() {
            return false;
        }
        let attempts = self.scheduler.in_progress().attempts;
        let place = |uid: &Uid| match self.scheduler.place(uid) {
            // A plugin will activate the pod.
            Some(QueuePlace::Unschedulable) if self.scheduler.has_activation(uid) => Some(QueuePlace::Backoff),
            place => place,
        };
        self.progress.is_stuck(self.options.attempts_without_progress, attempts, place)
    }

    /// Advances the time to `next`, or to the next retry of unschedulable pods if that is earlier.
    fn advance(&mut self, next: i64) {
        let next = self.scheduler.next_tick().map_or(next, |tick| tick.min(next));
        self.now = self.now.max(next);
        while let Some(entry) = self.delayed.first_entry().filter(|call| call.key().0 <= self.now) {
            let call = entry.remove();
            self.respond(call);
        }
        while let Some(entry) = self.sleeps.first_entry().filter(|sleep| sleep.key().0 <= self.now) {
            entry.remove().wake();
        }
        if self.scheduler.next_wake().is_some_and(|wake| wake <= self.now) {
            self.progress.record_wake();
        }
        self.scheduler.tick(self.now, &mut self.tasks);
    }

    fn event_key(&mut self, time: i64) -> (i64, u64) {
        self.ticket += 1;
        (time, self.ticket)
    }
}

fn nanoseconds(time: Duration) -> i64 {
    i64::try_from(time.as_nanos()).unwrap_or(i64::MAX)
}
