//! Required terms: the pod's own, and the anti-affinity of existing pods.

use schedc_core::extension_points::{FilterPlugin, PreFilterPlugin, PreFilterResult};
use schedc_core::incremental::{FilterUpdate, NeedsFullEvaluation, NodeChanges};
use schedc_core::intern::Symbol;
use schedc_core::model::{NodeIndex, Pod};
use schedc_core::node_mask::nodes_of;
use schedc_core::plugin::{CycleSlot, View};
use schedc_core::status::{Code, Reasons, Status};
use smallvec::SmallVec;

use super::domain_sums::{DomainSums, WeightedCounts};
use super::{InterPodAffinity, InterPodAffinityArgs, InterPodAffinityPod};
use crate::indexes::{AffinityTerms, PodQueryId, SelectorCounts, TermId, Topology};

/// Maximum number of nodes that PreFilter predicts to be the only feasible ones.
const MAX_PREDICTED: usize = 4;

/// The domains of pods that match the pod's required terms, and of pods with terms that match the pod.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InterPodAffinityState {
    /// Whether PreFilter ran.
    ready: bool,
    /// For each topology key of the pod's affinity, the pods that match all affinity terms.
    affinity: Vec<DomainSums>,
    /// Whether the pod is the first of its group: it matches all terms itself, and no existing pod does.
    first: bool,
    /// For each of the pod's anti-affinity terms, the pods that match it.
    anti_affinity: Vec<DomainSums>,
    /// For each topology key, the pods with anti-affinity that matches the pod.
    existing_anti_affinity: Vec<DomainSums>,
    /// For each topology key, hypothetical pods with unregistered terms that match the pod. Sorted by key.
    hypothetical: Vec<(Symbol, DomainSums)>,
    /// Positions in the change logs of affinity, of each anti-affinity term, and of each term of existing pods.
    seen: Vec<u64>,
}

/// Scratch memory for a state.
#[derive(Debug, Default)]
pub(super) struct FilterScratch {
    /// Memory only; the contents are cleared.
    state: InterPodAffinityState,
    sums: Vec<Vec<i64>>,
}

impl FilterScratch {
    fn reclaim(&mut self, mut state: InterPodAffinityState) {
        let sums =
            state.affinity.drain(..).chain(state.anti_affinity.drain(..)).chain(state.existing_anti_affinity.drain(..));
        self.sums.extend(sums.chain(state.hypothetical.drain(..).map(|(_, sums)| sums)).map(DomainSums::into_sums));
        state.seen.clear();
        self.state = state;
    }
}

/// A hypothetical pod that is added to a node (`by` is 1) or removed from it (-1).
#[derive(Clone, Copy)]
struct HypotheticalMove<'a> {
    other: &'a Pod,
    node: NodeIndex,
    by: i64,
}

/// The reason for a rejection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnmetAffinity {
    /// The pod's affinity.
    Affinity,
    /// The pod's anti-affinity.
    AntiAffinity,
    /// The anti-affinity of existing pods.
    ExistingAntiAffinity,
    /// The profile does not run this plugin's PreFilter.
    NotPrepared,
}

/// Returns the pods that a query selects.
pub(super) fn matching_pods(counts: &SelectorCounts, query: PodQueryId, weight: i64) -> WeightedCounts<'_> {
    WeightedCounts { nodes: counts.counts(query), log: counts.log(query), weight }
}

/// Returns the pods that have an anti-affinity term; `None` if the term was forgotten.
fn carrying_pods(terms: &AffinityTerms, term: TermId) -> Option<WeightedCounts<'_>> {
    terms.anti_required(term).map(|term| WeightedCounts { nodes: term.nodes(), log: term.log(), weight: 1 })
}

impl PreFilterPlugin for InterPodAffinity {
    type Cycle = InterPodAffinityState;

    #[inline]
    fn pre_filter(
        &self,
        _: &InterPodAffinityArgs,
        pod: &InterPodAffinityPod,
        view: View<'_, Self>,
    ) -> Result<PreFilterResult<InterPodAffinityState>, Status> {
        if let Some(broken) = &pod.broken {
            return Err(Status::unresolvable(format!("parsing pod: {broken}")));
        }
        if pod.has_no_requirements() {
            return Ok(PreFilterResult::skip(InterPodAffinityState { ready: true, ..Default::default() }));
        }
        let CycleSlot { skip, state } = self.compute_state(pod, view);
        if skip {
            return Ok(PreFilterResult::skip(state));
        }
        let partners = state.nodes_near_partners(pod, view);
        let result = PreFilterResult::ready(state);
        Ok(match partners {
            Some(nodes) => result.predicted(nodes),
            None => result,
        })
    }

    #[inline]
    fn recycle(&self, state: InterPodAffinityState) {
        // Most states counted no sources, so they have no memory to reuse.
        if !state.seen.is_empty() {
            self.filtering.lock().reclaim(state);
        }
    }

    fn add_pod(
        pod: &InterPodAffinityPod,
        state: &mut InterPodAffinityState,
        other: &Pod,
        view: View<'_, Self>,
        node: NodeIndex,
    ) {
        state.count(pod, HypotheticalMove { other, node, by: 1 }, view);
    }

    fn remove_pod(
        pod: &InterPodAffinityPod,
        state: &mut InterPodAffinityState,
        other: &Pod,
        view: View<'_, Self>,
        node: NodeIndex,
    ) {
        state.count(pod, HypotheticalMove { other, node, by: -1 }, view);
    }
}

impl InterPodAffinity {
    /// Computes the state by full evaluation.
    fn compute_state(&self, pod: &InterPodAffinityPod, view: View<'_, Self>) -> CycleSlot<InterPodAffinityState> {
        let (topology, counts, terms) = view.indexes;
        let mut scratch = self.filtering.lock();
        let FilterScratch { state, sums } = &mut *scratch;
        let mut state = std::mem::take(state);
        let mut sums = |key| DomainSums::new(topology, view.base, key, sums.pop().unwrap_or_default());
        if let Some(affinity) = &pod.affinity {
            let source = matching_pods(counts, affinity.pods, 1);
            state.seen.push(source.log.end());
            state.affinity.extend(affinity.keys.iter().map(|&key| sums(key)));
            state.affinity.iter_mut().for_each(|sums| sums.count(source));
        }
        for term in &pod.anti_affinity {
            let source = matching_pods(counts, term.pods, 1);
            state.seen.push(source.log.end());
            let mut sums = sums(term.key);
            sums.count(source);
            state.anti_affinity.push(sums);
        }
        state.existing_anti_affinity.extend(pod.existing_anti_affinity.keys.iter().map(|&key| sums(key)));
        for &(term, key) in &pod.existing_anti_affinity.terms {
            let Some(source) = carrying_pods(terms, term) else { continue };
            state.seen.push(source.log.end());
            state.existing_anti_affinity[key].count(source);
        }
        state.ready = true;
        state.first = state.is_first(pod);
        CycleSlot { skip: state.skips(pod), state }
    }

    /// Updates the state and the verdicts.
    pub(super) fn update_state(
        &self,
        pod: &InterPodAffinityPod,
        slot: &mut CycleSlot<InterPodAffinityState>,
        view: View<'_, Self>,
        verdicts: &mut FilterUpdate<'_>,
    ) -> Result<(), NeedsFullEvaluation> {
        if slot.state.is_current(pod, view) {
            return Ok(());
        }
        let was_first = slot.state.first;
        let state = &mut slot.state;
        if state.apply_changes(pod, view, verdicts.changed).is_err() {
            let new = self.compute_state(pod, view);
            verdicts.reevaluate_all();
            self.recycle(std::mem::replace(state, new.state));
        } else {
            state.first = state.is_first(pod);
            if state.first != was_first {
                verdicts.reevaluate_all();
            }
        }
        if state.skips(pod) != slot.skip {
            return Err(NeedsFullEvaluation);
        }
        if slot.skip {
            // No pods are counted, neither before nor after the changes.
            state.existing_anti_affinity.iter_mut().for_each(DomainSums::clear_changed);
        } else {
            state.update_verdicts(view.indexes.0, verdicts);
        }
        Ok(())
    }
}

impl FilterPlugin for InterPodAffinity {
    type Cycle = InterPodAffinityState;
    type Rejection = UnmetAffinity;

    #[inline(always)]
    fn filter(
        _: &InterPodAffinityArgs,
        _: &InterPodAffinityPod,
        state: &InterPodAffinityState,
        node: NodeIndex,
    ) -> Result<(), UnmetAffinity> {
        if !state.ready {
            return Err(UnmetAffinity::NotPrepared);
        }
        if !state.satisfies_affinity(node) {
            return Err(UnmetAffinity::Affinity);
        }
        let has_pods = |pods: &DomainSums| pods.at(node).is_some_and(|count| count > 0);
        if state.anti_affinity.iter().any(has_pods) {
            return Err(UnmetAffinity::AntiAffinity);
        }
        if state.existing_anti_affinity.iter().chain(state.hypothetical.iter().map(|(_, pods)| pods)).any(has_pods) {
            return Err(UnmetAffinity::ExistingAntiAffinity);
        }
        Ok(())
    }

    fn code(unmet: &UnmetAffinity) -> Code {
        match unmet {
            UnmetAffinity::Affinity => Code::UnschedulableAndUnresolvable,
            UnmetAffinity::AntiAffinity | UnmetAffinity::ExistingAntiAffinity => Code::Unschedulable,
            UnmetAffinity::NotPrepared => Code::Error,
        }
    }

    fn explain(
        _: &InterPodAffinityArgs,
        _: &InterPodAffinityPod,
        _: &InterPodAffinityState,
        _: NodeIndex,
        unmet: UnmetAffinity,
        out: &mut Reasons<'_>,
    ) {
        out.push(match unmet {
            UnmetAffinity::Affinity => "node(s) didn't match pod affinity rules",
            UnmetAffinity::AntiAffinity => "node(s) didn't match pod anti-affinity rules",
            UnmetAffinity::ExistingAntiAffinity => "node(s) didn't satisfy existing pods anti-affinity rules",
            UnmetAffinity::NotPrepared => "error reading \"PreFilterInterPodAffinity\" from cycleState: not found",
        });
    }
}

impl InterPodAffinityState {
    /// Returns whether the node's domains have the pods that the pod's affinity requires.
    #[inline(always)]
    fn satisfies_affinity(&self, node: NodeIndex) -> bool {
        let mut found = true;
        for pods in &self.affinity {
            match pods.at(node) {
                Some(count) => found &= count > 0,
                // A node without the label is rejected even for the first pod of a group.
                None => return false,
            }
        }
        // The first pod of a group with affinity to itself fits on any node with the labels.
        found || self.first
    }

    /// Returns whether no node satisfies the pod's affinity, because no pod matches it.
    pub(super) fn rejects_all(&self) -> bool {
        self.ready && !self.first && self.affinity.iter().any(DomainSums::has_no_pods)
    }

    /// Returns the nodes in the domains of matching pods, for the first key of the pod's affinity. `None` if these
    /// nodes are many, or if other nodes can be feasible.
    fn nodes_near_partners(
        &self,
        pod: &InterPodAffinityPod,
        view: View<'_, InterPodAffinity>,
    ) -> Option<SmallVec<[NodeIndex; MAX_PREDICTED]>> {
        let (topology, counts, _) = view.indexes;
        let (affinity, sums) = (pod.affinity.as_ref()?, self.affinity.first()?);
        let partners = counts.counts(affinity.pods);
        if self.first || partners.len() > MAX_PREDICTED {
            return None;
        }
        let mut nodes = SmallVec::new();
        for (node, _) in partners.iter() {
            if nodes.contains(&node) {
                continue;
            }
            let domain = sums.members(topology, node)?;
            if nodes.len() + domain.iter().map(|(_, bits)| bits.count_ones() as usize).sum::<usize>() > MAX_PREDICTED {
                return None;
            }
            nodes.extend(domain.iter().flat_map(|&(word, bits)| nodes_of(word as usize, bits)));
        }
        Some(nodes)
    }

    fn is_first(&self, pod: &InterPodAffinityPod) -> bool {
        pod.affinity.as_ref().is_some_and(|affinity| affinity.matches_itself)
            && self.affinity.iter().all(DomainSums::has_no_pods)
    }

    fn skips(&self, pod: &InterPodAffinityPod) -> bool {
        pod.affinity.is_none()
            && pod.anti_affinity.is_empty()
            && self.existing_anti_affinity.iter().all(DomainSums::has_no_pods)
    }

    /// Counts a hypothetical pod.
    fn count(
        &mut self,
        pod: &InterPodAffinityPod,
        hypothetical_move: HypotheticalMove<'_>,
        view: View<'_, InterPodAffinity>,
    ) {
        let HypotheticalMove { other, node, by } = hypothetical_move;
        let (_, counts, terms) = view.indexes;
        if !other.spec.affinity.anti_required.is_empty() {
            match terms.anti_required_of(&other.spec) {
                Some(known) => {
                    let of_pod = |&&(term, _): &&(TermId, usize)| known.contains(&term);
                    for &(term, key) in pod.existing_anti_affinity.terms.iter().filter(of_pod) {
                        // A pod may contain a term twice.
                        let times = known.iter().filter(|other| **other == term).count() as i64;
                        self.existing_anti_affinity[key].add(node, by * times, 1);
                    }
                }
                None => self.count_unregistered_terms(pod, hypothetical_move, view),
            }
        }
        let matches = |query| counts.selects(query, &other.spec);
        if pod.affinity.as_ref().is_some_and(|affinity| matches(affinity.pods)) {
            self.affinity.iter_mut().for_each(|sums| sums.add(node, by, 1));
            self.first = self.is_first(pod);
        }
        for (term, sums) in pod.anti_affinity.iter().zip(&mut self.anti_affinity) {
            if matches(term.pods) {
                sums.add(node, by, 1);
            }
        }
    }

    /// Counts the anti-affinity terms of a hypothetical pod that are not registered.
    fn count_unregistered_terms(
        &mut self,
        pod: &InterPodAffinityPod,
        hypothetical_move: HypotheticalMove<'_>,
        view: View<'_, InterPodAffinity>,
    ) {
        let HypotheticalMove { other, node, by } = hypothetical_move;
        let (topology, _, terms) = view.indexes;
        let of_namespace = terms.namespace_labels(pod.identity.namespace);
        for term in &other.spec.affinity.anti_required {
            if !term.matches(pod.identity.namespace, &pod.identity.labels, of_namespace) {
                continue;
            }
            let key = term.topology_key;
            let at = self.hypothetical.binary_search_by_key(&key, |(known, _)| *known).unwrap_or_else(|at| {
                self.hypothetical.insert(at, (key, DomainSums::new(topology, view.base, key, Vec::new())));
                at
            });
            self.hypothetical[at].1.add(node, by, 1);
        }
        // Pods that were added and removed again leave no entry.
        self.hypothetical.retain(|(_, pods)| !pods.has_no_pods());
    }

    /// Returns whether nothing has changed since the state was updated.
    #[inline]
    fn is_current(&self, pod: &InterPodAffinityPod, view: View<'_, InterPodAffinity>) -> bool {
        let (topology, counts, terms) = view.indexes;
        let affinity = pod.affinity.iter().map(|affinity| counts.log(affinity.pods).end());
        let anti_affinity = pod.anti_affinity.iter().map(|term| counts.log(term.pods).end());
        let existing_anti_affinity = pod
            .existing_anti_affinity
            .terms
            .iter()
            .filter_map(|(term, _)| Some(terms.anti_required(*term)?.log().end()));
        let mut sums = self.affinity.iter().chain(&self.anti_affinity).chain(&self.existing_anti_affinity);
        affinity.chain(anti_affinity).chain(existing_anti_affinity).eq(self.seen.iter().copied())
            && sums.all(|sums| sums.is_current(topology))
    }

    /// Applies changes without updating verdicts. After an error, the state is invalid.
    fn apply_changes(
        &mut self,
        pod: &InterPodAffinityPod,
        view: View<'_, InterPodAffinity>,
        changed: NodeChanges<'_>,
    ) -> Result<(), NeedsFullEvaluation> {
        let (topology, counts, terms) = view.indexes;
        // Sums are numbers of pods: only a change from or to 0 matters.
        let matters = |before: i64, after: i64| (before > 0) != (after > 0);
        let (affinity_seen, seen) =
            self.seen.split_at_mut_checked(pod.affinity.iter().len()).ok_or(NeedsFullEvaluation)?;
        let (anti_affinity_seen, existing_seen) =
            seen.split_at_mut_checked(pod.anti_affinity.len()).ok_or(NeedsFullEvaluation)?;
        for (affinity, seen) in pod.affinity.iter().zip(affinity_seen) {
            let source = matching_pods(counts, affinity.pods, 1);
            for sums in &mut self.affinity {
                sums.update([(*seen, source)].into_iter(), topology, changed, matters)?;
            }
            *seen = source.log.end();
        }
        for ((term, seen), sums) in pod.anti_affinity.iter().zip(anti_affinity_seen).zip(&mut self.anti_affinity) {
            let source = matching_pods(counts, term.pods, 1);
            sums.update([(*seen, source)].into_iter(), topology, changed, matters)?;
            *seen = source.log.end();
        }
        if existing_seen.len() < pod.existing_anti_affinity.terms.len() {
            return Err(NeedsFullEvaluation);
        }
        for (key, sums) in self.existing_anti_affinity.iter_mut().enumerate() {
            let sources = pod.existing_anti_affinity.terms.iter().zip(&*existing_seen);
            let sources = sources.filter(|((_, other), _)| *other == key);
            let sources = sources.filter_map(|((term, _), seen)| Some((*seen, carrying_pods(terms, *term)?)));
            sums.update(sources, topology, changed, matters)?;
        }
        for ((term, _), seen) in pod.existing_anti_affinity.terms.iter().zip(existing_seen) {
            *seen = carrying_pods(terms, *term).ok_or(NeedsFullEvaluation)?.log.end();
        }
        Ok(())
    }

    /// Updates the verdicts of nodes in changed domains.
    fn update_verdicts(&mut self, topology: &Topology, verdicts: &mut FilterUpdate<'_>) {
        let is_only_term =
            self.affinity.len() == 1 && self.anti_affinity.is_empty() && self.existing_anti_affinity.is_empty();
        for sums in &mut self.affinity {
            sums.drain_changed(topology, |has_match, word, nodes| match has_match {
                // For the first pod of a group, every node with all labels passes.
                _ if self.first => {}
                true if is_only_term => verdicts.set_word(word, nodes, nodes),
                true => verdicts.reevaluate_word(word, nodes),
                false => verdicts.set_word(word, nodes, 0),
            });
        }
        for sums in self.anti_affinity.iter_mut().chain(&mut self.existing_anti_affinity) {
            sums.drain_changed(topology, |has_match, word, nodes| match has_match {
                true => verdicts.set_word(word, nodes, 0),
                false => verdicts.reevaluate_word(word, nodes),
            });
        }
    }
}
