//! The scheduler's view of the cluster: nodes in dense slots, their pods, and the state derived from them.

mod base;
mod log_entry;
mod nominator;
mod placements;
mod resource_nodes;
mod state;
mod values;

pub use base::Base;
pub use log_entry::LogEntry;
pub use nominator::Nominator;
pub use state::State;

pub(crate) use placements::UnplacedPod;
use placements::{PlacedPod, Placements};
pub(crate) use values::{CacheValues, ValueKind};

use std::borrow::Cow;
use std::sync::Arc;

use crate::model::change_log::ChangeLog;
use crate::model::growth;
use crate::model::intern::Symbol;
use crate::model::map::IndexedMap;
use crate::model::node_info::NodeInfo;
use crate::model::symbols::{Marker, Symbols};
use crate::model::{Node, NodeChange, NodeIndex, Object, ObjectKey, Pod, Uid};

/// State of a pod on its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PodState {
    /// A decision of this scheduler; the binding is in progress, or waits.
    Assumed,
    /// The binding request has succeeded, but the bound pod was not received yet.
    BindingFinished,
    /// The bound pod was received.
    Bound,
}

/// Reason why a pod cannot be assumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AssumeError {
    /// The pod has a node.
    HasNode,
    /// There is no node in the slot.
    NoNode,
}

/// Minimum capacity of the change log, in entries.
const MIN_LOG_ENTRIES: usize = 4096;

/// Nodes, pods, other objects and derived state. It has one writer; all decisions read it.
pub struct Cache<S> {
    /// Nodes and names.
    pub base: Base,
    /// Columns and indexes.
    pub state: S,
    /// Changes of columns, in order, for incremental updates. The log keeps at least as many entries as there are node
    /// slots.
    pub log: ChangeLog<LogEntry>,
    pods: Placements,
    /// Pods whose node was removed or not received yet, by node name. They count once the node is received.
    pods_of_unknown_nodes: IndexedMap<Symbol, Vec<Arc<Pod>>>,
    /// Nominated pods by node.
    pub nominator: Nominator,
    objects: IndexedMap<ObjectKey, Object>,
    /// Identity of the cluster: compiled pods and answers are valid in one cluster only.
    pub(crate) identity: Arc<()>,
}

impl<S: State> Default for Cache<S> {
    fn default() -> Self {
        let (mut base, mut state) = (Base::default(), S::default());
        base.interner.pinning(|interner| state.begin(interner));
        Cache {
            base,
            state,
            log: ChangeLog::with_capacity(MIN_LOG_ENTRIES),
            pods: Placements::default(),
            pods_of_unknown_nodes: IndexedMap::default(),
            nominator: Nominator::default(),
            objects: IndexedMap::default(),
            identity: Arc::default(),
        }
    }
}

impl<S: State> Cache<S> {
    /// Adds or changes a node. Pods that were received before their node count from now on. There is no log entry if
    /// nothing changed, if only annotations changed, or if only conditions changed that no column reads.
    pub fn set_node(&mut self, node: Node) -> NodeIndex {
        let name = node.name;
        if let Some(index) = self.base.node(name) {
            let known = &mut self.base.infos[index.get()].node;
            let change = known.as_ref().map_or(NodeChange::More, |known| known.change(&node));
            if change == NodeChange::Nothing {
                return index;
            }
            let node = Arc::new(node);
            let old = known.replace(node.clone());
            if change == NodeChange::Annotations {
                return index;
            }
            self.base.resource_nodes.set_node(index, old.as_deref(), Some(&node));
            // Conditions change regularly, and few columns read them.
            let differs = self.state.set_node(&self.base, index, old.as_deref());
            if differs || change == NodeChange::More {
                self.log.push(LogEntry::node(index));
            }
            return index;
        }
        let index = self.base.free.pop().unwrap_or(NodeIndex(self.base.infos.len() as u32));
        if index.get() == self.base.infos.len() {
            growth::reserve(&mut self.base.infos, index.get() + 1);
            growth::reserve(&mut self.base.names, index.get() + 1);
            self.base.infos.push(NodeInfo::default());
            self.base.names.push(Arc::default());
            self.base.alive.resize(index.get() + 1);
            self.log.grow(index.get() + 1);
        }
        self.base.resource_nodes.set_node(index, None, Some(&node));
        self.base.infos[index.get()].node = Some(Arc::new(node));
        self.base.names[index.get()] = self.base.interner.share(name);
        self.base.infos[index.get()].reserve_pod();
        self.base.alive.insert(index);
        self.base.by_name.insert(name, index);
        self.state.set_node(&self.base, index, None);
        self.log.push(LogEntry::node(index));
        for pod in self.pods_of_unknown_nodes.swap_remove(&name).unwrap_or_default() {
            // A pass that frees strings visits nodes before the pods of unknown nodes. It would miss a pod that moves
            // to a visited node, so the strings of the pod are marked here.
            pod.visit(&mut Marker::new(&mut self.base.interner));
            self.state.add_pod(index, &pod);
            self.base.infos[index.get()].add_pod(pod);
        }
        index
    }

    /// Removes a node. Its pods are kept, and count again if it comes back.
    pub fn remove_node(&mut self, name: Symbol) {
        let Some(index) = self.base.by_name.remove(&name) else { return };
        let pods = std::mem::take(&mut self.base.infos[index.get()].pods);
        for pod in &pods {
            self.state.remove_pod(index, pod);
        }
        if !pods.is_empty() {
            self.pods_of_unknown_nodes.insert(name, pods);
        }
        let old = self.base.infos[index.get()].node.take();
        self.base.resource_nodes.set_node(index, old.as_deref(), None);
        self.base.names[index.get()] = Arc::default();
        self.base.alive.remove(index);
        self.base.free.push(index);
        self.state.set_node(&self.base, index, old.as_deref());
        self.log.push(LogEntry::node(index));
    }

    /// Adds a pod with this state to a node. If the pod is on another node, it is removed there first.
    pub fn add_pod(&mut self, pod: Arc<Pod>, node: Symbol, state: PodState) {
        let old = self.pods.insert(PlacedPod { pod: pod.clone(), node, state });
        match old {
            Some(old) if old.node == node && is_equivalent(&old.pod, &pod) => self.replace(&old.pod, pod, node),
            Some(old) => {
                self.take(&old.pod, old.node);
                // If the pod stays on its node, `put` makes the only log entry.
                if old.node != node {
                    self.log_pods_change(old.node);
                }
                self.put(pod, node);
            }
            None => self.put(pod, node),
        }
    }

    /// Assumes a pod on its chosen node, where it counts from now on (`AssumePod`). Returns the node's name.
    ///
    /// # Errors
    /// The pod cannot be assumed; nothing changes.
    pub fn assume(&mut self, pod: Arc<Pod>, index: NodeIndex) -> Result<Symbol, AssumeError> {
        if !self.base.alive.contains(index) {
            return Err(AssumeError::NoNode);
        }
        let unplaced = self.unplaced(&pod.uid).ok_or(AssumeError::HasNode)?;
        self.assume_unplaced(pod, unplaced, index).ok_or(AssumeError::NoNode)
    }

    /// Returns the proof that a pod has no node; `None` if it has one.
    #[inline]
    pub(crate) fn unplaced(&self, uid: &Uid) -> Option<UnplacedPod> {
        self.pods.unplaced(uid)
    }

    /// Assumes a pod that has no node yet. Returns the node's name. If the slot has no node, nothing changes and the
    /// result is `None`.
    #[inline]
    pub(crate) fn assume_unplaced(&mut self, pod: Arc<Pod>, unplaced: UnplacedPod, index: NodeIndex) -> Option<Symbol> {
        let node = self.base.infos.get(index.get())?.node.as_ref()?.name;
        self.pods.insert_unplaced(PlacedPod { pod: pod.clone(), node, state: PodState::Assumed }, unplaced);
        self.base.resource_nodes.add_pod(&pod);
        self.base.lowest_priority.add_pod(&pod);
        self.put_at(pod, index);
        Some(node)
    }

    /// Adds a pod to its node.
    fn put(&mut self, pod: Arc<Pod>, node: Symbol) {
        self.base.resource_nodes.add_pod(&pod);
        self.base.lowest_priority.add_pod(&pod);
        match self.base.node(node) {
            Some(index) => {
                self.put_at(pod, index);
                self.base.infos[index.get()].reserve_pod();
            }
            None => self.pods_of_unknown_nodes.entry(node).or_default().push(pod),
        }
    }

    #[inline(always)]
    fn put_at(&mut self, pod: Arc<Pod>, index: NodeIndex) {
        self.state.add_pod(index, &pod);
        self.base.infos[index.get()].add_pod(pod);
        self.log.push(LogEntry::pod(index));
    }

    /// Removes a pod from its node, without a log entry.
    fn take(&mut self, pod: &Pod, node: Symbol) {
        match self.base.node(node) {
            Some(index) => {
                self.base.infos[index.get()].remove_pod(pod);
                self.state.remove_pod(index, pod);
            }
            None => self.take_pod_of_unknown_node(pod, node),
        }
    }

    fn take_pod_of_unknown_node(&mut self, pod: &Pod, node: Symbol) {
        let Some(pods) = self.pods_of_unknown_nodes.get_mut(&node) else { return };
        // `swap_remove` as in `NodeInfo::remove_pod`: when the node comes back, its pods have the same order as if the
        // node had always existed.
        if let Some(at) = pods.iter().position(|p| p.uid == pod.uid) {
            pods.swap_remove(at);
        }
        if pods.is_empty() {
            self.pods_of_unknown_nodes.swap_remove(&node);
        }
    }

    /// Replaces a pod on a node with a newer version that is equal for columns and indexes. Logs a change of start
    /// time, nominated node, or order, because plugins that read whole pods can observe it.
    fn replace(&mut self, old: &Pod, new: Arc<Pod>, node: Symbol) {
        match self.base.node(node) {
            Some(index) => {
                let info = &mut self.base.infos[index.get()];
                let is_last = info.pods.last().is_some_and(|last| last.uid == old.uid);
                if !is_last || (old.started, old.nominated_node) != (new.started, new.nominated_node) {
                    self.log.push(LogEntry::pod(index));
                }
                // The newer version becomes the last of the node's pods: kube-scheduler's `updatePod`.
                info.remove_pod(old);
                info.add_pod(new);
                info.reserve_pod();
            }
            None => {
                self.take_pod_of_unknown_node(old, node);
                self.pods_of_unknown_nodes.entry(node).or_default().push(new);
            }
        }
    }

    /// Logs a change of a node's pods.
    fn log_pods_change(&mut self, node: Symbol) {
        if let Some(index) = self.base.node(node) {
            self.log.push(LogEntry::pod(index));
        }
    }

    /// Records that the binding request of an assumed pod has succeeded (`FinishBinding`). Pods in other states do not
    /// change.
    pub fn finish_binding(&mut self, uid: &Uid) {
        if let Some(placed) = self.pods.get_mut(uid).filter(|placed| placed.state == PodState::Assumed) {
            placed.state = PodState::BindingFinished;
        }
    }

    /// Removes an assumed pod that was not bound (`ForgetPod`). A pod that was received as bound stays. Returns whether
    /// the pod was removed.
    pub fn forget(&mut self, uid: &Uid) -> bool {
        let forgotten = self.pods.get(uid).is_some_and(|placed| placed.state != PodState::Bound);
        if forgotten {
            self.remove_pod(uid);
        }
        forgotten
    }

    /// Removes a pod that was deleted, or assumed and not bound. Returns the node it was on.
    pub fn remove_pod(&mut self, uid: &Uid) -> Option<Symbol> {
        let PlacedPod { pod, node, .. } = self.pods.remove(uid)?;
        self.take(&pod, node);
        self.log_pods_change(node);
        Some(node)
    }

    /// Returns the pods of a node in their order, even if the node does not exist.
    pub(crate) fn pods_of(&self, node: Symbol) -> &[Arc<Pod>] {
        match self.base.node(node) {
            Some(index) => &self.base.infos[index.get()].pods,
            None => self.pods_of_unknown_nodes.get(&node).map_or(&[], Vec::as_slice),
        }
    }

    /// Restores the order that the pods of a node had before one of them was removed and added again.
    pub(crate) fn put_in_order(&mut self, node: Symbol, pods: Vec<Arc<Pod>>) {
        match self.base.node(node) {
            Some(index) => {
                self.base.infos[index.get()].pods = pods;
                self.log.push(LogEntry::pod(index));
            }
            None => drop(self.pods_of_unknown_nodes.insert(node, pods)),
        }
    }

    /// Returns a pod with its node and state, if it has a node.
    pub fn pod(&self, uid: &Uid) -> Option<(&Arc<Pod>, Symbol, PodState)> {
        self.pods.get(uid).map(|placed| (&placed.pod, placed.node, placed.state))
    }

    /// Returns all pods that have a node, unordered.
    pub fn pods(&self) -> impl Iterator<Item = (&Arc<Pod>, Symbol, PodState)> {
        self.pods.iter().map(|placed| (&placed.pod, placed.node, placed.state))
    }

    /// Returns an object other than a node or a pod.
    pub fn object(&self, key: &ObjectKey) -> Option<&Object> {
        self.objects.get(key)
    }
    /// Returns all objects other than nodes and pods, unordered.
    pub fn objects(&self) -> impl Iterator<Item = &Object> {
        self.objects.values()
    }

    /// Adds or changes an object other than a node or a pod.
    pub fn set_object(&mut self, object: Object) {
        let old = self.objects.insert(object.key(), object.clone());
        self.state.set_object(old.as_ref(), Some(&object));
    }

    /// Removes an object other than a node or a pod.
    pub fn remove_object(&mut self, key: &ObjectKey) {
        if let Some(old) = self.objects.swap_remove(key) {
            self.state.set_object(Some(&old), None);
        }
    }

    /// Nominates a pod for a node; replaces an earlier nomination of the pod.
    pub fn nominate(&mut self, pod: Arc<Pod>, node: Symbol) {
        self.nominator.nominate(pod, node);
    }

    /// Removes a nomination.
    pub fn withdraw_nomination(&mut self, uid: &Uid) {
        self.nominator.withdraw(uid);
    }

    /// Returns pods nominated for existing nodes, without `pod` itself and without pods of lower priority. Filter also
    /// runs as if these pods were on their nodes.
    pub fn nominated_before<'a>(&'a self, pod: &'a Pod) -> impl Iterator<Item = (NodeIndex, Cow<'a, [Arc<Pod>]>)> + 'a {
        self.nominator.iter().filter_map(move |(name, _)| {
            let index = self.base.node(name)?;
            let before = self.nominator.before(name, pod);
            (!before.is_empty()).then_some((index, before))
        })
    }

    /// Returns the pods of [`Cache::nominated_before`] that are nominated for one node.
    pub fn nominated_on(&self, node: NodeIndex, pod: &Pod) -> Cow<'_, [Arc<Pod>]> {
        match &self.base.infos()[node.get()].node {
            Some(node) => self.nominator.before(node.name, pod),
            None => Cow::Borrowed(&[]),
        }
    }

    /// Derives the state again from all nodes, pods and objects, slot by slot, for comparison with the incremental
    /// state.
    pub fn rebuilt(&self) -> S {
        let mut state = S::default();
        state.begin(&mut self.base.interner.clone());
        for object in self.objects.values() {
            state.set_object(None, Some(object));
        }
        let empty = Base {
            infos: self.base.infos.iter().map(|i| NodeInfo { node: i.node.clone(), pods: Vec::new() }).collect(),
            ..self.base.clone()
        };
        for index in 0..empty.infos.len() {
            let index = NodeIndex(index as u32);
            state.set_node(&empty, index, None);
            for pod in &self.base.infos[index.get()].pods {
                state.add_pod(index, pod);
            }
        }
        state
    }
}

/// Returns whether two versions of one pod are equal for columns and indexes: they differ at most in the nominated node
/// and the start time.
fn is_equivalent(a: &Pod, b: &Pod) -> bool {
    a.spec == b.spec
        && a.usage == b.usage
        && a.claim_statuses == b.claim_statuses
        && a.namespace == b.namespace
        && a.name == b.name
        && (a.preempted, a.deleting, a.created) == (b.preempted, b.deleting, b.created)
}
