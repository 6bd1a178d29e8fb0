//! Scheduling loops as one would write them by hand for a single profile, a file each.
//!
//! They read the same columns as the generated pipelines, but call nothing of a plugin: arithmetic and matching are
//! written out, what is the same for all nodes is done before the loop, and filtering and scoring are one pass. Sums
//! wrap and scores are checked for their range, as in the pipelines.

pub(crate) mod binpack;
pub(crate) mod default;
pub(crate) mod edge;
mod images;
mod kernels;
mod pod;

use schedc::pipelines::state::State;
use schedc_core::cache::Cache;
use schedc_core::mask::Mask;
use schedc_core::passes::Best;

pub(crate) use pod::Pod;

/// A loop's answer, and the room that it needs.
#[derive(Default)]
pub(crate) struct Answer {
    pub(crate) feasible: Mask,
    pub(crate) totals: Vec<i64>,
    taints: Vec<i64>,
    affinity: Vec<i64>,
}

/// A score was not within 0..=100.
#[derive(Debug)]
pub(crate) struct OutOfRange;

/// The loop of a profile.
pub(crate) type Evaluate = fn(&Pod, &Cache<State>, &mut Answer) -> Result<Best, OutOfRange>;

impl Answer {
    /// The nodes that exist are feasible until the loop says otherwise.
    fn start(&mut self, pod: &Pod, cache: &Cache<State>) {
        self.feasible.copy_from(cache.base.alive());
        if let Some(name) = pod.node_name {
            self.feasible.intersect(&cache.base.node(name).into_iter().collect());
        }
        let slots = cache.base.infos().len();
        self.totals.resize(slots, 0);
        self.taints.resize(slots, 0);
        self.affinity.resize(slots, 0);
    }
}
