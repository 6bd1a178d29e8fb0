//! A scheduler that judges what kube-scheduler does, and does nothing itself: `schedc run --shadow`.
//!
//! The cluster is followed as ever. When a pod turns out to be bound, [`Shadow`] asks just before that is taken in where we
//! would have bound it, and when kube-scheduler says that a pod fits nowhere, whether we would say the same.
//!
//! | module | idea |
//! |---|---|
//! | [`finding`] | what is told of a disagreement |
//! | [`tally`] | how often there was which |

pub mod finding;
pub mod tally;

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use k8s_openapi::api::core::v1 as api;
use schedc_core::engine::Decision;
use schedc_core::erased::{AnyScheduler, AttemptObserver};
use schedc_core::intern::Symbol;
use schedc_core::map::Map;
use schedc_core::model::{Pod, Uid};
use schedc_core::profile::ProfileInfo;
use schedc_core::scheduler::Change;
use schedc_objects::AnyObject;

use crate::drive::Hooks;
pub use finding::{Comparison, Disagreement, Finding, Points};
pub use tally::{Counts, Tally};

/// Judges. `tell` is told of each disagreement, the others are counted.
#[derive(Debug)]
pub struct Shadow<F> {
    profiles: &'static [ProfileInfo],
    tally: Tally,
    tell: F,
    /// What was last said of pods that fit nowhere, as a number.
    said: Map<Uid, u64>,
    numbers: RandomState,
    knows_all: bool,
}

impl<F: FnMut(&Disagreement)> Shadow<F> {
    /// Counts here.
    pub fn new(profiles: &'static [ProfileInfo], tally: Tally, tell: F) -> Self {
        Shadow { profiles, tally, tell, said: Map::default(), numbers: RandomState::new(), knows_all: false }
    }

    fn judged(&mut self, profile: usize, pod: &Pod, finding: Option<Finding>) {
        let Some(finding) = finding else { return };
        let pod = pod.namespaced_name().to_string();
        (self.tell)(&Disagreement { pod, profile: self.profiles[profile].name, finding });
    }

    /// A pod was bound to a node.
    fn bound(&mut self, profile: usize, pod: &Arc<Pod>, node: Symbol, scheduler: &mut dyn AnyScheduler) {
        let index = scheduler.base().node(node);
        let quickly = index.and_then(|index| scheduler.may_choose(profile, pod, index));
        let finding = match quickly {
            Some(true) => None,
            Some(false) | None => {
                let found = scheduler.explain(profile, pod, false);
                let base = scheduler.base();
                finding::of_bound(&found, base, base.interner.resolve(node))
            }
        };
        self.tally.count(profile, |counts| match &finding {
            None => counts.same_best += 1,
            Some(Finding::LowerScore { by, .. }) => {
                counts.lower_score += 1;
                counts.largest_difference = counts.largest_difference.max(*by);
            }
            Some(_) => counts.infeasible += 1,
        });
        self.judged(profile, pod, finding);
    }

    /// A pod was found to fit nowhere.
    fn rejected(&mut self, profile: usize, pod: &Arc<Pod>, message: &str, scheduler: &mut dyn AnyScheduler) {
        let found = scheduler.explain(profile, pod, false);
        let base = scheduler.base();
        let ours = match (&found.gated_by, &found.decision) {
            (Some(held), _) => Err(held.message()),
            (None, Decision::Node(_)) => Ok(finding::choices(&found, base)),
            (None, Decision::Unschedulable(unschedulable)) => Err(unschedulable.message.clone()),
            (None, Decision::Error(message)) => Err(message.clone()),
        };
        let theirs = message.to_owned();
        let finding = match ours {
            Err(ours) if ours == theirs => None,
            Err(ours) => Some(Finding::OtherMessage { theirs, ours }),
            Ok(best) => Some(Finding::Fits { theirs, best }),
        };
        self.tally.count(profile, |counts| match &finding {
            None => counts.same_message += 1,
            Some(Finding::Fits { .. }) => counts.fits += 1,
            Some(_) => counts.other_message += 1,
        });
        self.judged(profile, pod, finding);
    }

    /// Whether a pod's status says something about its failure that it did not say before. Returns what.
    fn news<'o>(&mut self, uid: &Uid, pod: &'o api::Pod) -> Option<&'o str> {
        let message = failed_scheduling(pod)?;
        let number = self.numbers.hash_one(message);
        (self.said.insert(uid.clone(), number) != Some(number)).then_some(message)
    }
}

impl<F> AttemptObserver for Shadow<F> {}

impl<F: FnMut(&Disagreement) + Sync> Hooks for Shadow<F> {
    fn told(&mut self, change: &Change, object: Option<&AnyObject>, scheduler: &mut dyn AnyScheduler) {
        let pod = match change {
            Change::Pod(pod) => pod,
            Change::PodDeleted(uid) => {
                self.said.remove(uid);
                return;
            }
            _ => return,
        };
        // As it was before. One that has its node already, or that was not seen without, is nothing to judge.
        let pending = scheduler.pending(&pod.uid).cloned();
        if let Some(node) = pod.spec.node_name {
            self.said.remove(&pod.uid);
            let Some(pending) = pending else { return };
            let Some(profile) = scheduler.profile_of(&pending) else { return };
            match self.knows_all {
                true => self.bound(profile, &pending, node, scheduler),
                false => self.tally.count(profile, |counts| counts.not_judged += 1),
            }
        } else if let Some(AnyObject::Pod(object)) = object
            && let Some(message) = self.news(&pod.uid, object)
            && let Some(pending) = pending
            && let Some(profile) = scheduler.profile_of(&pending)
            && self.knows_all
        {
            self.rejected(profile, &pending, message, scheduler);
        }
    }

    fn knows_all(&mut self) {
        self.knows_all = true;
    }
}

/// Why a pod fits nowhere, as a scheduler wrote into its status.
fn failed_scheduling(pod: &api::Pod) -> Option<&str> {
    let conditions = pod.status.as_ref()?.conditions.as_deref()?;
    let condition = conditions.iter().find(|condition| condition.type_ == "PodScheduled")?;
    let is_failed = condition.status == "False" && condition.reason.as_deref() == Some("Unschedulable");
    condition.message.as_deref().filter(|_| is_failed)
}
