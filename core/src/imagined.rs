//! A node as it would be with other pods: what preemption, nominated pods and autoscalers ask about.

use std::sync::Arc;

use crate::cache::{Cache, State};
use crate::model::{NodeIndex, Pod};
use crate::passes;
use crate::profile::Profile;
use crate::verdict::{Verdict, verdicts};

/// A copy of one node's columns that pods can come to and leave, together with the cycle state of the pod that asks.
/// Nothing shared is touched. Dropped, the cycle state is as it was before.
pub struct Imagined<'a, P: Profile> {
    compiled: &'a P::Pod,
    cycle: &'a mut P::Cycle,
    cache: &'a Cache<P::State>,
    node: NodeIndex,
    state: <P::State as State>::Hypothetical,
    done: Vec<Change>,
}

/// What was done to the node, so that it can be undone.
enum Change {
    Added(Arc<Pod>),
    Removed(Arc<Pod>),
}

/// A moment in the life of an imagined node.
#[derive(Clone, Copy, Debug)]
pub struct Moment(usize);

impl<'a, P: Profile> Imagined<'a, P> {
    /// The node as it is.
    pub fn new(compiled: &'a P::Pod, cycle: &'a mut P::Cycle, cache: &'a Cache<P::State>, node: NodeIndex) -> Self {
        let state = cache.state.hypothetical(&cache.base, node);
        Imagined { compiled, cycle, cache, node, state, done: Vec::new() }
    }

    /// A pod comes to the node.
    pub fn add_pod(&mut self, pod: &Arc<Pod>) {
        self.put(pod);
        self.done.push(Change::Added(pod.clone()));
    }

    /// A pod leaves the node.
    pub fn remove_pod(&mut self, pod: &Arc<Pod>) {
        self.take(pod);
        self.done.push(Change::Removed(pod.clone()));
    }

    /// The node as it is now, for [`Imagined::back_to`].
    pub fn now(&self) -> Moment {
        Moment(self.done.len())
    }

    /// Undoes what was done since.
    pub fn back_to(&mut self, moment: Moment) {
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
        passes::filter_one::<P>(self.compiled, self.cycle, columns, 0)
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

    /// The rejections in words: of the first plugin, or of all that would reject the node.
    pub fn verdicts(&self, all: bool) -> Vec<Verdict> {
        let columns = P::hypothetical_columns(&self.state, self.node);
        verdicts::<P>(self.compiled, self.cycle, self.cache, columns, 0, all)
    }

    /// The rejection of [`Imagined::filter_with_nominated`] in words; none if the node passes.
    pub fn verdict_with_nominated(&mut self, nominated: &[Arc<Pod>]) -> Option<Verdict> {
        let verdict = self.with_nominated(nominated, |node| node.verdicts(false).pop());
        verdict.or_else(|| self.verdicts(false).pop())
    }

    /// Asks while the pods are on the node. They come to a copy of the columns, so that they leave no trace even if they
    /// could not be there together with the others.
    fn with_nominated<T>(&mut self, nominated: &[Arc<Pod>], ask: impl FnOnce(&Self) -> T) -> T {
        let (alone, moment) = (self.state.clone(), self.now());
        nominated.iter().for_each(|pod| self.add_pod(pod));
        let answer = ask(self);
        self.back_to(moment);
        self.state = alone;
        answer
    }
}

impl<P: Profile> Drop for Imagined<'_, P> {
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
