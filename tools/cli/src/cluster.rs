//! A cluster in memory of some objects.

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::time::Duration;

use k8s_openapi::api::core::v1::Pod as ApiPod;
use schedc_bounds::text::shortened;
use schedc_core::erased::AnyBundle;
use schedc_core::extenders::Overrides;
use schedc_core::intern::Interner;
use schedc_core::model::{Pod, Uid};
use schedc_core::profile::{ProfileInfo, StartErrors};
use schedc_core::scheduler::Options;
use schedc_in_memory::server::uid_of;
use schedc_in_memory::{ApiServerOptions, SimulationHooks, Simulator, simulator};
use schedc_objects::{AnyObject, Objects};
use serde::Serialize;

/// The scheduler of pods that name none.
const DEFAULT_SCHEDULER: &str = "default-scheduler";

/// Which profile serves which pods.
#[derive(Clone, Copy, Debug)]
pub struct Routes {
    profiles: &'static [ProfileInfo],
    only: Option<usize>,
}

impl Routes {
    /// Every pod goes to the profile whose scheduler name it asks for.
    pub fn by_scheduler_name(profiles: &'static [ProfileInfo]) -> Self {
        Routes { profiles, only: None }
    }

    /// Every pod goes to the profile of this name or, if there is none, of this scheduler name.
    ///
    /// # Errors
    /// There is no such profile.
    pub fn to(profiles: &'static [ProfileInfo], name: &str) -> Result<Self, UnknownProfile> {
        Ok(Routes { profiles, only: Some(Self::index_of(profiles, name)?) })
    }

    /// The profiles.
    pub fn profiles(&self) -> &'static [ProfileInfo] {
        self.profiles
    }

    /// The index of the profile of this name or, if there is none, of this scheduler name.
    ///
    /// # Errors
    /// There is no such profile.
    pub fn index_of(profiles: &'static [ProfileInfo], name: &str) -> Result<usize, UnknownProfile> {
        let by_name = profiles.iter().position(|profile| profile.name == name);
        by_name
            .or_else(|| profiles.iter().position(|profile| profile.scheduler_name == name))
            .ok_or_else(|| UnknownProfile { name: name.to_owned(), known: profiles.iter().map(|p| p.name).collect() })
    }

    /// The profile that serves a pod, by its index.
    pub fn profile_of(&self, pod: &ApiPod) -> Option<usize> {
        let wanted = scheduler_name(pod);
        self.only.or_else(|| self.profiles.iter().position(|profile| profile.scheduler_name == wanted))
    }
}

/// No profile of the binary is called so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownProfile {
    name: String,
    known: Vec<&'static str>,
}

impl fmt::Display for UnknownProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let UnknownProfile { name, known } = self;
        write!(f, "no profile is called `{}`; there is {}", shortened(name, 200), known.join(", "))
    }
}

impl std::error::Error for UnknownProfile {}

/// The scheduler that a pod asks for.
pub fn scheduler_name(pod: &ApiPod) -> &str {
    let name = pod.spec.as_ref().and_then(|spec| spec.scheduler_name.as_deref());
    name.filter(|name| !name.is_empty()).unwrap_or(DEFAULT_SCHEDULER)
}

/// Where a pod stands before anything is decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchedulingState<'a> {
    /// It ran, and is over: it takes nothing of any node.
    Finished,
    /// It is on a node, and takes of it.
    Bound(&'a str),
    /// It is being deleted before it had a node.
    Deleting,
    /// It waits for a scheduler that is none of the profiles.
    OtherScheduler(&'a str),
    /// It waits for the profile with this index.
    Pending(usize),
}

impl<'a> SchedulingState<'a> {
    /// Where this pod stands.
    pub fn of(pod: &'a ApiPod, routes: &Routes) -> Self {
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

/// Pods that there is nothing to decide about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Skipped {
    /// Pods that have a node already.
    pub bound: usize,
    /// Of those, pods whose node is not among the objects: they count for nothing.
    pub bound_to_unknown_nodes: usize,
    /// Pods that succeeded or failed.
    pub finished: usize,
    /// Pods that are being deleted and have no node.
    pub deleting: usize,
    /// Pods of schedulers that are none of the profiles, by scheduler name.
    pub other_schedulers: BTreeMap<String, usize>,
}

impl Skipped {
    /// How many pods.
    pub fn count(&self) -> usize {
        self.bound + self.finished + self.deleting + self.other_schedulers.values().sum::<usize>()
    }
}

/// A cluster in memory, and the pods that wait in it.
pub struct Cluster<H = ()> {
    /// The cluster and its scheduler, which knows nothing of it yet.
    pub simulator: Simulator<H>,
    /// The pods to place, in the order of the input.
    pub pending: Vec<Uid>,
    /// Pods that are not to be placed.
    pub skipped: Skipped,
}

impl<H: SimulationHooks> Cluster<H> {
    /// Puts objects into a cluster. Its time is that of the newest object. `seed` decides ties between nodes.
    /// `extenders` overrides settings that profiles have for extenders.
    ///
    /// # Errors
    /// Plugins that cannot start.
    pub fn new(
        bundle: &AnyBundle,
        objects: Vec<AnyObject>,
        routes: &Routes,
        seed: u64,
        extenders: &'static Overrides,
        hooks: H,
    ) -> Result<Self, StartErrors> {
        let mut options = options(routes, seed, latest_time(&objects));
        options.scheduler.extenders = extenders;
        let mut simulator = Simulator::new(bundle, options, hooks)?;
        let nodes: HashSet<String> =
            objects.iter().filter(|object| object.kind() == "Node").map(|node| node.name().to_owned()).collect();
        let (mut pending, mut skipped) = (Vec::new(), Skipped::default());
        for object in objects {
            let is_pending = match &object {
                AnyObject::Pod(pod) => skipped.count_unless_pending(pod, routes, &nodes),
                _ => false,
            };
            // Manifests without a name were refused on reading, unless API-server defaults are left out.
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
    /// Whether a pod waits for one of the profiles.
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

/// The objects of manifests, in the order in which a scheduler is told of them.
pub fn objects(objects: Objects) -> Vec<AnyObject> {
    let Objects { nodes, pods, priority_classes, others, implied, .. } = objects;
    let mut all: Vec<AnyObject> = nodes.into_iter().map(|node| node.object.into()).collect();
    all.extend(priority_classes.into_iter().map(|class| class.object.into()));
    all.extend(others.into_iter().map(|other| other.object));
    all.extend(implied);
    all.extend(pods.into_iter().map(|pod| pod.object.into()));
    all
}

/// How clusters are simulated: deleted pods are gone at once. Time begins at `start`, in nanoseconds since 1970; `seed` decides
/// which of several equally good nodes is drawn.
pub fn options(routes: &Routes, seed: u64, start: i64) -> simulator::Options {
    // What a hint missed is not to be hidden by trying pods again, for which nobody waits anyway.
    let scheduler = Options { seed, serve_all: routes.only, leftover_after: i64::MAX, ..Options::default() };
    let server = ApiServerOptions { grace: Some(Duration::ZERO), ..ApiServerOptions::default() };
    simulator::Options { scheduler, server, start, ..simulator::Options::default() }
}

/// The newest time that objects tell of, in nanoseconds since 1970; 1970 if none tells of any.
pub fn latest_time(objects: &[AnyObject]) -> i64 {
    objects.iter().filter_map(newest_of).max().unwrap_or(0)
}

/// The newest time that an object tells of.
fn newest_of(object: &AnyObject) -> Option<i64> {
    let started = match object {
        AnyObject::Pod(pod) => pod.status.as_ref().and_then(|status| status.start_time.as_ref()),
        _ => None,
    };
    let times = object.metadata().creation_timestamp.iter().chain(started);
    times.filter_map(|time| i64::try_from(time.0.as_nanosecond()).ok()).max()
}

/// A pod as people name it: `namespace/name`.
pub fn pod_name(pod: &Pod, interner: &Interner) -> String {
    format!("{}/{}", interner.resolve(pod.spec.namespace), pod.name)
}
