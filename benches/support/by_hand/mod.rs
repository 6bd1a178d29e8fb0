//! Scheduling loops as one would write them by hand for a single profile.
//!
//! They read the same columns as the generated pipelines, but call nothing of a plugin: arithmetic and matching are
//! written out, and what is the same for all nodes is done before the loop. Sums wrap and scores are checked for their
//! range, as in the pipelines.
//!
//! There are two forms. One has the phases of the framework: Filter for all nodes, then Score for the feasible ones, then
//! the totals. The other is fused: a node that passes Filter is scored at once.

mod filters;
mod images;
mod pod;
mod profiles;
mod resources;
mod scores;

use schedc::pipelines::state::State;
use schedc_core::cache::Cache;
use schedc_core::mask::{Mask, nodes_of};
use schedc_core::model::NodeIndex;
use schedc_core::passes::Best;

use filters::Filters;
use profiles::Profile;
use scores::{Highest, Raw, Scores};

pub(crate) use pod::Pod;

/// A loop's answer, and the room that it needs.
#[derive(Default)]
pub(crate) struct Answer {
    pub(crate) feasible: Mask,
    raw: Vec<Raw>,
}

/// A score was not within 0..=100.
#[derive(Debug)]
pub(crate) struct OutOfRange;

/// The loop of a profile.
pub(crate) type Evaluate = fn(&Pod, &Cache<State>, &mut Answer) -> Result<Best, OutOfRange>;

/// The loop for profiles/`profile`.toml.
pub(crate) fn evaluate<const FUSED: bool>(profile: &str) -> Evaluate {
    match profile {
        "default" => |pod, cache, answer| answer.evaluate::<profiles::Default<'_>, FUSED>(pod, cache),
        "edge" => |pod, cache, answer| answer.evaluate::<profiles::Edge<'_>, FUSED>(pod, cache),
        "binpack" => |pod, cache, answer| answer.evaluate::<profiles::Binpack<'_>, FUSED>(pod, cache),
        other => unreachable!("no loop is written for profile {other}"),
    }
}

impl Answer {
    /// The total of a feasible node.
    pub(crate) fn total(&self, node: NodeIndex) -> i64 {
        self.raw[node.get()].total
    }

    #[inline(always)]
    fn evaluate<'a, P: Profile<'a>, const FUSED: bool>(
        &mut self,
        pod: &'a Pod,
        cache: &'a Cache<State>,
    ) -> Result<Best, OutOfRange> {
        self.feasible.copy_from(cache.base.alive());
        if let Some(name) = pod.node_name {
            self.feasible.intersect(&cache.base.node(name).into_iter().collect());
        }
        // All columns are cut to this length, so that an index is checked once.
        let slots = cache.base.infos().len();
        self.raw.resize(slots, Raw::default());
        let raw = &mut self.raw[..slots];
        let filters = Filters::new(pod, &cache.state, slots);
        let scores = Scores::new(pod, &cache.state, slots, P::new(pod, cache, slots));
        let mut highest = Highest::default();

        for (word, bits) in self.feasible.words_mut().iter_mut().enumerate() {
            let mut keep = *bits;
            for node in nodes_of(word, *bits) {
                if !filters.admit(node.get()) {
                    keep &= !(1 << (node.0 % 64));
                } else if FUSED {
                    scores.score(node.get(), &mut raw[node.get()], &mut highest);
                }
            }
            *bits = keep;
        }
        if !FUSED {
            for (word, bits) in self.feasible.words().iter().enumerate() {
                for node in nodes_of(word, *bits) {
                    scores.score(node.get(), &mut raw[node.get()], &mut highest);
                }
            }
        }
        let mut best = Best { total: i64::MIN, ties: 0 };
        for (word, bits) in self.feasible.words().iter().enumerate() {
            for node in nodes_of(word, *bits) {
                let total = scores.normalize(&mut raw[node.get()], &mut highest);
                if total > best.total {
                    best = Best { total, ties: 1 };
                } else if total == best.total {
                    best.ties += 1;
                }
            }
        }
        if highest.any <= 100 { Ok(best) } else { Err(OutOfRange) }
    }
}
