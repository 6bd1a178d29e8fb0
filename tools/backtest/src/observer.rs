//! Hooks of the simulator that record the changes of pods and nodes.

use std::sync::Arc;

use schedc_core::erased::AnyScheduler;
use schedc_core::map::Map;
use schedc_core::model::Pod;
use schedc_in_memory::SimulationHooks;
use schedc_in_memory::server::{Change, ChangeKind};
use schedc_objects::AnyObject;

use crate::influence::Influence;
use crate::totals::{InstanceId, PodOnNode, Totals};
use crate::workload::PodId;

/// A pod in a simulation.
#[derive(Clone, Debug)]
pub(crate) struct Instance {
    pub(crate) pod: PodId,
    pub(crate) uid: Arc<str>,
    pub(crate) created: i64,
    pub(crate) bound: Option<i64>,
    pub(crate) node: Option<Arc<str>>,
    /// Whether the pod arrived with a node.
    pub(crate) arrived_with_node: bool,
    /// Whether the pod belongs to its node, such as a pod of a DaemonSet.
    pub(crate) belongs_to_node: bool,
    pub(crate) requests: Arc<[i64]>,
    pub(crate) ended: Option<(i64, End)>,
}

/// Reason for the end of a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Recorded,
    Preempted,
    Evicted,
}

/// The pods of a simulation, and changes to which the simulation has not reacted.
#[derive(Default)]
pub(crate) struct Observer {
    /// The pods of the simulation. Use [`Observer::add`] and [`Observer::all`].
    pub(crate) instances: Vec<Instance>,
    /// The pods by uid. Use [`Observer::by_uid`].
    pub(crate) by_uid: Map<Arc<str>, InstanceId>,
    pub(crate) totals: Totals,
    /// Bound pods to which the simulation has not reacted.
    pub(crate) bound: Vec<InstanceId>,
    /// Pods that the scheduler deleted, and to which the simulation has not reacted.
    pub(crate) preempted: Vec<InstanceId>,
    pub(crate) attempts: u64,
    pub(crate) influence: Influence,
    /// Attempts whose number is a multiple of this are explained; 0: none.
    pub(crate) explain_every: u64,
}

impl Observer {
    /// Adds a pod that is about to be created.
    pub(crate) fn add(&mut self, instance: Instance) -> InstanceId {
        let id = InstanceId(u32::try_from(self.instances.len()).unwrap_or(u32::MAX));
        self.by_uid.insert(instance.uid.clone(), id);
        match instance.on_node(id) {
            Some(pod) => self.totals.add_pod(instance.created, &pod),
            None => self.totals.begin_waiting(instance.created),
        }
        self.instances.push(instance);
        id
    }

    pub(crate) fn get(&self, id: InstanceId) -> &Instance {
        &self.instances[id.0 as usize]
    }

    /// Returns all pods in the order of their creation.
    pub(crate) fn all(&self) -> &[Instance] {
        &self.instances
    }

    /// Returns the pod with this uid.
    pub(crate) fn by_uid(&self, uid: &str) -> Option<InstanceId> {
        self.by_uid.get(uid).copied()
    }

    /// Records the end of a pod. Returns false if the pod has already ended.
    pub(crate) fn end(&mut self, id: InstanceId, now: i64, end: End) -> bool {
        let instance = &mut self.instances[id.0 as usize];
        if instance.ended.is_some() {
            return false;
        }
        instance.ended = Some((now, end));
        match instance.on_node(id) {
            Some(pod) => self.totals.remove_pod(now, &pod),
            None => self.totals.end_waiting(now),
        }
        true
    }

    /// Changes the requests of a pod.
    pub(crate) fn set_requests(&mut self, id: InstanceId, now: i64, requests: Arc<[i64]>) {
        let instance = &mut self.instances[id.0 as usize];
        if instance.ended.is_none() && instance.requests != requests {
            if let Some(pod) = instance.on_node(id) {
                self.totals.remove_pod(now, &pod);
            }
            instance.requests = requests;
            if let Some(pod) = instance.on_node(id) {
                self.totals.add_pod(now, &pod);
            }
        }
    }
}

impl Instance {
    fn on_node(&self, id: InstanceId) -> Option<PodOnNode<'_>> {
        let Instance { node, requests, belongs_to_node, .. } = self;
        Some(PodOnNode { id, node: node.as_ref()?, requests, belongs_to_node: *belongs_to_node })
    }
}

impl SimulationHooks for Observer {
    fn on_change(&mut self, now: i64, change: &Change) {
        let pod = match &*change.object {
            AnyObject::Node(node) if change.kind == ChangeKind::Deleted => {
                return self.totals.remove_node(now, node.metadata.name.as_deref().unwrap_or_default());
            }
            AnyObject::Node(node) => return self.totals.set_node(now, node),
            AnyObject::Pod(pod) => pod,
            _ => return,
        };
        let Some(id) = self.by_uid(pod.metadata.uid.as_deref().unwrap_or_default()) else { return };
        let instance = &mut self.instances[id.0 as usize];
        match change.kind {
            ChangeKind::Deleted => {
                let is_preempted = self.end(id, now, End::Preempted);
                if is_preempted {
                    self.preempted.push(id);
                }
            }
            ChangeKind::Added | ChangeKind::Modified if instance.bound.is_none() && instance.ended.is_none() => {
                let node = pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref()).filter(|node| !node.is_empty());
                if let Some(node) = node {
                    instance.bound = Some(now);
                    instance.node = Some(node.into());
                    self.bound.push(id);
                    self.totals.end_waiting(now);
                    if let Some(pod) = instance.on_node(id) {
                        self.totals.add_pod(now, &pod);
                    }
                }
            }
            _ => {}
        }
    }

    fn observes_attempts(&self) -> bool {
        self.explain_every > 0 && self.attempts.is_multiple_of(self.explain_every)
    }

    fn before_attempt(&mut self, _now: i64, pod: &Arc<Pod>, scheduler: &mut dyn AnyScheduler) {
        if let Some(profile) = scheduler.profile_of(pod) {
            self.influence.add(&scheduler.explain(profile, pod, false));
        }
    }

    fn decided(&mut self, _pod: &Arc<Pod>, _has_node: bool) {
        self.attempts += 1;
    }
}
