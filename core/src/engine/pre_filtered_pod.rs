//! A pod in its scheduling cycle, after PreFilter.

use std::sync::Arc;

use crate::engine::hypothetical::HypotheticalNode;
use crate::engine::node_loops;
use crate::engine::verdict::{Verdict, all_verdicts, verdict};
use crate::model::cache::Cache;
use crate::model::{NodeIndex, Pod};
use crate::profile_api::profile::{PreFilterRun, Profile};

/// A compiled pod with its cycle state.
pub(crate) struct PreFilteredPod<P: Profile> {
    pub(crate) compiled: Arc<P::Pod>,
    /// Number of its signature, never reused. `None` if no other pod with this signature was seen recently.
    pub(crate) signature_number: Option<u64>,
    pub(crate) cycle: P::Cycle,
    pub(crate) pre_filter: PreFilterRun,
}

impl<P: Profile> PreFilteredPod<P> {
    /// Makes a hypothetical node with further pods.
    pub(crate) fn with_pods<'a>(
        &'a mut self,
        pods: &'a [Arc<Pod>],
        cache: &'a Cache<P::State>,
        node: NodeIndex,
    ) -> HypotheticalNode<'a, P> {
        let mut hypothetical = HypotheticalNode::new(&*self.compiled, &mut self.cycle, cache, node);
        pods.iter().for_each(|pod| hypothetical.add_borrowed(pod));
        hypothetical
    }

    /// Runs Filter on one node, with and without its nominated pods: kube-scheduler's
    /// `RunFilterPluginsWithNominatedPods`.
    ///
    /// # Errors
    /// The rejection of the first plugin.
    pub(crate) fn passes_filters(
        &mut self,
        pod: &Pod,
        cache: &Cache<P::State>,
        node: NodeIndex,
    ) -> Result<(), P::Rejection> {
        let nominated = cache.nominated_on(node, pod);
        if !nominated.is_empty() {
            self.with_pods(&nominated, cache, node).filter()?;
        }
        let columns = P::columns(&cache.state, &cache.base);
        node_loops::filter_node::<P>(&self.compiled, &self.cycle, columns, node.get())
    }

    /// Runs Filter again on a node on which a plugin failed. Returns the text of the failure.
    pub(crate) fn failure(&mut self, pod: &Pod, cache: &Cache<P::State>, node: NodeIndex) -> String {
        match self.verdict(pod, cache, node) {
            Some(verdict) => {
                debug_assert!(
                    !P::cannot_fail(&self.cycle),
                    "Filter of plugin {} fails, and its trait Incremental promises that it does not: {}",
                    verdict.plugin,
                    verdict.failure()
                );
                verdict.failure()
            }
            None => "a filter plugin failed".into(),
        }
    }

    /// Runs Filter as [`PreFilteredPod::passes_filters`] does. Returns the rejection with its text; `None` if the node
    /// passes.
    pub(crate) fn verdict(&mut self, pod: &Pod, cache: &Cache<P::State>, node: NodeIndex) -> Option<Verdict> {
        let nominated = cache.nominated_on(node, pod);
        if !nominated.is_empty()
            && let Some(verdict) = self.with_pods(&nominated, cache, node).verdict()
        {
            return Some(verdict);
        }
        let columns = P::columns(&cache.state, &cache.base);
        verdict::<P>(&self.compiled, &self.cycle, cache, columns, node.get())
    }

    /// Returns the rejections of all plugins for one node: with its nominated pods or, if no plugin then rejects it,
    /// without them.
    pub(crate) fn all_verdicts(&mut self, pod: &Pod, cache: &Cache<P::State>, node: NodeIndex) -> Vec<Verdict> {
        let nominated = cache.nominated_on(node, pod);
        if !nominated.is_empty() {
            let verdicts = self.with_pods(&nominated, cache, node).all_verdicts();
            if !verdicts.is_empty() {
                return verdicts;
            }
        }
        let columns = P::columns(&cache.state, &cache.base);
        all_verdicts::<P>(&self.compiled, &self.cycle, cache, columns, node.get())
    }
}
