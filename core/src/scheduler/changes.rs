//! Changes from the cluster: kube-scheduler's event handlers. The cache is updated first, then pods move in the queue.

use std::sync::Arc;

use super::Scheduler;
use super::queue::PodUpdate;
use super::tasks::Tasks;
use crate::engine::bundle::Bundle;
use crate::model::cache::PodState;
use crate::model::change::{Change, ObjectId};
use crate::model::intern::Symbol;
use crate::model::map::Set;
use crate::model::{Node, Object, ObjectKey, Pod, Uid};
use crate::plugin_api::client::Client;
use crate::plugin_api::events::{
    Action, ChangedObject, ClusterEvent, EventResource, ObjectEvent, PodOnNode, node_changed, object_changed,
    pod_updated,
};
use crate::plugin_api::extension_points::QueuedPod;
use crate::plugin_api::handle::PermitRejection;
use crate::profile_api::profile::profile_for;

impl<B: Bundle, C: Client> Scheduler<B, C> {
    /// Handles a change in the cluster. Repeated changes have no effect. After missed changes, pass complete lists to
    /// [`Scheduler::relist`].
    pub fn on_change(&mut self, change: Change, tasks: &mut impl Tasks) {
        self.last_event = None;
        self.mark_change(&change);
        match change {
            Change::Node(node) => self.set_node(node),
            Change::NodeDeleted(name) => self.remove_node(name),
            Change::Pod(pod) => self.set_pod(pod),
            Change::PodDeleted(uid) => self.remove_pod(&uid),
            Change::Object(object) => self.set_object(object),
            Change::ObjectDeleted(key) => self.remove_object(&key),
        }
        self.settle(tasks);
    }

    /// Replaces all objects of a kind by those in `list`, which must not contain removals. `has_kind` returns whether
    /// an object is of this kind.
    pub fn relist(&mut self, list: Vec<Change>, has_kind: impl Fn(&ObjectId) -> bool, tasks: &mut impl Tasks) {
        let listed: Set<ObjectId> = list.iter().map(Change::id).collect();
        let nodes = self.cache.base.infos().iter().filter_map(|info| info.node.as_ref());
        let nodes = nodes.map(|node| ObjectId::Node(node.name));
        let pods = self.names.uids().cloned().map(ObjectId::Pod);
        let objects = self.cache.objects().map(|object| ObjectId::Object(object.key()));
        let known = nodes.chain(pods).chain(objects);
        let mut missing: Vec<ObjectId> = known.filter(|id| has_kind(id) && !listed.contains(id)).collect();
        missing.sort_unstable();
        missing.into_iter().map(ObjectId::into_removal).chain(list).for_each(|change| self.on_change(change, tasks));
    }

    fn set_node(&mut self, node: Node) {
        let old = self.cache.base.node(node.name).and_then(|at| self.cache.base.infos()[at.get()].node.clone());
        if old.as_deref() == Some(&node) {
            return;
        }
        let at = self.cache.set_node(node);
        let new = self.cache.base.infos()[at.get()].node.clone();
        for event in node_changed(old.as_deref(), new.as_deref()) {
            self.on_cluster_event(event, ChangedObject::Node(old.clone(), new.clone()));
        }
    }

    fn remove_node(&mut self, name: Symbol) {
        let Some(at) = self.cache.base.node(name) else { return };
        let old = self.cache.base.infos()[at.get()].node.clone();
        self.cache.remove_node(name);
        for event in node_changed(old.as_deref(), None) {
            self.on_cluster_event(event, ChangedObject::Node(old.clone(), None));
        }
    }

    fn set_object(&mut self, object: Object) {
        let old = self.cache.object(&object.key()).cloned();
        if old.as_ref() == Some(&object) {
            return;
        }
        self.cache.set_object(object.clone());
        if let Some(event) = object_changed(old.as_ref(), Some(&object)) {
            self.on_cluster_event(event, ChangedObject::Object(old, Some(object)));
        }
    }

    fn remove_object(&mut self, key: &ObjectKey) {
        let Some(old) = self.cache.object(key).cloned() else { return };
        self.cache.remove_object(key);
        if let Some(event) = object_changed(Some(&old), None) {
            self.on_cluster_event(event, ChangedObject::Object(Some(old), None));
        }
    }

    fn set_pod(&mut self, mut pod: Pod) {
        let node = pod.spec.node_name;
        if node.is_some() {
            // The cache stores the node of each pod. Specs without a node are equal for all pods of a template, and are
            // shared.
            Arc::make_mut(&mut pod.spec).node_name = None;
        }
        self.templates.share(&mut pod);
        if let Some(known) = self.known(&pod.uid) {
            pod.uid = known.uid.clone();
            if pod.name == known.name {
                pod.name = known.name.clone();
            }
        }
        let namespace = self.cache.base.interner.share(pod.spec.namespace);
        if namespace == pod.namespace {
            pod.namespace = namespace;
        }
        let pod = Arc::new(pod);
        let named = self.names.get(pod.spec.namespace, &pod.name);
        if let Some(earlier) = named.filter(|named| **named != pod.uid).cloned() {
            // The earlier pod was deleted, and this one created with the same name.
            self.remove_pod(&earlier);
        }
        let uid = pod.uid.clone();
        match node {
            Some(node) => self.set_assigned(pod, node),
            None => self.set_unassigned(pod),
        }
        // The names refer to the pod that the cache or the queue has: if nothing changed, this is still the previous
        // version.
        if let Some(known) = self.known(&uid).cloned() {
            self.names.insert(known);
        }
    }

    /// Returns a pod that has a node or is pending here.
    pub(super) fn known(&self, uid: &Uid) -> Option<&Arc<Pod>> {
        self.cache.pod(uid).map(|(pod, ..)| pod).or_else(|| self.queue.pod(uid))
    }

    /// Removes the name of a removed pod.
    pub(super) fn forget_name(&mut self, pod: &Pod) {
        self.names.remove(pod);
    }

    /// Handles a pod that was bound, or changed after that.
    fn set_assigned(&mut self, pod: Arc<Pod>, node: Symbol) {
        let known = self.cache.pod(&pod.uid).map(|(old, node, state)| (old.clone(), node, state));
        if let Some((old, old_node, PodState::Bound)) = &known
            && *old_node == node
        {
            if *old == pod {
                return;
            }
            self.cache.add_pod(pod.clone(), node, PodState::Bound);
            self.changed_on_node(old.clone(), pod, node);
            return;
        }
        self.cache.add_pod(pod.clone(), node, PodState::Bound);
        let nominated = self.cache.nominator.node(&pod.uid).filter(|nominated| *nominated != node);
        // If another scheduler bound the pod while it waits in Permit, the wait is over.
        self.reject_waiting(&pod.uid, "bound by another scheduler");
        let (queue, mut context) = self.queue();
        queue.delete(&pod.uid, &mut context);
        self.status.forget(&pod.uid);
        self.timed_activations.forget(&pod.uid);
        if let Some(nominated) = nominated {
            self.nomination_lost(pod.clone(), nominated);
        }
        let addition = ChangedObject::Pod(None, Some(PodOnNode { pod: pod.clone(), node: Some(node) }));
        self.on_cluster_event(ClusterEvent::new(EventResource::AssignedPod, Action::ADD), addition);
        // Until now, the cache counted the usage and labels that the pod had at the decision.
        if let Some((assumed, assumed_node, _)) = known
            && assumed_node == node
            && (assumed.usage != pod.usage || assumed.spec.labels != pod.spec.labels)
        {
            self.changed_on_node(assumed, pod, node);
        }
    }

    /// Handles a change of a pod on a node.
    fn changed_on_node(&mut self, old: Arc<Pod>, new: Arc<Pod>, node: Symbol) {
        let [old, new] = [old, new].map(|pod| PodOnNode { pod, node: Some(node) });
        let events = pod_updated(old.as_event(), new.as_event());
        let changed = ChangedObject::Pod(Some(old), Some(new));
        for event in events {
            self.on_cluster_event(event, changed.clone());
        }
    }

    /// Handles a new or changed pod without a node.
    fn set_unassigned(&mut self, pod: Arc<Pod>) {
        let now = self.now;
        if let Some((known, _, state)) = self.cache.pod(&pod.uid) {
            // The pod is assumed on a node; the cluster does not have the binding yet.
            if state != PodState::Bound {
                let deletion_began = pod.deleting && !known.deleting;
                self.refresh(pod.clone());
                if deletion_began {
                    self.remove_assumed(&pod.uid);
                }
            }
            return;
        }
        let Some(profile) = self.profile_of(&pod) else { return };
        let Some(old) = self.queue.pod(&pod.uid).cloned() else {
            self.record_pending_event(Action::ADD);
            let timestamp = pod.created.unwrap_or(now);
            let (queue, mut context) = self.queue();
            // The status of a gated pod is not needed: PreEnqueue runs again later.
            let _held = queue.add(profile, pod, timestamp, &mut context, now);
            return;
        };
        if old == pod {
            return;
        }
        self.record_pending_event(Action::UPDATE);
        let events = own_events(&old, &pod);
        let (queue, mut context) = self.queue();
        queue.update(profile, PodUpdate { old: &old, new: pod.clone(), events }, &mut context, now);
        if let Some(node) = old.nominated_node.filter(|_| old.nominated_node != pod.nominated_node) {
            self.nomination_lost(old, node);
        }
    }

    /// Updates a pod in flight, for a requeue after a failure.
    fn refresh(&mut self, pod: Arc<Pod>) {
        let Some(old) = self.queue.pod(&pod.uid).cloned() else { return };
        let Some(profile) = self.profile_of(&pod) else { return };
        let now = self.now;
        let (queue, mut context) = self.queue();
        queue.update(profile, PodUpdate { old: &old, new: pod, events: [] }, &mut context, now);
    }

    fn remove_pod(&mut self, uid: &Uid) {
        let Some(pod) = self.known(uid).cloned() else { return };
        self.forget_name(&pod);
        self.templates.count_removal();
        self.status.forget(uid);
        self.timed_activations.forget(uid);
        let nominated = self.cache.nominator.node(uid);
        let queued = self.queue.pod(uid).cloned();
        let (queue, mut context) = self.queue();
        queue.delete(uid, &mut context);
        match self.cache.pod(uid).map(|(pod, node, state)| (pod.clone(), node, state)) {
            Some((pod, node, PodState::Bound)) => {
                self.cache.remove_pod(uid);
                let (event, changed) = removal_event(pod, node);
                self.on_cluster_event(event, changed);
            }
            Some(_) => self.remove_assumed(uid),
            None => {
                self.record_pending_event(Action::DELETE);
                if let Some((pod, node)) = queued.zip(nominated) {
                    self.nomination_lost(pod, node);
                }
            }
        }
    }

    /// Removes an assumed pod that is deleted or being deleted. From now on it uses no resources
    /// (`handleAssumedPodDeletion`).
    fn remove_assumed(&mut self, uid: &Uid) {
        let Some((pod, node, _)) = self.cache.pod(uid).map(|(pod, node, state)| (pod.clone(), node, state)) else {
            return;
        };
        self.cache.forget(uid);
        self.reject_waiting(uid, "removed");
        self.node_freed(pod, node);
    }

    fn reject_waiting(&mut self, uid: &Uid, reason: &str) {
        self.waiting.reject(uid, PermitRejection { plugin: "", reason: reason.into(), preempted: false });
    }

    /// Handles an assumed pod that no longer uses its node, which may help other pods.
    pub(super) fn node_freed(&mut self, pod: Arc<Pod>, node: Symbol) {
        let (event, changed) = removal_event(pod, node);
        self.wake(event, changed);
    }

    /// Handles a lost nomination: pods that had to leave room for it can be attempted.
    pub(super) fn nomination_lost(&mut self, pod: Arc<Pod>, node: Symbol) {
        let priority = pod.spec.priority;
        let pod = Arc::new(Pod { nominated_node: Some(node), ..Pod::clone(&pod) });
        let removal = ChangedObject::Pod(Some(PodOnNode::new(pod)), None);
        let event = ClusterEvent::new(EventResource::AssignedPod, Action::DELETE);
        let now = self.now;
        let (queue, mut context) = self.queue();
        let concerned = |other: &QueuedPod| other.pod.spec.priority <= priority;
        queue.on_event(ObjectEvent { event, changed: removal }, concerned, &mut context, now);
    }

    /// Handles a cluster event.
    fn on_cluster_event(&mut self, event: ClusterEvent, changed: ChangedObject) {
        self.background.notify_watchers(event, &changed, &self.cache.base);
        self.wake(event, changed);
    }

    /// Moves pods that an event may help. The event may come from the cluster or from this scheduler.
    fn wake(&mut self, event: ClusterEvent, changed: ChangedObject) {
        let now = self.now;
        self.last_event.get_or_insert(event);
        let (queue, mut context) = self.queue();
        queue.on_event(ObjectEvent { event, changed }, |_| true, &mut context, now);
    }

    /// Records an event about a pod without a node. Such an event does not affect other pods.
    fn record_pending_event(&mut self, action: Action) {
        self.last_event = Some(ClusterEvent::new(EventResource::UnschedulablePod, action));
    }

    /// Returns the profile that serves a pod. `None`: it belongs to another scheduler.
    pub fn profile_of(&self, pod: &Pod) -> Option<usize> {
        self.options
            .serve_all
            .or_else(|| profile_for(self.bundle.profiles(), self.cache.base.interner.resolve(pod.spec.scheduler_name)))
    }
}

/// Makes the event of a pod that is no longer on its node.
fn removal_event(pod: Arc<Pod>, node: Symbol) -> (ClusterEvent, ChangedObject) {
    let event = ClusterEvent::new(EventResource::AssignedPod, Action::DELETE);
    (event, ChangedObject::Pod(Some(PodOnNode { pod, node: Some(node) }), None))
}

/// Returns the events that the change of a pod without a node causes for this pod itself. There are none if only its
/// nomination changed, because this never helps the pod.
fn own_events(old: &Arc<Pod>, new: &Arc<Pod>) -> Vec<ObjectEvent> {
    if **old == (Pod { nominated_node: old.nominated_node, ..Pod::clone(new) }) {
        return Vec::new();
    }
    let [before, after] = [old, new].map(|pod| PodOnNode::new(pod.clone()));
    let events = pod_updated(before.as_event(), after.as_event());
    let changed = ChangedObject::Pod(Some(before), Some(after));
    events.into_iter().map(|event| ObjectEvent { event, changed: changed.clone() }).collect()
}
