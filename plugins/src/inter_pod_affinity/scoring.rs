//! Preferred terms, and running pods' required affinity: how much a node is liked.

use schedc_core::extension_points::{
    Extent, MAX_NODE_SCORE, NormalizeScore, PreScorePlugin, ScoreError, ScorePlugin, Skips,
};
use schedc_core::intern::Symbol;
use schedc_core::mask::Mask;
use schedc_core::model::NodeIndex;
use schedc_core::plugin::{Slot, View};
use schedc_core::status::Status;

use super::places::Places;
use super::{InterPodAffinity, InterPodAffinityArgs, InterPodAffinityPod};
use crate::indexes::Stance;

/// The sums of weights by place, for each topology key.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InterPodAffinityScores {
    weights: Vec<(Symbol, Places)>,
    /// Whether a term counted anywhere, be it with weight 0.
    counted: bool,
}

impl PreScorePlugin for InterPodAffinity {
    type Cycle = InterPodAffinityScores;
    const SKIPS: Skips = Skips::Usually;

    fn pre_score(
        &self,
        args: &InterPodAffinityArgs,
        pod: &InterPodAffinityPod,
        view: View<'_, Self>,
        _: &Mask,
    ) -> Result<Slot<InterPodAffinityScores>, Status> {
        if let Some(broken) = &pod.broken {
            // Only in a profile without PreFilter.
            return Err(Status::error(format!("failed to parse pod: {broken}")));
        }
        if args.ignore_preferred_terms_of_existing_pods && pod.preferred.is_empty() {
            return Ok(Slot::skip(InterPodAffinityScores::default()));
        }
        let (_, counts, carried) = view.indexes;
        let mut room = self.scoring.lock();
        let Room { weights, sums } = &mut *room;
        let mut scores = InterPodAffinityScores { weights: std::mem::take(weights), counted: false };
        for (term, weight) in &pod.preferred {
            scores.take(view, term.key, *weight, counts.counts(term.pods).iter(), sums);
        }
        for term in carried.scored(pod.namespace, &pod.labels) {
            let weight = match term.tag {
                Stance::Required if args.hard_pod_affinity_weight == 0 => continue,
                Stance::Required => args.hard_pod_affinity_weight.into(),
                Stance::Preferred(weight) => weight,
            };
            scores.take(view, term.key, weight, term.nodes.iter(), sums);
        }
        Ok(if scores.counted { Slot::ready(scores) } else { Slot::skip(scores) })
    }

    fn recycle(&self, scores: InterPodAffinityScores) {
        self.scoring.lock().take_back(scores);
    }
}

/// Room for scores.
#[derive(Debug, Default)]
pub(super) struct Room {
    /// Empty.
    weights: Vec<(Symbol, Places)>,
    sums: Vec<Vec<i64>>,
}

impl Room {
    fn take_back(&mut self, mut scores: InterPodAffinityScores) {
        self.sums.extend(scores.weights.drain(..).map(|(_, places)| places.into_sums()));
        self.weights = scores.weights;
    }
}

impl InterPodAffinityScores {
    /// Adds `weight` to the place of each node, for each of its pods that count.
    fn take(
        &mut self,
        view: View<'_, InterPodAffinity>,
        key: Symbol,
        weight: i64,
        nodes: impl Iterator<Item = (NodeIndex, u32)>,
        sums: &mut Vec<Vec<i64>>,
    ) {
        let at = self.weights.iter().position(|(known, _)| *known == key).unwrap_or_else(|| {
            let places = Places::new(view.indexes.0, view.base, key, sums.pop().unwrap_or_default());
            self.weights.push((key, places));
            self.weights.len() - 1
        });
        let places = &mut self.weights[at].1;
        for (node, pods) in nodes {
            self.counted |= places.add(node, weight.wrapping_mul(pods.into()));
        }
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
        if !scores.counted {
            // Only in a profile without PreScore, which skips Score otherwise.
            return Err(ScoreError("failed to read \"PreScoreInterPodAffinity\" from cycleState: not found"));
        }
        let places = scores.weights.iter().filter_map(|(_, places)| places.at(node));
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
