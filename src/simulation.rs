//! All pending pods are placed, one after the other.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use schedc_core::cache::{Base, PodState};
use schedc_core::embedded::Embedded;
use schedc_core::extension_points::{Nomination, PostFilterResult};
use schedc_core::model::{Pod, Uid};
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
    let Cluster { mut scheduler, pending, mut skipped } = cluster;
    let mut outcomes = Outcomes::default();
    let mut preempted = Vec::new();
    for (profile, pod) in pending {
        if let Some(held) = scheduler.enqueue(profile, pod) {
            outcomes.put(held);
        }
    }
    while let Some(outcome) = scheduler.step(&Embedded, &Embedded) {
        let mut made_room = false;
        for victim in victims(&outcome) {
            // A pod that a Permit plugin still keeps waiting is not there to leave.
            let Some((_, node, PodState::Bound)) = scheduler.cache.pod(&victim.uid) else { continue };
            scheduler.cache.remove_pod(&victim.uid);
            made_room = true;
            // A pod that was going anyway is nobody's victim.
            if !victim.deleting {
                skipped.bound -= usize::from(!outcomes.remove(&victim.uid));
                preempted.push((victim, node, outcome.pod.clone()));
            }
        }
        if !(made_room && scheduler.activate(&outcome.pod.uid)) {
            outcomes.put(outcome);
            progress(outcomes.len());
        }
    }
    let scheduling = start.elapsed();

    let base = &scheduler.cache.base;
    let (mut placements, mut unschedulable) = (Vec::new(), Vec::new());
    for outcome in outcomes.into_list() {
        let pod = pod_name(&outcome.pod, &base.interner);
        match outcome.result {
            Ok(placed) => placements.push(Placement { pod, node: placed.node.to_string() }),
            Err(failure) => {
                let nominated_node = nominated_node(&outcome.pod, &failure, base);
                unschedulable.push(Unschedulable { pod, message: failure.message(), nominated_node });
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

/// The pods that leave for a pod that was not placed, those included that are going anyway.
fn victims(outcome: &Outcome) -> Vec<Arc<Pod>> {
    let Err(Failure::Unschedulable(unschedulable)) = &outcome.result else { return Vec::new() };
    let chosen = unschedulable.post_filter.as_ref().and_then(PostFilterResult::nominated);
    chosen.map(|candidate| candidate.victims.clone()).unwrap_or_default()
}

/// Where room is kept for a pod that was not placed.
fn nominated_node(pod: &Pod, failure: &Failure, base: &Base) -> Option<String> {
    let nomination = match failure {
        Failure::Unschedulable(unschedulable) => unschedulable.nomination(),
        Failure::Held(_) => Nomination::Keep,
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
