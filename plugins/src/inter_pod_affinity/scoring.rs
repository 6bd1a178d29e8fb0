//! Preferred terms, and the required affinity of existing pods.

use schedc_core::extension_points::{
    Extent, MAX_NODE_SCORE, NormalizeScore, PreScorePlugin, ScoreClass, ScoreError, ScorePlugin,
};
use schedc_core::incremental::{NeedsFullEvaluation, NodeChanges, ScoreUpdate};
use schedc_core::model::NodeIndex;
use schedc_core::node_mask::NodeMask;
use schedc_core::plugin::{CycleSlot, View};
use schedc_core::status::Status;

use super::compiled::{Preferences, WeightedPods};
use super::domain_sums::{DomainSums, WeightedCounts};
use super::filtering::matching_pods;
use super::{InterPodAffinity, InterPodAffinityArgs, InterPodAffinityPod};
use crate::indexes::{AffinityTerms, PodQueryId, SelectorCounts, TermId};

/// The sums of weights by domain, for each topology key.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InterPodAffinityScores {
    weights: Vec<DomainSums>,
    /// Positions in the change logs of each of the pod's preferred terms, and of each term of existing pods.
    seen: Vec<u64>,
    /// Whether there are so few domains that a node's score class is its domain instead of its score. A change of
    /// a domain's sum then changes the score of one class instead of the class of every node in the domain.
    class_is_domain: bool,
}

/// Maximum number of domains of each topology key if a node's score class is its domain.
const MAX_CLASS_DOMAINS: usize = if cfg!(test) { 3 } else { 256 };
/// Number of bits of a score class for the domain of one topology key. All bits set mean "no domain".
const DOMAIN_BITS: u32 = 16;

/// Scratch memory for scores.
#[derive(Debug, Default)]
pub(super) struct ScoreScratch {
    /// Memory only; the contents are cleared.
    scores: InterPodAffinityScores,
    sums: Vec<Vec<i64>>,
}

impl ScoreScratch {
    fn reclaim(&mut self, mut scores: InterPodAffinityScores) {
        self.sums.extend(scores.weights.drain(..).map(DomainSums::into_sums));
        scores.seen.clear();
        self.scores = scores;
    }
}

impl PreScorePlugin for InterPodAffinity {
    type Cycle = InterPodAffinityScores;

    fn pre_score(
        &self,
        _: &InterPodAffinityArgs,
        pod: &InterPodAffinityPod,
        view: View<'_, Self>,
        _: &NodeMask,
    ) -> Result<CycleSlot<InterPodAffinityScores>, Status> {
        if let Some(broken) = &pod.broken {
            // Reached only in a profile without PreFilter.
            return Err(Status::error(format!("failed to parse pod: {broken}")));
        }
        if pod.preferences.keys.is_empty() {
            return Ok(CycleSlot::skip(InterPodAffinityScores::default()));
        }
        let scores = self.compute_scores(&pod.preferences, view);
        Ok(if scores.has_counted_pods() { CycleSlot::ready(scores) } else { CycleSlot::skip(scores) })
    }

    fn recycle(&self, scores: InterPodAffinityScores) {
        // Most states counted no sources, so they have no memory to reuse.
        if !scores.seen.is_empty() {
            self.scoring.lock().reclaim(scores);
        }
    }
}

/// Returns the pods that contribute to scores: for each term, the index of its topology key and its pods, in the order
/// of `seen`. The item of a term is `None` if the term was forgotten.
fn sources<'a>(
    preferences: &'a Preferences,
    counts: &'a SelectorCounts,
    terms: &'a AffinityTerms,
) -> impl Iterator<Item = Option<(usize, WeightedCounts<'a>)>> + Clone {
    let own = move |of: &WeightedPods<PodQueryId>| Some((of.key, matching_pods(counts, of.pods, of.weight)));
    let others = move |of: &WeightedPods<TermId>| {
        let term = terms.scored(of.pods)?;
        Some((of.key, WeightedCounts { nodes: term.nodes(), log: term.log(), weight: of.weight }))
    };
    preferences.own.iter().map(own).chain(preferences.others.iter().map(others))
}

impl InterPodAffinity {
    /// Computes the scores by full evaluation.
    fn compute_scores(&self, preferences: &Preferences, view: View<'_, Self>) -> InterPodAffinityScores {
        let (topology, counts, terms) = view.indexes;
        let mut scratch = self.scoring.lock();
        let ScoreScratch { scores, sums } = &mut *scratch;
        let mut scores = std::mem::take(scores);
        let sums = |&key| DomainSums::new(topology, view.base, key, sums.pop().unwrap_or_default());
        scores.weights.extend(preferences.keys.iter().map(sums));
        for (key, source) in sources(preferences, counts, terms).flatten() {
            scores.seen.push(source.log.end());
            scores.weights[key].count(source);
        }
        scores.class_is_domain = scores.has_few_domains();
        scores
    }

    pub(super) fn update_scores(
        &self,
        pod: &InterPodAffinityPod,
        slot: &mut CycleSlot<InterPodAffinityScores>,
        view: View<'_, Self>,
        rescore: &mut ScoreUpdate<'_>,
    ) -> Result<(), NeedsFullEvaluation> {
        if slot.state.is_current(&pod.preferences, view) {
            return Ok(());
        }
        let scores = &mut slot.state;
        if scores.apply_changes(&pod.preferences, view, rescore.changed).is_err() {
            let new = self.compute_scores(&pod.preferences, view);
            rescore.reevaluate_all();
            self.recycle(std::mem::replace(scores, new));
        }
        if scores.has_counted_pods() == slot.skip {
            return Err(NeedsFullEvaluation);
        }
        if scores.class_is_domain != scores.has_few_domains() {
            scores.class_is_domain = !scores.class_is_domain;
            rescore.reevaluate_all();
        }
        for sums in &mut scores.weights {
            if scores.class_is_domain && sums.has_changed() {
                sums.clear_changed();
                rescore.mark_classes_changed();
            }
            sums.drain_changed(view.indexes.0, |_, word, nodes| rescore.reevaluate.insert_word(word, nodes));
        }
        Ok(())
    }
}

impl InterPodAffinityScores {
    /// Returns whether a term counted any pod, even with weight 0.
    fn has_counted_pods(&self) -> bool {
        self.weights.iter().any(|sums| !sums.has_no_pods())
    }

    fn has_few_domains(&self) -> bool {
        self.weights.len() <= (u64::BITS / DOMAIN_BITS) as usize
            && self.weights.iter().all(|sums| sums.len() <= MAX_CLASS_DOMAINS)
    }

    /// Returns whether nothing has changed since the last update.
    #[inline]
    fn is_current(&self, preferences: &Preferences, view: View<'_, InterPodAffinity>) -> bool {
        let (topology, counts, terms) = view.indexes;
        let ends = sources(preferences, counts, terms).flatten().map(|(_, source)| source.log.end());
        ends.eq(self.seen.iter().copied()) && self.weights.iter().all(|sums| sums.is_current(topology))
    }

    /// Applies changes. After an error, the scores are invalid.
    fn apply_changes(
        &mut self,
        preferences: &Preferences,
        view: View<'_, InterPodAffinity>,
        changed: NodeChanges<'_>,
    ) -> Result<(), NeedsFullEvaluation> {
        let (topology, counts, terms) = view.indexes;
        let InterPodAffinityScores { weights, seen, .. } = self;
        let sources = sources(preferences, counts, terms);
        if sources.clone().any(|source| source.is_none()) || sources.clone().count() != seen.len() {
            return Err(NeedsFullEvaluation);
        }
        let sources = sources.flatten();
        for (key, sums) in weights.iter_mut().enumerate() {
            let of_key = sources.clone().zip(&*seen).filter(|((other, _), _)| *other == key);
            let of_key = of_key.map(|((_, source), seen)| (*seen, source));
            sums.update(of_key, topology, changed, |before, after| before != after)?;
        }
        for ((_, source), seen) in sources.zip(seen) {
            *seen = source.log.end();
        }
        Ok(())
    }

    /// Returns the sum over the node's domains.
    #[inline(always)]
    fn of_node(&self, node: NodeIndex) -> Result<i64, ScoreError> {
        if self.weights.is_empty() {
            // Reached only in a profile without PreScore: PreScore skips Score for pods without weighted terms.
            return Err(ScoreError("failed to read \"PreScoreInterPodAffinity\" from cycleState: not found"));
        }
        let sums = self.weights.iter().filter_map(|sums| sums.at(node));
        Ok(sums.fold(0, i64::wrapping_add))
    }

    /// Returns the class of a node.
    #[inline(always)]
    pub(super) fn class(&self, node: NodeIndex) -> Result<ScoreClass, ScoreError> {
        if !self.class_is_domain {
            return self.of_node(node).map(|raw| ScoreClass(raw as u64));
        }
        let sums = self.weights.iter().map(|sums| sums.domain(node).get() as u64 & ((1 << DOMAIN_BITS) - 1));
        Ok(ScoreClass(sums.fold(0, |class, domain| class << DOMAIN_BITS | domain)))
    }

    /// Returns the raw score of a class.
    pub(super) fn of_class(&self, class: ScoreClass) -> i64 {
        if !self.class_is_domain {
            return class.0 as i64;
        }
        let of_key = self.weights.iter().rev().zip((0..).step_by(DOMAIN_BITS as usize));
        let sums = of_key.map(|(sums, shift)| sums.sum((class.0 >> shift) as usize & ((1 << DOMAIN_BITS) - 1)));
        sums.fold(0, i64::wrapping_add)
    }
}

impl ScorePlugin for InterPodAffinity {
    type Cycle = InterPodAffinityScores;

    #[inline(always)]
    fn score(
        _: &InterPodAffinityArgs,
        _: &InterPodAffinityPod,
        scores: &InterPodAffinityScores,
        node: NodeIndex,
    ) -> Result<i64, ScoreError> {
        scores.of_node(node)
    }
}

impl NormalizeScore for InterPodAffinity {
    /// Returns the position between the lowest and the highest score, in double precision and in kube-scheduler's
    /// order of operations.
    #[inline(always)]
    fn normalize(_: &InterPodAffinityArgs, extent: Extent, raw: i64) -> i64 {
        let span = extent.max.wrapping_sub(extent.min);
        if span <= 0 {
            return 0;
        }
        (MAX_NODE_SCORE as f64 * (raw.wrapping_sub(extent.min) as f64 / span as f64)) as i64
    }
}
