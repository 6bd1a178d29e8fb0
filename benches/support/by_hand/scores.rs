//! Score: what it reads, and the highest of what it finds.

use schedc::pipelines::state::State;
use schedc_plugins::columns::{NodeLabels, NodeTaints};

use super::filters::matches_term;
use super::pod::{Pod, tolerated};
use super::profiles::Profile;

/// What is known of a node after Score.
#[derive(Clone, Copy, Default)]
pub(super) struct Raw {
    /// The sum of the scores that are not normalised; in the end, the total.
    pub(super) total: i64,
    taints: i64,
    affinity: i64,
}

/// A pod, and what its scores read of the nodes.
pub(super) struct Scores<'a, P> {
    pod: &'a Pod,
    prefers: bool,
    taints: &'a [NodeTaints],
    labels: &'a [NodeLabels],
    profile: P,
}

/// The highest scores of all nodes.
#[derive(Default)]
pub(super) struct Highest {
    taints: i64,
    affinity: i64,
    /// Of those that have to be within 0..=100. Below 0 is very high.
    pub(super) any: u64,
}

impl<'a, P: Profile<'a>> Scores<'a, P> {
    #[inline(always)]
    pub(super) fn new(pod: &'a Pod, state: &'a State, slots: usize, profile: P) -> Self {
        let (taints, labels) = (&state.node_taints[..slots], &state.node_labels[..slots]);
        Scores { pod, prefers: !pod.preferred.is_empty(), taints, labels, profile }
    }

    #[inline(always)]
    pub(super) fn score(&self, at: usize, raw: &mut Raw, highest: &mut Highest) {
        let taints = self.taints[at].soft.iter().filter(|taint| !tolerated(taint, &self.pod.soft)).count() as i64;
        raw.taints = taints;
        highest.taints = highest.taints.max(taints);
        if self.prefers {
            let matching = self.pod.preferred.iter().filter(|(_, term)| matches_term(term, &self.labels[at]));
            let affinity = matching.map(|(weight, _)| weight).sum();
            raw.affinity = affinity;
            highest.affinity = highest.affinity.max(affinity);
        }
        raw.total = self.profile.score(self.pod, at, &mut highest.any);
    }

    #[inline(always)]
    pub(super) fn normalize(&self, raw: &mut Raw, highest: &mut Highest) -> i64 {
        let taints = if highest.taints > 0 { 100 - raw.taints.wrapping_mul(100) / highest.taints } else { 100 };
        highest.any = highest.any.max(taints as u64);
        raw.total = raw.total.wrapping_add(taints.wrapping_mul(3));
        if self.prefers {
            let affinity = match highest.affinity > 0 {
                true => raw.affinity.wrapping_mul(100) / highest.affinity,
                false => raw.affinity,
            };
            highest.any = highest.any.max(affinity as u64);
            raw.total = raw.total.wrapping_add(affinity.wrapping_mul(2));
        }
        raw.total
    }
}
