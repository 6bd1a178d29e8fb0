//! Reasons why no node is feasible for the pods of a cached answer.

use std::sync::Arc;

use smallvec::SmallVec;

use super::VerdictCounts;
use crate::engine::node_loops;
use crate::engine::pre_filtered_pod::PreFilteredPod;
use crate::engine::verdict::{Verdict, describe};
use crate::model::cache::Cache;
use crate::model::node_mask::NodeMask;
use crate::model::node_set::NodeSet;
use crate::model::{NodeIndex, Pod};
use crate::plugin_api::diagnosis::Diagnosis;
use crate::plugin_api::status::Code;
use crate::profile_api::profile::Profile;

/// The verdicts on nodes, counted, and the nodes where removing pods may help: the content of a [`Diagnosis`].
#[derive(Clone, Debug, Default)]
pub(crate) struct NodeVerdicts {
    counts: VerdictCounts,
    resolvable: NodeMask,
    /// The value of `resolvable` in the last diagnosis; `None` if it changed since.
    shared: Option<Arc<NodeMask>>,
    /// Memory of an earlier value of `shared`.
    spare: Option<Arc<NodeMask>>,
    /// Keys of rejections whose reasons are composed already, each with a node that has this verdict.
    composed: SmallVec<[((u32, u32), NodeIndex); 4]>,
}

impl NodeVerdicts {
    /// Resizes to this number of node slots.
    pub(crate) fn resize(&mut self, slots: usize) {
        self.counts.resize(slots);
        let words = self.resolvable.words().len();
        self.resolvable.resize(slots);
        if self.resolvable.words().len() != words {
            self.unshare();
        }
    }

    /// Replaces the verdict on a node; `None` if it passes or no longer exists.
    pub(crate) fn set(&mut self, node: NodeIndex, verdict: Option<&Verdict>) {
        self.composed.retain(|(_, known)| *known != node);
        self.counts.set(node, verdict);
        self.set_resolvable(node, verdict.is_some_and(|verdict| verdict.code == Code::Unschedulable));
    }

    fn set_resolvable(&mut self, node: NodeIndex, is_resolvable: bool) {
        if self.resolvable.contains(node) == is_resolvable {
            return;
        }
        self.unshare();
        if is_resolvable {
            self.resolvable.insert(node);
        } else {
            self.resolvable.remove(node);
        }
    }

    fn unshare(&mut self) {
        if let Some(shared) = self.shared.take() {
            self.spare = Some(shared);
        }
    }

    /// Returns the nodes where removing pods may help. Diagnoses share the memory while the nodes are the same.
    fn shared_resolvable(&mut self) -> Arc<NodeMask> {
        if let Some(shared) = &self.shared {
            return shared.clone();
        }
        let mut shared = self.spare.take().unwrap_or_default();
        match Arc::get_mut(&mut shared) {
            Some(mask) => mask.copy_from(&self.resolvable),
            None => shared = Arc::new(self.resolvable.clone()),
        }
        self.shared = Some(shared.clone());
        shared
    }

    /// Evaluates nodes for a pod, and replaces their verdicts. The reasons of equal rejections are composed once.
    pub(crate) fn evaluate<P: Profile>(
        &mut self,
        nodes: impl Iterator<Item = NodeIndex>,
        attempt: &mut PreFilteredPod<P>,
        pod: &Pod,
        cache: &Cache<P::State>,
    ) {
        let has_nominations = !cache.nominator.is_empty();
        for node in nodes {
            if has_nominations && !cache.nominated_on(node, pod).is_empty() {
                self.set(node, attempt.verdict(pod, cache, node).as_ref());
                continue;
            }
            let columns = P::columns(&cache.state, &cache.base);
            let PreFilteredPod { compiled, cycle, .. } = &*attempt;
            let Err(rejection) = node_loops::filter_node::<P>(compiled, cycle, columns, node.get()) else {
                self.set(node, None);
                continue;
            };
            self.reject(node, rejection, attempt, cache);
        }
    }

    /// Replaces the verdict on a node by a rejection. The reasons of equal rejections are composed once.
    pub(crate) fn reject<P: Profile>(
        &mut self,
        node: NodeIndex,
        rejection: P::Rejection,
        attempt: &PreFilteredPod<P>,
        cache: &Cache<P::State>,
    ) {
        let PreFilteredPod { compiled, cycle, .. } = attempt;
        let columns = P::columns(&cache.state, &cache.base);
        let key = P::reasons_key(&rejection);
        let describe = || describe::<P>(compiled, cycle, cache, columns, node.get(), rejection);
        if let Some((_, other)) = self.composed.iter().find(|(known, _)| key == Some(*known)) {
            self.copy(node, *other);
            debug_assert_eq!(self.counts.get(node), Some(&describe()), "equal `Incremental::reasons_key`");
            return;
        }
        self.set(node, Some(&describe()));
        if let Some(key) = key.filter(|_| self.composed.len() < self.composed.inline_size()) {
            self.composed.push((key, node));
        }
    }

    /// Replaces the verdict on a node by that on another node.
    fn copy(&mut self, node: NodeIndex, other: NodeIndex) {
        self.composed.retain(|(_, known)| *known != node || node == other);
        self.counts.copy(node, other);
        self.set_resolvable(node, self.resolvable.contains(other));
    }

    /// Returns the diagnosis of a pod without a feasible node, for this number of nodes.
    pub(crate) fn diagnosis(&mut self, nodes: usize) -> Diagnosis {
        let mut diagnosis = Diagnosis::new(nodes, self.shared_resolvable());
        for (verdict, nodes) in self.counts.verdicts() {
            diagnosis.add_rejector(verdict.plugin, verdict.code);
            verdict.reasons.iter().for_each(|reason| diagnosis.reasons.add(reason, nodes));
        }
        diagnosis
    }
}

/// The verdicts for the last pod without a feasible node. The next pod reuses those on unchanged nodes.
pub(crate) struct CachedDiagnosis<P: Profile> {
    verdicts: NodeVerdicts,
    /// The nodes whose verdict may have changed since the last diagnosis.
    stale: NodeSet,
    validity: Validity<P>,
}

/// How long the verdicts are valid.
enum Validity<P: Profile> {
    /// There are no verdicts.
    Absent,
    /// Until the node changes: Filter reads only the pod and the node.
    PerNode,
    /// For this compiled pod and this cycle state.
    PerState(Arc<P::Pod>, P::Cycle),
}

impl<P: Profile> Default for CachedDiagnosis<P> {
    fn default() -> Self {
        CachedDiagnosis { verdicts: NodeVerdicts::default(), stale: NodeSet::default(), validity: Validity::Absent }
    }
}

impl<P: Profile> CachedDiagnosis<P> {
    /// Marks the verdicts on these nodes as stale.
    pub(super) fn mark_stale(&mut self, nodes: &NodeSet, slots: usize) {
        self.stale.grow(slots);
        self.stale.extend(nodes);
    }

    /// Updates the verdicts for a pod, and combines them. Reasons are composed only here.
    pub(super) fn diagnose(
        &mut self,
        attempt: &mut PreFilteredPod<P>,
        pod: &Pod,
        cache: &Cache<P::State>,
    ) -> Diagnosis {
        let slots = cache.base.infos().len();
        self.verdicts.resize(slots);
        self.stale.grow(slots);
        if !self.is_reusable(attempt) {
            self.verdicts.composed.clear();
            self.stale.insert_all(cache.base.alive());
        }
        let alive = cache.base.alive();
        self.stale.iter().filter(|node| !alive.contains(*node)).for_each(|node| self.verdicts.set(node, None));
        self.verdicts.evaluate(self.stale.iter().filter(|node| alive.contains(*node)), attempt, pod, cache);
        self.stale.reset(slots);
        self.verdicts.diagnosis(cache.base.count())
    }

    /// Returns whether verdicts on unchanged nodes are still valid. Also stores how long the verdicts that are computed
    /// now are valid.
    fn is_reusable(&mut self, attempt: &PreFilteredPod<P>) -> bool {
        if P::reads_only_node(&attempt.compiled, &attempt.cycle) {
            return matches!(std::mem::replace(&mut self.validity, Validity::PerNode), Validity::PerNode);
        }
        if let Validity::PerState(compiled, cycle) = &self.validity
            && Arc::ptr_eq(compiled, &attempt.compiled)
            && *cycle == attempt.cycle
        {
            return true;
        }
        self.validity = Validity::PerState(attempt.compiled.clone(), attempt.cycle.clone());
        false
    }

    /// Returns its approximate size in bytes, without plugins' states.
    pub(super) fn bytes(&self) -> usize {
        self.verdicts.counts.bytes() + 2 * size_of_val(self.verdicts.resolvable.words())
    }
}
