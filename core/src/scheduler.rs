//! The scheduler around the profiles of a binary, without I/O: pods come in, decisions come out. Time, randomness and
//! the cluster are the caller's.

use std::convert::Infallible;
use std::future::Future;
use std::marker::PhantomData;
use std::sync::Arc;

use crate::cache::{Cache, PodState};
use crate::client::Client;
use crate::diagnosis::Diagnosis;
use crate::duration::go_duration;
use crate::engine::{Decision, Engine, UNTIMED, Unschedulable};
use crate::explain::Explanation;
use crate::extension_points::{Nomination, Placement, QueuedPod, QueueingHint};
use crate::handle::{Command, Handle, WaitingPod, WaitingPods};
use crate::model::{NodeIndex, Pod, Uid};
use crate::profile::{Bundle, PermitRun, Profile, StartError, Visitor};
use crate::queue::{Attempt, Backoff, Nominator, Options, Order, Rejectors, SchedulingQueue, Surroundings};
use crate::random::Random;
use crate::status::Status;

/// What became of a pod in one step.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The pod.
    pub pod: Arc<Pod>,
    /// Index of the profile that served it.
    pub profile: usize,
    /// What became of it.
    pub result: Result<Placed, Failure>,
}

/// A pod that has its node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The node's name.
    pub node: Arc<str>,
}

/// A pod that has none.
#[derive(Clone, Debug, PartialEq)]
pub enum Failure {
    /// PreEnqueue holds it. No attempt was made.
    Held(Status),
    /// It fits nowhere, or a plugin rejected it after it had a node.
    Unschedulable(Box<Unschedulable>),
    /// Something broke.
    Error(String),
}

impl Failure {
    /// The text of the pod's condition; for a held pod, why it is held.
    pub fn message(&self) -> String {
        match self {
            Failure::Held(status) => status.message(),
            Failure::Unschedulable(unschedulable) => unschedulable.message.clone(),
            Failure::Error(message) => message.clone(),
        }
    }
}

/// What a plugin recorded about a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedEvent {
    /// The pod.
    pub pod: Uid,
    /// A word.
    pub reason: &'static str,
    /// A sentence.
    pub note: String,
}

/// All profiles of a binary over one cache and one queue.
pub struct Scheduler<B: Bundle> {
    /// The cluster.
    pub cache: Cache<B::State>,
    /// Events that plugins recorded, until the caller takes them.
    pub events: Vec<RecordedEvent>,
    bundle: B,
    handle: Handle,
    queue: SchedulingQueue<BundleOrder<B>, Infallible>,
    waiting: Vec<WaitingPod>,
    /// The attempts of `waiting`, in the same order.
    waiting_attempts: Vec<Attempt>,
    random: Random,
    now: i64,
}

impl<B: Bundle> Scheduler<B> {
    /// Makes every plugin of every profile. Equally good nodes are drawn among by `seed`.
    ///
    /// # Errors
    /// All plugins that failed.
    pub fn new(seed: u64) -> Result<Self, Vec<StartError>> {
        let handle = Handle::default();
        Ok(Scheduler {
            cache: Cache::default(),
            events: Vec::new(),
            bundle: B::new(&handle)?,
            handle,
            queue: SchedulingQueue::new(options::<B>()),
            waiting: Vec::new(),
            waiting_attempts: Vec::new(),
            random: Random::new(seed),
            now: 0,
        })
    }

    /// The profile that serves pods of this `spec.schedulerName`.
    pub fn profile(scheduler_name: &str) -> Option<usize> {
        B::PROFILES.iter().position(|profile| profile.scheduler_name == scheduler_name)
    }

    /// Number of pods that can be tried now.
    pub fn queued(&self) -> usize {
        self.queue.ready()
    }

    /// A pending pod comes. Returns its outcome if PreEnqueue holds it.
    pub fn enqueue(&mut self, profile: usize, pod: Arc<Pod>) -> Option<Outcome> {
        let timestamp = pod.created.unwrap_or(self.now);
        let around = &mut Around { bundle: &mut self.bundle, cache: &mut self.cache };
        let status = self.queue.add(profile, pod.clone(), timestamp, around, self.now).err()?;
        Some(Outcome { pod, profile, result: Err(Failure::Held(status)) })
    }

    /// Puts a pod that was not placed into the queue again. Returns whether it is there now: not if it is unknown, or if
    /// PreEnqueue still holds it.
    pub fn activate(&mut self, uid: &Uid) -> bool {
        let around = &mut Around { bundle: &mut self.bundle, cache: &mut self.cache };
        self.queue.activate(uid, around, self.now)
    }

    /// The time is `now`, in nanoseconds of the clock that the caller keeps. Pods whose attempt broke are tried again when
    /// their backoff is over, and those that were unschedulable for five minutes, too.
    pub fn tick(&mut self, now: i64) {
        self.now = self.now.max(now);
        self.handle.publish_now(self.now);
        let around = &mut Around { bundle: &mut self.bundle, cache: &mut self.cache };
        self.queue.tick(around, self.now);
    }

    /// Tells for one pod what a cycle would find now.
    pub fn explain(&mut self, profile: usize, pod: &Arc<Pod>, all_filters: bool) -> Explanation {
        self.bundle.with(profile, Explain { pod, cache: &mut self.cache, all_filters })
    }

    /// Does the next thing there is to do: binds a pod that waited, or tries the next one. With nothing else to do, time
    /// passes until a waiting pod's patience ends. None: idle.
    ///
    /// `run` drives a binding to its end.
    pub fn step<C: Client>(&mut self, client: &C, run: &impl RunBinding) -> Option<Outcome> {
        loop {
            self.obey();
            if let Some(at) = self.waiting.iter().position(|w| w.rejected.is_some() || w.pending.is_empty()) {
                return Some(self.finish_waiting(at, client, run));
            }
            let around = &mut Around { bundle: &mut self.bundle, cache: &mut self.cache };
            if let Some(attempt) = self.queue.pop(around, self.now) {
                if let Some(outcome) = self.attempt(attempt, client, run) {
                    return Some(outcome);
                }
                continue;
            }
            let next = self.waiting.iter().flat_map(|w| &w.pending).map(|(_, deadline)| *deadline).min()?;
            self.now = self.now.max(next);
            self.handle.publish_now(self.now);
            for waiting in &mut self.waiting {
                if let Some((plugin, deadline)) = waiting.pending.iter().find(|(_, deadline)| *deadline <= next) {
                    let waited = go_duration(deadline - waiting.since);
                    let reason = format!("rejected due to timeout after waiting {waited} at plugin {plugin}");
                    waiting.rejected = Some((plugin, reason));
                }
            }
        }
    }

    fn obey(&mut self) {
        for command in self.handle.drain() {
            let mut pods = WaitingPods { list: &mut self.waiting, now: self.now };
            match command {
                Command::Allow { pod, plugin } => pods.allow(&pod, plugin),
                Command::Reject { pod, plugin, reason } => pods.reject(&pod, plugin, reason),
                Command::Activate(uid) => {
                    self.activate(&uid);
                }
                Command::Event { pod, reason, note } => self.events.push(RecordedEvent { pod, reason, note }),
            }
        }
    }

    /// One scheduling cycle. None: the pod waits in Permit.
    fn attempt<C: Client>(&mut self, attempt: Attempt, client: &C, run: &impl RunBinding) -> Option<Outcome> {
        let (profile, pod) = (attempt.profile(), attempt.pod().clone());
        let cycle = Cycle {
            pod: &pod,
            cache: &mut self.cache,
            random: &mut self.random,
            waiting: &mut self.waiting,
            now: self.now,
        };
        let result = match self.bundle.with(profile, cycle) {
            Ok(Permitted { placement, waits }) if waits.is_empty() => self.bind(&attempt, &placement, client, run),
            Ok(Permitted { placement, waits }) => {
                let pending = waits.into_iter().map(|(plugin, patience)| (plugin, self.now + patience)).collect();
                self.waiting.push(WaitingPod { placement, since: self.now, pending, rejected: None });
                self.waiting_attempts.push(attempt);
                self.handle.publish_waiting(self.waiting.iter().map(|w| w.placement.pod.uid.clone()));
                return None;
            }
            Err(failure) => Err(failure),
        };
        Some(self.outcome(attempt, result))
    }

    fn finish_waiting<C: Client>(&mut self, at: usize, client: &C, run: &impl RunBinding) -> Outcome {
        let WaitingPod { placement, rejected, .. } = self.waiting.remove(at);
        let attempt = self.waiting_attempts.remove(at);
        self.handle.publish_waiting(self.waiting.iter().map(|w| w.placement.pod.uid.clone()));
        let result = match rejected {
            Some((plugin, reason)) => {
                self.bundle.with(attempt.profile(), Undo { placement: &placement });
                self.cache.remove_pod(&placement.pod.uid);
                Err(rejected_on_node(Status::unschedulable(reason).with_plugin(plugin)))
            }
            None => self.bind(&attempt, &placement, client, run),
        };
        self.outcome(attempt, result)
    }

    /// The binding cycle after Permit.
    fn bind<C: Client>(
        &mut self,
        attempt: &Attempt,
        placement: &Placement,
        client: &C,
        run: &impl RunBinding,
    ) -> Result<Placed, Failure> {
        self.queue.permitted(attempt);
        match self.bundle.with(attempt.profile(), Bind { placement, client, run }) {
            Ok(()) => {
                self.cache.confirm(&placement.pod.uid);
                Ok(Placed { node: placement.node_name.clone() })
            }
            Err(failure) => {
                self.cache.remove_pod(&placement.pod.uid);
                Err(failure)
            }
        }
    }

    fn outcome(&mut self, attempt: Attempt, result: Result<Placed, Failure>) -> Outcome {
        let (profile, pod) = (attempt.profile(), attempt.pod().clone());
        match &result {
            Ok(_) => {
                let around = &mut Around { bundle: &mut self.bundle, cache: &mut self.cache };
                self.queue.bound(attempt, around);
            }
            Err(failure) => self.requeue(attempt, failure),
        }
        Outcome { pod, profile, result }
    }

    /// Puts the pod of a failed attempt into the queue again, and takes note of its nomination.
    fn requeue(&mut self, attempt: Attempt, failure: &Failure) {
        let (rejectors, nomination) = match failure {
            Failure::Unschedulable(unschedulable) => {
                let Diagnosis { unschedulable_plugins, pending_plugins, .. } = &unschedulable.diagnosis;
                let rejectors = Rejectors::new(unschedulable_plugins.iter().copied(), pending_plugins.iter().copied());
                (rejectors, unschedulable.nomination())
            }
            Failure::Held(_) => (Rejectors::default(), Nomination::Keep),
            Failure::Error(_) => (Rejectors::default(), Nomination::Clear),
        };
        let uid = attempt.pod().uid.clone();
        let around = &mut Around { bundle: &mut self.bundle, cache: &mut self.cache };
        self.queue.requeue(attempt, rejectors, around, self.now);
        if let Some(pod) = self.queue.pod(&uid).cloned() {
            self.apply(nomination, pod);
        }
    }

    /// Takes note of a pod's nomination, in the cache and in the pod, whose status says it from now on.
    fn apply(&mut self, nomination: Nomination, mut pod: Arc<Pod>) {
        let node = match nomination {
            Nomination::Keep => return,
            Nomination::Clear => None,
            Nomination::Set(node) => self.cache.base.infos()[node.get()].node.as_ref().map(|node| node.name),
        };
        if pod.nominated_node != node {
            pod = Arc::new(Pod { nominated_node: node, ..Pod::clone(&pod) });
            self.queue.replace(pod.clone());
        }
        self.cache.nominator.added(&pod);
    }
}

impl<B: Bundle> Drop for Scheduler<B> {
    /// Closes every plugin.
    fn drop(&mut self) {
        for profile in 0..B::PROFILES.len() {
            self.bundle.with(profile, Close);
        }
    }
}

/// Drives a future to its end. The embedded cluster blocks; a runtime would spawn.
pub trait RunBinding {
    /// Runs it.
    fn run<F: Future>(&self, future: F) -> F::Output;
}

/// The queue's options, of the constants that all profiles of a binary share.
fn options<B: Bundle>() -> Options {
    let backoff = B::PROFILES
        .first()
        .map(|profile| Backoff::seconds(profile.pod_initial_backoff_seconds, profile.pod_max_backoff_seconds));
    Options { backoff: backoff.unwrap_or(Options::default().backoff), ..Options::default() }
}

/// QueueSort, which all profiles of a binary share.
struct BundleOrder<B>(PhantomData<B>);
impl<B: Bundle> Order for BundleOrder<B> {
    fn less(a: &QueuedPod, b: &QueuedPod) -> bool {
        B::less(a, b)
    }
}

/// What the queue asks of the profiles and of the cache.
struct Around<'a, B: Bundle> {
    bundle: &'a mut B,
    cache: &'a mut Cache<B::State>,
}
impl<B: Bundle> Surroundings for Around<'_, B> {
    // Nobody tells of the cluster's events: the caller changes the cache.
    type Event = Infallible;
    type Interested = Infallible;

    fn pre_enqueue(&mut self, profile: usize, pod: &Pod) -> Result<(), Status> {
        self.bundle.with(profile, PreEnqueue { pod, cache: &*self.cache })
    }
    fn timestamp(&mut self, profile: usize, pod: &Pod, timestamp: i64) -> i64 {
        self.bundle.with(profile, Timestamp { pod, timestamp, cache: &*self.cache })
    }
    fn interested(&self, _: usize, _: &[&'static str], event: &Infallible) -> Option<Infallible> {
        match *event {}
    }
    fn hint(&mut self, _: usize, _: &Infallible, _: &QueuedPod, event: &Infallible) -> QueueingHint {
        match *event {}
    }
    fn nominator(&mut self) -> &mut Nominator {
        &mut self.cache.nominator
    }
    fn pending(&mut self, old: Option<&Pod>, new: Option<&Pod>) {
        crate::cache::State::set_pending(&mut self.cache.state, old, new);
    }
}

struct PreEnqueue<'a, S> {
    pod: &'a Pod,
    cache: &'a Cache<S>,
}
impl<S: crate::cache::State> Visitor<S> for PreEnqueue<'_, S> {
    type Output = Result<(), Status>;
    fn visit<P: Profile<State = S>>(self, engine: &mut Engine<P>) -> Self::Output {
        engine.plugins.pre_enqueue(self.pod, self.cache)
    }
}

struct Timestamp<'a, S> {
    pod: &'a Pod,
    timestamp: i64,
    cache: &'a Cache<S>,
}
impl<S: crate::cache::State> Visitor<S> for Timestamp<'_, S> {
    type Output = i64;
    fn visit<P: Profile<State = S>>(self, engine: &mut Engine<P>) -> i64 {
        engine.plugins.timestamp(self.pod, self.timestamp, self.cache)
    }
}

struct Explain<'a, S> {
    pod: &'a Arc<Pod>,
    cache: &'a mut Cache<S>,
    all_filters: bool,
}
impl<S: crate::cache::State> Visitor<S> for Explain<'_, S> {
    type Output = Explanation;
    fn visit<P: Profile<State = S>>(self, engine: &mut Engine<P>) -> Explanation {
        engine.explain(self.pod, self.cache, self.all_filters)
    }
}

/// A pod that has its node and is reserved there.
struct Permitted {
    placement: Placement,
    waits: Vec<(&'static str, i64)>,
}

/// From the decision to Permit.
struct Cycle<'a, S> {
    pod: &'a Arc<Pod>,
    cache: &'a mut Cache<S>,
    random: &'a mut Random,
    waiting: &'a mut Vec<WaitingPod>,
    now: i64,
}
impl<S: crate::cache::State> Visitor<S> for Cycle<'_, S> {
    type Output = Result<Permitted, Failure>;
    fn visit<P: Profile<State = S>>(mut self, engine: &mut Engine<P>) -> Self::Output {
        let (decision, cycle) = engine.decide_with_state(self.pod, self.cache, UNTIMED, |n| self.random.below(n));
        let node = match decision {
            Decision::Node(node) => node,
            Decision::Unschedulable(unschedulable) => return Err(Failure::Unschedulable(unschedulable)),
            Decision::Error(message) => return Err(Failure::Error(message)),
        };
        let cycle = cycle.ok_or_else(|| Failure::Error("a decision without cycle state".into()))?;
        let placement = self.assume(node)?;
        let undo = |cache: &mut Cache<S>, status: Status| {
            cache.remove_pod(&self.pod.uid);
            Err(if status.code.is_rejected() { rejected_on_node(status) } else { Failure::Error(status.message()) })
        };
        let reserved = match engine.plugins.reserve(&cycle, self.cache, &placement) {
            Ok(reserved) => Arc::new(reserved),
            Err(status) => return undo(self.cache, status),
        };
        let mut permit = PermitRun::default();
        let mut pods = WaitingPods { list: self.waiting, now: self.now };
        if let Err(status) = engine.plugins.permit(&placement, &mut pods, &mut permit) {
            engine.plugins.unreserve(&placement, &reserved);
            return undo(self.cache, status);
        }
        engine.reserved.insert(self.pod.uid.clone(), reserved);
        Ok(Permitted { placement, waits: permit.waits })
    }
}
impl<S: crate::cache::State> Cycle<'_, S> {
    fn assume(&mut self, node: NodeIndex) -> Result<Placement, Failure> {
        let Some(chosen) = self.cache.base.infos()[node.get()].node.clone() else {
            return Err(Failure::Error("the chosen node disappeared".into()));
        };
        let node_name: Arc<str> = self.cache.base.interner.resolve(chosen.name).into();
        self.cache.add_pod(self.pod.clone(), chosen.name, PodState::Assumed);
        // It counts on its node from now on, and not twice.
        self.cache.withdraw_nomination(&self.pod.uid);
        Ok(Placement { pod: self.pod.clone(), node, node_name })
    }
}

/// PreBind, Bind and PostBind.
struct Bind<'a, C, R> {
    placement: &'a Placement,
    client: &'a C,
    run: &'a R,
}
impl<S: crate::cache::State, C: Client, R: RunBinding> Visitor<S> for Bind<'_, C, R> {
    type Output = Result<(), Failure>;
    fn visit<P: Profile<State = S>>(self, engine: &mut Engine<P>) -> Self::Output {
        let Some(reserved) = engine.reserved.remove(&self.placement.pod.uid) else {
            return Err(Failure::Error("a pod was to be bound that nothing was reserved for".into()));
        };
        let (plugins, client, placement) = (&engine.plugins, self.client, self.placement);
        let bind = async {
            let plan = plugins.pre_bind_pre_flight(placement, &reserved)?;
            plugins.pre_bind(client, placement, &reserved, plan).await?;
            plugins.bind(client, placement).await
        };
        self.run.run(bind).map_err(|status| {
            plugins.unreserve(placement, &reserved);
            not_bound(status)
        })?;
        plugins.post_bind(placement);
        Ok(())
    }
}

/// Close of all plugins.
struct Close;
impl<S: crate::cache::State> Visitor<S> for Close {
    type Output = ();
    fn visit<P: Profile<State = S>>(self, engine: &mut Engine<P>) {
        engine.plugins.close();
    }
}

/// Unreserve for a pod that waited in vain.
struct Undo<'a> {
    placement: &'a Placement,
}
impl<S: crate::cache::State> Visitor<S> for Undo<'_> {
    type Output = ();
    fn visit<P: Profile<State = S>>(self, engine: &mut Engine<P>) {
        if let Some(reserved) = engine.reserved.remove(&self.placement.pod.uid) {
            engine.plugins.unreserve(self.placement, &reserved);
        }
    }
}

/// A failure on the way to the binding, when a pod cannot be called unfit any more: kube-scheduler passes the plugin's
/// own words on, names no plugin to wake the pod, and tries it again after backoff.
fn not_bound(status: Status) -> Failure {
    if !status.code.is_rejected() {
        return Failure::Error(status.message());
    }
    Failure::Unschedulable(Box::new(Unschedulable {
        message: status.message(),
        diagnosis: Diagnosis::default(),
        post_filter: None,
    }))
}

/// A rejection after the node was chosen, worded as kube-scheduler does: as that of a cluster of one node.
fn rejected_on_node(status: Status) -> Failure {
    let reasons = status.reasons.iter().map(|reason| (reason.clone(), 1)).collect();
    let mut diagnosis = Diagnosis { nodes: 1, reasons, ..Diagnosis::default() };
    diagnosis.add_rejector(status.plugin, status.code);
    Failure::Unschedulable(Box::new(Unschedulable { message: diagnosis.message(), diagnosis, post_filter: None }))
}
