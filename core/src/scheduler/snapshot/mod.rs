//! Hypothetical clusters for autoscalers: fork, change, revert.
//!
//! A [`Snapshot`] has a cluster and a compiled profile, without a queue, a client or a clock. The caller sets nodes,
//! pods and objects. [`Snapshot::check`] returns whether a pod fits on a node, [`Snapshot::schedule`] places it there,
//! and [`Snapshot::estimate`] counts the nodes of one shape that pods need. Changes between [`Snapshot::fork`] and
//! [`Snapshot::revert`] are undone.
//!
//! A snapshot corresponds to Cluster Autoscaler's `ClusterSnapshot`. PreFilter, Filter and Reserve run as in a
//! scheduler with this profile. Nominations of other pods are ignored.

mod changes;
mod estimate;

pub use estimate::{Estimate, NodeTemplate};

use std::sync::Arc;

use crate::engine::explain::Explanation;
use crate::engine::pre_filtered_pod::PreFilteredPod;
use crate::engine::verdict::{Verdict, verdict};
use crate::engine::{CycleStateOwner, Decision, Engine, PreFilterOutcome, UNTIMED, excluded_node_reason};
use crate::model::cache::{AssumeError, Cache, PodState};
use crate::model::intern::{Interner, Symbol};
use crate::model::map::Map;
use crate::model::placement::Placement;
use crate::model::{Node, NodeIndex, Object, ObjectKey, Pod, Uid};
use crate::plugin_api::handle::Handle;
use crate::plugin_api::status::Status;
use crate::profile_api::profile::{Profile, StartErrors};
use changes::UndoEntry;

/// A hypothetical cluster with a profile.
pub struct Snapshot<P: Profile> {
    engine: Engine<P>,
    cache: Cache<P::State>,
    /// Data from Reserve plugins for pods that were scheduled here.
    reserved: Map<Uid, ReservedPlacement<P>>,
    /// Changes since the outermost fork.
    undo_entries: Vec<UndoEntry<P>>,
    /// Index in `undo_entries` of the beginning of each fork.
    forks: Vec<usize>,
    /// Slot at which [`Snapshot::schedule_on_any`] begins: the one after the last chosen node.
    next: usize,
}

/// The node of a pod that was scheduled here, with the data of Reserve plugins.
struct ReservedPlacement<P: Profile> {
    placement: Placement,
    reserved: P::Reserved,
}

impl<P: Profile> Snapshot<P> {
    /// Makes an empty cluster.
    ///
    /// # Errors
    /// All plugins that cannot start.
    pub fn new() -> Result<Self, StartErrors> {
        Ok(Self::from_engine(Engine::new(&Handle::default())?))
    }

    /// Makes an empty cluster for an existing engine.
    pub fn from_engine(engine: Engine<P>) -> Self {
        let (cache, reserved) = (Cache::default(), Map::default());
        Snapshot { engine, cache, reserved, undo_entries: Vec::new(), forks: Vec::new(), next: 0 }
    }

    /// Returns the current cluster.
    pub fn cluster(&self) -> &Cache<P::State> {
        &self.cache
    }
    /// Returns the cluster's interner, to construct nodes and pods.
    pub fn interner(&mut self) -> &mut Interner {
        &mut self.cache.base.interner
    }
    /// Removes all objects, closes all forks, and makes a new interner: earlier symbols are invalid. The plugins stay.
    pub fn clear(&mut self) {
        for change in std::mem::take(&mut self.undo_entries) {
            self.settle(change);
        }
        for ReservedPlacement { placement, reserved } in std::mem::take(&mut self.reserved).values() {
            self.engine.plugins.unreserve(placement, reserved);
        }
        self.cache = Cache::default();
        self.forks.clear();
        self.next = 0;
    }

    /// Returns the node with this name.
    pub fn node(&self, name: &str) -> Option<NodeIndex> {
        self.cache.base.node(self.cache.base.interner.get(name)?)
    }

    /// Adds or changes a node.
    pub fn set_node(&mut self, node: Node) -> NodeIndex {
        let name = node.name;
        let old = self.known_node(name);
        let index = self.cache.set_node(node);
        self.note(UndoEntry::Node { name, old });
        index
    }

    /// Removes a node. Its pods count again if the node is added again.
    pub fn remove_node(&mut self, name: Symbol) {
        if let Some(old) = self.known_node(name) {
            self.cache.remove_node(name);
            self.note(UndoEntry::Node { name, old: Some(old) });
        }
    }

    fn known_node(&self, name: Symbol) -> Option<Arc<Node>> {
        self.cache.base.infos()[self.cache.base.node(name)?.get()].node.clone()
    }

    /// Adds or changes an object that is neither a node nor a pod.
    pub fn set_object(&mut self, object: Object) {
        let key = object.key();
        let old = self.cache.object(&key).cloned();
        self.cache.set_object(object);
        self.note(UndoEntry::Object { key, old });
    }

    /// Removes an object that is neither a node nor a pod.
    pub fn remove_object(&mut self, key: &ObjectKey) {
        if let Some(old) = self.cache.object(key).cloned() {
            self.cache.remove_object(key);
            self.note(UndoEntry::Object { key: *key, old: Some(old) });
        }
    }

    /// Adds a pod to a node, whether it fits there or not: `ForceAddPod`. The pod is removed from its previous node.
    pub fn add_pod(&mut self, pod: Arc<Pod>, node: Symbol) {
        self.remove_pod(&pod.uid);
        self.note(UndoEntry::PodAdded(pod.uid.clone()));
        self.cache.add_pod(pod, node, PodState::Bound);
    }

    /// Removes a pod from its node: `ForceRemovePod` and `UnschedulePod`. Its reservation is released: at once or,
    /// inside of a fork, when the outermost fork is committed. Returns false if the pod has no node.
    pub fn remove_pod(&mut self, uid: &Uid) -> bool {
        let Some((pod, node, state)) = self.cache.pod(uid) else { return false };
        let pod = pod.clone();
        let on_node = self.cache.pods_of(node).to_vec();
        self.cache.remove_pod(uid);
        let reserved = self.reserved.remove(uid);
        self.note(UndoEntry::PodRemoved { pod, node, state, on_node, reserved });
        true
    }

    /// Runs PreFilter and Filter for a pod on a node: `CheckPredicates`.
    ///
    /// # Errors
    /// The rejection of the first plugin that rejects the node or the pod as a whole.
    pub fn check(&mut self, pod: &Arc<Pod>, node: NodeIndex) -> Result<(), Verdict> {
        let attempt = self.attempt(pod)?;
        let verdict = self.verdict(&attempt, node);
        self.engine.release(CycleStateOwner::Owned(attempt));
        verdict
    }

    /// Runs PreFilter for a pod, and Filter for each of these nodes. `on_verdict` receives the verdicts, in order.
    ///
    /// # Errors
    /// The rejection of the pod as a whole; `on_verdict` is not called then.
    pub fn check_each(
        &mut self,
        pod: &Arc<Pod>,
        nodes: impl IntoIterator<Item = NodeIndex>,
        mut on_verdict: impl FnMut(NodeIndex, Result<(), Verdict>),
    ) -> Result<(), Verdict> {
        let attempt = self.attempt(pod)?;
        nodes.into_iter().for_each(|node| on_verdict(node, self.verdict(&attempt, node)));
        self.engine.release(CycleStateOwner::Owned(attempt));
        Ok(())
    }

    /// Puts a pod on a node if it fits there: `SchedulePod`. Runs PreFilter, Filter and Reserve.
    ///
    /// # Errors
    /// The first rejection: of the pod as a whole, of the node, or of the reservation. After a rejection, the snapshot
    /// is unchanged.
    pub fn schedule(&mut self, pod: &Arc<Pod>, node: NodeIndex) -> Result<(), Verdict> {
        let attempt = self.attempt(pod)?;
        let result = self.verdict(&attempt, node).and_then(|()| self.place(pod, &attempt, node));
        self.engine.release(CycleStateOwner::Owned(attempt));
        result
    }

    /// Puts a pod on the first node on which it fits and that `is_candidate` admits: `SchedulePodOnAnyNodeMatching`. The
    /// search begins after the last chosen node, which spreads pods.
    ///
    /// # Errors
    /// The rejection of the pod as a whole; `None` if every candidate rejects it.
    pub fn schedule_on_any(
        &mut self,
        pod: &Arc<Pod>,
        mut is_candidate: impl FnMut(NodeIndex) -> bool,
    ) -> Result<NodeIndex, Option<Verdict>> {
        let alive = self.cache.base.alive();
        let (before, after): (Vec<NodeIndex>, Vec<NodeIndex>) =
            alive.iter().filter(|&node| is_candidate(node)).partition(|node| node.get() < self.next);
        let chosen = self.schedule_on_first(pod, after.into_iter().chain(before), |_, _| ()).map_err(Some)?;
        self.next = chosen.map_or(self.next, |node| node.get() + 1);
        chosen.ok_or(None)
    }

    /// Puts a pod on the first of these nodes on which it fits. `on_rejection` receives the nodes before the chosen
    /// one, with their rejections.
    ///
    /// # Errors
    /// The rejection of the pod as a whole.
    fn schedule_on_first(
        &mut self,
        pod: &Arc<Pod>,
        mut nodes: impl Iterator<Item = NodeIndex>,
        mut on_rejection: impl FnMut(NodeIndex, Verdict),
    ) -> Result<Option<NodeIndex>, Verdict> {
        let attempt = self.attempt(pod)?;
        let chosen = nodes.find(|&node| {
            let result = self.verdict(&attempt, node).and_then(|()| self.place(pod, &attempt, node));
            result.map_err(|why| on_rejection(node, why)).is_ok()
        });
        self.engine.release(CycleStateOwner::Owned(attempt));
        Ok(chosen)
    }

    /// Returns the decision of a scheduler with this profile about a pod, with scores and preemption. `draw(n)` picks
    /// one of `n` equally good nodes. Nothing changes.
    pub fn decide(&mut self, pod: &Arc<Pod>, draw: impl FnMut(usize) -> usize) -> Decision {
        self.engine.decide(pod, &mut self.cache, UNTIMED, draw)
    }

    /// Explains the decision about a pod over all nodes, regardless of `percentage-of-nodes-to-score`. Among equally
    /// good nodes, the decision is the first by index. Nothing changes.
    pub fn explain(&mut self, pod: &Arc<Pod>) -> Explanation {
        let percentage = std::mem::replace(&mut self.engine.percentage_of_nodes_to_score, 100);
        let explanation = self.engine.explain(pod, &mut self.cache, false);
        self.engine.percentage_of_nodes_to_score = percentage;
        explanation
    }

    /// Runs PreFilter.
    fn attempt(&mut self, pod: &Arc<Pod>) -> Result<Box<PreFilteredPod<P>>, Verdict> {
        let read = self.engine.read(pod, &mut self.cache);
        match self.engine.start(&read, &self.cache) {
            PreFilterOutcome::PreFiltered(attempt) => Ok(attempt),
            PreFilterOutcome::Rejected(rejected) => Err(rejected.status.into()),
        }
    }

    /// Runs Filter on a node.
    fn verdict(&self, attempt: &PreFilteredPod<P>, node: NodeIndex) -> Result<(), Verdict> {
        if !self.cache.base.alive().contains(node) {
            return Err(Status::error("there is no such node").into());
        }
        if attempt.pre_filter.nodes().is_some_and(|nodes| nodes.binary_search(&node).is_err()) {
            return Err(Status::unresolvable(excluded_node_reason(&attempt.pre_filter.narrowed_by())).into());
        }
        let columns = P::columns(&self.cache.state, &self.cache.base);
        verdict::<P>(&attempt.compiled, &attempt.cycle, &self.cache, columns, node.get()).map_or(Ok(()), Err)
    }

    /// Adds the pod to the node, and runs Reserve.
    fn place(&mut self, pod: &Arc<Pod>, attempt: &PreFilteredPod<P>, node: NodeIndex) -> Result<(), Verdict> {
        self.cache.assume(pod.clone(), node).map_err(|why| {
            Verdict::from(Status::error(match why {
                AssumeError::HasNode => "the pod has a node already",
                AssumeError::NoNode => "there is no such node",
            }))
        })?;
        let node_name = self.cache.base.name(node).into();
        let placement = Placement { pod: pod.clone(), node, node_name };
        match self.engine.plugins.reserve(&attempt.cycle, &self.cache, &placement) {
            Ok(reserved) => {
                self.reserved.insert(pod.uid.clone(), ReservedPlacement { placement, reserved });
                self.note(UndoEntry::PodAdded(pod.uid.clone()));
                Ok(())
            }
            Err(status) => {
                self.cache.remove_pod(&pod.uid);
                Err(status.into())
            }
        }
    }
}

impl<P: Profile> Drop for Snapshot<P> {
    /// Closes all plugins.
    fn drop(&mut self) {
        self.engine.plugins.close();
    }
}
