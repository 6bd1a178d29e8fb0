//! A scheduler with the nodes and pods of some objects.

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::sync::Arc;

use k8s_openapi::api::core::v1::{Node, Pod as ApiPod};
use schedc_core::cache::PodState;
use schedc_core::embedded::Embedded;
use schedc_core::intern::Interner;
use schedc_core::model::{Pod, Uid};
use schedc_core::profile::{Bundle, ProfileInfo, StartError};
use schedc_core::scheduler::Options;
use schedc_objects::{AnyObject, convert_node, convert_object, convert_pod};
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
    pub fn by_scheduler_name<B: Bundle>() -> Self {
        Routes { profiles: B::PROFILES, only: None }
    }

    /// Every pod goes to the profile of this name or, if there is none, of this scheduler name.
    ///
    /// # Errors
    /// There is no such profile.
    pub fn to<B: Bundle>(name: &str) -> Result<Self, UnknownProfile> {
        Ok(Routes { profiles: B::PROFILES, only: Some(Self::index_of::<B>(name)?) })
    }

    /// The index of the profile of this name or, if there is none, of this scheduler name.
    ///
    /// # Errors
    /// There is no such profile.
    pub fn index_of<B: Bundle>(name: &str) -> Result<usize, UnknownProfile> {
        let profiles = B::PROFILES;
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
        write!(f, "no profile `{name}` is compiled in; there is {}", known.join(", "))
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
pub enum Standing<'a> {
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

impl<'a> Standing<'a> {
    /// Where this pod stands.
    pub fn of(pod: &'a ApiPod, routes: &Routes) -> Self {
        let phase = pod.status.as_ref().and_then(|status| status.phase.as_deref());
        let node = pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref()).filter(|node| !node.is_empty());
        match (phase, node) {
            (Some("Succeeded" | "Failed"), _) => Standing::Finished,
            (_, Some(node)) => Standing::Bound(node),
            _ if pod.metadata.deletion_timestamp.is_some() => Standing::Deleting,
            _ => match routes.profile_of(pod) {
                Some(profile) => Standing::Pending(profile),
                None => Standing::OtherScheduler(scheduler_name(pod)),
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

/// A scheduler that knows nodes and the pods on them, and the pods that wait for it.
pub struct Cluster<B: Bundle> {
    /// The scheduler. Nothing is queued.
    pub embedded: Embedded<B>,
    /// The pods to place, each with the index of its profile, in the order of the input.
    pub pending: Vec<(usize, Arc<Pod>)>,
    /// Pods that are not to be placed.
    pub skipped: Skipped,
}

impl<B: Bundle> Cluster<B> {
    /// Brings nodes, what else plugins look at, and pods to a new scheduler. `seed` decides which of several equally good nodes is drawn.
    ///
    /// # Errors
    /// Plugins that cannot start.
    pub fn new<'a>(
        nodes: impl Iterator<Item = &'a Node>,
        others: impl Iterator<Item = &'a AnyObject>,
        pods: impl Iterator<Item = &'a ApiPod>,
        routes: &Routes,
        seed: u64,
    ) -> Result<Self, Vec<StartError>> {
        let options = Options { seed, serve_all: routes.only, ..Options::default() };
        let mut embedded = Embedded::with(options)?;
        let cache = &mut embedded.scheduler.cache;
        for node in nodes {
            let node = convert_node(node, &mut cache.base.interner);
            cache.set_node(node);
        }
        for object in others {
            if let Some(object) = convert_object(object, &mut cache.base.interner) {
                cache.set_object(object);
            }
        }
        let mut pending = Vec::new();
        let mut skipped = Skipped::default();
        let mut seen = HashSet::new();
        for pod in pods {
            match Standing::of(pod, routes) {
                Standing::Finished => skipped.finished += 1,
                Standing::Deleting => skipped.deleting += 1,
                Standing::OtherScheduler(name) => {
                    *skipped.other_schedulers.entry(name.to_owned()).or_default() += 1;
                }
                Standing::Bound(node) => {
                    let pod = distinct(convert_pod(pod, &mut cache.base.interner), &mut seen, &cache.base.interner);
                    let node = cache.base.interner.intern(node);
                    skipped.bound += 1;
                    skipped.bound_to_unknown_nodes += usize::from(cache.base.node(node).is_none());
                    cache.add_pod(Arc::new(pod), node, PodState::Bound);
                }
                Standing::Pending(profile) => {
                    let pod = distinct(convert_pod(pod, &mut cache.base.interner), &mut seen, &cache.base.interner);
                    pending.push((profile, Arc::new(pod)));
                }
            }
        }
        Ok(Cluster { embedded, pending, skipped })
    }
}

/// A copied manifest may have the uid of the pod that it was copied from, and is another pod all the same.
fn distinct(mut pod: Pod, seen: &mut HashSet<Uid>, interner: &Interner) -> Pod {
    if !seen.insert(pod.uid.clone()) {
        pod.uid = Uid(pod_name(&pod, interner).into());
    }
    pod
}

/// A pod as people name it: `namespace/name`.
pub fn pod_name(pod: &Pod, interner: &Interner) -> String {
    format!("{}/{}", interner.resolve(pod.spec.namespace), pod.name)
}
