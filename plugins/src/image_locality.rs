//! ImageLocality
//!
//! **What it does.** Prefers nodes that have the pod's images. Larger images count more. Images on few nodes
//! count less; otherwise all pods would be placed on these nodes.
//!
//! **Extension points.** Score.
//!
//! **Arguments.** None.
//!
//! **Upstream.** `plugins/imagelocality` (kube-scheduler 1.36.2).
//!
//! **Differences.** The size of an image is the one that the evaluated node reports; in kube-scheduler, the
//! one that the first node with the image reported. The number of nodes with an image is always current.

use schedc_core::args::NoArgs;
use schedc_core::extension_points::{MAX_NODE_SCORE, PrepareScore, ScoreError, ScorePlugin, SkipFrequency};
use schedc_core::incremental::{DependsOn, Incremental, ScoreUpdate};
use schedc_core::intern::Symbol;
use schedc_core::model::PodSpec;
use schedc_core::plugin::{CompileContext, View};
use schedc_core::scratch::Scratch;
use schedc_core::{Plugin, plugin};

use crate::columns::NodeImages;
use crate::indexes::ImageNodes;

const MEBIBYTE: i64 = 1 << 20;
/// A sum of image sizes up to this limit has the score 0.
const MIN_SIZE: i64 = 23 * MEBIBYTE;
/// Maximum sum of sizes that counts, for each container of the pod.
const MAX_CONTAINER_SIZE: i64 = 1000 * MEBIBYTE;

/// Scores nodes by their images.
#[derive(Debug, Default)]
pub struct ImageLocality {
    spread: Scratch<ImageSpread>,
}

/// The images of a pod that exist on nodes. Pods without such images have equal values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ImageLocalityPod {
    images: Box<[Symbol]>,
    /// Maximum sum of sizes that counts, in bytes; 0 if `images` is empty.
    max_size: i64,
}

/// For each image of the pod, the fraction of nodes that have it. Images that no node has are omitted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImageSpread {
    images: Vec<(Symbol, f64)>,
}

#[plugin]
impl Plugin for ImageLocality {
    type Columns = NodeImages;
    type Indexes = ImageNodes;
    type Pod = ImageLocalityPod;

    fn compile(_: &NoArgs, pod: &PodSpec, cx: CompileContext<'_, Self>) -> ImageLocalityPod {
        let images: Box<[Symbol]> = pod.images.iter().copied().filter(|&image| cx.indexes.count(image) > 0).collect();
        let max_size = if images.is_empty() { 0 } else { MAX_CONTAINER_SIZE * i64::from(pod.containers) };
        ImageLocalityPod { images, max_size }
    }
}

impl PrepareScore for ImageLocality {
    fn prepare(&self, _: &NoArgs, pod: &ImageLocalityPod, view: View<'_, Self>) -> ImageSpread {
        if pod.images.is_empty() {
            return ImageSpread::default();
        }
        let mut images = std::mem::take(&mut self.spread.lock().images);
        images.clear();
        images.extend(node_fractions(pod, view));
        ImageSpread { images }
    }

    fn recycle(&self, spread: ImageSpread) {
        if spread.images.capacity() > 0 {
            *self.spread.lock() = spread;
        }
    }
}

/// Returns the fraction of nodes that have each image of a pod.
fn node_fractions(pod: &ImageLocalityPod, view: View<'_, ImageLocality>) -> impl Iterator<Item = (Symbol, f64)> {
    let nodes = view.nodes() as f64;
    pod.images.iter().filter_map(move |&image| match view.indexes.count(image) {
        0 => None,
        count => Some((image, f64::from(count) / nodes)),
    })
}

impl ScorePlugin for ImageLocality {
    type Cycle = ImageSpread;

    #[inline(always)]
    fn score(_: &NoArgs, pod: &ImageLocalityPod, spread: &ImageSpread, node: &NodeImages) -> Result<i64, ScoreError> {
        let mut sum = 0_i64;
        for &(image, fraction) in &spread.images {
            if let Some(size) = node.size(image) {
                sum = sum.wrapping_add((size as f64 * fraction) as i64);
            }
        }
        if sum <= MIN_SIZE {
            return Ok(0);
        }
        Ok(MAX_NODE_SCORE.wrapping_mul(sum.min(pod.max_size) - MIN_SIZE) / (pod.max_size - MIN_SIZE))
    }
}

impl Incremental for ImageLocality {
    const SKIPS: SkipFrequency = SkipFrequency::Never;

    #[inline]
    fn compile_epoch(nodes: &ImageNodes) -> Option<u64> {
        Some(nodes.epoch())
    }

    #[inline]
    fn score_depends_on(pod: &ImageLocalityPod) -> DependsOn {
        if pod.images.is_empty() { DependsOn::Node } else { DependsOn::Cluster }
    }

    #[inline]
    fn update_prepared(
        &self,
        _: &NoArgs,
        pod: &ImageLocalityPod,
        spread: &mut ImageSpread,
        view: View<'_, Self>,
        scores: &mut ScoreUpdate<'_>,
    ) {
        // Pod events do not change images.
        if !scores.changed.node_objects
            || pod.images.is_empty()
            || node_fractions(pod, view).eq(spread.images.iter().copied())
        {
            scores.mark_unchanged();
            return;
        }
        spread.images.clear();
        spread.images.extend(node_fractions(pod, view));
        scores.reevaluate_all();
    }
}

#[cfg(test)]
mod tests {
    use schedc_core::cache::Base;
    use schedc_core::column::{Column, Index};
    use schedc_core::intern::Interner;
    use schedc_core::model::NodeIndex;
    use schedc_core::node_mask::NodeMask;
    use schedc_objects::testing::node;

    use super::*;
    use crate::testing::Cluster;

    /// Returns the scores of nodes that have these images.
    fn scores(nodes: &[&str], pod_yaml: &str) -> Vec<i64> {
        let nodes: Vec<_> = (nodes.iter().enumerate())
            .map(|(n, images)| format!("{{metadata: {{name: n{n}}}, status: {{images: {images}}}}}"))
            .collect();
        let yaml: Vec<_> = nodes.iter().map(String::as_str).collect();
        let mut cluster = Cluster::<NodeImages>::new(&yaml);
        let mut index = ImageNodes::default();
        for (n, info) in cluster.cache.base.infos().iter().enumerate() {
            index.set_node(NodeIndex(n as u32), None, info.node.as_deref());
        }
        let pod = cluster.pod(pod_yaml);
        let base: &mut Base = &mut cluster.cache.base;
        let cx = CompileContext { interner: &mut base.interner, indexes: &mut index };
        let pod = ImageLocality::compile(&NoArgs, &pod.spec, cx);
        let infos = cluster.cache.base.infos();
        let columns: Vec<_> = (infos.iter().flat_map(|info| &info.node))
            .map(|node| NodeImages::build(node, &cluster.cache.base.interner))
            .collect();
        let view = View { columns: &columns[..], indexes: &index, reads: (), base: &cluster.cache.base };
        let spread = cluster.plugin::<ImageLocality>(&NoArgs).prepare(&NoArgs, &pod, view);
        let all: NodeMask = cluster.cache.base.alive().clone();
        all.iter().map(|n| ImageLocality::score(&NoArgs, &pod, &spread, &columns[n.get()]).unwrap()).collect()
    }

    #[test]
    fn scores_grow_with_the_size_of_images_and_the_nodes_that_have_them() {
        let [small, large] =
            ["{names: ['small:1'], sizeBytes: 100000000}", "{names: ['large:1'], sizeBytes: 1000000000}"];
        let both = format!("[{small}, {large}]");
        let [small, large] = [small, large].map(|image| format!("[{image}]"));
        let nodes = ["[]", &small, &large, &both];
        let check = |pod: &str, expected: [i64; 4]| assert_eq!(scores(&nodes, pod), expected, "{pod}");
        check("spec: {containers: [{image: 'small:1'}]}", [0, 2, 0, 2]);
        check("spec: {containers: [{image: 'large:1'}]}", [0, 0, 46, 46]);
        check("spec: {containers: [{image: 'small:1'}, {image: 'large:1'}]}", [0, 1, 22, 25]);
        check("spec: {initContainers: [{image: 'small:1'}], containers: [{image: 'large:1'}]}", [0, 1, 22, 25]);
        // Every reference counts, including that of an image volume, but only containers raise the maximum size.
        check("spec: {containers: [{image: 'large:1'}, {image: 'large:1'}]}", [0, 0, 47, 47]);
        let volume = "volumes: [{name: v, image: {reference: 'large:1'}}]";
        check(&format!("spec: {{containers: [{{image: 'large:1'}}], {volume}}}"), [0, 0, 95, 95]);
        check("spec: {containers: [{image: large}]}", [0, 0, 0, 0]);
        check("spec: {}", [0, 0, 0, 0]);
    }

    #[test]
    fn names_without_a_tag_mean_the_latest() {
        let nodes = ["[{names: ['r.example:5000/web:latest'], sizeBytes: 900000000}]"];
        assert_eq!(scores(&nodes, "spec: {containers: [{image: 'r.example:5000/web'}]}"), [85]);
    }

    #[test]
    fn a_huge_image_counts_as_the_maximum_size() {
        let nodes = ["[{names: ['a:1'], sizeBytes: 9000000000000}]"];
        assert_eq!(scores(&nodes, "spec: {containers: [{image: 'a:1'}]}"), [100]);
    }

    #[test]
    fn of_two_sizes_of_a_name_the_first_counts() {
        let mut interner = Interner::default();
        let images = "[{names: [a, a], sizeBytes: 7}, {names: [b, a], sizeBytes: 9}]";
        let node = node(&format!("status: {{images: {images}}}"), &mut interner);
        let column = NodeImages::build(&node, &interner);
        let size = |name| interner.get(name).and_then(|name| column.size(name));
        assert_eq!((size("a"), size("b"), size("c")), (Some(7), Some(9), None));
    }
}
