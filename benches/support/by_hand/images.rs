//! ImageLocality's score.

use schedc::pipelines::state::State;
use schedc_core::cache::Cache;
use schedc_core::intern::Symbol;
use schedc_plugins::columns::NodeImages;

use super::pod::Pod;

/// Up to this weighted size of the pod's images on a node, the score is 0. The weight of an image is the share of nodes
/// that have it.
const LOW: i64 = 23 << 20;

/// The pod's images that exist on a node, each with the share of nodes that have it.
pub(super) struct Images {
    spread: Vec<(Symbol, f64)>,
    /// The weighted size from which the score is 100.
    high: i64,
}

impl Images {
    pub(super) fn new(pod: &Pod, cache: &Cache<State>) -> Images {
        let nodes = cache.base.count() as f64;
        let spread = pod.images.iter().filter_map(|&image| match cache.state.image_nodes.count(image) {
            0 => None,
            count => Some((image, f64::from(count) / nodes)),
        });
        Images { spread: spread.collect(), high: (1000 << 20) * pod.containers }
    }

    #[inline(always)]
    pub(super) fn score(&self, node: &NodeImages) -> i64 {
        let mut sum = 0_i64;
        for &(image, part) in &self.spread {
            if let Some(size) = node.size(image) {
                sum = sum.wrapping_add((size as f64 * part) as i64);
            }
        }
        if sum <= LOW { 0 } else { 100 * (sum.min(self.high) - LOW) / (self.high - LOW) }
    }
}
