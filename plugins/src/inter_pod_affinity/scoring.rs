//! Preferred terms, and running pods' required affinity: how much a node is liked.

use schedc_core::extension_points::{
    Extent, MAX_NODE_SCORE, NormalizeScore, PreScorePlugin, ScoreError, ScorePlugin, Skips,
};
use schedc_core::kept::{Anew, Changed, Rescore};
use schedc_core::mask::Mask;
use schedc_core::model::NodeIndex;
use schedc_core::plugin::{Slot, View};
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
}

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
    const SKIPS: Skips = Skips::Usually;

    fn pre_score(
        &self,
        _: &InterPodAffinityArgs,
        pod: &InterPodAffinityPod,
        view: View<'_, Self>,
        _: &Mask,
    ) -> Result<Slot<InterPodAffinityScores>, Status> {
        if let Some(broken) = &pod.broken {
            // Only in a profile without PreFilter.
            return Err(Status::error(format!("failed to parse pod: {broken}")));
        }
        if pod.liking.keys.is_empty() {
            return Ok(Slot::skip(InterPodAffinityScores::default()));
        }
        let scores = self.weigh_all(&pod.liking, view);
        Ok(if scores.counted() { Slot::ready(scores) } else { Slot::skip(scores) })
    }

    fn update(
        &self,
        _: &InterPodAffinityArgs,
        pod: &InterPodAffinityPod,
        slot: &mut Slot<InterPodAffinityScores>,
        view: View<'_, Self>,
        rescore: &mut Rescore<'_>,
    ) -> Result<(), Anew> {
        if pod.liking.keys.is_empty() || slot.state.is_current(&pod.liking, view) {
            return Ok(());
        }
        let scores = &mut slot.state;
        if scores.follow(&pod.liking, view, rescore.changed).is_err() {
            let new = self.weigh_all(&pod.liking, view);
            rescore.ask_all();
            self.recycle(std::mem::replace(scores, new));
        }
        if scores.counted() == slot.skip {
            return Err(Anew);
        }
        for places in &mut scores.weights {
            places.each_changed(view.indexes.0, |_, word, nodes| rescore.again.insert_word(word, nodes));
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
        scores
    }
}

impl InterPodAffinityScores {
    /// Whether a term counted anywhere, be it with weight 0.
    fn counted(&self) -> bool {
        self.weights.iter().any(|places| !places.is_void())
    }

    /// Whether nothing happened since they were brought up to date.
    #[inline]
    fn is_current(&self, liking: &Liking, view: View<'_, InterPodAffinity>) -> bool {
        let (topology, counts, terms) = view.indexes;
        let ends = sources(liking, counts, terms).flatten().map(|(_, source)| source.log.end());
        ends.eq(self.seen.iter().copied()) && self.weights.iter().all(|places| places.holds(topology))
    }

    /// Follows what happened. What comes of an error is of no use.
    fn follow(&mut self, liking: &Liking, view: View<'_, InterPodAffinity>, changed: Changed<'_>) -> Result<(), Anew> {
        let (topology, counts, terms) = view.indexes;
        let InterPodAffinityScores { weights, seen } = self;
        let sources = sources(liking, counts, terms);
        if sources.clone().any(|source| source.is_none()) || sources.clone().count() != seen.len() {
            return Err(Anew);
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
}
