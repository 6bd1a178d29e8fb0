//! The cluster as the scheduler knows it: nodes in dense slots, their pods, and the state derived from them.

mod log_entry;
mod placements;
mod resource_nodes;

pub use log_entry::LogEntry;
pub(crate) use placements::UnplacedPod;
use placements::{Placed, Placements};

use resource_nodes::ResourceNodes;

use std::borrow::Cow;
use std::sync::Arc;

use crate::change_log::ChangeLog;
use crate::column::NodeInfo;
use crate::intern::{Interner, Symbol};
use crate::map::Map;
use crate::model::{Node, NodeChange, NodeIndex, Object, ObjectKey, Pod, Uid};
use crate::node_mask::NodeMask;
use crate::originals::Originals;
use crate::queue::Nominator;

/// The columns and indexes of all profiles of a binary, one of each. Generated.
pub trait State: Default + Send + Sync + 'static {
    /// One node's columns, to be changed in thought.
    type Hypothetical<'a>: Clone;

    /// Before anything else: indexes take down the symbols of what they will look for.
    fn begin(&mut self, _interner: &mut Interner) {}

    /// A node came (`old` is none), changed, or went (its slot is empty now). Rebuilds its columns, pods included. Returns
    /// whether a kernel may find there what it did not find before.
    fn set_node(&mut self, base: &Base, index: NodeIndex, old: Option<&Node>) -> bool;
    /// A pod comes to a node.
    fn add_pod(&mut self, index: NodeIndex, pod: &Pod);
    /// A pod leaves a node.
    fn remove_pod(&mut self, index: NodeIndex, pod: &Pod);

    /// A pod that waits for a node came (`old` is none), changed, or is none any more (`new` is none).
    fn set_pending(&mut self, _old: Option<&Pod>, _new: Option<&Pod>) {}

    /// An object of another kind came (`old` is none), changed, or went (`new` is none).
    fn set_object(&mut self, old: Option<&Object>, new: Option<&Object>);

    /// A node to be changed in thought.
    fn hypothetical<'a>(&'a self, base: &'a Base, index: NodeIndex) -> Self::Hypothetical<'a>;
    /// A pod comes to it.
    fn hypothetical_add(node: &mut Self::Hypothetical<'_>, pod: &Arc<Pod>);
    /// A pod leaves it.
    fn hypothetical_remove(node: &mut Self::Hypothetical<'_>, pod: &Arc<Pod>);
}

/// Nodes and names, the same for all profiles.
#[derive(Clone, Default)]
pub struct Base {
    /// The cluster's strings.
    pub interner: Interner,
    /// Objects as they were written, where extenders are sent them.
    pub originals: Originals,
    infos: Vec<NodeInfo>,
    alive: NodeMask,
    by_name: Map<Symbol, NodeIndex>,
    free: Vec<NodeIndex>,
    resource_nodes: ResourceNodes,
}

impl Base {
    /// All slots, with and without a node.
    #[inline]
    pub fn infos(&self) -> &[NodeInfo] {
        &self.infos
    }
    /// The slots that hold a node.
    #[inline]
    pub fn alive(&self) -> &NodeMask {
        &self.alive
    }
    /// The node of that name.
    pub fn node(&self, name: Symbol) -> Option<NodeIndex> {
        self.by_name.get(&name).copied()
    }
    /// The nodes that have some of a resource besides cpu, memory and storage, in order. `None`: that cannot be told.
    pub fn nodes_with(&self, resource: Symbol) -> Option<&[NodeIndex]> {
        self.resource_nodes.of(resource)
    }
    /// Number of nodes.
    #[inline]
    pub fn count(&self) -> usize {
        self.by_name.len()
    }
    /// The name of a node; empty for a slot without one.
    pub fn name(&self, index: NodeIndex) -> &str {
        let name = self.infos.get(index.get()).and_then(|info| info.node.as_ref()).map(|node| node.name);
        self.interner.resolve(name.unwrap_or(Symbol::EMPTY))
    }
}

/// Where a pod stands with its node. A pod is in one state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PodState {
    /// Decided here; it is being bound, or waits for that.
    Assumed,
    /// The cluster says that it bound the pod, which was not seen bound yet.
    BindingFinished,
    /// Seen bound.
    Bound,
}

/// Why a pod cannot be assumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AssumeError {
    /// It has a node.
    HasNode,
    /// There is no node in the slot.
    NoNode,
}

/// How many entries the log keeps of a small cluster.
const MIN_LOG_ENTRIES: usize = 4096;

/// One writer; everything that decides reads it.
pub struct Cache<S> {
    /// Nodes and names.
    pub base: Base,
    /// Columns and indexes.
    pub state: S,
    /// Which columns changed, in order: what was concluded from them earlier can be brought up to date. It keeps at least as
    /// many entries as there are slots of nodes.
    pub log: ChangeLog<LogEntry>,
    pods: Placements,
    /// Pods whose node is not known: they count once it is.
    pods_of_unknown_nodes: Map<Symbol, Vec<Arc<Pod>>>,
    /// Which pods are nominated for which nodes.
    pub nominator: Nominator,
    objects: Map<ObjectKey, Object>,
    /// Tells clusters apart.
    pub(crate) identity: Arc<()>,
}

impl<S: State> Default for Cache<S> {
    fn default() -> Self {
        let (mut base, mut state) = (Base::default(), S::default());
        state.begin(&mut base.interner);
        Cache {
            base,
            state,
            log: ChangeLog::with_capacity(MIN_LOG_ENTRIES),
            pods: Placements::default(),
            pods_of_unknown_nodes: Map::default(),
            nominator: Nominator::default(),
            objects: Map::default(),
            identity: Arc::default(),
        }
    }
}

impl<S: State> Cache<S> {
    /// A node came or changed. Pods that were seen before it count from now on. One that is as it was is nothing new, and so
    /// is one with other annotations, or with other conditions of which no column knows.
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
            // Conditions change now and then, and few columns know of them.
            let differs = self.state.set_node(&self.base, index, old.as_deref());
            if differs || change == NodeChange::More {
                self.log.push(LogEntry::node(index));
            }
            return index;
        }
        let index = self.base.free.pop().unwrap_or(NodeIndex(self.base.infos.len() as u32));
        if index.get() == self.base.infos.len() {
            self.base.infos.push(NodeInfo::default());
            self.base.alive.resize(index.get() + 1);
            self.log.grow(index.get() + 1);
        }
        self.base.resource_nodes.set_node(index, None, Some(&node));
        self.base.infos[index.get()].node = Some(Arc::new(node));
        self.base.alive.insert(index);
        self.base.by_name.insert(name, index);
        self.state.set_node(&self.base, index, None);
        self.log.push(LogEntry::node(index));
        for pod in self.pods_of_unknown_nodes.remove(&name).unwrap_or_default() {
            self.state.add_pod(index, &pod);
            self.base.infos[index.get()].add_pod(pod);
        }
        index
    }

    /// A node went. Its pods are remembered, and count again if it comes back.
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
        self.base.alive.remove(index);
        self.base.free.push(index);
        self.state.set_node(&self.base, index, old.as_deref());
        self.log.push(LogEntry::node(index));
    }

    /// A pod is on a node, or will be. The same pod anywhere else is taken from there first.
    pub fn add_pod(&mut self, pod: Arc<Pod>, node: Symbol, state: PodState) {
        let old = self.pods.insert(Placed { pod: pod.clone(), node, state });
        match old {
            Some(old) if old.node == node && is_equivalent(&old.pod, &pod) => self.replace(&old.pod, pod, node),
            Some(old) => {
                self.take(&old.pod, old.node);
                // One that stays on its node is one change of it.
                if old.node != node {
                    self.log_pods_change(old.node);
                }
                self.put(pod, node);
            }
            None => self.put(pod, node),
        }
    }

    /// A pod was decided here to go to a node, and counts there from now on (`AssumePod`). Returns the node's name.
    ///
    /// # Errors
    /// It cannot: nothing changes.
    pub fn assume(&mut self, pod: Arc<Pod>, index: NodeIndex) -> Result<Symbol, AssumeError> {
        if !self.base.alive.contains(index) {
            return Err(AssumeError::NoNode);
        }
        let unplaced = self.unplaced(&pod.uid).ok_or(AssumeError::HasNode)?;
        self.assume_unplaced(pod, unplaced, index).ok_or(AssumeError::NoNode)
    }

    /// Returns none for a pod that has a node.
    #[inline]
    pub(crate) fn unplaced(&self, uid: &Uid) -> Option<UnplacedPod> {
        self.pods.unplaced(uid)
    }

    /// Assumes a pod that is known to have no node. Returns the node's name; none if there is no node, and nothing changes.
    #[inline]
    pub(crate) fn assume_unplaced(&mut self, pod: Arc<Pod>, unplaced: UnplacedPod, index: NodeIndex) -> Option<Symbol> {
        let node = self.base.infos.get(index.get())?.node.as_ref()?.name;
        self.pods.insert_unplaced(Placed { pod: pod.clone(), node, state: PodState::Assumed }, unplaced);
        self.base.resource_nodes.add_pod(&pod);
        self.put_at(pod, index);
        Some(node)
    }

    /// A pod comes to its node.
    fn put(&mut self, pod: Arc<Pod>, node: Symbol) {
        self.base.resource_nodes.add_pod(&pod);
        match self.base.node(node) {
            Some(index) => self.put_at(pod, index),
            None => self.pods_of_unknown_nodes.entry(node).or_default().push(pod),
        }
    }

    #[inline]
    fn put_at(&mut self, pod: Arc<Pod>, index: NodeIndex) {
        self.state.add_pod(index, &pod);
        self.base.infos[index.get()].add_pod(pod);
        self.log.push(LogEntry::pod(index));
    }

    /// A pod leaves its node, which is not logged yet.
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
        // As on a node, so that the order is the same when it comes back.
        if let Some(at) = pods.iter().position(|p| p.uid == pod.uid) {
            pods.swap_remove(at);
        }
        if pods.is_empty() {
            self.pods_of_unknown_nodes.remove(&node);
        }
    }

    /// What is known of a pod on a node is known better, which is nothing to columns and indexes. Whoever looks at whole pods
    /// is told if they look different, or come in another order.
    fn replace(&mut self, old: &Pod, new: Arc<Pod>, node: Symbol) {
        match self.base.node(node) {
            Some(index) => {
                let info = &mut self.base.infos[index.get()];
                let is_last = info.pods.last().is_some_and(|last| last.uid == old.uid);
                if !is_last || (old.started, old.nominated_node) != (new.started, new.nominated_node) {
                    self.log.push(LogEntry::pod(index));
                }
                // Its place among the pods is that of one that came: kube-scheduler's `updatePod`.
                info.remove_pod(old);
                info.add_pod(new);
            }
            None => {
                self.take_pod_of_unknown_node(old, node);
                self.pods_of_unknown_nodes.entry(node).or_default().push(new);
            }
        }
    }

    /// Logs that pods of a node changed.
    fn log_pods_change(&mut self, node: Symbol) {
        if let Some(index) = self.base.node(node) {
            self.log.push(LogEntry::pod(index));
        }
    }

    /// The cluster says that it bound an assumed pod (`FinishBinding`). Others stay what they are.
    pub fn finish_binding(&mut self, uid: &Uid) {
        if let Some(placed) = self.pods.get_mut(uid).filter(|placed| placed.state == PodState::Assumed) {
            placed.state = PodState::BindingFinished;
        }
    }

    /// A pod was not bound after all (`ForgetPod`). One that was seen bound stays: returns whether it was forgotten.
    pub fn forget(&mut self, uid: &Uid) -> bool {
        let forgotten = self.pods.get(uid).is_some_and(|placed| placed.state != PodState::Bound);
        if forgotten {
            self.remove_pod(uid);
        }
        forgotten
    }

    /// A pod went, or an assumed one is not bound after all. Returns the node it was on.
    pub fn remove_pod(&mut self, uid: &Uid) -> Option<Symbol> {
        let Placed { pod, node, .. } = self.pods.remove(uid)?;
        self.take(&pod, node);
        self.log_pods_change(node);
        Some(node)
    }

    /// The pods of a node in their order, whether it is there or not.
    pub(crate) fn pods_of(&self, node: Symbol) -> &[Arc<Pod>] {
        match self.base.node(node) {
            Some(index) => &self.base.infos[index.get()].pods,
            None => self.pods_of_unknown_nodes.get(&node).map_or(&[], Vec::as_slice),
        }
    }

    /// They come in this order again, as they did before one of them went and came back.
    pub(crate) fn put_in_order(&mut self, node: Symbol, pods: Vec<Arc<Pod>>) {
        match self.base.node(node) {
            Some(index) => {
                self.base.infos[index.get()].pods = pods;
                self.log.push(LogEntry::pod(index));
            }
            None => drop(self.pods_of_unknown_nodes.insert(node, pods)),
        }
    }

    /// Where a pod is, if it has a node.
    pub fn pod(&self, uid: &Uid) -> Option<(&Arc<Pod>, Symbol, PodState)> {
        self.pods.get(uid).map(|placed| (&placed.pod, placed.node, placed.state))
    }

    /// All pods that have a node, in no order.
    pub fn pods(&self) -> impl Iterator<Item = (&Arc<Pod>, Symbol, PodState)> {
        self.pods.iter().map(|placed| (&placed.pod, placed.node, placed.state))
    }

    /// An object besides nodes and pods.
    pub fn object(&self, key: &ObjectKey) -> Option<&Object> {
        self.objects.get(key)
    }
    /// All such objects, in no order.
    pub fn objects(&self) -> impl Iterator<Item = &Object> {
        self.objects.values()
    }

    /// An object besides nodes and pods came or changed.
    pub fn set_object(&mut self, object: Object) {
        let old = self.objects.insert(object.key(), object.clone());
        self.state.set_object(old.as_ref(), Some(&object));
    }

    /// Such an object went.
    pub fn remove_object(&mut self, key: &ObjectKey) {
        if let Some(old) = self.objects.remove(key) {
            self.state.set_object(Some(&old), None);
        }
    }

    /// Takes note that room is made for a pod on a node; replaces an earlier note about the pod.
    pub fn nominate(&mut self, pod: Arc<Pod>, node: Symbol) {
        self.nominator.nominate(pod, node);
    }

    /// Forgets a nomination.
    pub fn withdraw_nomination(&mut self, uid: &Uid) {
        self.nominator.withdraw(uid);
    }

    /// Pods nominated for nodes that exist, other than `pod` itself and not weaker: what the double Filter pass is about.
    pub fn nominated_before<'a>(&'a self, pod: &'a Pod) -> impl Iterator<Item = (NodeIndex, Cow<'a, [Arc<Pod>]>)> + 'a {
        self.nominator.iter().filter_map(move |(name, _)| {
            let index = self.base.node(name)?;
            let before = self.nominator.before(name, pod);
            (!before.is_empty()).then_some((index, before))
        })
    }

    /// Those that are nominated for one node.
    pub fn nominated_on(&self, node: NodeIndex, pod: &Pod) -> Cow<'_, [Arc<Pod>]> {
        match &self.base.infos()[node.get()].node {
            Some(node) => self.nominator.before(node.name, pod),
            None => Cow::Borrowed(&[]),
        }
    }

    /// The same cluster derived from nothing, slot by slot: what the incremental state must equal.
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

/// Whether columns and indexes take two sights of one pod for the same: all but where it is nominated and since when it runs.
fn is_equivalent(a: &Pod, b: &Pod) -> bool {
    a.spec == b.spec
        && a.usage == b.usage
        && a.claim_statuses == b.claim_statuses
        && a.namespace == b.namespace
        && a.name == b.name
        && (a.preempted, a.deleting, a.created) == (b.preempted, b.deleting, b.created)
}
