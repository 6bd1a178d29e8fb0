//! Shadow mode (`schedc run --shadow`): compares kube-scheduler's decisions with those of this scheduler, and writes
//! nothing.
//!
//! The driver watches the cluster as usual. Before a change that shows a pod as bound is applied, [`Shadow`] evaluates
//! which node this scheduler would choose. When kube-scheduler reports a pod as unschedulable, `Shadow` evaluates
//! whether this scheduler would report the same message.
//!
//! | module | content |
//! |---|---|
//! | [`finding`] | reports of disagreements |
//! | [`counts`] | counts of agreement by profile |
//! | [`earlier_answers`] | answers that were computed before a claim was written |

pub mod counts;
pub mod earlier_answers;
pub mod finding;

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use k8s_openapi::api::core::v1 as api;
use schedc_core::erased::{AnyScheduler, AttemptObserver};
use schedc_core::intern::Symbol;
use schedc_core::map::Map;
use schedc_core::model::{Object, ObjectKey, Pod, ResourceClaim, Uid};
use schedc_core::profile::ProfileInfo;
use schedc_core::scheduler::Change;
use schedc_objects::AnyObject;

use crate::driver::DriverHooks;
pub use counts::{ProfileCounts, ShadowCounts};
use earlier_answers::{ClaimWrite, EarlierAnswers};
pub use finding::{Comparison, Disagreement, Finding, NodeScore};

/// Compares kube-scheduler's decisions with those of this scheduler. `report` receives each disagreement; all
/// comparisons are counted.
#[derive(Debug)]
pub struct Shadow<F> {
    profiles: &'static [ProfileInfo],
    shadow_counts: ShadowCounts,
    report: F,
    /// Hash of the last message about each unschedulable pod.
    last_failures: Map<Uid, u64>,
    before_allocation: EarlierAnswers<Uid, ObjectKey>,
    hashes: RandomState,
    is_synced: bool,
}

impl<F: FnMut(&Disagreement)> Shadow<F> {
    /// Creates a comparison with these counters.
    pub fn new(profiles: &'static [ProfileInfo], shadow_counts: ShadowCounts, report: F) -> Self {
        Shadow {
            profiles,
            shadow_counts,
            report,
            last_failures: Map::default(),
            before_allocation: EarlierAnswers::default(),
            hashes: RandomState::new(),
            is_synced: false,
        }
    }

    fn report_finding(&mut self, profile: usize, pod: &Pod, finding: Option<Finding>) {
        let Some(finding) = finding else { return };
        let pod = pod.namespaced_name().to_string();
        (self.report)(&Disagreement { pod, profile: self.profiles[profile].name, finding });
    }

    /// Compares a pod that was bound to a node.
    fn compare_bound_pod(&mut self, profile: usize, pod: &Arc<Pod>, node: Symbol, scheduler: &mut dyn AnyScheduler) {
        let index = scheduler.base().node(node);
        let before = self.before_allocation.take(&pod.uid);
        let quick_check = index.filter(|_| before.is_none()).and_then(|at| scheduler.may_choose(profile, pod, at));
        let finding = match quick_check {
            Some(true) => None,
            Some(false) | None => {
                let found = before.unwrap_or_else(|| scheduler.explain(profile, pod, false));
                let base = scheduler.base();
                finding::for_bound_pod(&found, base, base.interner.resolve(node))
            }
        };
        self.shadow_counts.count(profile, |counts| counts.count_bound(finding.as_ref()));
        self.report_finding(profile, pod, finding);
    }

    /// Evaluates the pending pods for which a claim is being allocated or created, before the scheduler receives the
    /// claim.
    fn evaluate_before_write(&mut self, key: ObjectKey, claim: &ResourceClaim, scheduler: &mut dyn AnyScheduler) {
        let write = ClaimWrite {
            claim: key,
            created_for: claim.controller.clone().filter(|_| claim.is_for_extended_resources),
            is_allocated: claim.is_allocated(),
            reserved_for: claim.status.reserved_for.iter().map(|consumer| consumer.uid.clone()).collect(),
        };
        self.before_allocation.before_write(write, |uid| {
            let pod = scheduler.pending(uid)?.clone();
            let profile = scheduler.profile_of(&pod)?;
            Some(scheduler.explain(profile, &pod, false))
        });
    }

    /// Compares a pod that kube-scheduler found unschedulable.
    fn compare_rejected_pod(
        &mut self,
        profile: usize,
        pod: &Arc<Pod>,
        message: &str,
        scheduler: &mut dyn AnyScheduler,
    ) {
        let found = scheduler.explain(profile, pod, false);
        let base = scheduler.base();
        let finding = finding::compare_message(&found, base, message);
        self.shadow_counts.count(profile, |counts| counts.count_rejected(finding.as_ref()));
        self.report_finding(profile, pod, finding);
    }

    /// Returns the message about a failure if it differs from the last one.
    fn new_failure<'o>(&mut self, uid: &Uid, pod: &'o api::Pod) -> Option<&'o str> {
        let message = failed_scheduling(pod)?;
        let hash = self.hashes.hash_one(message);
        (self.last_failures.insert(uid.clone(), hash) != Some(hash)).then_some(message)
    }
}

impl<F> AttemptObserver for Shadow<F> {}

impl<F: FnMut(&Disagreement) + Sync> DriverHooks for Shadow<F> {
    fn before_change(&mut self, change: &Change, object: Option<&AnyObject>, scheduler: &mut dyn AnyScheduler) {
        let pod = match change {
            Change::Pod(pod) => pod,
            Change::PodDeleted(uid) => {
                self.last_failures.remove(uid);
                self.before_allocation.take(uid);
                return;
            }
            Change::Object(object) if self.is_synced => {
                if let Object::ResourceClaim(claim) = object {
                    self.evaluate_before_write(object.key(), claim, scheduler);
                }
                return;
            }
            Change::ObjectDeleted(key) => {
                self.before_allocation.delete_claim(key);
                return;
            }
            _ => return,
        };
        // The pod before the change. A pod that already had a node, or was never observed as pending, is not compared.
        let pending = scheduler.pending(&pod.uid).cloned();
        if let Some(node) = pod.spec.node_name {
            self.last_failures.remove(&pod.uid);
            let Some(pending) = pending else { return };
            let Some(profile) = scheduler.profile_of(&pending) else { return };
            match self.is_synced {
                true => self.compare_bound_pod(profile, &pending, node, scheduler),
                false => self.shadow_counts.count(profile, |counts| counts.not_judged += 1),
            }
        } else if let Some(AnyObject::Pod(object)) = object
            && let Some(message) = self.new_failure(&pod.uid, object)
            && let Some(pending) = pending
            && let Some(profile) = scheduler.profile_of(&pending)
            && self.is_synced
        {
            self.before_allocation.take(&pod.uid);
            self.compare_rejected_pod(profile, &pending, message, scheduler);
        }
    }

    fn on_synced(&mut self) {
        self.is_synced = true;
    }
}

/// Returns the message with which a scheduler marked a pod as unschedulable.
fn failed_scheduling(pod: &api::Pod) -> Option<&str> {
    let conditions = pod.status.as_ref()?.conditions.as_deref()?;
    let condition = conditions.iter().find(|condition| condition.type_ == "PodScheduled")?;
    let is_failed = condition.status == "False" && condition.reason.as_deref() == Some("Unschedulable");
    condition.message.as_deref().filter(|_| is_failed)
}
