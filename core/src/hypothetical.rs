//! A node as it would be with other pods: what preemption, nominated pods and autoscalers ask about.

use std::ops::Deref;
use std::sync::Arc;

use smallvec::SmallVec;

use crate::cache::{Cache, State};
use crate::model::{NodeIndex, Pod};
use crate::node_loops;
use crate::profile::Profile;
use crate::verdict::{Verdict, all_verdicts, verdict};

/// A copy of one node's columns that pods can come to and leave, together with the cycle state of the pod that asks.
/// Nothing shared is touched. Dropped, the cycle state is as it was before.
pub struct HypotheticalNode<'a, P: Profile> {
    compiled: &'a P::Pod,
    cycle: &'a mut P::Cycle,
    cache: &'a Cache<P::State>,
    node: NodeIndex,
    state: <P::State as State>::Hypothetical<'a>,
    done: SmallVec<[Change<'a>; 8]>,
}

/// What was done to the node, so that it can be undone.
#[derive(Clone)]
enum Change<'a> {
    Added(PodRef<'a>),
    Removed(PodRef<'a>),
}

/// A pod besides the one that asks.
#[derive(Clone)]
enum PodRef<'a> {
    /// It lives long enough.
    Borrowed(&'a Arc<Pod>),
    Owned(Arc<Pod>),
}

impl Deref for PodRef<'_> {
    type Target = Arc<Pod>;
    fn deref(&self) -> &Arc<Pod> {
        match self {
            PodRef::Borrowed(pod) => pod,
            PodRef::Owned(pod) => pod,
        }
    }
}

/// A moment in the life of an imagined node.
#[derive(Clone, Copy, Debug)]
pub struct Checkpoint(usize);

impl<'a, P: Profile> HypotheticalNode<'a, P> {
    /// The node as it is.
    pub fn new(compiled: &'a P::Pod, cycle: &'a mut P::Cycle, cache: &'a Cache<P::State>, node: NodeIndex) -> Self {
        let state = cache.state.hypothetical(&cache.base, node);
        HypotheticalNode { compiled, cycle, cache, node, state, done: SmallVec::new() }
    }

    /// A pod comes to the node.
    pub fn add_pod(&mut self, pod: &Arc<Pod>) {
        self.put(pod);
        self.done.push(Change::Added(PodRef::Owned(pod.clone())));
    }

    /// A pod leaves the node.
    pub fn remove_pod(&mut self, pod: &Arc<Pod>) {
        self.take(pod);
        self.done.push(Change::Removed(PodRef::Owned(pod.clone())));
    }

    /// As [`HypotheticalNode::add_pod`], of a pod that is there as long as the cluster is looked at.
    pub fn add_borrowed(&mut self, pod: &'a Arc<Pod>) {
        self.put(pod);
        self.done.push(Change::Added(PodRef::Borrowed(pod)));
    }

    /// As [`HypotheticalNode::remove_pod`], of a pod that is there as long as the cluster is looked at.
    pub fn remove_borrowed(&mut self, pod: &'a Arc<Pod>) {
        self.take(pod);
        self.done.push(Change::Removed(PodRef::Borrowed(pod)));
    }

    /// A pod comes to the node if the pod that asks passes with it, and with and without the nominated ones. Returns
    /// whether it came.
    pub fn add_borrowed_if_feasible(&mut self, pod: &'a Arc<Pod>, nominated: &'a [Arc<Pod>]) -> bool {
        self.put(pod);
        if self.filter_with_nominated(nominated).is_err() {
            self.take(pod);
            return false;
        }
        self.done.push(Change::Added(PodRef::Borrowed(pod)));
        true
    }

    /// The node as it is now, for [`HypotheticalNode::roll_back_to`].
    pub fn checkpoint(&self) -> Checkpoint {
        Checkpoint(self.done.len())
    }

    /// Undoes what was done since.
    pub fn roll_back_to(&mut self, moment: Checkpoint) {
        while self.done.len() > moment.0 {
            match self.done.pop() {
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

    /// Runs Filter on the node as it is imagined: kube-scheduler's `RunFilterPlugins`.
    ///
    /// # Errors
    /// The first plugin that rejects it.
    pub fn filter(&self) -> Result<(), P::Rejection> {
        let columns = P::hypothetical_columns(&self.state, self.node);
        node_loops::filter_node::<P>(self.compiled, self.cycle, columns, 0)
    }

    /// Runs Filter on the node with other pods on it, and then without them: kube-scheduler's
    /// `RunFilterPluginsWithNominatedPods`. Which pods those are tells [`Cache::nominated_on`].
    ///
    /// # Errors
    /// The first plugin that rejects it.
    pub fn filter_with_nominated(&mut self, nominated: &[Arc<Pod>]) -> Result<(), P::Rejection> {
        if !nominated.is_empty() {
            self.with_nominated(nominated, |node| node.filter())?;
        }
        self.filter()
    }

    /// The rejection of [`HypotheticalNode::filter`] in words; none if the node passes.
    pub fn verdict(&self) -> Option<Verdict> {
        let columns = P::hypothetical_columns(&self.state, self.node);
        verdict::<P>(self.compiled, self.cycle, self.cache, columns, 0)
    }

    /// The rejections of all plugins that would reject the node, in words.
    pub fn all_verdicts(&self) -> Vec<Verdict> {
        let columns = P::hypothetical_columns(&self.state, self.node);
        all_verdicts::<P>(self.compiled, self.cycle, self.cache, columns, 0)
    }

    /// The rejection of [`HypotheticalNode::filter_with_nominated`] in words; none if the node passes.
    pub fn verdict_with_nominated(&mut self, nominated: &[Arc<Pod>]) -> Option<Verdict> {
        let verdict = self.with_nominated(nominated, Self::verdict);
        verdict.or_else(|| self.verdict())
    }

    /// Asks while the pods are on the node. They come to a copy of the columns, so that they leave no trace even if they
    /// could not be there together with the others.
    fn with_nominated<T>(&mut self, nominated: &[Arc<Pod>], ask: impl FnOnce(&Self) -> T) -> T {
        let (alone, moment) = (self.state.clone(), self.checkpoint());
        nominated.iter().for_each(|pod| self.add_pod(pod));
        let answer = ask(self);
        self.roll_back_to(moment);
        self.state = alone;
        answer
    }
}

impl<P: Profile> Drop for HypotheticalNode<'_, P> {
    fn drop(&mut self) {
        // The copied columns are dropped as they are.
        for change in std::mem::take(&mut self.done).into_iter().rev() {
            match change {
                Change::Added(pod) => P::remove_pod(self.compiled, self.cycle, &pod, self.cache, self.node),
                Change::Removed(pod) => P::add_pod(self.compiled, self.cycle, &pod, self.cache, self.node),
            }
        }
    }
}
