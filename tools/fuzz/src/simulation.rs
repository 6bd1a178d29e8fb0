//! A scheduler, its cluster, and what happens between them.

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

/// A parked pod is tried after this long without any event, in nanoseconds: longer than an episode, so that it happens when
/// it is meant to.
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
    /// What the scheduler was told.
    pub(crate) delivered: DeliveredState,
    /// Pods that were bound here and not yet seen bound, with their nodes.
    pub(crate) finished: BTreeMap<Arc<str>, Arc<str>>,
    /// Pods that are on their way to a node, as they were when that was decided: that is how they count.
    pub(crate) assumed: BTreeMap<Arc<str>, PodFacts>,
    /// How much had happened that wakes everybody when pods were decided about that are on their way to a node.
    pub(crate) waking_events_before: BTreeMap<Arc<str>, u64>,
    /// How much has happened that wakes everybody.
    pub(crate) waking_events: u64,
    /// Pods for which room was being made before the step.
    pub(crate) preempting: BTreeSet<Arc<str>>,
    /// How the last attempt of each pod ended.
    pub(crate) last_outcomes: BTreeMap<Arc<str>, String>,
    /// Nodes on which pods were that share a host port: what is free there after one of them has gone is not known, as in
    /// kube-scheduler.
    pub(crate) shared_ports: BTreeSet<String>,
    /// The version of the server when pods were woken last that no hint may have woken.
    pub(crate) woken_at: u64,
    /// How many attempts there were.
    pub(crate) tried: u64,
    restarts: u64,
    pub(crate) counts: RunCounts,
    pub(crate) bug: Option<InjectedBug>,
    /// How often there was an opportunity to lie.
    opportunities: u64,
}

/// Faults that are counted: the figures say of each how often it happened.
pub const FAULTS: &[&str] = &[
    "bind: conflict",
    "bind: refused",
    "bind: not done, and no answer",
    "bind: done, and the answer is lost",
    "pod status: conflict",
    "pod status: refused",
    "pod status: not done, and no answer",
    "pod status: done, and the answer is lost",
    "pod deletion: conflict",
    "pod deletion: refused",
    "pod deletion: not done, and no answer",
    "pod deletion: done, and the answer is lost",
    "storage: conflict",
    "storage: refused",
    "storage: not done, and no answer",
    "storage: done, and the answer is lost",
    "change told late",
    "change told again",
    "change told before an earlier one of another kind",
    "change lost with its watch",
    "changes of an object told as one",
    "watch broken",
    "watch lists again",
    "node gone with pods on it",
    "node back",
    "pod bound by another scheduler",
    "pod created again under its name",
    "restart, requests arrive",
    "restart, requests are lost",
];

impl Simulation {
    /// Nothing has happened yet.
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
            finished: BTreeMap::new(),
            assumed: BTreeMap::new(),
            waking_events_before: BTreeMap::new(),
            waking_events: 0,
            preempting: BTreeSet::new(),
            last_outcomes: BTreeMap::new(),
            shared_ports: BTreeSet::new(),
            woken_at: 0,
            tried: 0,
            restarts: 0,
            counts,
            bug,
            opportunities: 0,
        };
        simulation.tick();
        simulation.start_tasks();
        simulation
    }

    /// What happened, in numbers.
    pub fn counts(&self) -> RunCounts {
        let mut counts = self.counts.clone();
        counts.add_all(&self.injectors.lock().counts);
        counts
    }

    /// What a generator needs to see.
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
            waiting,
            ready: self.scheduler.ready(),
        }
    }

    /// Does a step, and looks at everything that must hold then.
    ///
    /// # Errors
    /// What does not hold.
    pub fn step(&mut self, step: &Step) -> Result<(), Violation> {
        match step {
            Step::Settle => self.settle()?,
            step => self.act(step)?,
        }
        self.check()
    }

    /// Does a step that is no [`Step::Settle`].
    pub(crate) fn act(&mut self, step: &Step) -> Result<(), Violation> {
        self.count(step);
        if let Some(something) = self.cluster.step(step) {
            if let Step::Pod(pod) = step
                && something
            {
                self.injectors.lock().plan_faults(&format!("p{}", pod.id), &pod.planned_faults);
            }
            self.cluster.observe(self.tried, &mut self.counts);
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
                    self.counts.add("fault", "change told again");
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
                self.counts.add_many("fault", "changes of an object told as one", merged);
            }
            Step::List(stream) => {
                if self.cluster.watches[*stream as usize].broken {
                    self.counts.add("fault", "watch lists again");
                    self.list(*stream);
                }
            }
            Step::Answer(at, answer) => self.answer((*at).into(), *answer),
            Step::Schedule => {
                if self.scheduler.ready() > 0 {
                    self.tried += 1;
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
                    self.counts.add("permit", "rejected while it waits");
                    handle.reject(Uid(uid.clone()), name_of(*plugin), "told so");
                    self.tick();
                }
            }
            Step::Activate(pod) => {
                if let Some(uid) = self.delivered.uid(&format!("p{pod}")).cloned() {
                    self.activate(&uid);
                }
            }
            Step::Restart(arrives) => self.restart(*arrives),
            other => unreachable!("`{other}` is a step of the cluster, or settles"),
        }
        self.pump();
        self.collect_results()
    }

    fn count(&mut self, step: &Step) {
        match step {
            Step::DeleteNode(node) => {
                let name = format!("n{node}");
                let mut on_it = self.delivered.pods.values().filter(|pod| pod.node.as_ref() == Some(&name));
                if on_it.next().is_some() {
                    self.counts.add("fault", "node gone with pods on it");
                }
            }
            Step::Node(node) => {
                let name = format!("n{}", node.id);
                if !self.delivered.nodes.contains_key(&name)
                    && self.delivered.pods.values().any(|pod| pod.node.as_ref() == Some(&name))
                {
                    self.counts.add("fault", "node back");
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

    /// Every second time.
    pub(crate) fn bug_strikes(&mut self) -> bool {
        self.opportunities += 1;
        self.opportunities.is_multiple_of(2)
    }

    /// Tells the time.
    pub(crate) fn tick(&mut self) {
        if self.bug == Some(InjectedBug::StoppedClock) && self.scheduler.in_progress().waiting > 0 {
            return;
        }
        self.scheduler.tick(self.cluster.now, &mut Spawner(&mut self.executor));
    }

    /// Time passes.
    pub(crate) fn pass(&mut self, time: Duration) {
        self.cluster.pass(time);
        self.cluster.observe(self.tried, &mut self.counts);
        self.tick();
    }

    // Preemptions.

    /// Takes down which pods room is being made for.
    pub(crate) fn remember_preemptions(&mut self) {
        self.preempting.clear();
        if let Some(handle) = self.handle() {
            let preempting = self.delivered.pods.keys().filter(|uid| handle.is_preempting(&Uid((*uid).clone())));
            self.preempting.extend(preempting.cloned());
        }
    }

    /// Whether room was being made for a pod before this step.
    pub(crate) fn was_preempting(&self, uid: &Arc<str>) -> bool {
        self.preempting.contains(uid)
    }

    // What plugins do.

    pub(crate) fn handle(&self) -> Option<schedc_core::handle::Handle> {
        self.injectors.lock().handle()
    }

    /// Pods that wait in Permit, with a plugin that makes them wait.
    pub(crate) fn waiting(&self) -> Vec<(FaultyPlugin, Arc<str>)> {
        self.injectors.lock().waiting().map(|(plugin, uid, _)| (plugin, uid.clone())).collect()
    }

    fn allow_waiting(&mut self, at: usize) {
        let waiting = self.waiting();
        if let Some((plugin, uid)) = waiting.get(at % waiting.len().max(1))
            && let Some(handle) = self.handle()
        {
            self.counts.add("permit", "allowed while it waits");
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

    fn restart(&mut self, arrives: bool) {
        self.restarts += 1;
        self.counts.add("fault", if arrives { "restart, requests arrive" } else { "restart, requests are lost" });
        self.executor = Executor::new();
        self.client = InMemoryClient::default();
        self.cluster.drop_scheduler(arrives);
        self.cluster.observe(self.tried, &mut self.counts);
        self.injectors.lock().reset();
        self.scheduler = start(&self.injectors, &self.client, self.seed.wrapping_add(self.restarts));
        self.tick();
        self.start_tasks();
        self.finished.clear();
        self.assumed.clear();
        self.waking_events_before.clear();
        self.shared_ports.clear();
        for stream in Stream::ALL {
            self.list(stream);
        }
    }

    /// Plugins' tasks begin.
    fn start_tasks(&mut self) {
        self.scheduler.start_background(&mut Spawner(&mut self.executor));
        if self.bug == Some(InjectedBug::EndedTasks) {
            self.scheduler.stop_background();
        }
    }

    /// What is known to be bound or gone is not waited for.
    pub(crate) fn forget_finished_bindings(&mut self) {
        let known = &self.delivered;
        self.finished.retain(|uid, _| known.pods.get(uid).is_some_and(|pod| pod.node.is_none()));
    }
}

/// A scheduler that knows nothing yet.
pub(crate) fn start(injectors: &SharedInjectorState, client: &InMemoryClient, seed: u64) -> FuzzScheduler {
    injectors.install();
    let options = Options {
        seed,
        tie_break: TieBreak::Random,
        leftover_after: LEFTOVER_AFTER,
        // Few enough that it is too few sometimes.
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
