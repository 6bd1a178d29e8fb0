//! Preferred terms, and running pods' required affinity: how much a node is liked.

use schedc_core::extension_points::{
    Extent, MAX_NODE_SCORE, NormalizeScore, PreScorePlugin, ScoreClass, ScoreError, ScorePlugin, SkipFrequency,
};
use schedc_core::incremental::{NeedsFullEvaluation, NodeChanges, ScoreUpdate};
use schedc_core::node_mask::NodeMask;
use schedc_core::model::NodeIndex;
use schedc_core::plugin::{CycleSlot, View};
use schedc_core::status::Status;

use super::compiled::{Liking, Weighed};
use super::filtering::asked;
use super::places::{Places, Source};
use super::{InterPodAffinity, InterPodAffinityArgs, InterPodAffinityPod};
use crate::indexes::{CarriedTerms, QuestionId, SelectorCounts, TermId};

/// The sums of weights by place, for each topology key.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InterPodAffinityScores {
    weights: Vec<Places>,
    /// How much was read of the logs of each of the pod's preferred terms, and of each term of others.
    seen: Vec<u64>,
    /// Whether places are so few that a node's class is where it is, and not its score: then a pod that comes to a place
    /// moves a class, and not all nodes there.
    by_place: bool,
}

/// So many places of a key are few.
const FEW: usize = if cfg!(test) { 3 } else { 256 };
/// Bits of a class that say a place, or that a node is in none.
const BITS: u32 = 16;

/// Room for scores.
#[derive(Debug, Default)]
pub(super) struct Room {
    /// Without contents.
    scores: InterPodAffinityScores,
    sums: Vec<Vec<i64>>,
}

impl Room {
    fn take_back(&mut self, mut scores: InterPodAffinityScores) {
        self.sums.extend(scores.weights.drain(..).map(Places::into_sums));
        scores.seen.clear();
        self.scores = scores;
    }
}

impl PreScorePlugin for InterPodAffinity {
    type Cycle = InterPodAffinityScores;
    const SKIPS: SkipFrequency = SkipFrequency::Usually;

    fn pre_score(
        &self,
        _: &InterPodAffinityArgs,
        pod: &InterPodAffinityPod,
        view: View<'_, Self>,
        _: &NodeMask,
    ) -> Result<CycleSlot<InterPodAffinityScores>, Status> {
        if let Some(broken) = &pod.broken {
            // Only in a profile without PreFilter.
            return Err(Status::error(format!("failed to parse pod: {broken}")));
        }
        if pod.liking.keys.is_empty() {
            return Ok(CycleSlot::skip(InterPodAffinityScores::default()));
        }
        let scores = self.weigh_all(&pod.liking, view);
        Ok(if scores.counted() { CycleSlot::ready(scores) } else { CycleSlot::skip(scores) })
    }

    #[inline]
    fn needs_no_update(pod: &InterPodAffinityPod) -> bool {
        pod.liking.keys.is_empty()
    }

    fn update(
        &self,
        _: &InterPodAffinityArgs,
        pod: &InterPodAffinityPod,
        slot: &mut CycleSlot<InterPodAffinityScores>,
        view: View<'_, Self>,
        rescore: &mut ScoreUpdate<'_>,
    ) -> Result<(), NeedsFullEvaluation> {
        if slot.state.is_current(&pod.liking, view) {
            return Ok(());
        }
        let scores = &mut slot.state;
        if scores.follow(&pod.liking, view, rescore.changed).is_err() {
            let new = self.weigh_all(&pod.liking, view);
            rescore.reevaluate_all();
            self.recycle(std::mem::replace(scores, new));
        }
        if scores.counted() == slot.skip {
            return Err(NeedsFullEvaluation);
        }
        if scores.by_place != scores.tells_by_place() {
            scores.by_place = !scores.by_place;
            rescore.reevaluate_all();
        }
        for places in &mut scores.weights {
            if scores.by_place && places.has_changed() {
                places.forget_changed();
                rescore.mark_classes_changed();
            }
            places.each_changed(view.indexes.0, |_, word, nodes| rescore.reevaluate.insert_word(word, nodes));
        }
        Ok(())
    }

    fn recycle(&self, scores: InterPodAffinityScores) {
        // Most have nothing.
        if !scores.seen.is_empty() {
            self.scoring.lock().take_back(scores);
        }
    }
}

/// All pods that add to scores, each with the number of its topology key, in the order in which what was seen is kept. `None`
/// for a term whose time is over.
fn sources<'a>(
    liking: &'a Liking,
    counts: &'a SelectorCounts,
    terms: &'a CarriedTerms,
) -> impl Iterator<Item = Option<(usize, Source<'a>)>> + Clone {
    let own = move |of: &Weighed<QuestionId>| Some((of.key, asked(counts, of.pods, of.weight)));
    let others = move |of: &Weighed<TermId>| {
        let term = terms.scored(of.pods)?;
        Some((of.key, Source { nodes: term.nodes(), log: term.log(), weight: of.weight }))
    };
    liking.own.iter().map(own).chain(liking.others.iter().map(others))
}

impl InterPodAffinity {
    /// The scores, from nothing.
    fn weigh_all(&self, liking: &Liking, view: View<'_, Self>) -> InterPodAffinityScores {
        let (topology, counts, terms) = view.indexes;
        let mut room = self.scoring.lock();
        let Room { scores, sums } = &mut *room;
        let mut scores = std::mem::take(scores);
        let places = |&key| Places::new(topology, view.base, key, sums.pop().unwrap_or_default());
        scores.weights.extend(liking.keys.iter().map(places));
        for (key, source) in sources(liking, counts, terms).flatten() {
            scores.seen.push(source.log.end());
            scores.weights[key].count(source);
        }
        scores.by_place = scores.tells_by_place();
        scores
    }
}

impl InterPodAffinityScores {
    /// Whether a term counted anywhere, be it with weight 0.
    fn counted(&self) -> bool {
        self.weights.iter().any(|places| !places.is_void())
    }

    fn tells_by_place(&self) -> bool {
        self.weights.len() <= (u64::BITS / BITS) as usize && self.weights.iter().all(|places| places.len() <= FEW)
    }

    /// Whether nothing happened since they were brought up to date.
    #[inline]
    fn is_current(&self, liking: &Liking, view: View<'_, InterPodAffinity>) -> bool {
        let (topology, counts, terms) = view.indexes;
        let ends = sources(liking, counts, terms).flatten().map(|(_, source)| source.log.end());
        ends.eq(self.seen.iter().copied()) && self.weights.iter().all(|places| places.holds(topology))
    }

    /// Follows what happened. What comes of an error is of no use.
    fn follow(&mut self, liking: &Liking, view: View<'_, InterPodAffinity>, changed: NodeChanges<'_>) -> Result<(), NeedsFullEvaluation> {
        let (topology, counts, terms) = view.indexes;
        let InterPodAffinityScores { weights, seen, .. } = self;
        let sources = sources(liking, counts, terms);
        if sources.clone().any(|source| source.is_none()) || sources.clone().count() != seen.len() {
            return Err(NeedsFullEvaluation);
        }
        let sources = sources.flatten();
        for (key, places) in weights.iter_mut().enumerate() {
            let of_key = sources.clone().zip(&*seen).filter(|((other, _), _)| *other == key);
            let of_key = of_key.map(|((_, source), seen)| (*seen, source));
            places.update(of_key, topology, changed, |before, after| before != after)?;
        }
        for ((_, source), seen) in sources.zip(seen) {
            *seen = source.log.end();
        }
        Ok(())
    }
}

impl ScorePlugin for InterPodAffinity {
    type Cycle = InterPodAffinityScores;

    /// The sum of the weights in the node's places.
    #[inline(always)]
    fn score(
        _: &InterPodAffinityArgs,
        _: &InterPodAffinityPod,
        scores: &InterPodAffinityScores,
        node: NodeIndex,
    ) -> Result<i64, ScoreError> {
        if scores.weights.is_empty() {
            // Only in a profile without PreScore, which skips Score otherwise.
            return Err(ScoreError("failed to read \"PreScoreInterPodAffinity\" from cycleState: not found"));
        }
        let places = scores.weights.iter().filter_map(|places| places.at(node));
        Ok(places.fold(0, i64::wrapping_add))
    }
}

impl NormalizeScore for InterPodAffinity {
    /// How far up from the lowest score to the highest: in double precision, in this order of operations.
    #[inline(always)]
    fn normalize(_: &InterPodAffinityArgs, extent: Extent, raw: i64) -> i64 {
        let span = extent.max.wrapping_sub(extent.min);
        if span <= 0 {
            return 0;
        }
        (MAX_NODE_SCORE as f64 * (raw.wrapping_sub(extent.min) as f64 / span as f64)) as i64
    }

    #[inline(always)]
    fn class(
        args: &InterPodAffinityArgs,
        pod: &InterPodAffinityPod,
        scores: &InterPodAffinityScores,
        node: NodeIndex,
    ) -> Result<ScoreClass, ScoreError> {
        if !scores.by_place {
            return Self::score(args, pod, scores, node).map(|raw| ScoreClass(raw as u64));
        }
        let places = scores.weights.iter().map(|places| places.place(node).get() as u64 & ((1 << BITS) - 1));
        Ok(ScoreClass(places.fold(0, |class, place| class << BITS | place)))
    }

    fn score_of_class(
        _: &InterPodAffinityArgs,
        _: &InterPodAffinityPod,
        scores: &InterPodAffinityScores,
        class: ScoreClass,
    ) -> i64 {
        if !scores.by_place {
            return class.0 as i64;
        }
        let of_key = scores.weights.iter().rev().zip((0..).step_by(BITS as usize));
        let sums = of_key.map(|(places, shift)| places.sum((class.0 >> shift) as usize & ((1 << BITS) - 1)));
        sums.fold(0, i64::wrapping_add)
    }
}
