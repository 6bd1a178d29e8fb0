//! Verdicts that pods with different signatures have in common.

use std::sync::Arc;

use smallvec::SmallVec;

use super::pre_filtered_pod::PreFilteredPod;
use crate::engine::incremental::NodeVerdicts;
use crate::engine::node_loops;
use crate::engine::verdict::{Verdict, describe};
use crate::model::NodeIndex;
use crate::model::cache::Cache;
use crate::model::node_mask::{NodeMask, nodes_of};
use crate::plugin_api::diagnosis::Diagnosis;
use crate::plugin_api::status::Code;
use crate::profile_api::leading_filters::LeadingFilters;
use crate::profile_api::profile::Profile;

/// The verdicts of the [leading filters](LeadingFilters) for the last pod without a feasible node. They also hold for
/// other pods for which these filters read equal values, such as pods that differ only in their affinity. Only changed
/// nodes are evaluated again.
pub(super) struct CommonVerdicts<P: Profile> {
    /// Identity of the cluster.
    cluster: Arc<()>,
    /// A pod with the values that the filters read. `None`: there are no verdicts.
    pod: Option<Arc<P::Pod>>,
    filters: LeadingFilters,
    /// Position in the cluster's change log up to which the verdicts are current.
    seen: u64,
    /// The nodes that pass the leading filters.
    passing: NodeMask,
    /// The rejections by the leading filters.
    verdicts: NodeVerdicts,
    /// Memory for the nodes where removing pods may help.
    resolvable: Arc<NodeMask>,
}

impl<P: Profile> Default for CommonVerdicts<P> {
    fn default() -> Self {
        CommonVerdicts {
            cluster: Arc::default(),
            pod: None,
            filters: LeadingFilters::default(),
            seen: 0,
            passing: NodeMask::default(),
            verdicts: NodeVerdicts::default(),
            resolvable: Arc::default(),
        }
    }
}

impl<P: Profile> CommonVerdicts<P> {
    /// Returns the nodes that pass the leading filters, if the verdicts hold for this pod. Updates the verdicts.
    pub(super) fn passing(&mut self, attempt: &PreFilteredPod<P>, cache: &Cache<P::State>) -> Option<&NodeMask> {
        self.update(attempt, cache).then_some(&self.passing)
    }

    /// Returns the reasons why no node is feasible. The caller has verified that no filter fails with an error for this
    /// pod. `None`: some pod is nominated, PreFilter restricted the nodes, or there are no leading filters.
    pub(super) fn diagnose(&mut self, attempt: &PreFilteredPod<P>, cache: &Cache<P::State>) -> Option<Diagnosis> {
        if attempt.pre_filter.nodes().is_some() || !cache.nominator.is_empty() {
            return None;
        }
        if !self.update(attempt, cache) {
            self.evaluate_all(attempt, cache)?;
        }
        let mut diagnosis = self.verdicts.diagnosis(cache.base.count());
        self.add_other_filters(attempt, cache, &mut diagnosis);
        Some(diagnosis)
    }

    /// Updates the verdicts. Returns whether they hold for this pod.
    fn update(&mut self, attempt: &PreFilteredPod<P>, cache: &Cache<P::State>) -> bool {
        let PreFilteredPod { compiled, cycle, .. } = attempt;
        let holds = |pod: &Arc<P::Pod>| {
            self.filters == P::leading_filters(compiled, cycle) && P::have_equal_inputs(self.filters, pod, compiled)
        };
        if !Arc::ptr_eq(&self.cluster, &cache.identity) || !self.pod.as_ref().is_some_and(holds) {
            return false;
        }
        let Some(changes) = cache.log.since(self.seen) else { return false };
        self.resize(cache.base.infos().len());
        for entry in changes {
            if self.evaluate(entry.slot(), attempt, cache).is_none() {
                self.pod = None;
                return false;
            }
        }
        self.seen = cache.log.end();
        true
    }

    /// Evaluates the leading filters of a pod on all nodes. Returns `None` if the pod has no leading filters, or if one
    /// of them fails.
    #[inline(never)]
    fn evaluate_all(&mut self, attempt: &PreFilteredPod<P>, cache: &Cache<P::State>) -> Option<()> {
        self.pod = None;
        self.filters = P::leading_filters(&attempt.compiled, &attempt.cycle);
        if self.filters.count == 0 {
            return None;
        }
        self.verdicts = NodeVerdicts::default();
        self.passing.clear();
        self.resize(cache.base.infos().len());
        cache.base.alive().iter().try_for_each(|node| self.evaluate(node, attempt, cache))?;
        (self.cluster, self.seen) = (cache.identity.clone(), cache.log.end());
        self.pod = Some(attempt.compiled.clone());
        Some(())
    }

    fn resize(&mut self, slots: usize) {
        self.passing.resize(slots);
        self.verdicts.resize(slots);
    }

    /// Replaces the verdict on a node. Returns `None` if a leading filter fails.
    fn evaluate(&mut self, node: NodeIndex, attempt: &PreFilteredPod<P>, cache: &Cache<P::State>) -> Option<()> {
        self.passing.remove(node);
        if !cache.base.alive().contains(node) {
            self.verdicts.set(node, None);
            return Some(());
        }
        let columns = P::columns(&cache.state, &cache.base);
        match node_loops::filter_node::<P>(&attempt.compiled, &attempt.cycle, columns, node.get()) {
            Err(rejection) if P::place(&rejection) < self.filters.count => {
                self.verdicts.reject(node, rejection, attempt, cache);
                P::code(&rejection).is_rejected().then_some(())
            }
            _ => {
                self.passing.insert(node);
                self.verdicts.set(node, None);
                Some(())
            }
        }
    }

    /// Adds the other filters' rejections of the nodes that pass the leading filters.
    fn add_other_filters(&mut self, attempt: &PreFilteredPod<P>, cache: &Cache<P::State>, diagnosis: &mut Diagnosis) {
        let PreFilteredPod { compiled, cycle, .. } = attempt;
        let columns = P::columns(&cache.state, &cache.base);
        let uniform = P::uniform_rejection(self.filters.count, compiled, cycle);
        let mut others = OtherRejections {
            attempt,
            cache,
            diagnosis,
            known: SmallVec::new(),
            resolvable: &mut self.resolvable,
            has_resolvable: false,
        };
        for (word, &bits) in self.passing.words().iter().enumerate() {
            match uniform {
                _ if bits == 0 => {}
                Some(rejection) => others.add(rejection, word, bits),
                None => {
                    for node in nodes_of(word, bits) {
                        if let Err(rejection) = node_loops::filter_node::<P>(compiled, cycle, columns, node.get()) {
                            others.add(rejection, word, 1 << (node.0 % 64));
                        }
                    }
                }
            }
        }
        others.finish();
    }
}

/// Rejections of one pod by filters that follow the leading ones.
struct OtherRejections<'a, P: Profile> {
    attempt: &'a PreFilteredPod<P>,
    cache: &'a Cache<P::State>,
    diagnosis: &'a mut Diagnosis,
    known: SmallVec<[KeyedRejection; 2]>,
    /// The nodes where removing pods may help. Until `has_resolvable` is set, this is only memory for reuse.
    resolvable: &'a mut Arc<NodeMask>,
    has_resolvable: bool,
}

/// Rejections with equal [`Profile::reasons_key`].
struct KeyedRejection {
    key: (u32, u32),
    verdict: Verdict,
    nodes: usize,
}

impl<P: Profile> OtherRejections<'_, P> {
    /// Adds a rejection of several nodes, which belong to one word of a node mask.
    fn add(&mut self, rejection: P::Rejection, word: usize, bits: u64) {
        let nodes = bits.count_ones() as usize;
        let key = P::reasons_key(&rejection);
        match self.known.iter_mut().find(|known| key == Some(known.key)) {
            Some(known) => known.nodes += nodes,
            None => {
                let PreFilteredPod { compiled, cycle, .. } = self.attempt;
                let columns = P::columns(&self.cache.state, &self.cache.base);
                let index = word * 64 + bits.trailing_zeros() as usize;
                let verdict = describe::<P>(compiled, cycle, self.cache, columns, index, rejection);
                self.diagnosis.add_rejector(verdict.plugin, verdict.code);
                match key {
                    Some(key) => self.known.push(KeyedRejection { key, verdict, nodes }),
                    None => add_reasons(self.diagnosis, &verdict, nodes),
                }
            }
        }
        if P::code(&rejection) == Code::Unschedulable {
            self.mark_resolvable(word, bits);
        }
    }

    fn mark_resolvable(&mut self, word: usize, bits: u64) {
        if !std::mem::replace(&mut self.has_resolvable, true) {
            // A diagnosis may still share the memory.
            if Arc::get_mut(self.resolvable).is_none() {
                *self.resolvable = Arc::default();
            }
            Arc::make_mut(self.resolvable).copy_from(&self.diagnosis.resolvable);
        }
        Arc::make_mut(self.resolvable).words_mut()[word] |= bits;
    }

    fn finish(self) {
        self.known.iter().for_each(|known| add_reasons(self.diagnosis, &known.verdict, known.nodes));
        if self.has_resolvable {
            self.diagnosis.resolvable = self.resolvable.clone();
        }
    }
}

fn add_reasons(diagnosis: &mut Diagnosis, verdict: &Verdict, nodes: usize) {
    verdict.reasons.iter().for_each(|reason| diagnosis.reasons.add(reason, nodes));
}
