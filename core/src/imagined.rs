//! A node as it would be with other pods: what preemption, nominated pods and autoscalers ask about.

use std::sync::Arc;

use crate::cache::{Cache, State};
use crate::engine::Verdict;
use crate::model::{NodeIndex, Pod};
use crate::profile::Profile;
use crate::status::Reasons;

/// A copy of one node's columns that pods can come to and leave, together with the cycle state of the pod that asks.
/// Nothing shared is touched. Dropped, the cycle state is as it was before.
pub struct Imagined<'a, P: Profile> {
    compiled: &'a P::Pod,
    cycle: &'a mut P::Cycle,
    cache: &'a Cache<P::State>,
    node: NodeIndex,
    state: <P::State as State>::Hypothetical,
    undo: Vec<(Arc<Pod>, Change)>,
}

#[derive(Clone, Copy)]
enum Change {
    Added,
    Removed,
}

impl<'a, P: Profile> Imagined<'a, P> {
    /// The node as it is.
    pub fn new(compiled: &'a P::Pod, cycle: &'a mut P::Cycle, cache: &'a Cache<P::State>, node: NodeIndex) -> Self {
        let state = cache.state.hypothetical(&cache.base, node);
        Imagined { compiled, cycle, cache, node, state, undo: Vec::new() }
    }

    /// A pod comes to the node.
    pub fn add_pod(&mut self, pod: &Arc<Pod>) {
        P::State::hypothetical_add(&mut self.state, pod);
        P::add_pod(self.compiled, self.cycle, pod, self.cache, self.node);
        self.undo.push((pod.clone(), Change::Added));
    }

    /// A pod leaves the node.
    pub fn remove_pod(&mut self, pod: &Arc<Pod>) {
        P::State::hypothetical_remove(&mut self.state, pod);
        P::remove_pod(self.compiled, self.cycle, pod, self.cache, self.node);
        self.undo.push((pod.clone(), Change::Removed));
    }

    /// Runs Filter on the node as it is imagined: kube-scheduler's `RunFilterPlugins`.
    ///
    /// # Errors
    /// The first plugin that rejects it.
    pub fn filter(&self) -> Result<(), P::Rejection> {
        let columns = P::hypothetical_columns(&self.state, self.node);
        P::filter::<false>(self.compiled, self.cycle, columns, 0)
    }

    /// The rejections in words: of the first plugin, or of all that would reject the node.
    pub fn verdicts(&self, all: bool) -> Vec<Verdict> {
        let columns = P::hypothetical_columns(&self.state, self.node);
        verdicts::<P>(self.compiled, self.cycle, self.cache, columns, 0, all)
    }
}

impl<P: Profile> Drop for Imagined<'_, P> {
    fn drop(&mut self) {
        for (pod, change) in self.undo.drain(..).rev() {
            match change {
                Change::Added => P::remove_pod(self.compiled, self.cycle, &pod, self.cache, self.node),
                Change::Removed => P::add_pod(self.compiled, self.cycle, &pod, self.cache, self.node),
            }
        }
    }
}

/// Runs Filter on one node and puts the rejections into words.
pub(crate) fn verdicts<P: Profile>(
    pod: &P::Pod,
    cycle: &P::Cycle,
    cache: &Cache<P::State>,
    columns: P::Columns<'_>,
    index: usize,
    all: bool,
) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    let mut put = |rejection: P::Rejection| {
        let mut reasons = Reasons::new(&cache.base.interner);
        P::explain(pod, cycle, columns, index, rejection, &mut reasons);
        let (code, plugin) = (P::code(&rejection), P::rejector(&rejection));
        verdicts.push(Verdict { code, plugin, reasons: reasons.into_list() });
    };
    if all {
        P::filter_all(pod, cycle, columns, index, &mut put);
    } else if let Err(rejection) = P::filter::<false>(pod, cycle, columns, index) {
        put(rejection);
    }
    verdicts
}
