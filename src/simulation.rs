//! All pending pods are placed.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use schedc_core::cache::Base;
use schedc_core::model::{Pod, Uid};
use schedc_core::profile::{Bundle, StartError};
use schedc_core::scheduler::{Failure, Outcome};
use schedc_embedded::server::{Change, ChangeKind, Key, uid_of};
use schedc_embedded::{Hooks, Simulator};
use schedc_objects::AnyObject;
use serde::Serialize;

use crate::cluster::{Cluster, Routes, Skipped, pod_name};
use crate::utilisation::{Utilisation, utilisation};

/// What became of the pods.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// Counts and times.
    pub summary: Summary,
    /// Pods that were placed, in the order of the decisions.
    pub placements: Vec<Placement>,
    /// Pods that were not placed, in the order of the decisions; before all others those that are held back, by a
    /// scheduling gate for example.
    pub unschedulable: Vec<Unschedulable>,
    /// Pods that had a node and lost it to a pod of higher priority, in the order in which they did.
    pub preempted: Vec<Preempted>,
    /// How much of each resource is requested in the end.
    pub utilisation: Vec<Utilisation>,
}

/// Counts and times.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// All pods of the input: placed, unschedulable, preempted and skipped.
    pub pods: usize,
    /// Pods that were placed.
    pub placed: usize,
    /// Pods that were not placed.
    pub unschedulable: usize,
    /// Pods that lost their node to others.
    pub preempted: usize,
    /// Pods that there was nothing to decide about.
    pub skipped: usize,
    /// Why those were skipped.
    pub skipped_by: Skipped,
    /// Nodes of the input.
    pub nodes: usize,
    /// Objects of the input besides nodes and pods that scheduling looks at, by kind.
    pub objects: BTreeMap<&'static str, usize>,
    /// Objects that scheduling does not look at, by kind.
    pub other_kinds: BTreeMap<String, usize>,
    /// Reading and scheduling, in seconds.
    pub seconds: f64,
    /// Reading the input, in seconds.
    pub read_seconds: f64,
    /// Scheduling, in seconds.
    pub schedule_seconds: f64,
}

/// A pod and its node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Placement {
    /// `namespace/name`.
    pub pod: String,
    /// The node's name.
    pub node: String,
}

/// A pod without a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unschedulable {
    /// `namespace/name`.
    pub pod: String,
    /// Why, in kube-scheduler's words.
    pub message: String,
    /// The node on which room is kept for it.
    #[serde(rename = "nominatedNode", skip_serializing_if = "Option::is_none")]
    pub nominated_node: Option<String>,
}

/// A pod that lost its node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Preempted {
    /// `namespace/name`.
    pub pod: String,
    /// The name of the node that it lost.
    pub node: String,
    /// The pod that room was made for: `namespace/name`.
    pub by: String,
}

/// What was read besides nodes and pods, and how long that took.
#[derive(Clone, Debug, Default)]
pub struct Input {
    /// Objects that scheduling looks at, by kind.
    pub objects: BTreeMap<&'static str, usize>,
    /// Objects that scheduling does not look at, by kind.
    pub other_kinds: BTreeMap<String, usize>,
    /// The time from the start until the cluster was complete.
    pub read: Duration,
}

/// Places the pending pods. `progress` is called with the number of pods that are decided.
///
/// Everything happens at once: bindings, and that victims of preemption leave. Pods that were tried in vain are tried again when
/// something changes that may help them. Victims are gone for good.
///
/// # Errors
/// Plugins that cannot start.
pub fn simulate<B: Bundle>(
    objects: Vec<AnyObject>,
    routes: &Routes,
    seed: u64,
    input: Input,
    progress: impl FnMut(usize),
) -> Result<Report, Vec<StartError>> {
    let start = Instant::now();
    let recorder = Recorder { progress, outcomes: Outcomes::default(), victims: HashMap::new(), preempted: Vec::new() };
    let Cluster { mut simulator, pending, mut skipped } = Cluster::<B, _>::new(objects, routes, seed, recorder)?;
    simulator.run();
    let scheduling = start.elapsed();

    let mut unschedulable = Vec::new();
    for uid in &pending {
        let Some(held) = simulator.scheduler.held(uid) else { continue };
        let Some(pod) = simulator.scheduler.pending(uid) else { continue };
        let pod = pod_name(pod, &simulator.scheduler.cache.base.interner);
        unschedulable.push(Unschedulable { nominated_node: None, message: held.message(), pod });
        simulator.hooks.outcomes.remove(uid);
    }
    let Simulator { hooks: Recorder { outcomes, preempted, .. }, scheduler, server, .. } = simulator;
    let is_pending: HashSet<&Uid> = pending.iter().collect();
    skipped.bound -= preempted.iter().filter(|(uid, _)| !is_pending.contains(uid)).count();
    let base = &scheduler.cache.base;
    let mut placements = Vec::new();
    for (pod, decided) in outcomes.into_list() {
        let name = pod_name(&pod, &base.interner);
        match decided {
            Ok(node) => placements.push(Placement { pod: name, node: node.to_string() }),
            Err(message) => {
                let key = Key::pod(pod.namespace.clone(), pod.name.clone());
                let nominated_node = server.get(&key).and_then(|pod| nominated_node(pod));
                unschedulable.push(Unschedulable { pod: name, message, nominated_node });
            }
        }
    }
    let preempted: Vec<_> = preempted.into_iter().map(|(_, preempted)| preempted).collect();
    Ok(Report {
        summary: Summary {
            pods: placements.len() + unschedulable.len() + preempted.len() + skipped.count(),
            placed: placements.len(),
            unschedulable: unschedulable.len(),
            preempted: preempted.len(),
            skipped: skipped.count(),
            skipped_by: skipped,
            nodes: base.count(),
            objects: input.objects,
            other_kinds: input.other_kinds,
            seconds: (input.read + scheduling).as_secs_f64(),
            read_seconds: input.read.as_secs_f64(),
            schedule_seconds: scheduling.as_secs_f64(),
        },
        placements,
        unschedulable,
        preempted,
        utilisation: utilisation(base),
    })
}

/// Where room is kept for a pod that was not placed.
fn nominated_node(pod: &AnyObject) -> Option<String> {
    let AnyObject::Pod(pod) = pod else { return None };
    pod.status.as_ref()?.nominated_node_name.clone()
}

/// Takes down what becomes of pods.
struct Recorder<F> {
    progress: F,
    outcomes: Outcomes,
    /// Pods that are to make room, and the name of the pod that they make it for.
    victims: HashMap<Uid, String>,
    /// Those that did.
    preempted: Vec<(Uid, Preempted)>,
}

impl<F: FnMut(usize)> Hooks for Recorder<F> {
    fn outcome(&mut self, _: i64, outcome: &Outcome, cluster: &Base) {
        if let Err(Failure::Unschedulable(unschedulable)) = &outcome.result {
            let victims = unschedulable.post_filter.iter().flat_map(|found| &found.victims);
            let by = pod_name(&outcome.pod, &cluster.interner);
            self.victims.extend(victims.map(|victim| (victim.clone(), by.clone())));
        }
        self.outcomes.put(outcome);
        (self.progress)(self.outcomes.len());
    }

    fn changed(&mut self, _: i64, change: &Change) {
        let AnyObject::Pod(pod) = &*change.object else { return };
        if change.kind != ChangeKind::Deleted {
            return;
        }
        let uid = uid_of(&change.object);
        self.outcomes.remove(&uid);
        if let Some(by) = self.victims.remove(&uid) {
            let node = pod.spec.as_ref().and_then(|spec| spec.node_name.clone()).unwrap_or_default();
            let pod = format!("{}/{}", change.object.namespace(), change.object.name());
            self.preempted.push((uid, Preempted { pod, node, by }));
        }
    }
}

/// What became of a pod: its node, or why it has none.
type Decided = Result<Arc<str>, String>;

/// The last outcome of every pod.
#[derive(Default)]
struct Outcomes {
    list: Vec<Option<(Arc<Pod>, Decided)>>,
    by_pod: HashMap<Uid, usize>,
}

impl Outcomes {
    /// A pod that is placed comes last; one that is tried in vain again stays where it is.
    fn put(&mut self, outcome: &Outcome) {
        let decided = match &outcome.result {
            Ok(placed) => {
                self.remove(&outcome.pod.uid);
                Ok(placed.node.clone())
            }
            Err(failure) => Err(failure.message().to_owned()),
        };
        let at = *self.by_pod.entry(outcome.pod.uid.clone()).or_insert(self.list.len());
        let outcome = Some((outcome.pod.clone(), decided));
        match self.list.get_mut(at) {
            Some(earlier) => *earlier = outcome,
            None => self.list.push(outcome),
        }
    }

    /// Forgets the outcome of a pod.
    fn remove(&mut self, uid: &Uid) {
        if let Some(at) = self.by_pod.remove(uid) {
            self.list[at] = None;
        }
    }

    /// How many pods are decided.
    fn len(&self) -> usize {
        self.by_pod.len()
    }

    fn into_list(self) -> impl Iterator<Item = (Arc<Pod>, Decided)> {
        self.list.into_iter().flatten()
    }
}
