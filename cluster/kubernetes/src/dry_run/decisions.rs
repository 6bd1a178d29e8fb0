//! Decisions of a dry run.

use std::hash::{BuildHasher, RandomState};

use schedc_core::erased::{AnyScheduler, AttemptObserver};
use schedc_core::extension_points::Nomination;
use schedc_core::map::Map;
use schedc_core::model::Uid;
use schedc_core::profile::ProfileInfo;
use schedc_core::scheduler::{Change, Failure, Outcome};
use schedc_objects::AnyObject;
use serde::Serialize;

use crate::driver::DriverHooks;

/// Decision about a pod.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Decision {
    /// `namespace/name`.
    pub pod: String,
    /// Profile that schedules the pod.
    pub profile: &'static str,
    /// Result.
    #[serde(flatten)]
    pub decided: DecisionResult,
}

/// Result of a decision.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(tag = "result", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum DecisionResult {
    /// The pod would be bound to a node.
    Placed {
        /// Name of the node.
        node: String,
    },
    /// No node is feasible.
    Unschedulable {
        /// Reason, in kube-scheduler's words.
        message: String,
        /// Node that preemption would nominate.
        #[serde(skip_serializing_if = "Option::is_none")]
        nominated_node: Option<String>,
        /// Victims on that node: `namespace/name`.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        victims: Vec<String>,
    },
    /// The attempt failed with an error.
    Failed {
        /// Error message.
        message: String,
    },
}

/// Reports each decision. A retry is reported only if its result differs from the last one that was reported.
#[derive(Debug)]
pub struct Decisions<F> {
    profiles: &'static [ProfileInfo],
    report: F,
    /// Hash of the last reported result, for pods without a node.
    last_reported: Map<Uid, u64>,
    hashes: RandomState,
}

impl<F: FnMut(&Decision)> Decisions<F> {
    /// Creates a reporter that calls `report`.
    pub fn new(profiles: &'static [ProfileInfo], report: F) -> Self {
        Decisions { profiles, report, last_reported: Map::default(), hashes: RandomState::new() }
    }
}

impl<F> AttemptObserver for Decisions<F> {}

impl<F: FnMut(&Decision) + Sync> DriverHooks for Decisions<F> {
    fn before_change(&mut self, change: &Change, _: Option<&AnyObject>, _: &mut dyn AnyScheduler) {
        if let Change::PodDeleted(uid) = change {
            self.last_reported.remove(uid);
        }
    }

    fn on_outcome(&mut self, outcome: &Outcome, scheduler: &dyn AnyScheduler) {
        let uid = &outcome.pod.uid;
        let decided = decided(outcome, scheduler);
        match &decided {
            DecisionResult::Placed { .. } => drop(self.last_reported.remove(uid)),
            // The pod was deleted during the attempt.
            _ if scheduler.pending(uid).is_none() => return,
            other => {
                let hash = self.hashes.hash_one(other);
                if self.last_reported.insert(uid.clone(), hash) == Some(hash) {
                    return;
                }
            }
        }
        let profile = self.profiles[outcome.profile].name;
        let pod = outcome.pod.namespaced_name().to_string();
        (self.report)(&Decision { pod, profile, decided });
    }
}

fn decided(outcome: &Outcome, scheduler: &dyn AnyScheduler) -> DecisionResult {
    let unschedulable = match &outcome.result {
        Ok(placed) => return DecisionResult::Placed { node: (*placed.node).to_owned() },
        Err(Failure::Error(message)) => return DecisionResult::Failed { message: message.clone() },
        Err(Failure::Unschedulable(unschedulable)) => unschedulable,
    };
    let nominated_node = match unschedulable.nomination() {
        Nomination::Set(node) => Some(scheduler.base().name(node).to_owned()),
        Nomination::Keep | Nomination::Clear => None,
    };
    let known = |uid: &Uid| scheduler.pod(uid).map(|(pod, ..)| pod).or_else(|| scheduler.pending(uid));
    let victims = unschedulable.victims().iter().filter_map(known);
    let victims = victims.map(|pod| pod.namespaced_name().to_string()).collect();
    DecisionResult::Unschedulable { message: unschedulable.message.clone(), nominated_node, victims }
}
