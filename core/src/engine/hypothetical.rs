//! A node with hypothetical pods: for preemption, nominated pods and autoscalers.

use std::ops::Deref;
use std::sync::Arc;

use smallvec::SmallVec;

use crate::engine::node_loops;
use crate::engine::verdict::{Verdict, all_verdicts, verdict};
use crate::model::cache::{Cache, State};
use crate::model::{NodeIndex, Pod};
use crate::profile_api::profile::Profile;

/// A copy of one node's columns for adding and removing pods, with the cycle state of the pod under evaluation. The
/// cluster's columns are not changed. Dropping the hypothetical node restores the cycle state.
pub struct HypotheticalNode<'a, P: Profile> {
    compiled: &'a P::Pod,
    cycle: &'a mut P::Cycle,
    cache: &'a Cache<P::State>,
    node: NodeIndex,
    state: <P::State as State>::Hypothetical<'a>,
    changes: SmallVec<[Change<'a>; 8]>,
}

/// A change of the node, which can be undone.
#[derive(Clone)]
enum Change<'a> {
    Added(HypotheticalPod<'a>),
    Removed(HypotheticalPod<'a>),
}

/// A pod other than the one under evaluation.
#[derive(Clone)]
enum HypotheticalPod<'a> {
    /// The caller keeps it alive.
    Borrowed(&'a Arc<Pod>),
    Owned(Arc<Pod>),
}

impl Deref for HypotheticalPod<'_> {
    type Target = Arc<Pod>;
    fn deref(&self) -> &Arc<Pod> {
        match self {
            HypotheticalPod::Borrowed(pod) => pod,
            HypotheticalPod::Owned(pod) => pod,
        }
    }
}

/// A state of a hypothetical node, to which it can be rolled back.
#[derive(Clone, Copy, Debug)]
pub struct Checkpoint(usize);

impl<'a, P: Profile> HypotheticalNode<'a, P> {
    /// Copies a node. The copy has no changes yet.
    pub fn new(compiled: &'a P::Pod, cycle: &'a mut P::Cycle, cache: &'a Cache<P::State>, node: NodeIndex) -> Self {
        let state = cache.state.hypothetical(&cache.base, node);
        HypotheticalNode { compiled, cycle, cache, node, state, changes: SmallVec::new() }
    }

    /// Adds a pod to the node.
    pub fn add_pod(&mut self, pod: &Arc<Pod>) {
        self.put(pod);
        self.changes.push(Change::Added(HypotheticalPod::Owned(pod.clone())));
    }

    /// Removes a pod from the node.
    pub fn remove_pod(&mut self, pod: &Arc<Pod>) {
        self.take(pod);
        self.changes.push(Change::Removed(HypotheticalPod::Owned(pod.clone())));
    }

    /// Adds a pod that lives as long as the cluster reference, like [`HypotheticalNode::add_pod`].
    pub fn add_borrowed(&mut self, pod: &'a Arc<Pod>) {
        self.put(pod);
        self.changes.push(Change::Added(HypotheticalPod::Borrowed(pod)));
    }

    /// Removes a pod that lives as long as the cluster reference, like [`HypotheticalNode::remove_pod`].
    pub fn remove_borrowed(&mut self, pod: &'a Arc<Pod>) {
        self.take(pod);
        self.changes.push(Change::Removed(HypotheticalPod::Borrowed(pod)));
    }

    /// Adds a pod if the pod under evaluation then passes, with and without the nominated pods. Returns whether it was
    /// added.
    pub fn add_borrowed_if_feasible(&mut self, pod: &'a Arc<Pod>, nominated: &'a [Arc<Pod>]) -> bool {
        self.put(pod);
        if self.filter_with_nominated(nominated).is_err() {
            self.take(pod);
            return false;
        }
        self.changes.push(Change::Added(HypotheticalPod::Borrowed(pod)));
        true
    }

    /// Returns the current state, for [`HypotheticalNode::roll_back_to`].
    pub fn checkpoint(&self) -> Checkpoint {
        Checkpoint(self.changes.len())
    }

    /// Undoes all changes since a checkpoint.
    pub fn roll_back_to(&mut self, checkpoint: Checkpoint) {
        while self.changes.len() > checkpoint.0 {
            match self.changes.pop() {
                Some(Change::Added(pod)) => self.take(&pod),
                Some(Change::Removed(pod)) => self.put(&pod),
                None => break,
            }
        }
    }

    fn put(&mut self, pod: &Arc<Pod>) {
        P::State::hypothetical_add(&mut self.state, pod);
        P::add_pod(self.compiled, self.cycle, pod, self.cache, self.node);
    }

    fn take(&mut self, pod: &Arc<Pod>) {
        P::State::hypothetical_remove(&mut self.state, pod);
        P::remove_pod(self.compiled, self.cycle, pod, self.cache, self.node);
    }

    /// Runs Filter on the hypothetical node: kube-scheduler's `RunFilterPlugins`.
    ///
    /// # Errors
    /// The rejection of the first plugin.
    pub fn filter(&self) -> Result<(), P::Rejection> {
        let columns = P::hypothetical_columns(&self.state, self.node);
        node_loops::filter_node::<P>(self.compiled, self.cycle, columns, 0)
    }

    /// Runs Filter on the node with the nominated pods, and then without them: kube-scheduler's
    /// `RunFilterPluginsWithNominatedPods`. [`Cache::nominated_on`] returns those pods.
    ///
    /// # Errors
    /// The rejection of the first plugin.
    pub fn filter_with_nominated(&mut self, nominated: &[Arc<Pod>]) -> Result<(), P::Rejection> {
        if !nominated.is_empty() {
            self.with_nominated(nominated, |node| node.filter())?;
        }
        self.filter()
    }

    /// Returns the rejection of [`HypotheticalNode::filter`] with its text; `None` if the node passes.
    pub fn verdict(&self) -> Option<Verdict> {
        let columns = P::hypothetical_columns(&self.state, self.node);
        verdict::<P>(self.compiled, self.cycle, self.cache, columns, 0)
    }

    /// Returns the rejections of all plugins with their texts.
    pub fn all_verdicts(&self) -> Vec<Verdict> {
        let columns = P::hypothetical_columns(&self.state, self.node);
        all_verdicts::<P>(self.compiled, self.cycle, self.cache, columns, 0)
    }

    /// Returns the rejection of [`HypotheticalNode::filter_with_nominated`] with its text; `None` if the node passes.
    pub fn verdict_with_nominated(&mut self, nominated: &[Arc<Pod>]) -> Option<Verdict> {
        let verdict = self.with_nominated(nominated, Self::verdict);
        verdict.or_else(|| self.verdict())
    }

    /// Calls `evaluate` while the pods are on the node. Afterwards, the columns are replaced by a copy that was made
    /// before. Removing the pods would not restore them if pods conflict: a host port is free as soon as one of its
    /// pods is removed.
    fn with_nominated<T>(&mut self, nominated: &[Arc<Pod>], evaluate: impl FnOnce(&Self) -> T) -> T {
        let (without_nominated, checkpoint) = (self.state.clone(), self.checkpoint());
        nominated.iter().for_each(|pod| self.add_pod(pod));
        let result = evaluate(self);
        self.roll_back_to(checkpoint);
        self.state = without_nominated;
        result
    }
}

impl<P: Profile> Drop for HypotheticalNode<'_, P> {
    fn drop(&mut self) {
        // The copied columns are dropped without undoing the changes.
        for change in std::mem::take(&mut self.changes).into_iter().rev() {
            match change {
                Change::Added(pod) => P::remove_pod(self.compiled, self.cycle, &pod, self.cache, self.node),
                Change::Removed(pod) => P::add_pod(self.compiled, self.cycle, &pod, self.cache, self.node),
            }
        }
    }
}
