//! A scheduler, its cluster, and the messages between them.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use schedc_core::model::Uid;
use schedc_core::scheduler::{Completed, Options, Scheduler, Tasks, TieBreak};
use schedc_in_memory::{Executor, InMemoryClient};

use crate::cluster::Cluster;
use crate::counts::RunCounts;
use crate::delivered::DeliveredState;
use crate::generator::SimulationSummary;
use crate::history::{Step, Stream};
use crate::injected_bugs::InjectedBug;
use crate::injector_state::SharedInjectorState;
use crate::invariants::Violation;
use crate::manifests::PodFacts;
use crate::pipelines::Profiles;
use crate::plugin_fault::FaultyPlugin;

/// Time after which the flush retries an unschedulable pod, in nanoseconds: longer than an episode, so that
/// only `settle` triggers it.
pub(crate) const LEFTOVER_AFTER: i64 = 12 * 3_600_000_000_000;

/// Starts tasks.
pub(crate) struct Spawner<'a>(pub(crate) &'a mut Executor<Completed>);

impl Tasks for Spawner<'_> {
    fn spawn(&mut self, task: impl Future<Output = Completed> + Send + 'static) {
        self.0.spawn(task);
    }
}

/// The scheduler of the fuzz profile.
pub(crate) type FuzzScheduler = Scheduler<Profiles, InMemoryClient>;

/// A scheduler and its cluster.
pub struct Simulation {
    pub(crate) seed: u64,
    pub(crate) cluster: Cluster,
    pub(crate) scheduler: FuzzScheduler,
    pub(crate) executor: Executor<Completed>,
    pub(crate) client: InMemoryClient,
    pub(crate) injectors: SharedInjectorState,
    /// State that was delivered to the scheduler.
    pub(crate) delivered: DeliveredState,
    /// Pods that were bound by this scheduler and not yet delivered as bound, with their nodes.
    pub(crate) bound_but_undelivered: BTreeMap<Arc<str>, Arc<str>>,
    /// Assumed pods, each as it was at the time of the decision. The node counts the resources of this version.
    pub(crate) assumed: BTreeMap<Arc<str>, PodFacts>,
    /// Value of `waking_events` at the decision, by assumed pod.
    pub(crate) waking_events_before: BTreeMap<Arc<str>, u64>,
    /// Number of events that requeue all pods.
    pub(crate) waking_events: u64,
    /// Pods with a preemption in progress before the step.
    pub(crate) preempting: BTreeSet<Arc<str>>,
    /// Outcome of the last attempt of each pod.
    pub(crate) last_outcomes: BTreeMap<Arc<str>, String>,
    /// Nodes with pods that share a host port: the free ports are unknown after one of them is removed, as in
    /// kube-scheduler.
    pub(crate) shared_ports: BTreeSet<String>,
    /// Version of the server at the last run of `wake_missed`, which requeues pods whose hints may have missed an
    /// event.
    pub(crate) woken_at: u64,
    /// Claims whose pending allocation was already checked.
    pub(crate) seen_allocations: BTreeSet<Uid>,
    /// Number of attempts.
    pub(crate) attempts: u64,
    restarts: u64,
    pub(crate) counts: RunCounts,
    pub(crate) bug: Option<InjectedBug>,
    /// Number of opportunities for the injected bug.
    opportunities: u64,
}

/// Faults that are counted; each must happen.
pub(crate) const FAULTS: &[&str] = &[
    "bind: conflict",
    "bind: refused",
    "bind: not done, no response",
    "bind: done, response lost",
    "pod status: conflict",
    "pod status: refused",
    "pod status: not done, no response",
    "pod status: done, response lost",
    "pod deletion: conflict",
    "pod deletion: refused",
    "pod deletion: not done, no response",
    "pod deletion: done, response lost",
    "storage: conflict",
    "storage: refused",
    "storage: not done, no response",
    "storage: done, response lost",
    "claim: conflict",
    "claim: refused",
    "claim: not done, no response",
    "claim: done, response lost",
    "change delivered late",
    "change delivered again",
    "change delivered before an earlier one of another kind",
    "change lost with its watch",
    "changes of an object merged",
    "watch broken",
    "watch listed again",
    "node deleted with pods on it",
    "node created again",
    "pod bound by another scheduler",
    "pod created again under its name",
    "restart, requests arrive",
    "restart, requests are lost",
];

impl Simulation {
    /// Creates a simulation in its initial state.
    pub fn new(seed: u64, bug: Option<InjectedBug>) -> Self {
        let injectors = SharedInjectorState::default();
        let cluster = Cluster::new();
        let client = InMemoryClient::default();
        let scheduler = start(&injectors, &client, seed);
        injectors.lock().ignores_unreserve = bug == Some(InjectedBug::IgnoredUnreserve);
        let mut counts = RunCounts::default();
        FAULTS.iter().for_each(|fault| counts.add_many("fault", fault, 0));
        let mut simulation = Simulation {
            seed,
            cluster,
            scheduler,
            executor: Executor::new(),
            client,
            injectors,
            delivered: DeliveredState::default(),
            bound_but_undelivered: BTreeMap::new(),
            assumed: BTreeMap::new(),
            waking_events_before: BTreeMap::new(),
            waking_events: 0,
            preempting: BTreeSet::new(),
            last_outcomes: BTreeMap::new(),
            shared_ports: BTreeSet::new(),
            woken_at: 0,
            seen_allocations: BTreeSet::new(),
            attempts: 0,
            restarts: 0,
            counts,
            bug,
            opportunities: 0,
        };
        simulation.tick();
        simulation.start_tasks();
        simulation
    }

    /// Returns the counts so far.
    pub fn counts(&self) -> RunCounts {
        let mut counts = self.counts.clone();
        counts.add_all(&self.injectors.lock().counts);
        counts
    }

    /// Returns the state for the generator.
    pub fn summary(&self) -> SimulationSummary {
        let ids = |kind| -> Vec<u8> {
            let names = self.cluster.server.list(kind).map(|object| object.name());
            names.filter_map(|name| name.get(1..)?.parse().ok()).collect()
        };
        let waiting = self.waiting().len();
        SimulationSummary {
            nodes: ids("Node"),
            pods: ids("Pod"),
            backlog: std::array::from_fn(|at| self.cluster.watches[at].undelivered.len()),
            broken: std::array::from_fn(|at| self.cluster.watches[at].broken),
            calls: self.cluster.calls.len(),
            rare: self.cluster.rare_calls(),
            claims: self.cluster.claim_calls(),
            waiting,
            ready: self.scheduler.ready(),
        }
    }

    /// Performs a step, and checks the invariants.
    ///
    /// # Errors
    /// Returns the violation.
    pub fn step(&mut self, step: &Step) -> Result<(), Violation> {
        match step {
            Step::Settle => self.settle()?,
            step => self.act(step)?,
        }
        self.corrupt_strings();
        self.check()
    }

    /// Performs a step other than [`Step::Settle`].
    pub(crate) fn act(&mut self, step: &Step) -> Result<(), Violation> {
        self.count(step);
        if let Some(has_effect) = self.cluster.step(step) {
            if let Step::Pod(pod) = step
                && has_effect
            {
                self.injectors.lock().plan_faults(&format!("p{}", pod.id), &pod.planned_faults);
            }
            self.cluster.observe(self.attempts, &mut self.counts);
            return Ok(());
        }
        self.remember_preemptions();
        match step {
            Step::Deliver(stream, n) => {
                for _ in 0..*n {
                    if !self.deliver(*stream) {
                        break;
                    }
                }
            }
            Step::Repeat(stream) => {
                if let Some(change) = self.cluster.watches[*stream as usize].last.clone() {
                    self.counts.add("fault", "change delivered again");
                    self.deliver_change(&change);
                }
            }
            Step::Break(stream) => {
                let watch = &mut self.cluster.watches[*stream as usize];
                if !watch.broken {
                    watch.broken = true;
                    let lost = watch.undelivered.len() as u64;
                    watch.undelivered.clear();
                    self.counts.add("fault", "watch broken");
                    self.counts.add_many("fault", "change lost with its watch", lost);
                }
            }
            Step::Merge(stream) => {
                let merged = self.cluster.watches[*stream as usize].merge();
                self.counts.add_many("fault", "changes of an object merged", merged);
            }
            Step::List(stream) => {
                if self.cluster.watches[*stream as usize].broken {
                    self.counts.add("fault", "watch listed again");
                    self.list(*stream);
                }
            }
            Step::Answer(at, answer) => self.answer((*at).into(), *answer),
            Step::Schedule => {
                if self.scheduler.ready() > 0 {
                    self.attempts += 1;
                    self.injectors.lock().begin_attempt();
                    self.scheduler.schedule_one(&mut Spawner(&mut self.executor));
                }
            }
            Step::Pass(milliseconds) => self.pass(Duration::from_millis((*milliseconds).into())),
            Step::Allow(at) => self.allow_waiting((*at).into()),
            Step::Reject(at) => {
                let waiting = self.waiting();
                if let Some((plugin, uid)) = waiting.get(usize::from(*at) % waiting.len().max(1))
                    && let Some(handle) = self.handle()
                {
                    self.counts.add("permit", "rejected in Permit");
                    handle.reject(Uid(uid.clone()), name_of(*plugin), "injected");
                    self.tick();
                }
            }
            Step::Activate(pod) => {
                if let Some(uid) = self.delivered.uid(&format!("p{pod}")).cloned() {
                    self.activate(&uid);
                }
            }
            Step::Restart(requests_arrive) => self.restart(*requests_arrive),
            other => unreachable!("`{other}` is a step of the cluster, or settles"),
        }
        self.pump();
        self.collect_results()
    }

    /// Counts the fault that a step causes.
    fn count(&mut self, step: &Step) {
        match step {
            Step::DeleteNode(node) => {
                let name = format!("n{node}");
                if self.delivered.pods.values().any(|pod| pod.node.as_ref() == Some(&name)) {
                    self.counts.add("fault", "node deleted with pods on it");
                }
            }
            Step::Node(node) => {
                let name = format!("n{}", node.id);
                if !self.delivered.nodes.contains_key(&name)
                    && self.delivered.pods.values().any(|pod| pod.node.as_ref() == Some(&name))
                {
                    self.counts.add("fault", "node created again");
                }
            }
            Step::BindElsewhere(..) => self.counts.add("fault", "pod bound by another scheduler"),
            Step::Pod(pod)
                if self.cluster.pod(pod.id).is_none() && self.delivered.uid(&format!("p{}", pod.id)).is_some() =>
            {
                self.counts.add("fault", "pod created again under its name");
            }
            _ => {}
        }
    }

    /// Counts an opportunity for the injected bug. Returns true at every second one.
    pub(crate) fn bug_strikes(&mut self) -> bool {
        self.opportunities += 1;
        self.opportunities.is_multiple_of(2)
    }

    /// Reports the current time to the scheduler.
    pub(crate) fn tick(&mut self) {
        if self.bug == Some(InjectedBug::StoppedClock) && self.scheduler.in_progress().waiting > 0 {
            return;
        }
        self.scheduler.tick(self.cluster.now, &mut Spawner(&mut self.executor));
    }

    /// Advances the time.
    pub(crate) fn pass(&mut self, time: Duration) {
        self.cluster.pass(time);
        self.cluster.observe(self.attempts, &mut self.counts);
        self.tick();
    }

    // Preemptions.

    /// Records the pods with a preemption in progress.
    pub(crate) fn remember_preemptions(&mut self) {
        self.preempting.clear();
        if let Some(handle) = self.handle() {
            let preempting = self.delivered.pods.keys().filter(|uid| handle.is_preempting(&Uid((*uid).clone())));
            self.preempting.extend(preempting.cloned());
        }
    }

    /// Returns whether a pod had a preemption in progress before this step.
    pub(crate) fn was_preempting(&self, uid: &Arc<str>) -> bool {
        self.preempting.contains(uid)
    }

    // Actions of plugins.

    pub(crate) fn handle(&self) -> Option<schedc_core::handle::Handle> {
        self.injectors.lock().handle()
    }

    /// Returns the pods that wait in Permit, with a plugin that makes them wait.
    pub(crate) fn waiting(&self) -> Vec<(FaultyPlugin, Arc<str>)> {
        self.injectors.lock().waiting().map(|(plugin, uid, _)| (plugin, uid.clone())).collect()
    }

    fn allow_waiting(&mut self, at: usize) {
        let waiting = self.waiting();
        if let Some((plugin, uid)) = waiting.get(at % waiting.len().max(1))
            && let Some(handle) = self.handle()
        {
            self.counts.add("permit", "allowed in Permit");
            handle.allow(Uid(uid.clone()), name_of(*plugin));
            self.injectors.lock().allow(*plugin, uid);
            self.tick();
        }
    }

    pub(crate) fn activate(&mut self, uid: &Arc<str>) {
        if let Some(handle) = self.handle() {
            self.counts.add("plugin", "activates a pod");
            handle.activate(Uid(uid.clone()));
            self.tick();
        }
    }

    // Restarts.

    fn restart(&mut self, requests_arrive: bool) {
        self.restarts += 1;
        let fault = if requests_arrive { "restart, requests arrive" } else { "restart, requests are lost" };
        self.counts.add("fault", fault);
        self.executor = Executor::new();
        self.client = InMemoryClient::default();
        self.cluster.drop_scheduler(requests_arrive);
        self.cluster.observe(self.attempts, &mut self.counts);
        self.injectors.lock().reset();
        self.scheduler = start(&self.injectors, &self.client, self.seed.wrapping_add(self.restarts));
        self.tick();
        self.start_tasks();
        self.bound_but_undelivered.clear();
        self.assumed.clear();
        self.waking_events_before.clear();
        self.shared_ports.clear();
        self.seen_allocations.clear();
        for stream in Stream::ALL {
            self.list(stream);
        }
    }

    /// Starts the tasks of plugins.
    fn start_tasks(&mut self) {
        self.scheduler.start_background(&mut Spawner(&mut self.executor));
        if self.bug == Some(InjectedBug::EndedTasks) {
            self.scheduler.stop_background();
        }
    }

    /// Removes those pods from `bound_but_undelivered` that the scheduler has received as bound or as deleted.
    pub(crate) fn forget_finished_bindings(&mut self) {
        let pods = &self.delivered.pods;
        self.bound_but_undelivered.retain(|uid, _| pods.get(uid).is_some_and(|pod| pod.node.is_none()));
    }
}

/// Creates a scheduler without any objects.
pub(crate) fn start(injectors: &SharedInjectorState, client: &InMemoryClient, seed: u64) -> FuzzScheduler {
    injectors.install();
    let options = Options {
        seed,
        tie_break: TieBreak::Random,
        leftover_after: LEFTOVER_AFTER,
        // A limit that is exceeded in some simulations.
        max_in_flight_events: if seed.is_multiple_of(4) { 4 } else { 1 << 16 },
        ..Options::default()
    };
    match Scheduler::new(client.clone(), options) {
        Ok(scheduler) => scheduler,
        Err(errors) => unreachable!("the plugins of this profile start: {errors:?}"),
    }
}

fn name_of(plugin: FaultyPlugin) -> &'static str {
    match plugin {
        FaultyPlugin::First => "First",
        FaultyPlugin::Last => "Last",
    }
}
