//! Scores without normalisation, which differ between the profiles.

use schedc::pipelines::state::State;
use schedc_core::cache::Cache;
use schedc_plugins::columns::{NodeImages, NodeResources};

use super::images::Images;
use super::pod::Pod;
use super::resources::{balance, least_allocated, most_allocated};

/// Part of the loop that differs between profiles.
pub(super) trait Profile<'a> {
    fn new(pod: &'a Pod, cache: &'a Cache<State>, slots: usize) -> Self;
    /// Returns the sum of the scores that a node has without normalisation; their weights are 1. Raises `highest` to
    /// the highest of these scores, for the check of the range.
    fn score(&self, pod: &Pod, at: usize, highest: &mut u64) -> i64;
}

/// profiles/edge.toml
pub(super) struct Edge<'a> {
    resources: &'a [NodeResources],
}

/// profiles/default.toml, and profiles/binpack.toml, which has another scoring strategy of NodeResourcesFit.
pub(super) struct Full<'a, const MOST_ALLOCATED: bool> {
    resources: &'a [NodeResources],
    images: &'a [NodeImages],
    pod_images: Images,
}

pub(super) type Default<'a> = Full<'a, false>;
pub(super) type Binpack<'a> = Full<'a, true>;

impl<'a> Profile<'a> for Edge<'a> {
    #[inline(always)]
    fn new(_: &'a Pod, cache: &'a Cache<State>, slots: usize) -> Self {
        Edge { resources: &cache.state.node_resources[..slots] }
    }

    #[inline(always)]
    fn score(&self, pod: &Pod, at: usize, highest: &mut u64) -> i64 {
        let fit = least_allocated(pod.scored, &self.resources[at]);
        *highest = (*highest).max(fit as u64);
        fit
    }
}

impl<'a, const MOST_ALLOCATED: bool> Profile<'a> for Full<'a, MOST_ALLOCATED> {
    #[inline(always)]
    fn new(pod: &'a Pod, cache: &'a Cache<State>, slots: usize) -> Self {
        let State { node_resources, node_images, .. } = &cache.state;
        Full { resources: &node_resources[..slots], images: &node_images[..slots], pod_images: Images::new(pod, cache) }
    }

    #[inline(always)]
    fn score(&self, pod: &Pod, at: usize, highest: &mut u64) -> i64 {
        let node = &self.resources[at];
        let fit = if MOST_ALLOCATED { most_allocated(pod.scored, node) } else { least_allocated(pod.scored, node) };
        *highest = (*highest).max(fit as u64);
        let mut total = fit;
        if let Some(requests) = pod.balanced {
            let balance = balance(requests, node);
            *highest = (*highest).max(balance as u64);
            total = total.wrapping_add(balance);
        }
        let locality = self.pod_images.score(&self.images[at]);
        *highest = (*highest).max(locality as u64);
        total.wrapping_add(locality)
    }
}
