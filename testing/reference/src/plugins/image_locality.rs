//! ImageLocality: prefers nodes with the pod's images, weighted by size and by the fraction of nodes that have them.

use schedc_core::intern::Symbol;
use schedc_core::model::Node;

use crate::plugin::{Cycle, Plugin};

pub(super) struct ImageLocality;

const MEBIBYTE: i64 = 1024 * 1024;

impl Plugin for ImageLocality {
    fn name(&self) -> &'static str {
        "ImageLocality"
    }
    fn score(&self, cx: &Cycle<'_>, _: &[&Node], node: &Node) -> Result<i64, String> {
        let nodes = &cx.cluster.nodes;
        let mut sum = 0_i64;
        for &image in &cx.pod.spec.images {
            let Some(size) = size_on(node, image) else { continue };
            let holders = nodes.values().filter(|other| size_on(other, image).is_some()).count();
            let spread = holders as f64 / nodes.len() as f64;
            sum = sum.wrapping_add((size as f64 * spread) as i64);
        }
        let (low, high) = (23 * MEBIBYTE, 1000 * MEBIBYTE * i64::from(cx.pod.spec.containers));
        let clamped = if sum < low { low } else { sum.min(high) };
        Ok(100 * (clamped - low) / (high - low))
    }
}

/// Returns the size of an image on a node that has it. If several images have the name, the first one counts.
fn size_on(node: &Node, image: Symbol) -> Option<i64> {
    node.images.iter().find(|has| has.names.contains(&image)).map(|has| has.size)
}
