//! ImageLocality
//!
//! **What it does.** Prefers nodes that have the pod's images, the larger the better, but images that few nodes have count less,
//! lest all pods go to these nodes.
//!
//! **Extension points.** Score.
//!
//! **Arguments.** None.
//!
//! **Upstream.** `plugins/imagelocality` (kube-scheduler 1.36.2).
//!
//! **Differences.** An image's size is that which the node reports; there, the size that the first of all nodes reported.
//! The number of nodes that have an image is always current.

use schedc_core::args::NoArgs;
use schedc_core::extension_points::{MAX_NODE_SCORE, PrepareScore, ScoreError, ScorePlugin};
use schedc_core::handle::Handle;
use schedc_core::intern::Symbol;
use schedc_core::model::PodSpec;
use schedc_core::plugin::{Compile, Plugin, View};

use crate::columns::NodeImages;
use crate::indexes::ImageNodes;

const MEBIBYTE: i64 = 1 << 20;
/// Less than this counts as nothing.
const LOW: i64 = 23 * MEBIBYTE;
/// More than this, for each container, makes no difference.
const HIGH: i64 = 1000 * MEBIBYTE;

/// Looks for images.
#[derive(Debug)]
pub struct ImageLocality;

/// The images of a pod.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ImageLocalityPod {
    images: Box<[Symbol]>,
    containers: u32,
}

/// The part of all nodes that have each of the pod's images. Without images that no node has.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImageSpread {
    images: Box<[(Symbol, f64)]>,
}

impl Plugin for ImageLocality {
    const NAME: &'static str = "ImageLocality";
    type Args = NoArgs;
    type Columns = NodeImages;
    type Indexes = ImageNodes;
    type Reads = ();
    type Pod = ImageLocalityPod;

    fn new(_: &'static NoArgs, _: &Handle) -> Result<Self, String> {
        Ok(ImageLocality)
    }

    fn compile(_: &NoArgs, pod: &PodSpec, _: Compile<'_, Self>) -> ImageLocalityPod {
        ImageLocalityPod { images: pod.images.clone(), containers: pod.containers }
    }
}

impl PrepareScore for ImageLocality {
    fn prepare(&self, _: &NoArgs, pod: &ImageLocalityPod, view: View<'_, Self>) -> ImageSpread {
        let nodes = view.nodes() as f64;
        let spread = |&image: &Symbol| match view.indexes.count(image) {
            0 => None,
            count => Some((image, f64::from(count) / nodes)),
        };
        ImageSpread { images: pod.images.iter().filter_map(spread).collect() }
    }
}

impl ScorePlugin for ImageLocality {
    type Cycle = ImageSpread;

    #[inline]
    fn score(_: &NoArgs, pod: &ImageLocalityPod, spread: &ImageSpread, node: &NodeImages) -> Result<i64, ScoreError> {
        let mut sum = 0_i64;
        for &(image, part) in &spread.images {
            if let Some(size) = node.size(image) {
                sum = sum.wrapping_add((size as f64 * part) as i64);
            }
        }
        let high = HIGH * i64::from(pod.containers);
        // Without containers `high` is below `LOW`.
        let sum = if sum < LOW { LOW } else { sum.min(high) };
        Ok(MAX_NODE_SCORE * (sum - LOW) / (high - LOW))
    }
}
