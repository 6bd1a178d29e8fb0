//! Simulation of a workload in virtual time.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::Timestamp;
use schedc_core::erased::AnyBundle;
use schedc_core::extenders::Overrides;
use schedc_core::profile::StartErrors;
use schedc_core::scheduler;
use schedc_in_memory::server::{Key, Request, uid_of};
use schedc_in_memory::{ApiServerOptions, Simulator, simulator};

use crate::cluster_sample::{ClusterState, sample};
use crate::influence::scoring_plugins;
use crate::numbers::seconds;
use crate::observer::{End, Instance, Observer};
use crate::result::{PodCounts, PodOutcome, PodState, RunResult, Sample, TimeToBind};
use crate::totals::{InstanceId, Totals};
use crate::workload::{Change, Lifetime, Owner, PodId, TemplateId, Workload};

/// Options of a simulation.
#[derive(Clone, Debug)]
pub struct Options {
    /// Index of the profile that serves all pods; `None`: each pod is served by the profile with its scheduler name.
    pub serve_all: Option<usize>,
    /// Seed for the choice among equally good nodes.
    pub seed: u64,
    /// Number of samples of the cluster's state.
    pub samples: u32,
    /// Approximate number of decisions for which the influence of each plugin is computed.
    pub explained: u64,
    /// Label with the price of a node for an hour.
    pub price_label: Option<String>,
    /// Overrides of the profiles' extender settings.
    pub extenders: &'static Overrides,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            serve_all: None,
            seed: 0,
            samples: 100,
            explained: 100,
            price_label: None,
            extenders: Overrides::NONE,
        }
    }
}

/// Result of a simulation, with all pods.
#[derive(Clone, Debug, PartialEq)]
pub struct Simulated {
    /// The result.
    pub result: RunResult,
    /// All pods in the order of their arrival.
    pub pods: Vec<PodOutcome>,
}

/// Simulates a workload. The result depends on the workload, the profiles and the options only.
///
/// # Errors
/// Returns the errors of plugins that cannot start.
pub fn simulate(bundle: &AnyBundle, workload: &Workload, options: &Options) -> Result<Simulated, StartErrors> {
    let mut simulation = Simulation::new(bundle, workload, options)?;
    simulation.run();
    Ok(simulation.finish(bundle))
}

struct Simulation<'a> {
    workload: &'a Workload,
    options: &'a Options,
    simulator: Simulator<Observer>,
    /// Index of the next event of the workload.
    next_event: usize,
    /// Pods that will end, each with the time of its end.
    ends: BTreeSet<(i64, InstanceId)>,
    /// The newest instance and the template of each pod that arrived.
    current: BTreeMap<PodId, (InstanceId, TemplateId)>,
    replaced: BTreeMap<PodId, Replaced>,
    samples: Vec<Sample>,
    counts: PodCounts,
}

/// Earlier instances of a pod that was replaced.
#[derive(Default)]
struct Replaced {
    number: u32,
    /// Time that these instances ran, in nanoseconds.
    ran: i64,
    /// Time that the pod runs in total, if it already had a node when it arrived.
    total: Option<i64>,
}

/// A pod of the workload, or its replacement, to be created.
struct NewInstance<'a> {
    template: TemplateId,
    uid: &'a str,
    node: Option<Arc<str>>,
    created: i64,
}

impl<'a> Simulation<'a> {
    fn new(bundle: &AnyBundle, workload: &'a Workload, options: &'a Options) -> Result<Self, StartErrors> {
        let scheduler = scheduler::Options {
            seed: options.seed,
            serve_all: options.serve_all,
            // The hints of plugins wake pods; retries after five minutes would only cost time.
            leftover_after: i64::MAX,
            extenders: options.extenders,
            ..scheduler::Options::default()
        };
        let server = ApiServerOptions { grace: Some(Duration::ZERO), events_kept: 0, ..ApiServerOptions::default() };
        let simulator_options =
            simulator::Options { scheduler, server, start: workload.start, ..simulator::Options::default() };
        let arrivals = workload.pods.iter().filter(|pod| pod.node.is_none()).count() as u64;
        let explain_every = match options.explained {
            0 => 0,
            explained => (arrivals / explained).max(1),
        };
        let totals = Totals::new(&workload.resources, options.price_label.as_deref(), workload.start);
        let observer = Observer { explain_every, totals, ..Observer::default() };
        let simulator = Simulator::new(bundle, simulator_options, observer)?;
        Ok(Simulation {
            workload,
            options,
            simulator,
            next_event: 0,
            ends: BTreeSet::new(),
            current: BTreeMap::new(),
            replaced: BTreeMap::new(),
            samples: Vec::new(),
            counts: PodCounts::default(),
        })
    }

    fn run(&mut self) {
        for object in &self.workload.objects {
            // This cannot fail: `add` refuses only objects without a name, and the readers of workloads refuse them
            // too.
            let _ = self.simulator.add(object.clone());
        }
        let mut next = self.workload.start;
        loop {
            self.simulator.advance_to(next);
            self.apply_changes(next);
            // When a pod ends or is replaced, the scheduler may bind pods at the same time.
            loop {
                self.simulator.run_until(next);
                if !self.react() && !self.end_pods(next) {
                    break;
                }
            }
            while self.next_sample().is_some_and(|at| at <= next) {
                self.take_sample(next);
            }
            let simulator_time = self.simulator.next_time().map(|at| at.max(next.saturating_add(1)));
            let event = self.workload.events.get(self.next_event).map(|event| event.at);
            let end = self.ends.first().map(|(at, _)| *at);
            match [simulator_time, event, end, self.next_sample()].into_iter().flatten().min() {
                Some(at) if at <= self.workload.end => next = at.max(next),
                _ => return,
            }
        }
    }

    /// Returns the time of the next sample; `None` if all are taken.
    fn next_sample(&self) -> Option<i64> {
        let (taken, all) = (self.samples.len() as i128, i128::from(self.options.samples));
        let duration = i128::from(self.workload.end.saturating_sub(self.workload.start));
        let after = (taken < all).then(|| duration * (taken + 1) / all)?;
        i64::try_from(i128::from(self.workload.start) + after).ok()
    }

    fn take_sample(&mut self, now: i64) {
        let hooks = &self.simulator.hooks;
        let cluster = ClusterState {
            workload: self.workload,
            sums: hooks.totals.now(),
            base: self.simulator.scheduler.base(),
            belongs_to_node: &|uid| hooks.by_uid(uid).is_some_and(|id| hooks.get(id).belongs_to_node),
        };
        let at = seconds(now - self.workload.start);
        let label = self.options.price_label.as_deref();
        self.samples.push(sample(&cluster, label, at));
    }

    /// Applies the ends and the events that are due.
    fn apply_changes(&mut self, now: i64) {
        self.end_pods(now);
        let workload = self.workload;
        while let Some(event) = workload.events.get(self.next_event).filter(|event| event.at <= now) {
            self.next_event += 1;
            match &event.change {
                Change::Arrive(pod) => self.arrive(*pod, now),
                Change::Update(pod, template) => self.update(*pod, *template, now),
                Change::Set(object) => self.request(Request::Apply(object.clone())),
                Change::Delete(key) => {
                    if key.kind == "Node" {
                        self.evict_from(&key.name, now);
                    }
                    self.request(Request::Delete(key.clone(), None));
                }
            }
        }
    }

    /// Sends a request. A request for an object that does not exist in the simulation has no effect.
    fn request(&mut self, request: Request) {
        let _ = self.simulator.request(request);
    }

    /// Ends the pods that are due. Returns whether any pod ended.
    fn end_pods(&mut self, now: i64) -> bool {
        let mut has_any = false;
        while let Some((_, id)) = self.ends.first().copied().filter(|(at, _)| *at <= now) {
            self.ends.pop_first();
            has_any |= self.end(id, now, End::Recorded);
        }
        has_any
    }

    /// Deletes a pod, unless it has already ended. Returns whether it deletes the pod.
    fn end(&mut self, id: InstanceId, now: i64, end: End) -> bool {
        if !self.simulator.hooks.end(id, now, end) {
            return false;
        }
        let key = self.key(self.simulator.hooks.get(id).pod);
        self.request(Request::Delete(key, None));
        true
    }

    fn key(&self, pod: PodId) -> Key {
        let name = &self.workload.pods[pod.0 as usize].name;
        let (namespace, name) = name.split_once('/').unwrap_or(("default", name));
        Key::pod(namespace, name)
    }

    /// Creates a pod of the workload. An older pod with the same name ends.
    fn arrive(&mut self, id: PodId, now: i64) {
        let workload = self.workload;
        let pod = &workload.pods[id.0 as usize];
        let known = self.simulator.server.get(&self.key(id)).map(|pod| uid_of(pod));
        if let Some(known) = known.and_then(|uid| self.simulator.hooks.by_uid(&uid.0)) {
            self.end(known, now, End::Recorded);
        }
        let new = NewInstance { template: pod.template, uid: &pod.uid, node: pod.node.clone(), created: pod.created };
        self.create(id, new, now);
    }

    fn create(&mut self, id: PodId, new: NewInstance<'_>, now: i64) {
        let NewInstance { template, uid, node, created } = new;
        let workload_pod = &self.workload.pods[id.0 as usize];
        let mut pod = self.workload.pod(id, template, uid);
        pod.metadata.creation_timestamp = Timestamp::from_nanosecond(i128::from(created)).ok().map(Time);
        pod.spec.get_or_insert_default().node_name = node.as_deref().map(str::to_owned);
        let arrived_with_node = node.is_some();
        self.request(Request::Create(Box::new(pod.into())));
        // The server chooses another uid if an object already had this one.
        let Some(uid) = self.simulator.server.get(&self.key(id)).map(|pod| uid_of(pod).0) else { return };
        match arrived_with_node {
            true => self.counts.with_node += 1,
            false => self.counts.arrived += 1,
        }
        let bound = arrived_with_node.then_some(now);
        let instance = self.simulator.hooks.add(Instance {
            pod: id,
            uid,
            created: now,
            bound,
            node,
            arrived_with_node,
            belongs_to_node: self.workload.owner(id) == Owner::Node,
            requests: self.workload.requests(template),
            ended: None,
        });
        self.current.insert(id, (instance, template));
        // If the original pod arrived with a node, `react` schedules the end of its replacement when the replacement is
        // bound.
        if let Lifetime::Until(end) = workload_pod.lifetime
            && (arrived_with_node || workload_pod.node.is_none())
        {
            self.ends.insert((end, instance));
        }
    }

    fn update(&mut self, id: PodId, template: TemplateId, now: i64) {
        let Some((instance, current)) = self.current.get_mut(&id) else { return };
        *current = template;
        let instance = *instance;
        self.simulator.hooks.set_requests(instance, now, self.workload.requests(template));
        let Instance { uid, ended, .. } = self.simulator.hooks.get(instance);
        if ended.is_none() {
            let pod = self.workload.pod(id, template, uid);
            self.request(Request::Replace(Box::new(pod.into())));
        }
    }

    /// Evicts all pods of a node that is about to be removed.
    fn evict_from(&mut self, node: &str, now: i64) {
        for id in self.simulator.hooks.totals.pods_on(node) {
            let belongs_to_node = self.simulator.hooks.get(id).belongs_to_node;
            if self.end(id, now, End::Evicted) && !belongs_to_node {
                self.counts.evicted += 1;
                self.replace(id, now);
            }
        }
    }

    /// Schedules the ends of pods that were bound, and replaces preempted ones. Returns whether pods were preempted.
    fn react(&mut self) -> bool {
        for id in std::mem::take(&mut self.simulator.hooks.bound) {
            let Instance { pod, bound: Some(bound), node, .. } = self.simulator.hooks.get(id) else { continue };
            self.counts.bound += 1;
            let recorded_node = &self.workload.pods[pod.0 as usize].recorded_node;
            self.counts.moved += u64::from(recorded_node.is_some() && recorded_node != node);
            if let Some(time) = self.remaining(*pod) {
                self.ends.insert((bound.saturating_add(time), id));
            }
        }
        let preempted = std::mem::take(&mut self.simulator.hooks.preempted);
        for id in &preempted {
            self.counts.preempted += 1;
            let now = self.simulator.now();
            self.replace(*id, now);
        }
        !preempted.is_empty()
    }

    /// Returns the time that a pod runs after its binding; `None` if it does not end, or ends at a fixed time.
    fn remaining(&self, pod: PodId) -> Option<i64> {
        let replaced = self.replaced.get(&pod);
        let time = match self.workload.pods[pod.0 as usize].lifetime {
            Lifetime::Runs(time) => time,
            _ => replaced?.total?,
        };
        let ran = replaced.map_or(0, |replaced| replaced.ran);
        // A Job starts its work again; the pod of another owner runs only for the rest of the time.
        Some(if self.workload.owner(pod) == Owner::Job { time } else { time.saturating_sub(ran).max(0) })
    }

    /// Creates a replacement of a pod that lost its node, if the owner of the pod replaces it and a profile serves it.
    fn replace(&mut self, id: InstanceId, now: i64) {
        let Instance { pod, bound, arrived_with_node, .. } = *self.simulator.hooks.get(id);
        let workload_pod = &self.workload.pods[pod.0 as usize];
        let owner = self.workload.owner(pod);
        match owner {
            Owner::None => {
                self.counts.lost += 1;
                return;
            }
            Owner::Node => return,
            Owner::Job | Owner::Controller if !workload_pod.is_served => return,
            Owner::Job | Owner::Controller => {}
        }
        let template = self.current.get(&pod).map_or(workload_pod.template, |(_, template)| *template);
        let replaced = self.replaced.entry(pod).or_default();
        replaced.number += 1;
        replaced.ran = replaced.ran.saturating_add(bound.map_or(0, |bound| now.saturating_sub(bound)));
        if let (Lifetime::Until(end), Some(bound), true) = (workload_pod.lifetime, bound, arrived_with_node) {
            // A Job's pod may have started before the recording.
            let begin = if owner == Owner::Job { workload_pod.created.min(bound) } else { bound };
            replaced.total = Some(end.saturating_sub(begin));
        }
        let uid = format!("{}-r{}", workload_pod.uid, replaced.number);
        self.counts.replacements += 1;
        self.create(pod, NewInstance { template, uid: &uid, node: None, created: now }, now);
    }

    fn finish(mut self, bundle: &AnyBundle) -> Simulated {
        let end = self.workload.end;
        let over_time = self.simulator.hooks.totals.finish(end);
        let instances = self.simulator.hooks.all();
        let mut waits: BTreeMap<Option<i32>, (Vec<i64>, u64)> = BTreeMap::new();
        let mut outcomes = Vec::with_capacity(instances.len());
        for instance in instances {
            let priority = self.workload.priority(instance.pod);
            let workload_pod = &self.workload.pods[instance.pod.0 as usize];
            if !instance.arrived_with_node {
                let until = instance.bound.or(instance.ended.map(|(at, _)| at)).unwrap_or(end);
                for key in [None, Some(priority)] {
                    let (waits, bound) = waits.entry(key).or_default();
                    waits.push(until - instance.created);
                    *bound += u64::from(instance.bound.is_some());
                }
            }
            let state = match (instance.ended, instance.bound) {
                (None, Some(_)) => PodState::Running,
                (None, None) => PodState::Waiting,
                (Some((_, End::Recorded)), _) => PodState::Ended,
                (Some((_, End::Preempted)), _) => PodState::Preempted,
                (Some((_, End::Evicted)), _) => PodState::Evicted,
            };
            self.counts.waiting += u64::from(state == PodState::Waiting);
            self.counts.deleted_waiting += u64::from(state == PodState::Ended && instance.bound.is_none());
            let since = |at: i64| seconds(at - self.workload.start);
            outcomes.push(PodOutcome {
                pod: workload_pod.name.to_string(),
                priority,
                created: since(instance.created),
                bound: instance.bound.map(since),
                node: instance.node.as_deref().map(str::to_owned),
                recorded_node: workload_pod.recorded_node.as_deref().map(str::to_owned),
                ended: instance.ended.map(|(at, _)| since(at)),
                state,
            });
        }
        // All pods first, then the highest priorities.
        let all = waits.remove(&None).map(|waits| time_to_bind(None, waits));
        let by_priority = waits.into_iter().rev().map(|(priority, waits)| time_to_bind(priority, waits));
        let hooks = &self.simulator.hooks;
        let is_used = |at: usize| self.options.serve_all.is_none_or(|only| only == at);
        let profiles = bundle.profiles.iter().enumerate().filter(|(at, _)| is_used(*at)).map(|(_, profile)| profile);
        let result = RunResult {
            pods: self.counts,
            attempts: hooks.attempts,
            time_to_bind: all.into_iter().chain(by_priority).collect(),
            over_time,
            samples: self.samples,
            explained: hooks.influence.decisions(),
            left_out: hooks.influence.left_out(),
            plugins: hooks.influence.finish(&scoring_plugins(profiles)),
        };
        Simulated { result, pods: outcomes }
    }
}

fn time_to_bind(priority: Option<i32>, (mut waits, bound): (Vec<i64>, u64)) -> TimeToBind {
    waits.sort_unstable();
    // The nearest rank: the smallest wait that at least this share of pods did not exceed.
    let rank = |percent: usize| waits.get((waits.len() * percent).div_ceil(100).max(1) - 1).copied().unwrap_or(0);
    TimeToBind {
        priority,
        pods: waits.len() as u64,
        bound,
        p50: seconds(rank(50)),
        p99: seconds(rank(99)),
        max: seconds(rank(100)),
    }
}
