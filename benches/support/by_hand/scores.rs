//! Score: its inputs, and the highest scores.

use schedc::pipelines::state::State;
use schedc_plugins::columns::{NodeLabels, NodeTaints};

use super::filters::matches_term;
use super::pod::{Pod, is_tolerated};
use super::profiles::Profile;

/// Raw scores of each node.
pub(super) struct Raw<'a> {
    /// Sum of the scores without normalisation; at the end, the total.
    pub(super) total: &'a mut [i64],
    /// Number of taints that the pod does not tolerate.
    pub(super) taints: &'a mut [i64],
    /// Sum of the weights of the preferences that the node meets.
    pub(super) affinity: &'a mut [i64],
}

/// A pod, and the columns that its scores read.
pub(super) struct Scores<'a, P> {
    pod: &'a Pod,
    /// Whether the pod prefers nodes.
    pub(super) prefers: bool,
    taints: &'a [NodeTaints],
    labels: &'a [NodeLabels],
    profile: P,
}

/// The highest scores of all nodes.
#[derive(Default)]
pub(super) struct Highest {
    pub(super) taints: i64,
    affinity: i64,
    /// Highest of the scores that must be within 0..=100. As unsigned numbers, negative scores are very high.
    pub(super) any: u64,
}

impl<'a, P: Profile<'a>> Scores<'a, P> {
    #[inline(always)]
    pub(super) fn new(pod: &'a Pod, state: &'a State, slots: usize, profile: P) -> Self {
        let (taints, labels) = (&state.node_taints[..slots], &state.node_labels[..slots]);
        Scores { pod, prefers: !pod.preferred.is_empty(), taints, labels, profile }
    }

    /// Scores a node. `PREFERS`: whether the pod prefers nodes.
    #[inline(always)]
    pub(super) fn score<const PREFERS: bool>(&self, at: usize, raw: &mut Raw<'_>, highest: &mut Highest) {
        let taints = self.taints[at].soft.iter().filter(|taint| !is_tolerated(taint, &self.pod.soft)).count() as i64;
        raw.taints[at] = taints;
        highest.taints = highest.taints.max(taints);
        if PREFERS {
            let matching = self.pod.preferred.iter().filter(|(_, term)| matches_term(term, &self.labels[at]));
            let affinity = matching.map(|(weight, _)| weight).sum();
            raw.affinity[at] = affinity;
            highest.affinity = highest.affinity.max(affinity);
        }
        raw.total[at] = self.profile.score(self.pod, at, &mut highest.any);
    }

    /// Returns the total score of a node. `TAINTS`: whether some node has taints that are not tolerated.
    #[inline(always)]
    pub(super) fn normalize<const TAINTS: bool, const PREFERS: bool>(
        &self,
        at: usize,
        raw: &mut Raw<'_>,
        highest: &mut Highest,
    ) -> i64 {
        let taints = if TAINTS { 100 - raw.taints[at].wrapping_mul(100) / highest.taints } else { 100 };
        highest.any = highest.any.max(taints as u64);
        raw.total[at] = raw.total[at].wrapping_add(taints.wrapping_mul(3));
        if PREFERS {
            let affinity = match highest.affinity > 0 {
                true => raw.affinity[at].wrapping_mul(100) / highest.affinity,
                false => raw.affinity[at],
            };
            highest.any = highest.any.max(affinity as u64);
            raw.total[at] = raw.total[at].wrapping_add(affinity.wrapping_mul(2));
        }
        raw.total[at]
    }
}
