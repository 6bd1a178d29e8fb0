//! What is decided, as it falls.

use std::hash::{BuildHasher, RandomState};

use schedc_core::erased::{AnyScheduler, AttemptObserver};
use schedc_core::extension_points::Nomination;
use schedc_core::map::Map;
use schedc_core::model::Uid;
use schedc_core::profile::ProfileInfo;
use schedc_core::scheduler::{Change, Failure, Outcome};
use schedc_objects::AnyObject;
use serde::Serialize;

use crate::drive::Hooks;

/// What was decided about a pod.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Decision {
    /// `namespace/name`.
    pub pod: String,
    /// The profile that serves it.
    pub profile: &'static str,
    /// What was decided.
    #[serde(flatten)]
    pub decided: Decided,
}

/// What was decided.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(tag = "result", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Decided {
    /// The pod would be bound.
    Placed {
        /// The node's name.
        node: String,
    },
    /// The pod fits nowhere.
    Unschedulable {
        /// Why, in kube-scheduler's words.
        message: String,
        /// The node on which room would be made for it.
        #[serde(skip_serializing_if = "Option::is_none")]
        nominated_node: Option<String>,
        /// The pods that would have to leave that node: `namespace/name`.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        victims: Vec<String>,
    },
    /// Something broke.
    Failed {
        /// What.
        message: String,
    },
}

/// Tells of each decision; of a pod that is tried again, if another one falls.
#[derive(Debug)]
pub struct Decisions<F> {
    profiles: &'static [ProfileInfo],
    tell: F,
    /// What was told last of pods that have no node, as a number.
    told: Map<Uid, u64>,
    numbers: RandomState,
}

impl<F: FnMut(&Decision)> Decisions<F> {
    /// Tells this.
    pub fn new(profiles: &'static [ProfileInfo], tell: F) -> Self {
        Decisions { profiles, tell, told: Map::default(), numbers: RandomState::new() }
    }
}

impl<F> AttemptObserver for Decisions<F> {}

impl<F: FnMut(&Decision) + Sync> Hooks for Decisions<F> {
    fn told(&mut self, change: &Change, _: Option<&AnyObject>, _: &mut dyn AnyScheduler) {
        if let Change::PodDeleted(uid) = change {
            self.told.remove(uid);
        }
    }

    fn came_to_end(&mut self, outcome: &Outcome, scheduler: &dyn AnyScheduler) {
        let uid = &outcome.pod.uid;
        let decided = decided(outcome, scheduler);
        match &decided {
            Decided::Placed { .. } => drop(self.told.remove(uid)),
            // It went while it was tried.
            _ if scheduler.pending(uid).is_none() => return,
            other => {
                let number = self.numbers.hash_one(other);
                if self.told.insert(uid.clone(), number) == Some(number) {
                    return;
                }
            }
        }
        let profile = self.profiles[outcome.profile].name;
        let pod = outcome.pod.namespaced_name().to_string();
        (self.tell)(&Decision { pod, profile, decided });
    }
}

fn decided(outcome: &Outcome, scheduler: &dyn AnyScheduler) -> Decided {
    let unschedulable = match &outcome.result {
        Ok(placed) => return Decided::Placed { node: (*placed.node).to_owned() },
        Err(Failure::Error(message)) => return Decided::Failed { message: message.clone() },
        Err(Failure::Unschedulable(unschedulable)) => unschedulable,
    };
    let nominated_node = match unschedulable.nomination() {
        Nomination::Set(node) => Some(scheduler.base().name(node).to_owned()),
        Nomination::Keep | Nomination::Clear => None,
    };
    let known = |uid: &Uid| scheduler.pod(uid).map(|(pod, ..)| pod).or_else(|| scheduler.pending(uid));
    let victims = unschedulable.victims().iter().filter_map(known);
    let victims = victims.map(|pod| pod.namespaced_name().to_string()).collect();
    Decided::Unschedulable { message: unschedulable.message.clone(), nominated_node, victims }
}
