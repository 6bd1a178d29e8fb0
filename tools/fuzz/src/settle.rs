//! Settling: everything is delivered and answered, and time passes until nothing is left to do. Then the
//! invariants of the idle state are checked.

use std::sync::Arc;
use std::time::Duration;

use schedc_core::cache::PodState;
use schedc_core::engine::Decision;
use schedc_core::model::Uid;
use schedc_core::queue::QueuePlace;
use schedc_core::scheduler::InProgressCounts;
use schedc_in_memory::Executor;
use schedc_in_memory::InMemoryClient;

use crate::checks::describe;
use crate::history::{Answer, Step, Stream};
use crate::injected_bugs::InjectedBug;
use crate::injector_state::FollowerState;
use crate::injector_state::SharedInjectorState;
use crate::invariants::{Invariant, Violation, violated};
use crate::simulation::{LEFTOVER_AFTER, Simulation, Spawner, start};

/// Maximum number of steps until the idle state.
const MAX_STEPS: usize = 20_000;

/// Reasons of rejections that may become obsolete although no queueing hint requeues the pod, in schedc as in
/// kube-scheduler. docs/differences.md lists these cases.
const REASONS_WITHOUT_HINT: [&str; 6] = [
    "node(s) didn't satisfy existing pods anti-affinity rules",
    "node(s) didn't match pod affinity rules",
    "node(s) didn't find available persistent volumes to bind",
    "cannot allocate all claims",
    "cannot schedule extended resource claim",
    "is in the process of being allocated",
];

impl Simulation {
    /// Runs until the scheduler is idle, and checks the invariants of the idle state.
    pub(crate) fn settle(&mut self) -> Result<(), Violation> {
        self.run_until_idle()?;
        self.check()?;
        self.check_idle()?;
        // These bugs change the cache without an event for the follower, the background task that follows the cluster.
        // Other invariants must detect them.
        if !matches!(self.bug, Some(InjectedBug::SilentNodeUpdate | InjectedBug::UncheckedNodeUpdate)) {
            self.check_follower()?;
        }
        if self.bug != Some(InjectedBug::UncheckedNodeUpdate) {
            self.check_parked_pods()?;
        }
        self.cluster.forget_changes();
        if self.attempts.is_multiple_of(3) {
            self.flush()?;
        }
        Ok(())
    }

    fn run_until_idle(&mut self) -> Result<(), Violation> {
        for _ in 0..MAX_STEPS {
            if !self.advance()? {
                return Ok(());
            }
        }
        let under_way = self.scheduler.in_progress();
        violated(
            Invariant::SchedulerSettles,
            format!("after {MAX_STEPS} more steps, the scheduler is not idle: {under_way:?}"),
        )
    }

    /// Performs one pending action. Returns whether there was one.
    fn advance(&mut self) -> Result<bool, Violation> {
        for (at, stream) in Stream::ALL.into_iter().enumerate() {
            if self.cluster.watches[at].broken {
                self.act(&Step::List(stream))?;
                return Ok(true);
            }
            if !self.cluster.watches[at].undelivered.is_empty() {
                self.act(&Step::Deliver(stream, 1))?;
                return Ok(true);
            }
        }
        if !self.cluster.calls.is_empty() {
            self.act(&Step::Answer(0, Answer::Done))?;
            return Ok(true);
        }
        if self.scheduler.ready() > 0 {
            self.act(&Step::Schedule)?;
            return Ok(true);
        }
        if self.cluster.collect_garbage() {
            self.cluster.observe(self.attempts, &mut self.counts);
            return Ok(true);
        }
        if self.cluster.step(&Step::Controllers) == Some(true) {
            self.cluster.observe(self.attempts, &mut self.counts);
            return Ok(true);
        }
        if let Some(next) = self.next_time() {
            let time = Duration::from_nanos((next - self.cluster.now).max(0).unsigned_abs());
            self.pass(time);
            self.pump();
            self.collect_results()?;
            return Ok(true);
        }
        // Pods with injected rejections must be activated, because no event ends the rejection.
        let faulted = self.injectors.lock().take_faulted_pods();
        let faulted: Vec<Arc<str>> = faulted.iter().filter_map(|name| self.delivered.uid(name)).cloned().collect();
        let is_parked = |uid: &Arc<str>| {
            matches!(self.scheduler.place(&Uid(uid.clone())), Some(QueuePlace::Unschedulable | QueuePlace::Gated))
        };
        let faulted: Vec<Arc<str>> = faulted.into_iter().filter(is_parked).collect();
        for uid in &faulted {
            self.activate(uid);
            self.pump();
            self.collect_results()?;
        }
        if !faulted.is_empty() {
            return Ok(true);
        }
        self.wake_missed()
    }

    /// Requeues pods that kube-scheduler's hints may have missed, if anything has changed since the last call.
    fn wake_missed(&mut self) -> Result<bool, Violation> {
        let version = self.cluster.server.store().version();
        if self.woken_at == version {
            return Ok(false);
        }
        self.woken_at = version;
        let is_missed = |uid: &Arc<str>| {
            let place = self.scheduler.place(&Uid(uid.clone()));
            let last = self.last_outcomes.get(uid).map_or("", String::as_str);
            place == Some(QueuePlace::Unschedulable) && REASONS_WITHOUT_HINT.iter().any(|reason| last.contains(reason))
        };
        let missed: Vec<Arc<str>> = self.delivered.pods.keys().filter(|uid| is_missed(uid)).cloned().collect();
        for uid in &missed {
            self.activate(uid);
            self.pump();
            self.collect_results()?;
        }
        Ok(!missed.is_empty())
    }

    /// Returns the time of the next event other than the flush.
    fn next_time(&self) -> Option<i64> {
        // Without nodes, pods are retried endlessly, as in kube-scheduler. Their backoff is therefore not counted as an
        // event.
        let backs_off = !self.delivered.nodes.is_empty()
            && self.delivered.pods.keys().any(|uid| {
                matches!(self.scheduler.place(&Uid(uid.clone())), Some(QueuePlace::Backoff | QueuePlace::ErrorBackoff))
            });
        let backoff = if backs_off { self.scheduler.next_tick() } else { None };
        self.cluster.next_time().into_iter().chain(backoff).chain(self.scheduler.next_deadline()).min()
    }

    fn check_idle(&self) -> Result<(), Violation> {
        let under_way = self.scheduler.in_progress();
        if under_way != InProgressCounts::default() {
            return violated(Invariant::IdleHasNothingInFlight, format!("{under_way:?}"));
        }
        let tasks = self.executor.len().saturating_sub(self.scheduler.background_tasks());
        if tasks > 0 {
            return violated(Invariant::IdleHasNothingInFlight, format!("{tasks} tasks are still waiting"));
        }
        if let Some((plugin, uid, node)) = self.injectors.lock().held().next() {
            return violated(Invariant::IdleHasNothingInFlight, format!("{plugin} has reserved {node} for {uid}"));
        }
        self.check_reservations()?;
        let cache = &self.scheduler.cache;
        if let Some((pod, node, state)) = cache.pods().find(|(_, _, state)| *state != PodState::Bound) {
            let node = cache.base.interner.resolve(node);
            return violated(Invariant::IdleHasNothingInFlight, format!("{} is {state:?} on {node}", pod.uid.0));
        }
        for (uid, pod) in self.pending() {
            let place = self.scheduler.place(&Uid(uid.clone()));
            let is_hopeless = place == Some(QueuePlace::ErrorBackoff) && self.delivered.nodes.is_empty();
            if !is_hopeless && !matches!(place, Some(QueuePlace::Unschedulable | QueuePlace::Gated)) {
                let invariant =
                    if place.is_none() { Invariant::NoPodIsLost } else { Invariant::IdleHasNothingInFlight };
                return violated(invariant, format!("{} is {}", pod.name, describe(place)));
            }
        }
        Ok(())
    }

    /// Compares the state of the background task that follows the cluster with the scheduler's cache.
    fn check_follower(&self) -> Result<(), Violation> {
        let base = &self.scheduler.cache.base;
        let name = |name| base.interner.resolve(name).to_owned();
        let expected = FollowerState {
            nodes: base.infos().iter().filter_map(|info| info.node.as_ref()).map(|node| name(node.name)).collect(),
            pods: self.scheduler.cache.pods().map(|(pod, node, _)| (pod.uid.0.clone(), name(node))).collect(),
        };
        match &self.injectors.lock().follower_state {
            follower_state if *follower_state == expected => Ok(()),
            follower_state => violated(
                Invariant::FollowersKeepUp,
                format!("the state of a task is {follower_state:?}, but the cluster is {expected:?}"),
            ),
        }
    }

    /// Evaluates each unschedulable pod with a new scheduler that has received all objects.
    fn check_parked_pods(&mut self) -> Result<(), Violation> {
        let pending = self.pending();
        if pending.is_empty() {
            return Ok(());
        }
        let injectors = SharedInjectorState::default();
        let mut new_scheduler = start(&injectors, &InMemoryClient::default(), self.seed);
        let mut executor = Executor::new();
        std::mem::swap(&mut new_scheduler, &mut self.scheduler);
        std::mem::swap(&mut executor, &mut self.executor);
        self.scheduler.tick(self.cluster.now, &mut Spawner(&mut self.executor));
        for stream in Stream::ALL {
            self.list_to_scheduler(stream);
        }
        std::mem::swap(&mut new_scheduler, &mut self.scheduler);
        std::mem::swap(&mut executor, &mut self.executor);
        // The nominations of the simulated scheduler are copied to the new one, because the status of the pods may not
        // contain them yet.
        let nominated: Vec<_> = new_scheduler.cache.nominator.iter().flat_map(|(_, pods)| pods.to_vec()).collect();
        nominated.iter().for_each(|pod| new_scheduler.cache.withdraw_nomination(&pod.uid));
        for (node, pods) in self.scheduler.cache.nominator.iter() {
            let node = self.scheduler.cache.base.interner.resolve(node).to_owned();
            let node = new_scheduler.cache.base.interner.intern(&node);
            for pod in pods {
                if let Some(pod) = new_scheduler.pending(&pod.uid).cloned() {
                    new_scheduler.cache.nominate(pod, node);
                }
            }
        }
        for (uid, facts) in pending {
            let uid = Uid(uid);
            let Some(pod) = new_scheduler.pending(&uid).cloned() else {
                return violated(Invariant::NoPodIsLost, format!("{} is unknown to a new scheduler", facts.name));
            };
            let explanation = new_scheduler.explain(0, &pod, false);
            let name = &facts.name;
            match (self.scheduler.place(&uid), &explanation.gated_by, &explanation.decision) {
                (Some(QueuePlace::Gated), Some(_), _) => self.counts.add("idle", "gated pods"),
                (Some(QueuePlace::Gated), None, _) => {
                    return violated(
                        Invariant::FittingPodsAreNotParked,
                        format!("{name} is gated, but no plugin gates it"),
                    );
                }
                (_, None, Decision::Node(node)) => {
                    let node = new_scheduler.cache.base.name(*node);
                    let last = self.last_outcomes.get(&uid.0).map_or("", String::as_str);
                    let description =
                        format!("{name} is in the unschedulable pods, but fits on {node}; its last attempt: {last}");
                    return violated(Invariant::FittingPodsAreNotParked, description);
                }
                _ => self.counts.add("idle", "parked pods"),
            }
        }
        Ok(())
    }

    /// Advances the time until the flush retries unschedulable pods.
    fn flush(&mut self) -> Result<(), Violation> {
        let uids: Vec<Arc<str>> = self.delivered.pods.keys().cloned().collect();
        let is_parked = |place: Option<QueuePlace>| matches!(place, Some(QueuePlace::Unschedulable));
        let parked: Vec<Arc<str>> =
            uids.into_iter().filter(|uid| is_parked(self.scheduler.place(&Uid(uid.clone())))).collect();
        // A nominated pod may release its node when it is retried. Pods that fit only for this reason violate no
        // invariant.
        let has_nominations = self.scheduler.cache.nominator.iter().next().is_some();
        let before = self.scheduler.bound_after_flush();
        self.cluster.pass(Duration::from_nanos(LEFTOVER_AFTER.unsigned_abs()) + Duration::from_secs(60));
        self.cluster.observe(self.attempts, &mut self.counts);
        if self.bug != Some(InjectedBug::MissedFlush) {
            self.tick();
        }
        self.counts.add_many("idle", "flushed pods", parked.len() as u64);
        for uid in parked {
            let place = self.scheduler.place(&Uid(uid.clone()));
            if is_parked(place) {
                return violated(Invariant::ParkedPodsAreReachable, format!("{uid} is still {}", describe(place)));
            }
        }
        self.pump();
        self.collect_results()?;
        // All flushed pods are tried first, before another pod releases resources.
        while self.scheduler.ready() > 0 {
            self.act(&Step::Schedule)?;
        }
        self.run_until_idle()?;
        match self.scheduler.bound_after_flush() - before {
            0 => self.check_idle(),
            _ if has_nominations => self.check_idle(),
            n => violated(Invariant::NoPodDependsOnTheFlush, format!("{n} pods are bound only after the flush")),
        }
    }
}
