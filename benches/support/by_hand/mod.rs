//! Scheduling loops, written by hand for a single profile.
//!
//! They read the same columns as the generated pipelines, but call no plugin: arithmetic and matching are written out,
//! and values that are equal for all nodes are computed before the loop. Sums wrap, and the range of scores is checked,
//! as in the pipelines.
//!
//! There are two forms. One has the phases of the framework: Filter for all nodes, then Score for the feasible ones, then
//! the totals. The other is fused: a feasible node is scored at once.

mod filters;
mod images;
mod pod;
mod profiles;
mod resources;
mod scores;

use schedc::pipelines::state::State;
use schedc_core::cache::Cache;
use schedc_core::model::NodeIndex;
use schedc_core::node_loops::BestTotal;
use schedc_core::node_mask::{NodeMask, nodes_of};

use filters::Filters;
use profiles::Profile;
use scores::{Highest, Raw, Scores};

pub(crate) use pod::Pod;

/// Result of the loops, and their scratch memory.
#[derive(Default)]
pub(crate) struct EvaluationScratch {
    pub(crate) feasible: NodeMask,
    totals: Vec<i64>,
    taints: Vec<i64>,
    affinity: Vec<i64>,
}

/// Error: a score outside of 0..=100.
#[derive(Debug)]
pub(crate) struct OutOfRange;

/// The loops of a profile.
pub(crate) type Evaluate = fn(&Pod, &Cache<State>, &mut EvaluationScratch) -> Result<BestTotal, OutOfRange>;

/// Returns the loops for profiles/`profile`.toml.
pub(crate) fn evaluate<const FUSED: bool>(profile: &str) -> Evaluate {
    match profile {
        "default" => |pod, cache, answer| answer.evaluate::<profiles::Default<'_>, FUSED>(pod, cache),
        "edge" => |pod, cache, answer| answer.evaluate::<profiles::Edge<'_>, FUSED>(pod, cache),
        "binpack" => |pod, cache, answer| answer.evaluate::<profiles::Binpack<'_>, FUSED>(pod, cache),
        other => unreachable!("no loop is written for profile {other}"),
    }
}

impl EvaluationScratch {
    /// Returns the total of a feasible node.
    pub(crate) fn total(&self, node: NodeIndex) -> i64 {
        self.totals[node.get()]
    }

    fn evaluate<'a, P: Profile<'a>, const FUSED: bool>(
        &mut self,
        pod: &'a Pod,
        cache: &'a Cache<State>,
    ) -> Result<BestTotal, OutOfRange> {
        self.feasible.copy_from(cache.base.alive());
        if let Some(name) = pod.node_name {
            self.feasible.intersect(&cache.base.node(name).into_iter().collect());
        }
        // All columns are cut to this length; each index is therefore checked once.
        let slots = cache.base.infos().len();
        self.totals.resize(slots, 0);
        self.taints.resize(slots, 0);
        self.affinity.resize(slots, 0);
        let mut raw = Raw {
            total: &mut self.totals[..slots],
            taints: &mut self.taints[..slots],
            affinity: &mut self.affinity[..slots],
        };
        let filters = Filters::new(pod, &cache.state, slots);
        let scores = Scores::new(pod, &cache.state, slots, P::new(pod, cache, slots));

        match scores.prefers {
            true => pass::<P, FUSED, true>(&filters, &scores, &mut self.feasible, &mut raw),
            false => pass::<P, FUSED, false>(&filters, &scores, &mut self.feasible, &mut raw),
        }
    }
}

/// Runs the loops, with a separate version for pods that prefer nodes.
#[inline(always)]
fn pass<'a, P: Profile<'a>, const FUSED: bool, const PREFERS: bool>(
    filters: &Filters<'a>,
    scores: &Scores<'a, P>,
    feasible: &mut NodeMask,
    raw: &mut Raw<'_>,
) -> Result<BestTotal, OutOfRange> {
    let mut highest = Highest::default();
    for (word, bits) in feasible.words_mut().iter_mut().enumerate() {
        let mut keep = *bits;
        for node in nodes_of(word, *bits) {
            if !filters.admit(node.get()) {
                keep &= !(1 << (node.0 % 64));
            } else if FUSED {
                scores.score::<PREFERS>(node.get(), raw, &mut highest);
            }
        }
        *bits = keep;
    }
    if !FUSED {
        for (word, bits) in feasible.words().iter().enumerate() {
            for node in nodes_of(word, *bits) {
                scores.score::<PREFERS>(node.get(), raw, &mut highest);
            }
        }
    }
    let best = match highest.taints > 0 {
        true => total(feasible, |at| scores.normalize::<true, PREFERS>(at, raw, &mut highest)),
        false => total(feasible, |at| scores.normalize::<false, PREFERS>(at, raw, &mut highest)),
    };
    if highest.any <= 100 { Ok(best) } else { Err(OutOfRange) }
}

/// Finds the best of the totals.
#[inline(always)]
fn total(feasible: &NodeMask, mut total: impl FnMut(usize) -> i64) -> BestTotal {
    let mut best = BestTotal { total: i64::MIN, ties: 0 };
    for (word, bits) in feasible.words().iter().enumerate() {
        for node in nodes_of(word, *bits) {
            let total = total(node.get());
            if total > best.total {
                best = BestTotal { total, ties: 1 };
            } else if total == best.total {
                best.ties += 1;
            }
        }
    }
    best
}
