//! All pending pods are placed, one after the other.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use schedc_core::cache::Base;
use schedc_core::extension_points::{Nomination, PostFilterResult};
use schedc_core::intern::Symbol;
use schedc_core::model::{NodeIndex, Pod, Uid};
use schedc_core::profile::Bundle;
use schedc_core::scheduler::{Failure, Outcome};
use serde::Serialize;

use crate::cluster::{Cluster, Skipped, pod_name};
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

/// Places the pending pods in queue order. `progress` is called with the number of pods that are decided.
///
/// Preemption happens at once: the victims leave, and the pod that they leave for is tried again. Neither victims nor
/// pods that failed before are.
pub fn simulate<B: Bundle>(cluster: Cluster<B>, input: Input, mut progress: impl FnMut(usize)) -> Report {
    let start = Instant::now();
    let Cluster { mut embedded, pending, mut skipped } = cluster;
    let mut outcomes = Outcomes::default();
    let mut preempted = Vec::new();
    let (mut placements, mut unschedulable) = (Vec::new(), Vec::new());
    for (_, pod) in pending {
        let (uid, name) = (pod.uid.clone(), pod_name(&pod, embedded.interner()));
        embedded.pod(Arc::unwrap_or_clone(pod));
        if let Some(status) = embedded.scheduler.held(&uid) {
            unschedulable.push(Unschedulable { pod: name, message: status.message(), nominated_node: None });
        }
    }
    while let Some(outcome) = embedded.step() {
        for (victim, node) in victims(&outcome) {
            let node = embedded.scheduler.cache.base.infos()[node.get()].node.as_ref().map(|node| node.name);
            skipped.bound -= usize::from(!outcomes.remove(&victim.uid));
            preempted.push((victim, node.unwrap_or(Symbol::EMPTY), outcome.pod.clone()));
        }
        outcomes.put(outcome);
        progress(outcomes.len());
    }
    let scheduling = start.elapsed();

    let base = &embedded.scheduler.cache.base;
    for outcome in outcomes.into_list() {
        let pod = pod_name(&outcome.pod, &base.interner);
        match outcome.result {
            Ok(placed) => placements.push(Placement { pod, node: placed.node.to_string() }),
            Err(failure) => {
                let nominated_node = nominated_node(&outcome.pod, &failure, base);
                unschedulable.push(Unschedulable { pod, message: failure.message().to_owned(), nominated_node });
            }
        }
    }
    let name = |pod: &Pod| pod_name(pod, &base.interner);
    let preempted: Vec<_> = preempted
        .iter()
        .map(|(victim, node, by)| Preempted {
            pod: name(victim),
            node: base.interner.resolve(*node).to_owned(),
            by: name(by),
        })
        .collect();
    Report {
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
    }
}

/// The pods that leave for a pod that was not placed, each with its node.
fn victims(outcome: &Outcome) -> Vec<(Arc<Pod>, NodeIndex)> {
    let Err(Failure::Unschedulable(unschedulable)) = &outcome.result else { return Vec::new() };
    let Some(chosen) = unschedulable.post_filter.as_ref().and_then(PostFilterResult::nominated) else {
        return Vec::new();
    };
    chosen.to_be_removed().map(|victim| (victim.clone(), chosen.node)).collect()
}

/// Where room is kept for a pod that was not placed.
fn nominated_node(pod: &Pod, failure: &Failure, base: &Base) -> Option<String> {
    let nomination = match failure {
        Failure::Unschedulable(unschedulable) => unschedulable.nomination(),
        Failure::Error(_) => Nomination::Clear,
    };
    match nomination {
        Nomination::Keep => pod.nominated_node.map(|name| base.interner.resolve(name).to_owned()),
        Nomination::Clear => None,
        Nomination::Set(node) => Some(base.name(node).to_owned()),
    }
}

/// The last outcome of every pod: one that a plugin activates is tried again.
#[derive(Default)]
struct Outcomes {
    list: Vec<Option<Outcome>>,
    by_pod: HashMap<Uid, usize>,
}

impl Outcomes {
    fn put(&mut self, outcome: Outcome) {
        let at = *self.by_pod.entry(outcome.pod.uid.clone()).or_insert(self.list.len());
        match self.list.get_mut(at) {
            Some(earlier) => *earlier = Some(outcome),
            None => self.list.push(Some(outcome)),
        }
    }

    /// Forgets the outcome of a pod. Returns whether there was one.
    fn remove(&mut self, uid: &Uid) -> bool {
        self.by_pod.remove(uid).and_then(|at| self.list.get_mut(at)?.take()).is_some()
    }

    /// How many pods are decided, those included that lost their node again.
    fn len(&self) -> usize {
        self.list.len()
    }

    fn into_list(self) -> impl Iterator<Item = Outcome> {
        self.list.into_iter().flatten()
    }
}
