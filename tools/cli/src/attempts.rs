//! The results of attempts in a cluster in memory.

use std::cmp::Reverse;
use std::collections::HashMap;

use schedc_core::cache::Base;
use schedc_core::model::Uid;
use schedc_core::scheduler::{Failure, Outcome};
use schedc_in_memory::SimulationHooks;
use serde::Serialize;

use crate::cluster::pod_name;

/// A pod that lost its node to a pod of higher priority.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Victim {
    /// `namespace/name`.
    pub pod: String,
    /// The node that it lost.
    pub node: String,
    /// The preemptor: `namespace/name`.
    pub by: String,
}

/// The reasons why a pod was not placed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct WaitReason {
    /// kube-scheduler's message.
    pub message: String,
    /// Number of nodes for each reason, the most frequent first. Empty if the attempt did not fail in Filter or PostFilter.
    pub reasons: Vec<ReasonCount>,
}

/// A reason for which nodes reject a pod.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct ReasonCount {
    /// kube-scheduler's text.
    pub reason: String,
    /// Number of nodes.
    pub nodes: usize,
}

/// Records the results of attempts.
#[derive(Clone, Default)]
pub(crate) struct AttemptRecorder {
    /// The reasons of the last failed attempt, for each pod that has no node.
    pub(crate) rejections: HashMap<Uid, WaitReason>,
    /// Preempted pods in the order of preemptions.
    pub(crate) preempted: Vec<Victim>,
    /// The last rejection that led to a preemption.
    pub(crate) preempting: Option<WaitReason>,
    /// The pod whose attempts are counted.
    pub(crate) subject: Uid,
    /// Number of attempts of `subject`.
    pub(crate) subject_attempts: usize,
    /// Number of placements of other pods.
    pub(crate) placed: usize,
}

impl SimulationHooks for AttemptRecorder {
    fn on_outcome(&mut self, _: i64, outcome: &Outcome, base: &Base) {
        let uid = &outcome.pod.uid;
        self.subject_attempts += usize::from(*uid == self.subject);
        let Err(failure) = &outcome.result else {
            self.rejections.remove(uid);
            self.placed += usize::from(*uid != self.subject);
            return;
        };
        let mut rejection = WaitReason { message: failure.message().to_owned(), reasons: Vec::new() };
        if let Failure::Unschedulable(unschedulable) = failure {
            let reasons = unschedulable.diagnosis.reasons.iter();
            rejection.reasons.extend(reasons.map(|(reason, nodes)| ReasonCount { reason: reason.to_string(), nodes }));
            rejection.reasons.sort_by_key(|reason| Reverse(reason.nodes));
            if let Some(candidate) = unschedulable.post_filter.as_ref().and_then(|result| result.nominated()) {
                self.preempting = Some(rejection.clone());
                let by = pod_name(&outcome.pod, &base.interner);
                let node = base.name(candidate.node);
                self.preempted.extend(candidate.victims.iter().map(|victim| Victim {
                    pod: pod_name(victim, &base.interner),
                    node: node.to_owned(),
                    by: by.clone(),
                }));
            }
        }
        self.rejections.insert(uid.clone(), rejection);
    }
}
