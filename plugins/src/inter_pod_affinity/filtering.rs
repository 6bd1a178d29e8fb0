//! Required terms: the pod's own, and running pods' anti-affinity.

use schedc_core::extension_points::{FilterPlugin, PreFilterResult, PreFilterPlugin, SkipFrequency};
use schedc_core::intern::Symbol;
use schedc_core::incremental::{NeedsFullEvaluation, NodeChanges, FilterUpdate};
use schedc_core::model::{NodeIndex, Pod};
use schedc_core::plugin::{CycleSlot, View};
use schedc_core::status::{Code, Reasons, Status};

use super::places::{Places, Source};
use super::{InterPodAffinity, InterPodAffinityArgs, InterPodAffinityPod};
use crate::indexes::{CarriedTerms, QuestionId, SelectorCounts, TermId, Topology};

/// Where pods are that matter to a pod's required terms, and those to whose terms the pod matters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InterPodAffinityState {
    /// Whether PreFilter ran.
    ready: bool,
    /// For each topology key of the pod's affinity, the pods that match all of its terms.
    near: Vec<Places>,
    /// Whether the pod is the first of its group: it matches all of them itself, and nobody else does.
    first: bool,
    /// For each of the pod's anti-affinity terms, the pods that match it.
    apart: Vec<Places>,
    /// The pods whose anti-affinity the pod matches, for each topology key.
    against: Vec<Places>,
    /// The same of pods that came in thought and whose terms nobody knew, sorted by key.
    imagined: Vec<(Symbol, Places)>,
    /// How much was read of the logs of affinity, of each anti-affinity term, and of each term of others.
    seen: Vec<u64>,
}

/// Room for a state.
#[derive(Debug, Default)]
pub(super) struct Room {
    /// Without contents.
    state: InterPodAffinityState,
    sums: Vec<Vec<i64>>,
}

impl Room {
    fn take_back(&mut self, mut state: InterPodAffinityState) {
        let places = state.near.drain(..).chain(state.apart.drain(..)).chain(state.against.drain(..));
        self.sums.extend(places.chain(state.imagined.drain(..).map(|(_, places)| places)).map(Places::into_sums));
        state.seen.clear();
        self.state = state;
    }
}

/// A pod that comes to a node (`by` is 1) or leaves it (-1), in thought.
#[derive(Clone, Copy)]
struct Moved<'a> {
    other: &'a Pod,
    node: NodeIndex,
    by: i64,
}

/// What a node does not satisfy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnmetAffinity {
    /// The pod's affinity.
    Affinity,
    /// The pod's anti-affinity.
    AntiAffinity,
    /// The anti-affinity of pods that run.
    ExistingAntiAffinity,
    /// The profile has no PreFilter of this plugin, which would have looked at the pods.
    NotPrepared,
}

/// The pods that match a question.
pub(super) fn asked(counts: &SelectorCounts, question: QuestionId, weight: i64) -> Source<'_> {
    Source { nodes: counts.counts(question), log: counts.log(question), weight }
}

/// The pods that carry an anti-affinity term.
fn carried(terms: &CarriedTerms, term: TermId) -> Option<Source<'_>> {
    terms.anti_required(term).map(|term| Source { nodes: term.nodes(), log: term.log(), weight: 1 })
}

impl PreFilterPlugin for InterPodAffinity {
    type Cycle = InterPodAffinityState;
    const SKIPS: SkipFrequency = SkipFrequency::Usually;

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
        if pod.is_free() {
            return Ok(PreFilterResult::skip(InterPodAffinityState { ready: true, ..Default::default() }));
        }
        let slot = self.count_all(pod, view);
        Ok(if slot.skip { PreFilterResult::skip(slot.state) } else { PreFilterResult::ready(slot.state) })
    }

    #[inline]
    fn needs_no_update(pod: &InterPodAffinityPod, _: &CycleSlot<InterPodAffinityState>) -> bool {
        pod.is_free()
    }

    fn update(
        &self,
        _: &InterPodAffinityArgs,
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
        if state.follow(pod, view, verdicts.changed).is_err() {
            let new = self.count_all(pod, view);
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
            // Nobody is anywhere, before and after.
            state.against.iter_mut().for_each(Places::forget_changed);
        } else {
            state.tell(view.indexes.0, verdicts);
        }
        Ok(())
    }

    #[inline]
    fn recycle(&self, state: InterPodAffinityState) {
        // Most states have nothing.
        if !state.seen.is_empty() {
            self.filtering.lock().take_back(state);
        }
    }

    fn add_pod(
        pod: &InterPodAffinityPod,
        state: &mut InterPodAffinityState,
        other: &Pod,
        view: View<'_, Self>,
        node: NodeIndex,
    ) {
        state.count(pod, Moved { other, node, by: 1 }, view);
    }

    fn remove_pod(
        pod: &InterPodAffinityPod,
        state: &mut InterPodAffinityState,
        other: &Pod,
        view: View<'_, Self>,
        node: NodeIndex,
    ) {
        state.count(pod, Moved { other, node, by: -1 }, view);
    }
}

impl InterPodAffinity {
    /// The state, from nothing.
    fn count_all(&self, pod: &InterPodAffinityPod, view: View<'_, Self>) -> CycleSlot<InterPodAffinityState> {
        let (topology, counts, terms) = view.indexes;
        let mut room = self.filtering.lock();
        let Room { state, sums } = &mut *room;
        let mut state = std::mem::take(state);
        let mut places = |key| Places::new(topology, view.base, key, sums.pop().unwrap_or_default());
        if let Some(near) = &pod.near {
            let source = asked(counts, near.pods, 1);
            state.seen.push(source.log.end());
            state.near.extend(near.keys.iter().map(|&key| places(key)));
            state.near.iter_mut().for_each(|places| places.count(source));
        }
        for term in &pod.apart {
            let source = asked(counts, term.pods, 1);
            state.seen.push(source.log.end());
            let mut places = places(term.key);
            places.count(source);
            state.apart.push(places);
        }
        state.against.extend(pod.against.keys.iter().map(|&key| places(key)));
        for &(term, key) in &pod.against.terms {
            let Some(source) = carried(terms, term) else { continue };
            state.seen.push(source.log.end());
            state.against[key].count(source);
        }
        state.ready = true;
        state.first = state.is_first(pod);
        CycleSlot { skip: state.skips(pod), state }
    }
}

impl FilterPlugin for InterPodAffinity {
    type Cycle = InterPodAffinityState;
    type Rejection = UnmetAffinity;
    const CAN_FAIL: bool = false;

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
        if !state.is_near(node) {
            return Err(UnmetAffinity::Affinity);
        }
        let some = |pods: &Places| pods.at(node).is_some_and(|count| count > 0);
        if state.apart.iter().any(some) {
            return Err(UnmetAffinity::AntiAffinity);
        }
        if state.against.iter().chain(state.imagined.iter().map(|(_, pods)| pods)).any(some) {
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
    /// Whether the node has pods that the pod requires near.
    #[inline(always)]
    fn is_near(&self, node: NodeIndex) -> bool {
        let mut found = true;
        for pods in &self.near {
            match pods.at(node) {
                Some(count) => found &= count > 0,
                // Such a node is out even for the first pod of a group.
                None => return false,
            }
        }
        // The first pod of a group that wants to be together has to start somewhere.
        found || self.first
    }

    fn is_first(&self, pod: &InterPodAffinityPod) -> bool {
        pod.near.as_ref().is_some_and(|near| near.matches_itself) && self.near.iter().all(Places::is_void)
    }

    fn skips(&self, pod: &InterPodAffinityPod) -> bool {
        pod.near.is_none() && pod.apart.is_empty() && self.against.iter().all(Places::is_void)
    }

    /// Counts another pod that comes or goes.
    fn count(&mut self, pod: &InterPodAffinityPod, moved: Moved<'_>, view: View<'_, InterPodAffinity>) {
        let Moved { other, node, by } = moved;
        let (_, counts, terms) = view.indexes;
        if !other.spec.affinity.anti_required.is_empty() {
            match terms.anti_required_of(&other.spec) {
                Some(known) => {
                    let of_pod = |&&(term, _): &&(TermId, usize)| known.contains(&term);
                    for &(term, key) in pod.against.terms.iter().filter(of_pod) {
                        // A pod may say the same twice.
                        let times = known.iter().filter(|other| **other == term).count() as i64;
                        self.against[key].add(node, by * times, 1);
                    }
                }
                None => self.imagine(pod, moved, view),
            }
        }
        let matches = |question| counts.selects(question, &other.spec);
        if pod.near.as_ref().is_some_and(|near| matches(near.pods)) {
            self.near.iter_mut().for_each(|places| places.add(node, by, 1));
            self.first = self.is_first(pod);
        }
        for (term, places) in pod.apart.iter().zip(&mut self.apart) {
            if matches(term.pods) {
                places.add(node, by, 1);
            }
        }
    }

    /// The same of anti-affinity terms that nobody knew.
    fn imagine(&mut self, pod: &InterPodAffinityPod, moved: Moved<'_>, view: View<'_, InterPodAffinity>) {
        let Moved { other, node, by } = moved;
        let (topology, _, terms) = view.indexes;
        let of_namespace = terms.namespace_labels(pod.itself.namespace);
        for term in &other.spec.affinity.anti_required {
            if !term.matches(pod.itself.namespace, &pod.itself.labels, of_namespace) {
                continue;
            }
            let key = term.topology_key;
            let at = self.imagined.binary_search_by_key(&key, |(known, _)| *known).unwrap_or_else(|at| {
                self.imagined.insert(at, (key, Places::new(topology, view.base, key, Vec::new())));
                at
            });
            self.imagined[at].1.add(node, by, 1);
        }
        // What comes and goes leaves no trace.
        self.imagined.retain(|(_, pods)| !pods.is_void());
    }

    /// Whether nothing happened since the state was brought up to date.
    #[inline]
    fn is_current(&self, pod: &InterPodAffinityPod, view: View<'_, InterPodAffinity>) -> bool {
        let (topology, counts, terms) = view.indexes;
        let near = pod.near.iter().map(|near| counts.log(near.pods).end());
        let apart = pod.apart.iter().map(|term| counts.log(term.pods).end());
        let against = pod.against.terms.iter().filter_map(|(term, _)| Some(terms.anti_required(*term)?.log().end()));
        let mut places = self.near.iter().chain(&self.apart).chain(&self.against);
        near.chain(apart).chain(against).eq(self.seen.iter().copied()) && places.all(|places| places.holds(topology))
    }

    /// Follows what happened, without a word on verdicts. What comes of an error is of no use.
    fn follow(
        &mut self,
        pod: &InterPodAffinityPod,
        view: View<'_, InterPodAffinity>,
        changed: NodeChanges<'_>,
    ) -> Result<(), NeedsFullEvaluation> {
        let (topology, counts, terms) = view.indexes;
        // Numbers of pods: they matter where they become 0, or cease to be.
        let matters = |before: i64, after: i64| (before > 0) != (after > 0);
        let (near_seen, seen) = self.seen.split_at_mut_checked(pod.near.iter().len()).ok_or(NeedsFullEvaluation)?;
        let (apart_seen, against_seen) = seen.split_at_mut_checked(pod.apart.len()).ok_or(NeedsFullEvaluation)?;
        for (near, seen) in pod.near.iter().zip(near_seen) {
            let source = asked(counts, near.pods, 1);
            for places in &mut self.near {
                places.update([(*seen, source)].into_iter(), topology, changed, matters)?;
            }
            *seen = source.log.end();
        }
        for ((term, seen), places) in pod.apart.iter().zip(apart_seen).zip(&mut self.apart) {
            let source = asked(counts, term.pods, 1);
            places.update([(*seen, source)].into_iter(), topology, changed, matters)?;
            *seen = source.log.end();
        }
        if against_seen.len() < pod.against.terms.len() {
            return Err(NeedsFullEvaluation);
        }
        for (key, places) in self.against.iter_mut().enumerate() {
            let sources = pod.against.terms.iter().zip(&*against_seen);
            let sources = sources.filter(|((_, other), _)| *other == key);
            let sources = sources.filter_map(|((term, _), seen)| Some((*seen, carried(terms, *term)?)));
            places.update(sources, topology, changed, matters)?;
        }
        for ((term, _), seen) in pod.against.terms.iter().zip(against_seen) {
            *seen = carried(terms, *term).ok_or(NeedsFullEvaluation)?.log.end();
        }
        Ok(())
    }

    /// Says which verdicts are other ones where places changed.
    fn tell(&mut self, topology: &Topology, verdicts: &mut FilterUpdate<'_>) {
        let alone = self.near.len() == 1 && self.apart.is_empty() && self.against.is_empty();
        for places in &mut self.near {
            places.each_changed(topology, |some, word, nodes| match some {
                // Every node passes that has all labels.
                _ if self.first => {}
                true if alone => verdicts.set_word(word, nodes, nodes),
                true => verdicts.reevaluate_word(word, nodes),
                false => verdicts.set_word(word, nodes, 0),
            });
        }
        for places in self.apart.iter_mut().chain(&mut self.against) {
            places.each_changed(topology, |some, word, nodes| match some {
                true => verdicts.set_word(word, nodes, 0),
                false => verdicts.reevaluate_word(word, nodes),
            });
        }
    }
}
