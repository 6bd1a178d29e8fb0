//! The report of a simulation.

use std::collections::BTreeMap;

use serde::Serialize;

use super::log::Line;
use crate::budgets::{ProtectedPod, Status};
use crate::cluster::Skipped;
use crate::timeline::Span;
use crate::utilisation::Utilisation;

/// Results for the pods of a cluster. All times are in seconds since the start, unless noted otherwise.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// Counts and times.
    pub summary: Summary,
    /// Waiting times of placed pods; `None` without placed pods.
    pub waits: Option<Waits>,
    /// Counts by interval; empty if no time passed.
    pub over_time: Vec<Interval>,
    /// Placed pods, in the order of their binding.
    pub placements: Vec<Placement>,
    /// Pods without a node at the end: first those without an attempt, such as gated pods, then the others in the order
    /// of their first attempts.
    pub unschedulable: Vec<Unschedulable>,
    /// Pods that were deleted before they had a node, in the order of `unschedulable`.
    pub deleted_unplaced: Vec<Unschedulable>,
    /// Pods that lost their node to a pod of higher priority, in the order of time.
    pub preempted: Vec<Preempted>,
    /// Pods that would have been preempted without a disruption budget, by name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kept_by_budgets: Vec<KeptByBudget>,
    /// The disruption budgets at the end, by name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub budgets: Vec<Status>,
    /// Requested share of each resource at the end.
    pub utilisation: Vec<Utilisation>,
    /// The log, if requested.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub log: Vec<Line>,
}

/// Counts and times.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// All pods that ever existed: placed, unschedulable, deleted before they were placed, preempted and skipped.
    pub pods: usize,
    /// Pods that were placed and not preempted. They may have been deleted since.
    pub placed: usize,
    /// Pods without a node at the end.
    pub unschedulable: usize,
    /// Pods that were deleted before they had a node.
    pub deleted_unplaced: usize,
    /// Pods that lost their node by preemption.
    pub preempted: usize,
    /// Pods that needed no decision.
    pub skipped: usize,
    /// Skipped pods by reason.
    pub skipped_by: Skipped,
    /// Scheduling attempts.
    pub attempts: usize,
    /// Of those, retries.
    pub retries: usize,
    /// Start of the simulation as a time, if events have absolute times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
    /// End of the simulation.
    pub end: f64,
    /// The reason why it ended.
    pub ended: Ended,
    /// Creations, updates and deletions from events files and traces, up to the time limit.
    pub events: usize,
    /// Of those, updates and deletions of objects that no longer existed, such as preempted pods.
    pub events_without_object: usize,
    /// Events after the time limit.
    pub events_not_reached: usize,
    /// Nodes at the end.
    pub nodes: usize,
    /// Number of objects that scheduling uses, from the input and from events, by kind; without nodes and pods.
    pub objects: BTreeMap<&'static str, usize>,
    /// Number of objects of the input that scheduling ignores, by kind.
    pub other_kinds: BTreeMap<String, usize>,
    /// Real time of reading and scheduling, in seconds.
    pub seconds: f64,
    /// Real time of reading the input, in seconds.
    pub read_seconds: f64,
    /// Real time of the simulation, in seconds.
    pub schedule_seconds: f64,
}

/// The reason why a simulation ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    /// No more changes can happen; pods without a node wait for an event.
    #[default]
    NothingHappens,
    /// Retries of pods no longer have an effect.
    NothingHelps,
    /// The time limit was reached.
    TimeIsOver,
}

/// Waiting times for a node, from creation to binding.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Waits {
    /// Median.
    pub p50: f64,
    /// 99th percentile.
    pub p99: f64,
    /// Maximum.
    pub max: f64,
}

impl Waits {
    /// Returns the percentiles of waiting times, which are in nanoseconds; `None` if there are none.
    pub(super) fn of(mut waits: Vec<i64>) -> Option<Waits> {
        waits.sort_unstable();
        let max = *waits.last()?;
        // The nearest rank: the smallest wait that at least this share of pods did not exceed.
        let rank = |percent: usize| waits[(waits.len() * percent).div_ceil(100).max(1) - 1];
        let seconds = |nanoseconds| Span(nanoseconds).seconds();
        Some(Waits { p50: seconds(rank(50)), p99: seconds(rank(99)), max: seconds(max) })
    }
}

/// An interval of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Interval {
    /// Start.
    pub from: f64,
    /// End, exclusive, except in the last interval.
    pub to: f64,
    /// Created pods.
    pub created: usize,
    /// Bound pods.
    pub placed: usize,
    /// Deleted pods.
    pub deleted: usize,
    /// Of those, preempted pods.
    pub preempted: usize,
    /// Pending pods at the end of the interval.
    pub pending: usize,
    /// Pods on nodes at the end of the interval.
    pub running: usize,
}

/// A pod and its node.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Placement {
    /// `namespace/name`.
    pub pod: String,
    /// The node's name.
    pub node: String,
    /// Time of the pod's creation.
    pub created: f64,
    /// Time of its binding.
    pub at: f64,
    /// Waiting time.
    pub waited: f64,
    /// Number of attempts.
    pub attempts: u32,
    /// Time of its deletion, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deleted: Option<f64>,
}

/// A pod without a node.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Unschedulable {
    /// `namespace/name`.
    pub pod: String,
    /// kube-scheduler's message of the last attempt; for a pod without an attempt, the reason why it is gated.
    pub message: String,
    /// Time of the pod's creation.
    pub created: f64,
    /// Number of attempts.
    pub attempts: u32,
    /// Time of its deletion, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deleted: Option<f64>,
    /// Its nominated node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nominated_node: Option<String>,
}

/// A pod that lost its node by preemption.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Preempted {
    /// `namespace/name`.
    pub pod: String,
    /// The node that it lost.
    pub node: String,
    /// The preemptor: `namespace/name`.
    pub by: String,
    /// Disruption budgets that the preemption violates: `namespace/name`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub violates: Vec<String>,
    /// Time of its deletion.
    pub at: f64,
}

/// A pod that a disruption budget protects from preemption.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KeptByBudget {
    /// The pod, its node and the budget.
    #[serde(flatten)]
    pub kept: ProtectedPod,
    /// The preemptor: `namespace/name`.
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
