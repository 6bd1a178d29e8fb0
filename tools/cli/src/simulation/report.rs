//! What became of a cluster.

use std::collections::BTreeMap;

use serde::Serialize;

use super::log::Line;
use crate::budgets::{ProtectedPod, Status};
use crate::cluster::Skipped;
use crate::timeline::Span;
use crate::utilisation::Utilisation;

/// What became of the pods of a cluster, and when. All times are seconds since the start, unless something else is said.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// Counts and times.
    pub summary: Summary,
    /// How long pods waited that were placed; none if none was.
    pub waits: Option<Waits>,
    /// What happened when; empty if no time passed.
    pub over_time: Vec<Interval>,
    /// Pods that were placed, in the order in which they were bound.
    pub placements: Vec<Placement>,
    /// Pods that have no node in the end, in the order in which they were tried first; before all others those that are
    /// held back, by a scheduling gate for example.
    pub unschedulable: Vec<Unschedulable>,
    /// Pods that were deleted before they had a node, in the same order.
    pub deleted_unplaced: Vec<Unschedulable>,
    /// Pods that had a node and lost it to a pod of higher priority, in the order in which they did.
    pub preempted: Vec<Preempted>,
    /// Pods that would have been preempted if no disruption budget had kept them, by name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kept_by_budgets: Vec<KeptByBudget>,
    /// The disruption budgets in the end, by name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub budgets: Vec<Status>,
    /// How much of each resource is requested in the end.
    pub utilisation: Vec<Utilisation>,
    /// All that happened, if that was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub log: Vec<Line>,
}

/// Counts and times.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// All pods that ever were: placed, unschedulable, deleted before they were placed, preempted and skipped.
    pub pods: usize,
    /// Pods that were placed and not preempted. They may be gone by the end.
    pub placed: usize,
    /// Pods that have no node in the end.
    pub unschedulable: usize,
    /// Pods that were deleted before they had a node.
    pub deleted_unplaced: usize,
    /// Pods that lost their node to others.
    pub preempted: usize,
    /// Pods that there was nothing to decide about.
    pub skipped: usize,
    /// Why those were skipped.
    pub skipped_by: Skipped,
    /// Attempts to place a pod.
    pub attempts: usize,
    /// Of those, attempts of pods that had been tried before.
    pub retries: usize,
    /// When time starts: the point in time, if events name any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
    /// When it ended.
    pub end: f64,
    /// Why.
    pub ended: Ended,
    /// Creations, changes and deletions of events files and traces that took place.
    pub events: usize,
    /// Of those, changes and deletions of objects that were gone by then, as preempted pods are.
    pub events_without_object: usize,
    /// Those that would have been later than the simulation was stopped.
    pub events_not_reached: usize,
    /// Nodes in the end.
    pub nodes: usize,
    /// Objects of the input, events included, besides nodes and pods that scheduling looks at, by kind.
    pub objects: BTreeMap<&'static str, usize>,
    /// Objects of the input that scheduling does not look at, by kind.
    pub other_kinds: BTreeMap<String, usize>,
    /// Reading and scheduling, in seconds of real time.
    pub seconds: f64,
    /// Reading the input, in seconds of real time.
    pub read_seconds: f64,
    /// The simulation, in seconds of real time.
    pub schedule_seconds: f64,
}

/// Why a simulation ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    /// Nothing happens any more; pods that are not placed wait for an event.
    #[default]
    NothingHappens,
    /// Pods are tried again and again, and it changes nothing.
    NothingHelps,
    /// It was to stop.
    TimeIsOver,
}

/// How long pods waited for a node, from when they came to when they were bound.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Waits {
    /// Half of the pods waited no longer.
    pub p50: f64,
    /// 99 of 100 pods waited no longer.
    pub p99: f64,
    /// The longest wait.
    pub max: f64,
}

impl Waits {
    /// Of all waits, in nanoseconds.
    pub(super) fn of(mut waits: Vec<i64>) -> Option<Waits> {
        waits.sort_unstable();
        let max = *waits.last()?;
        // The nearest rank: the smallest wait that at least so many did not exceed.
        let rank = |percent: usize| waits[(waits.len() * percent).div_ceil(100).max(1) - 1];
        let seconds = |nanoseconds| Span(nanoseconds).seconds();
        Some(Waits { p50: seconds(rank(50)), p99: seconds(rank(99)), max: seconds(max) })
    }
}

/// A part of the time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Interval {
    /// When it begins.
    pub from: f64,
    /// When it ends; what happens then is part of the next, unless this is the last.
    pub to: f64,
    /// Pods that came.
    pub created: usize,
    /// Pods that were bound.
    pub placed: usize,
    /// Pods that went.
    pub deleted: usize,
    /// Of those, pods that were preempted.
    pub preempted: usize,
    /// Pods that wait for a node when it ends.
    pub pending: usize,
    /// Pods that are on nodes when it ends.
    pub running: usize,
}

/// A pod and its node.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Placement {
    /// `namespace/name`.
    pub pod: String,
    /// The node's name.
    pub node: String,
    /// When the pod came.
    pub created: f64,
    /// When it was bound.
    pub at: f64,
    /// How long it waited for that.
    pub waited: f64,
    /// How often it was tried.
    pub attempts: u32,
    /// When it went, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deleted: Option<f64>,
}

/// A pod without a node.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Unschedulable {
    /// `namespace/name`.
    pub pod: String,
    /// Why it was not placed when it was tried last, in kube-scheduler's words.
    pub message: String,
    /// When the pod came.
    pub created: f64,
    /// How often it was tried.
    pub attempts: u32,
    /// When it went, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deleted: Option<f64>,
    /// The node on which room is kept for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nominated_node: Option<String>,
}

/// A pod that lost its node.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Preempted {
    /// `namespace/name`.
    pub pod: String,
    /// The name of the node that it lost.
    pub node: String,
    /// The pod that room was made for: `namespace/name`.
    pub by: String,
    /// Disruption budgets that this violates: `namespace/name`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub violates: Vec<String>,
    /// When it was gone.
    pub at: f64,
}

/// A pod that a disruption budget keeps from being preempted.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KeptByBudget {
    /// The pod, its node and the budget.
    #[serde(flatten)]
    pub kept: ProtectedPod,
    /// The pod that needed room: `namespace/name`.
    pub from: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_nearest_ranks() {
        let of = |waits: &[i64]| {
            Waits::of(waits.iter().map(|s| s * 1_000_000_000).collect()).map(|waits| (waits.p50, waits.p99, waits.max))
        };
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[3]), Some((3.0, 3.0, 3.0)));
        assert_eq!(of(&[4, 1, 3, 2]), Some((2.0, 4.0, 4.0)));
        assert_eq!(of(&(1..=200).collect::<Vec<_>>()), Some((100.0, 198.0, 200.0)));
    }
}
