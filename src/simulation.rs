//! All pending pods are placed, one after the other.

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

use schedc_core::embedded::Embedded;
use schedc_core::profile::Bundle;
use schedc_core::scheduler::Outcome;
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
    /// How much of each resource is requested in the end.
    pub utilisation: Vec<Utilisation>,
}

/// Counts and times.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// All pods of the input: placed, unschedulable and skipped.
    pub pods: usize,
    /// Pods that were placed.
    pub placed: usize,
    /// Pods that were not placed.
    pub unschedulable: usize,
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
pub fn simulate<B: Bundle>(cluster: Cluster<B>, input: Input, mut progress: impl FnMut(usize)) -> Report {
    let start = Instant::now();
    let Cluster { mut scheduler, pending, skipped } = cluster;
    let mut outcomes = Outcomes::default();
    for (profile, pod) in pending {
        if let Some(held) = scheduler.enqueue(profile, pod) {
            outcomes.put(held);
        }
    }
    while let Some(outcome) = scheduler.step(&Embedded, &Embedded) {
        outcomes.put(outcome);
        progress(outcomes.list.len());
    }
    let scheduling = start.elapsed();

    let base = &scheduler.cache.base;
    let (mut placements, mut unschedulable) = (Vec::new(), Vec::new());
    for outcome in outcomes.list {
        let pod = pod_name(&outcome.pod, &base.interner);
        match outcome.result {
            Ok(placed) => placements.push(Placement { pod, node: placed.node.to_string() }),
            Err(failure) => unschedulable.push(Unschedulable { pod, message: failure.message() }),
        }
    }
    Report {
        summary: Summary {
            pods: placements.len() + unschedulable.len() + skipped.count(),
            placed: placements.len(),
            unschedulable: unschedulable.len(),
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
        utilisation: utilisation(base),
    }
}

/// The last outcome of every pod: one that a plugin activates is tried again.
#[derive(Default)]
struct Outcomes {
    list: Vec<Outcome>,
    by_pod: HashMap<schedc_core::model::Uid, usize>,
}

impl Outcomes {
    fn put(&mut self, outcome: Outcome) {
        let at = *self.by_pod.entry(outcome.pod.uid.clone()).or_insert(self.list.len());
        match self.list.get_mut(at) {
            Some(earlier) => *earlier = outcome,
            None => self.list.push(outcome),
        }
    }
}
