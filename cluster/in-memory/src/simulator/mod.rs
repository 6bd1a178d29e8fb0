//! Drives a scheduler and a cluster in memory through virtual time.

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

/// What can be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The scheduler's.
    pub scheduler: scheduler::Options,
    /// The server's.
    pub server: ApiServerOptions,
    /// The time at which it begins, in nanoseconds since 1970.
    pub start: i64,
    /// After how many attempts of every pod that is not parked the simulation ends, if nothing changed meanwhile but what
    /// is said of pods, and nothing is to happen but that they are tried again; and how often plugins' background tasks wake up.
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

/// How a simulation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SimulationEnd {
    /// Nothing is under way, and time alone changes nothing any more. Pods may be parked.
    Idle,
    /// There are pods that are tried again and again, and it does not help.
    NoProgress,
    /// The time was over.
    TimeLimit,
}

/// A cluster in memory, its scheduler, and the clock.
///
/// Nothing takes time but what is meant to: backoff, patience in Permit, the time that pods are granted to end, and calls
/// that [`SimulationHooks::treat`] delays. What happens at one time happens in this order, until nothing does any more: inputs;
/// controllers; changes reach the scheduler; its calls are answered and its tasks go on; one pod is tried. So a pod is bound, and
/// its victims are gone if they are granted no time, before the next pod is tried.
///
/// The same inputs and options give the same history.
pub struct Simulator<H = ()> {
    /// The scheduler.
    pub scheduler: Box<dyn AnyScheduler>,
    /// The cluster.
    pub server: ApiServer,
    /// Who looks on.
    pub hooks: H,
    options: Options,
    originals: RequiredOriginals,
    client: InMemoryClient,
    controllers: Controllers,
    tasks: Executor<Completed>,
    /// What is to happen, by time and in the order in which it was said.
    inputs: BTreeMap<(i64, u64), Request>,
    delayed: BTreeMap<(i64, u64), PendingCall>,
    sleeps: BTreeMap<(i64, u64), PendingSleep>,
    /// Tells apart what happens at one time.
    ticket: u64,
    /// The version of the last change that the scheduler was told of.
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
    /// An empty cluster with the profiles `B`.
    ///
    /// # Errors
    /// Plugins that cannot start.
    pub fn of<B: Bundle>(options: Options) -> Result<Self, StartErrors> {
        Simulator::new(&AnyBundle::running::<B>(), options, ())
    }
}

impl<H: SimulationHooks> Simulator<H> {
    /// An empty cluster.
    ///
    /// # Errors
    /// Plugins that cannot start.
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

    /// The kinds that plugins declare.
    fn kinds(&self) -> Kinds {
        self.options.server.kinds
    }

    /// The time, in nanoseconds since 1970.
    pub fn now(&self) -> i64 {
        self.now
    }

    /// Something will happen. Of several things at one time, what was said first happens first.
    pub fn schedule(&mut self, input: TimedInput) {
        let key = self.at(input.at);
        self.inputs.insert(key, input.what.into());
    }

    /// An object is there from now on, as it is: nothing is added to it. Returns it as it is stored.
    ///
    /// # Errors
    /// It has no name.
    pub fn add(&mut self, object: AnyObject) -> Result<Arc<AnyObject>, ApiError> {
        self.progress.record_change();
        self.server.apply(object, self.now)
    }

    /// The scheduler gets to know everything that happened, and tries nothing yet.
    pub fn deliver_changes(&mut self) {
        self.take_inputs();
        self.controllers.run(&mut self.server, self.now);
        self.notify_scheduler();
    }

    /// Goes on until nothing happens any more, or only in vain.
    pub fn run(&mut self) -> SimulationEnd {
        self.run_until(i64::MAX)
    }

    /// Goes on for so long.
    pub fn run_for(&mut self, time: Duration) -> SimulationEnd {
        self.run_until(self.now.saturating_add(nanoseconds(time)))
    }

    /// Goes on until `end` and what happens then, whether anything happens or not; at the end of all times (`i64::MAX`), until
    /// nothing happens any more, or only in vain.
    pub fn run_until(&mut self, end: i64) -> SimulationEnd {
        let has_end = end < i64::MAX;
        loop {
            self.settle();
            let due = self.next();
            // Where time passes anyway, parked pods are tried now and then.
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

    /// Does everything that happens now. Time does not pass.
    pub fn settle(&mut self) {
        while self.step() {}
    }

    /// Runs until the scheduler is about to try a pod for which `is_wanted` returns true, and before that attempt. Returns
    /// false if the simulation ends without one.
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

    /// Does one round of what happens now: changes are told, tasks go on, or one pod is tried. Returns whether there was
    /// anything to do.
    pub fn step(&mut self) -> bool {
        self.catch_up() || self.schedule_one() || self.end_pods()
    }

    /// Reports changes to the scheduler, and lets its tasks go on. Tries no pod. Returns whether there was anything to do.
    pub fn catch_up(&mut self) -> bool {
        let before = self.delivered;
        self.deliver_changes();
        let has_delivered = before < self.delivered;
        let has_run = self.run_tasks();
        has_delivered || has_run
    }

    /// Ends pods that are being deleted, if their time is over. Returns whether there were any.
    fn end_pods(&mut self) -> bool {
        // Pods end when all that can be tried was, as long as they are there.
        if self.server.next_removal().is_none_or(|end| end > self.now) {
            return false;
        }
        self.server.tick(self.now);
        self.progress.record_change();
        true
    }

    /// When something happens next, if nobody does anything to the cluster: parked pods that are tried again count.
    pub fn next_time(&mut self) -> Option<i64> {
        self.next().into_iter().chain(self.scheduler.next_tick()).min()
    }

    /// Time goes on to `time`, or to when parked pods are tried again if that comes first, whatever else was to happen
    /// until then. [`Simulator::step`] does what is due. Time never goes back.
    pub fn advance_to(&mut self, time: i64) {
        if time > self.now {
            self.advance(time);
        }
    }

    /// What happens to the cluster from outside.
    fn take_inputs(&mut self) {
        while let Some(input) = self.inputs.first_entry().filter(|input| input.key().0 <= self.now) {
            let request = input.remove();
            let response = self.server.handle(&request, self.now);
            self.hooks.on_response(self.now, &request, &response);
            self.progress.record_change();
        }
    }

    /// Tells the scheduler of changes.
    fn notify_scheduler(&mut self) {
        while let Some(change) = self.server.log().after(self.delivered) {
            self.delivered = change.version;
            self.hooks.on_change(self.now, change);
            if let Some(delivered) = watch::scheduler_change(change, &mut self.scheduler.base_mut().interner) {
                self.hooks.before_change(&*self.scheduler);
                let originals = &mut self.scheduler.base_mut().originals;
                originals.keep(self.originals, &delivered, || original(&change.object));
                self.scheduler.on_change(delivered, &mut self.tasks);
                self.hooks.after_change(self.now, change, &mut *self.scheduler);
            }
        }
        // The controllers have seen them, too.
        self.server.forget(self.delivered);
    }

    /// Tasks go on, and what they ask for is done. Returns whether anything was.
    fn run_tasks(&mut self) -> bool {
        let mut has_any = false;
        while let Some(completed) = self.tasks.run_until_one_ends() {
            has_any = true;
            self.scheduler.on_completed(completed, &mut self.tasks);
        }
        for sleep in self.client.take_sleeps() {
            has_any = true;
            let key = self.at(self.now.saturating_add(nanoseconds(sleep.time)));
            self.sleeps.insert(key, sleep);
        }
        for call in self.client.take_calls() {
            has_any = true;
            match self.hooks.on_call(self.now, &call.request) {
                CallTreatment::AtOnce => self.answer(call),
                CallTreatment::After(time) => {
                    let key = self.at(self.now.saturating_add(nanoseconds(time)));
                    self.delayed.insert(key, call);
                }
                CallTreatment::Refuse(error) => {
                    let response = Err(error);
                    self.hooks.on_response(self.now, &call.request, &response);
                    call.answer(response);
                }
                CallTreatment::LoseAnswer => {
                    let _lost = self.handle(&call.request);
                }
            }
        }
        let outcomes = self.scheduler.take_outcomes();
        has_any |= !outcomes.is_empty();
        outcomes.iter().for_each(|outcome| self.finish_attempt(outcome));
        has_any
    }

    fn answer(&mut self, call: PendingCall) {
        let response = self.handle(&call.request);
        call.answer(response);
    }

    fn handle(&mut self, request: &Request) -> crate::server::Response {
        let version = self.server.log().version();
        let response = self.server.handle(request, self.now);
        if self.server.log().version() > version && !matches!(request, Request::PatchPodStatus { .. }) {
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
        self.scheduler.schedule_one(&mut self.tasks, &mut Decisions(&mut self.hooks))
    }

    /// When something happens next that may change anything. That parked pods are tried again is not worth waiting for.
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

    /// When a plugin's task that sleeps wakes up next, unless such tasks did so often enough and changed nothing: those that look
    /// after something now and then would do so for ever.
    fn next_wake(&self) -> Option<i64> {
        self.scheduler.next_wake().filter(|_| !self.progress.has_woken_often(self.options.attempts_without_progress))
    }

    /// Whether nothing is to happen but that pods are tried, and they were often enough.
    fn is_stuck(&mut self) -> bool {
        let waits = !self.inputs.is_empty() || !self.delayed.is_empty() || self.server.next_removal().is_some();
        if waits || self.next_wake().is_some() {
            return false;
        }
        let attempts = self.scheduler.in_progress().attempts;
        let place = |uid: &Uid| match self.scheduler.place(uid) {
            // A plugin will have it tried again.
            Some(QueuePlace::Unschedulable) if self.scheduler.has_activation(uid) => Some(QueuePlace::Backoff),
            place => place,
        };
        self.progress.is_stuck(self.options.attempts_without_progress, attempts, place)
    }

    /// It is a later time now; parked pods that are to be tried may come first.
    fn advance(&mut self, next: i64) {
        let next = self.scheduler.next_tick().map_or(next, |tick| tick.min(next));
        self.now = self.now.max(next);
        while let Some(entry) = self.delayed.first_entry().filter(|call| call.key().0 <= self.now) {
            let call = entry.remove();
            self.answer(call);
        }
        while let Some(entry) = self.sleeps.first_entry().filter(|sleep| sleep.key().0 <= self.now) {
            entry.remove().wake();
        }
        if self.scheduler.next_wake().is_some_and(|wake| wake <= self.now) {
            self.progress.record_wake();
        }
        self.scheduler.tick(self.now, &mut self.tasks);
    }

    fn at(&mut self, time: i64) -> (i64, u64) {
        self.ticket += 1;
        (time, self.ticket)
    }
}

fn nanoseconds(time: Duration) -> i64 {
    i64::try_from(time.as_nanos()).unwrap_or(i64::MAX)
}
