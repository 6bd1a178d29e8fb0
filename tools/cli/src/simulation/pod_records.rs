//! Records of the pods of a simulation.

use std::collections::{BTreeSet, HashMap};

use super::intervals::{Intervals, PodTransition};
use super::report::{KeptByBudget, Placement, Preempted, Unschedulable, Waits};
use crate::budgets::ProtectedPod;
use crate::timeline::Span;

/// Records of all pods that ever existed.
#[derive(Default)]
pub(super) struct PodRecords {
    /// The records in the order of creation.
    pods: Vec<Record>,
    /// Indices in `pods`.
    by_uid: HashMap<String, usize>,
    /// Victims of preemption, until they are deleted.
    victims: HashMap<String, Victim>,
    /// Pods that budgets protect from preemption, each with the preemptor.
    protected: BTreeSet<(ProtectedPod, String)>,
    transitions: Intervals,
    /// Indices of the pods that the simulation bound, in the order of bindings.
    bound: Vec<usize>,
    preempted: Vec<Preempted>,
    /// Number of attempts of all pods.
    pub(super) attempts: usize,
    /// Number of retries of all pods: attempts after the first attempt of a pod.
    pub(super) retries: usize,
}

/// A victim of preemption.
struct Victim {
    /// The preemptor.
    by: String,
    /// Budgets that the preemption violates.
    violates: Vec<String>,
}

/// The kind of a pod that lost its node by preemption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Preemption {
    /// A pod that the simulation placed.
    OfPlacedPod,
    /// A pod that was created with its node.
    OfGivenPod,
}

/// The record of a pod.
struct Record {
    name: String,
    created: i64,
    /// Whether one of the profiles serves it.
    is_served: bool,
    node: Option<String>,
    bound: Option<i64>,
    deleted: Option<i64>,
    preempted: bool,
    attempts: u32,
    /// Number of attempts of all pods before the first attempt of this pod; sorts the pods by their first attempts.
    attempted: Option<usize>,
    message: String,
}

impl PodRecords {
    /// Records the creation of a pod, with or without a node.
    pub(super) fn record_creation(&mut self, uid: &str, name: String, node: Option<&str>, is_served: bool, now: i64) {
        let record = Record {
            name,
            created: now,
            is_served,
            node: node.map(str::to_owned),
            bound: None,
            deleted: None,
            preempted: false,
            attempts: 0,
            attempted: None,
            message: String::new(),
        };
        if is_served || node.is_some() {
            self.transitions
                .push(now, if node.is_some() { PodTransition::CreatedOnNode } else { PodTransition::Created });
        }
        self.by_uid.insert(uid.to_owned(), self.pods.len());
        self.pods.push(record);
    }

    fn record(&mut self, uid: &str) -> Option<(usize, &mut Record)> {
        let at = *self.by_uid.get(uid)?;
        Some((at, self.pods.get_mut(at)?))
    }

    /// Returns whether a pod with this uid exists or existed.
    pub(super) fn contains(&self, uid: &str) -> bool {
        self.by_uid.contains_key(uid)
    }

    /// Records an attempt. Returns whether it was the first one.
    pub(super) fn record_attempt(&mut self, uid: &str) -> bool {
        let before = self.attempts;
        let Some((_, record)) = self.record(uid) else { return false };
        record.attempts += 1;
        record.attempted.get_or_insert(before);
        let is_retry = record.attempts > 1;
        self.attempts += 1;
        self.retries += usize::from(is_retry);
        !is_retry
    }

    /// Records the reason why a pod was not placed or is gated.
    pub(super) fn record_failure(&mut self, uid: &str, message: &str) {
        let Some((_, record)) = self.record(uid) else { return };
        record.message = message.to_owned();
    }

    /// Returns the uids of pending pods without attempts.
    pub(super) fn never_attempted(&self) -> Vec<String> {
        let waits = |at: &usize| {
            self.pods
                .get(*at)
                .is_some_and(|pod| pod.is_served && pod.node.is_none() && pod.deleted.is_none() && pod.attempts == 0)
        };
        let mut uids: Vec<_> = self.by_uid.iter().filter(|(_, at)| waits(at)).collect();
        uids.sort_by_key(|(_, at)| **at);
        uids.into_iter().map(|(uid, _)| uid.clone()).collect()
    }

    /// Records a victim, its preemptor, and the budgets that are violated.
    pub(super) fn record_victim(&mut self, uid: &str, by: String, violates: Vec<String>) {
        self.victims.insert(uid.to_owned(), Victim { by, violates });
    }

    /// Records pods that budgets protect from a preemption.
    pub(super) fn record_protected(&mut self, protected: Vec<ProtectedPod>, by: &str) {
        self.protected.extend(protected.into_iter().map(|pod| (pod, by.to_owned())));
    }

    /// Returns the preemptor of a pod.
    pub(super) fn preemptor_of(&self, uid: &str) -> Option<&str> {
        self.victims.get(uid).map(|victim| victim.by.as_str())
    }

    /// Returns the name of a pod.
    pub(super) fn name(&self, uid: &str) -> Option<&str> {
        Some(&self.pods.get(*self.by_uid.get(uid)?)?.name)
    }

    /// Records the binding of a pod.
    pub(super) fn record_binding(&mut self, uid: &str, node: &str, now: i64) {
        let Some((at, record)) = self.record(uid) else { return };
        if record.node.is_some() {
            return;
        }
        record.node = Some(node.to_owned());
        if !record.is_served {
            return self.transitions.push(now, PodTransition::Placed);
        }
        record.bound = Some(now);
        self.bound.push(at);
        self.transitions.push(now, PodTransition::Bound);
    }

    /// Records the deletion or the end of a pod. Returns its kind of preemption, if it was preempted.
    pub(super) fn record_deletion(&mut self, uid: &str, now: i64) -> Option<Preemption> {
        let victim = self.victims.remove(uid);
        let (_, record) = self.record(uid)?;
        if record.deleted.is_some() {
            return None;
        }
        record.deleted = Some(now);
        let transition = match (&record.node, record.is_served) {
            (Some(_), _) if victim.is_some() => PodTransition::Preempted,
            (Some(_), _) => PodTransition::DeletedFromNode,
            (None, true) => PodTransition::Deleted,
            (None, false) => return None,
        };
        let preempted = victim.zip(record.node.clone()).map(|(Victim { by, violates }, node)| {
            record.preempted = true;
            let kind = if record.bound.is_some() { Preemption::OfPlacedPod } else { Preemption::OfGivenPod };
            (kind, Preempted { pod: record.name.clone(), node, by, violates, at: Span(now).seconds() })
        });
        self.transitions.push(now, transition);
        let (kind, preempted) = preempted?;
        self.preempted.push(preempted);
        Some(kind)
    }
}

/// The records at the end of a simulation.
pub(super) struct PodResults {
    pub(super) waits: Option<Waits>,
    pub(super) transitions: Intervals,
    pub(super) placements: Vec<Placement>,
    pub(super) unschedulable: Vec<Unschedulable>,
    pub(super) deleted_unplaced: Vec<Unschedulable>,
    pub(super) preempted: Vec<Preempted>,
    pub(super) kept_by_budgets: Vec<KeptByBudget>,
}

impl PodRecords {
    /// Converts the records to results.
    pub(super) fn close(self) -> PodResults {
        let seconds = |nanoseconds| Span(nanoseconds).seconds();
        let placement = |&at: &usize| {
            let record = &self.pods[at];
            let (node, bound) = (record.node.clone()?, record.bound?);
            (!record.preempted).then(|| Placement {
                pod: record.name.clone(),
                node,
                created: seconds(record.created),
                at: seconds(bound),
                waited: seconds(bound - record.created),
                attempts: record.attempts,
                deleted: record.deleted.map(seconds),
            })
        };
        let waits = self.bound.iter().filter_map(|&at| Some(self.pods[at].bound? - self.pods[at].created));
        let mut without_node: Vec<_> =
            self.pods.iter().filter(|record| record.is_served && record.node.is_none()).collect();
        without_node.sort_by_key(|record| record.attempted);
        let (deleted_unplaced, unschedulable) = without_node
            .into_iter()
            .map(|record| Unschedulable {
                pod: record.name.clone(),
                message: if record.message.is_empty() { "not attempted".to_owned() } else { record.message.clone() },
                created: seconds(record.created),
                attempts: record.attempts,
                deleted: record.deleted.map(seconds),
                nominated_node: None,
            })
            .partition(|pod| pod.deleted.is_some());
        PodResults {
            waits: Waits::of(waits.collect()),
            placements: self.bound.iter().filter_map(placement).collect(),
            unschedulable,
            deleted_unplaced,
            preempted: self.preempted,
            kept_by_budgets: self.protected.into_iter().map(|(kept, from)| KeptByBudget { kept, from }).collect(),
            transitions: self.transitions,
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn pods_are_reported_by_their_final_state() {
        let mut pod_records = PodRecords::default();
        for (uid, node) in [
            ("placed", None),
            ("deleted", None),
            ("never", None),
            ("waits", None),
            ("victim", None),
            ("old", Some("n")),
        ] {
            pod_records.record_creation(uid, format!("default/{uid}"), node, node.is_none(), 0);
        }
        pod_records.record_creation("theirs", "default/theirs".to_owned(), None, false, 0);
        for uid in ["placed", "deleted", "victim"] {
            pod_records.record_attempt(uid);
            pod_records.record_binding(uid, "n", 1_000_000_000);
        }
        pod_records.record_attempt("never");
        pod_records.record_failure("never", "no fit");
        for _ in 0..2 {
            pod_records.record_attempt("waits");
            pod_records.record_failure("waits", "still no fit");
        }
        pod_records.record_victim("victim", "default/waits".to_owned(), Vec::new());
        pod_records.record_victim("old", "default/waits".to_owned(), Vec::new());
        for uid in ["deleted", "never", "victim", "old", "theirs"] {
            pod_records.record_deletion(uid, 2_000_000_000);
        }
        assert_eq!((pod_records.attempts, pod_records.retries), (6, 1));
        let pods = pod_records.close();
        let placed: Vec<_> = pods.placements.iter().map(|p| format!("{} {:?}", p.pod, p.deleted)).collect();
        let waiting = pods.unschedulable.iter().chain(&pods.deleted_unplaced);
        let waiting: Vec<_> = waiting.map(|p| format!("{}: {} {:?}", p.pod, p.message, p.deleted)).collect();
        let preempted: Vec<_> = pods.preempted.iter().map(|p| format!("{} by {}", p.pod, p.by)).collect();
        expect![[r#"
            ["default/placed None", "default/deleted Some(2.0)"]
            ["default/waits: still no fit None", "default/never: no fit Some(2.0)"]
            ["default/victim by default/waits", "default/old by default/waits"]
            [Interval { from: 0.0, to: 0.5, created: 6, placed: 0, deleted: 0, preempted: 0, pending: 5, running: 1 }, Interval { from: 0.5, to: 1.0, created: 0, placed: 0, deleted: 0, preempted: 0, pending: 5, running: 1 }, Interval { from: 1.0, to: 1.5, created: 0, placed: 3, deleted: 0, preempted: 0, pending: 2, running: 4 }, Interval { from: 1.5, to: 2.0, created: 0, placed: 0, deleted: 4, preempted: 2, pending: 1, running: 1 }]"#]]
            .assert_eq(&format!("{placed:?}\n{waiting:?}\n{preempted:?}\n{:?}", pods.transitions.over(2_000_000_000)));
    }
}
