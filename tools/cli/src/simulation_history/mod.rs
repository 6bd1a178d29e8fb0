//! The history of a simulation, for reports: the amounts of resources on each node over time, and the scores behind
//! each decision.

mod decisions;
mod sweep;

use std::collections::HashMap;
use std::sync::Arc;

use schedc_core::cache::Base;
use schedc_core::erased::AnyScheduler;
use schedc_core::model::Pod;
use schedc_core::scheduler::{Failure, Outcome};
use schedc_in_memory::SimulationHooks;
use schedc_in_memory::server::{Change, ChangeKind};
use schedc_objects::AnyObject;

use crate::cluster::{Routes, SchedulingState};
use crate::utilisation::for_each_amount;
pub(crate) use decisions::Decisions;
pub(crate) use sweep::{Sweep, share};

/// Hooks of a simulation that record its history.
pub(crate) struct SimulationHistory {
    routes: Routes,
    /// Time of the first event.
    start: Option<i64>,
    attempts: u32,
    /// Rank and name of each resource, in the order of discovery.
    pub(crate) resources: Vec<(usize, String)>,
    /// Names of all nodes that ever existed.
    pub(crate) nodes: Vec<String>,
    node_indices: HashMap<String, usize>,
    node_changes: Vec<NodeChange>,
    pod_changes: Vec<PodChange>,
    /// Place of each pod, by uid.
    places: HashMap<String, Place>,
    /// Pods that had a node from the beginning, and their nodes.
    pub(crate) bound_before: Vec<(String, String)>,
    /// The scores behind decisions.
    pub(crate) decisions: Decisions,
    /// For each pod, the reasons why its last attempt failed, each with the number of nodes; empty if the pod was
    /// placed.
    pub(crate) reasons: HashMap<String, Vec<(String, usize)>>,
}

/// A moment of a simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Moment {
    /// Nanoseconds since the start.
    time: i64,
    /// Number of attempts so far.
    attempts: u32,
}

/// The state of a node from a moment on.
struct NodeChange {
    at: Moment,
    node: usize,
    /// Amounts of resources; empty if the node does not exist.
    amounts: Vec<Amount>,
}

/// Amounts of a resource on a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Amount {
    /// Index of the resource.
    pub(crate) resource: usize,
    pub(crate) requested: i64,
    pub(crate) allocatable: i64,
}

/// Changes of the numbers of pods.
struct PodChange {
    at: Moment,
    pending: i64,
    running: i64,
}

/// The count of pods that includes a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Pending,
    Running,
    /// Finished, deleted, or not served by a profile.
    Nowhere,
}

impl Place {
    /// Returns the contribution of a pod to the numbers of pending and of running pods.
    fn counts(self) -> (i64, i64) {
        (i64::from(self == Place::Pending), i64::from(self == Place::Running))
    }
}

impl SimulationHistory {
    /// Creates an empty history of a simulation. `routes` has the profiles that serve its pods.
    pub(crate) fn new(routes: Routes) -> Self {
        SimulationHistory {
            routes,
            start: None,
            attempts: 0,
            resources: Vec::new(),
            nodes: Vec::new(),
            node_indices: HashMap::new(),
            node_changes: Vec::new(),
            pod_changes: Vec::new(),
            places: HashMap::new(),
            bound_before: Vec::new(),
            decisions: Decisions::default(),
            reasons: HashMap::new(),
        }
    }

    fn moment(&mut self, now: i64) -> Moment {
        let start = *self.start.get_or_insert(now);
        Moment { time: now - start, attempts: self.attempts }
    }

    /// Records the amounts of a node.
    fn record_node(&mut self, now: i64, name: &str, base: &Base) {
        let at = self.moment(now);
        let index = base.interner.get(name).and_then(|name| base.node(name));
        let node = match self.node_indices.get(name) {
            Some(node) => *node,
            None if index.is_none() => return,
            None => {
                self.nodes.push(name.to_owned());
                self.node_indices.insert(name.to_owned(), self.nodes.len() - 1);
                self.nodes.len() - 1
            }
        };
        let mut amounts = Vec::new();
        if let Some(info) = index.and_then(|index| base.infos().get(index.get())) {
            for_each_amount(base, info, |rank, name, requested, allocatable| {
                let known = self
                    .resources
                    .iter()
                    .position(|(other_rank, other_name)| *other_rank == rank && other_name == name);
                let resource = known.unwrap_or_else(|| {
                    self.resources.push((rank, name.to_owned()));
                    self.resources.len() - 1
                });
                amounts.push(Amount { resource, requested, allocatable });
            });
        }
        match self.node_changes.last_mut() {
            Some(last) if last.node == node && last.at == at => last.amounts = amounts,
            _ => self.node_changes.push(NodeChange { at, node, amounts }),
        }
    }

    fn record_pod(&mut self, now: i64, change: &Change) {
        let AnyObject::Pod(pod) = &*change.object else { return };
        let at = self.moment(now);
        let uid = pod.metadata.uid.as_deref().unwrap_or_default();
        let before = self.places.get(uid).copied();
        let place = match SchedulingState::of(pod, &self.routes) {
            _ if change.kind == ChangeKind::Deleted => Place::Nowhere,
            SchedulingState::Finished => Place::Nowhere,
            SchedulingState::Pending(_) => Place::Pending,
            SchedulingState::Bound(node) => {
                if before.is_none() && self.attempts == 0 && at.time == 0 {
                    let name = format!("{}/{}", change.object.namespace(), change.object.name());
                    self.bound_before.push((name, node.to_owned()));
                }
                Place::Running
            }
            // The pod has no node, and is being deleted or waits for another scheduler.
            SchedulingState::Deleting | SchedulingState::OtherScheduler(_) => Place::Nowhere,
        };
        let (old, new) = (before.unwrap_or(Place::Nowhere).counts(), place.counts());
        if old != new {
            self.pod_changes.push(PodChange { at, pending: new.0 - old.0, running: new.1 - old.1 });
        }
        self.places.insert(uid.to_owned(), place);
    }
}

impl SimulationHooks for SimulationHistory {
    fn observes_attempts(&self) -> bool {
        true
    }

    fn before_attempt(&mut self, now: i64, pod: &Arc<Pod>, scheduler: &mut dyn AnyScheduler) {
        self.moment(now);
        self.attempts += 1;
        self.decisions.before_attempt(pod, scheduler, self.routes.profiles());
    }

    fn on_change(&mut self, now: i64, change: &Change) {
        self.record_pod(now, change);
    }

    fn after_change(&mut self, now: i64, change: &Change, scheduler: &mut dyn AnyScheduler) {
        match &*change.object {
            AnyObject::Node(_) => self.record_node(now, change.object.name(), scheduler.base()),
            AnyObject::Pod(pod) => {
                if let Some(node) = pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref()) {
                    self.record_node(now, node, scheduler.base());
                }
            }
            _ => {}
        }
    }

    fn on_outcome(&mut self, _: i64, outcome: &Outcome, _: &Base) {
        let name = outcome.pod.namespaced_name().to_string();
        self.decisions.after_attempt(&name, outcome);
        let reasons = match &outcome.result {
            Err(Failure::Unschedulable(unschedulable)) => {
                unschedulable.diagnosis.reasons.iter().map(|(reason, nodes)| (reason.to_string(), nodes)).collect()
            }
            _ => Vec::new(),
        };
        self.reasons.insert(name, reasons);
    }
}

#[cfg(test)]
mod tests;
