//! An in-memory cluster that contains given objects.

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use k8s_openapi::api::core::v1::Pod as ApiPod;
use schedc_core::erased::AnyBundle;
use schedc_core::extenders::Overrides;
use schedc_core::model::Uid;
use schedc_core::profile::StartErrors;
use schedc_core::scheduler;
use schedc_in_memory::server::uid_of;
use schedc_in_memory::{ApiServerOptions, SimulationHooks, Simulator, simulator};
use schedc_objects::{AnyObject, Objects};
use serde::Serialize;

pub use schedc_evaluation::{Routes, UnknownProfile, pod_name, scheduler_name};

/// Scheduling state of a pod before any decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SchedulingState<'a> {
    /// The pod has terminated and uses no resources of a node.
    Finished,
    /// The pod is bound to this node and uses its resources.
    Bound(&'a str),
    /// The pod is being deleted and has no node.
    Deleting,
    /// The pod waits for another scheduler.
    OtherScheduler(&'a str),
    /// The pod waits for the profile with this index.
    Pending(usize),
}

impl<'a> SchedulingState<'a> {
    /// Returns the state of this pod.
    pub(crate) fn of(pod: &'a ApiPod, routes: &Routes) -> Self {
        let phase = pod.status.as_ref().and_then(|status| status.phase.as_deref());
        let node = pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref()).filter(|node| !node.is_empty());
        match (phase, node) {
            (Some("Succeeded" | "Failed"), _) => SchedulingState::Finished,
            (_, Some(node)) => SchedulingState::Bound(node),
            _ if pod.metadata.deletion_timestamp.is_some() => SchedulingState::Deleting,
            _ => match routes.profile_of(pod) {
                Some(profile) => SchedulingState::Pending(profile),
                None => SchedulingState::OtherScheduler(scheduler_name(pod)),
            },
        }
    }
}

/// Numbers of pods that need no decision.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Skipped {
    /// Pods that have a node.
    pub bound: usize,
    /// Of those, pods whose node is not among the objects. They are ignored.
    pub bound_to_unknown_nodes: usize,
    /// Pods that succeeded or failed.
    pub finished: usize,
    /// Pods that are being deleted and have no node.
    pub deleting: usize,
    /// Pods of other schedulers, by scheduler name.
    pub other_schedulers: BTreeMap<String, usize>,
}

impl Skipped {
    /// Returns the number of skipped pods.
    pub fn count(&self) -> usize {
        self.bound + self.finished + self.deleting + self.other_schedulers.values().sum::<usize>()
    }
}

/// Settings of a cluster.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The profile for each pod.
    pub routes: Routes,
    /// Seed for the choice among equally good nodes.
    pub seed: u64,
    /// Overrides of the profiles' extender settings.
    pub extenders: &'static Overrides,
}

/// An in-memory cluster, and its pending pods.
pub struct Cluster<H = ()> {
    /// The cluster and its scheduler, which has not received any object yet.
    pub simulator: Simulator<H>,
    /// The pods to place, in the order of the input.
    pub pending: Vec<Uid>,
    /// Pods that will not be placed.
    pub skipped: Skipped,
}

impl<H: SimulationHooks> Cluster<H> {
    /// Creates a cluster with these objects. Its time begins at the newest time in them.
    ///
    /// # Errors
    /// Returns an error if a plugin cannot start.
    pub fn new(bundle: &AnyBundle, objects: Vec<AnyObject>, options: &Options, hooks: H) -> Result<Self, StartErrors> {
        let routes = &options.routes;
        let mut of_simulator = simulator_options(routes, options.seed, latest_time(&objects));
        of_simulator.scheduler.extenders = options.extenders;
        let mut simulator = Simulator::new(bundle, of_simulator, hooks)?;
        let nodes: HashSet<String> =
            objects.iter().filter(|object| object.kind() == "Node").map(|node| node.name().to_owned()).collect();
        let (mut pending, mut skipped) = (Vec::new(), Skipped::default());
        for object in objects {
            let is_pending = match &object {
                AnyObject::Pod(pod) => skipped.count_unless_pending(pod, routes, &nodes),
                _ => false,
            };
            // Only an object without a name cannot be added, and the reader has reported that as an error.
            if let Ok(object) = simulator.add(object)
                && is_pending
            {
                pending.push(uid_of(&object));
            }
        }
        Ok(Cluster { simulator, pending, skipped })
    }
}

impl Skipped {
    /// Returns whether a pod waits for one of the profiles, and counts it otherwise.
    fn count_unless_pending(&mut self, pod: &ApiPod, routes: &Routes, nodes: &HashSet<String>) -> bool {
        match SchedulingState::of(pod, routes) {
            SchedulingState::Finished => self.finished += 1,
            SchedulingState::Deleting => self.deleting += 1,
            SchedulingState::OtherScheduler(name) => *self.other_schedulers.entry(name.to_owned()).or_default() += 1,
            SchedulingState::Bound(node) => {
                self.bound += 1;
                self.bound_to_unknown_nodes += usize::from(!nodes.contains(node));
            }
            SchedulingState::Pending(_) => return true,
        }
        false
    }
}

/// Returns the objects of manifests in the order in which a scheduler receives them.
pub fn objects(objects: Objects) -> Vec<AnyObject> {
    let Objects { nodes, pods, priority_classes, others, implied, .. } = objects;
    let mut all: Vec<AnyObject> = nodes.into_iter().map(|node| node.object.into()).collect();
    all.extend(priority_classes.into_iter().map(|class| class.object.into()));
    all.extend(others.into_iter().map(|other| other.object));
    all.extend(implied);
    all.extend(pods.into_iter().map(|pod| pod.object.into()));
    all
}

/// Returns the options of a simulated cluster in which pods are deleted without delay. Time begins at `start`, in
/// nanoseconds since 1970. `seed` decides ties between nodes.
pub fn simulator_options(routes: &Routes, seed: u64, start: i64) -> simulator::Options {
    let serve_all = routes.only();
    // Pods that are unschedulable for long are not retried without an event: such retries would hide missing hints.
    let scheduler = scheduler::Options {
        seed,
        serve_all,
        leftover_after: i64::MAX,
        lists_preemption_candidates: true,
        ..scheduler::Options::default()
    };
    let server = ApiServerOptions { grace: Some(Duration::ZERO), ..ApiServerOptions::default() };
    simulator::Options { scheduler, server, start, ..simulator::Options::default() }
}

/// Returns the newest time in the objects, in nanoseconds since 1970; 1970 if there is none.
pub(crate) fn latest_time(objects: &[AnyObject]) -> i64 {
    objects.iter().filter_map(newest_of).max().unwrap_or(0)
}

/// Returns the newest time in an object.
fn newest_of(object: &AnyObject) -> Option<i64> {
    let started = match object {
        AnyObject::Pod(pod) => pod.status.as_ref().and_then(|status| status.start_time.as_ref()),
        _ => None,
    };
    let times = object.metadata().creation_timestamp.iter().chain(started);
    times.filter_map(|time| i64::try_from(time.0.as_nanosecond()).ok()).max()
}
