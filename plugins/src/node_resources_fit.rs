//! NodeResourcesFit
//!
//! **What it does.** Rejects nodes that have too little left of a resource that the pod asks for, or no room for another pod.
//! Scores the others by how full they would be: emptier is better (LeastAllocated), fuller is better (MostAllocated), or as a
//! function of utilization says (RequestedToCapacityRatio).
//!
//! **Extension points.** PreFilter, Filter, PreScore, Score.
//!
//! **Arguments.** [`NodeResourcesFitArgs`].
//!
//! **Upstream.** `plugins/noderesources/fit.go` and the scorers beside it (kube-scheduler 1.36.2).
//!
//! **Differences.** Extended resources are never left to dynamic resource allocation: nodes that do not report them are rejected,
//! also if a DeviceClass names them. Device classes wake pods only in a profile with DynamicResources. At most 32 resources can
//! be scored. The hint does not ask whether a deleted or changed pod had a node: no other is reported.

use schedc_core::cache::Base;
use schedc_core::extension_points::{
    FilterPlugin, MAX_NODE_SCORE, PreFilterPlugin, PreFilterResult, PreScorePlugin, ScoreError, ScorePlugin,
    SkipFrequency,
};
use schedc_core::handle::Handle;
use schedc_core::intern::{Interner, Symbol};
use schedc_core::model::{NodeIndex, PodSpec, Resources, label_key_problems};
use schedc_core::node_mask::NodeMask;
use schedc_core::plugin::{CompileContext, CycleSlot, Plugin, View};
use schedc_core::status::{Code, Reasons, Status};

mod args;
mod hint;

pub use args::{
    NodeResourcesFitArgs, RequestedToCapacityRatio, ResourceSpec, ScoringStrategy, ScoringStrategyType,
    UtilizationShapePoint,
};

use crate::columns::NodeResources;
use crate::resource_name::{RequestedAmounts, ResourceUsage, ResourceUsages};

/// Compares requests with what is left.
#[derive(Debug)]
pub struct NodeResourcesFit;

/// What a pod asks for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NodeResourcesFitPod {
    requests: Requests,
    scored: RequestedAmounts,
}

/// A resource is rare if one node in so many has it, or fewer: then the others are not worth a look.
const RARE_RATIO: usize = 2;

/// What Filter looks at.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Requests {
    milli_cpu: i64,
    memory: i64,
    ephemeral_storage: i64,
    /// Without those of which nothing is asked, and without ignored ones.
    scalars: Box<[(Symbol, i64)]>,
}

/// The node has too little of something. Of what, [`FilterPlugin::explain`] finds out again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Insufficient {
    /// The pod asks for more of it than the node has when it is empty.
    unresolvable: bool,
}

impl Plugin for NodeResourcesFit {
    const NAME: &'static str = "NodeResourcesFit";
    type Args = NodeResourcesFitArgs;
    type Columns = NodeResources;
    type Indexes = ();
    type Reads = ();
    type Pod = NodeResourcesFitPod;

    fn new(_: &'static NodeResourcesFitArgs, _: &Handle) -> Result<Self, String> {
        Ok(NodeResourcesFit)
    }

    #[inline]
    fn compile(args: &NodeResourcesFitArgs, pod: &PodSpec, cx: CompileContext<'_, Self>) -> NodeResourcesFitPod {
        let names = args.scoring_strategy.resources.iter().map(|resource| resource.name);
        NodeResourcesFitPod {
            requests: Requests::new(&pod.requests, |name| is_ignored(args, name, cx.interner)),
            scored: RequestedAmounts::new(&pod.fit_score_requests, names, cx.interner),
        }
    }
}

impl PreFilterPlugin for NodeResourcesFit {
    type Cycle = ();
    const SKIPS: SkipFrequency = SkipFrequency::Never;
    const READS_ONLY_POD: bool = true;

    #[inline]
    fn pre_filter(
        &self,
        _: &NodeResourcesFitArgs,
        pod: &NodeResourcesFitPod,
        view: View<'_, Self>,
    ) -> Result<PreFilterResult<()>, Status> {
        let all = PreFilterResult::ready(());
        Ok(match pod.requests.candidate_nodes(view.base) {
            Some(nodes) => all.likely(nodes.iter().copied()),
            None => all,
        })
    }
}

impl FilterPlugin for NodeResourcesFit {
    type Cycle = ();
    type Rejection = Insufficient;
    const CAN_FAIL: bool = false;

    #[inline(always)]
    fn filter(
        _: &NodeResourcesFitArgs,
        pod: &NodeResourcesFitPod,
        _: &(),
        node: &NodeResources,
    ) -> Result<(), Insufficient> {
        pod.requests.fit(node)
    }

    fn code(insufficient: &Insufficient) -> Code {
        if insufficient.unresolvable { Code::UnschedulableAndUnresolvable } else { Code::Unschedulable }
    }

    fn explain(
        _: &NodeResourcesFitArgs,
        pod: &NodeResourcesFitPod,
        _: &(),
        node: &NodeResources,
        _: Insufficient,
        out: &mut Reasons<'_>,
    ) {
        if has_max_pods(node) {
            out.push("Too many pods");
        }
        let basic = ["Insufficient cpu", "Insufficient memory", "Insufficient ephemeral-storage"];
        for ((requested, allocatable, used), reason) in pod.requests.basic(node).zip(basic) {
            if is_insufficient(requested, allocatable, used) {
                out.push(reason);
            }
        }
        for (name, (requested, allocatable, used)) in pod.requests.scalars(node) {
            if is_insufficient(requested, allocatable, used) {
                out.push(format!("Insufficient {}", out.interner.resolve(name)));
            }
        }
    }
}

impl PreScorePlugin for NodeResourcesFit {
    type Cycle = ();
    const SKIPS: SkipFrequency = SkipFrequency::Never;
    const READS_ONLY_POD: bool = true;

    fn pre_score(
        &self,
        _: &NodeResourcesFitArgs,
        _: &NodeResourcesFitPod,
        _: View<'_, Self>,
        _: &NodeMask,
    ) -> Result<CycleSlot<()>, Status> {
        Ok(CycleSlot::ready(()))
    }
}

impl ScorePlugin for NodeResourcesFit {
    type Cycle = ();

    #[inline(always)]
    fn score(
        args: &NodeResourcesFitArgs,
        pod: &NodeResourcesFitPod,
        _: &(),
        node: &NodeResources,
    ) -> Result<i64, ScoreError> {
        let strategy = &args.scoring_strategy;
        let usages = pod.scored.usages(node, node.non_zero.milli_cpu, node.non_zero.memory);
        if let Some(score) = mean_of_two(strategy, usages.clone()) {
            return Ok(score);
        }
        let mut mean = Mean { strategy, usages, sum: 0, weights: 0 };
        strategy.resources.iter().for_each(|resource| mean.add(resource));
        Ok(mean.finish())
    }
}

/// The usual case of [`Mean`], in straight-line code: two resources, and the node has both. Then the sum of the weights is
/// a constant of the profile, and no division can overflow.
#[inline(always)]
fn mean_of_two(strategy: &ScoringStrategy, mut usages: ResourceUsages<'_>) -> Option<i64> {
    let score = match strategy.r#type {
        ScoringStrategyType::LeastAllocated => least_allocated,
        ScoringStrategyType::MostAllocated => most_allocated,
        // Scores of 0 are left out of its mean.
        ScoringStrategyType::RequestedToCapacityRatio => return None,
    };
    let [one, other] = strategy.resources.as_slice() else { return None };
    let (one_use, other_use) = (usages.next_above_zero(one.name)?, usages.next_above_zero(other.name)?);
    let sum = score(one_use).wrapping_mul(one.weight).wrapping_add(score(other_use).wrapping_mul(other.weight));
    Some(sum / (one.weight + other.weight))
}

/// The weighted mean of the scores by each resource.
struct Mean<'a> {
    strategy: &'a ScoringStrategy,
    usages: ResourceUsages<'a>,
    sum: i64,
    weights: i64,
}

impl Mean<'_> {
    #[inline(always)]
    fn add(&mut self, resource: &ResourceSpec) {
        let Some(used) = self.usages.next(resource.name) else { return };
        let score = match (self.strategy.r#type, &self.strategy.requested_to_capacity_ratio) {
            (ScoringStrategyType::LeastAllocated, _) => least_allocated(used),
            (ScoringStrategyType::MostAllocated, _) => most_allocated(used),
            (ScoringStrategyType::RequestedToCapacityRatio, Some(ratio)) => {
                let score = ratio.score(used);
                if score <= 0 {
                    return;
                }
                score
            }
            // The arguments were checked for this.
            (ScoringStrategyType::RequestedToCapacityRatio, None) => 0,
        };
        self.sum = self.sum.wrapping_add(score.wrapping_mul(resource.weight));
        self.weights += resource.weight;
    }

    #[inline(always)]
    fn finish(self) -> i64 {
        match self.strategy.r#type {
            _ if self.weights == 0 => 0,
            ScoringStrategyType::RequestedToCapacityRatio => (self.sum as f64 / self.weights as f64).round() as i64,
            _ => self.sum / self.weights,
        }
    }
}

/// An amount that a pod asks for, what the node has, and what its pods take.
type ResourceAmounts = (i64, i64, i64);

#[inline(always)]
fn is_insufficient(requested: i64, allocatable: i64, used: i64) -> bool {
    requested > allocatable.wrapping_sub(used)
}

#[inline(always)]
fn has_max_pods(node: &NodeResources) -> bool {
    node.pods >= node.allowed_pods
}

impl Requests {
    fn new(requests: &Resources, mut ignored: impl FnMut(Symbol) -> bool) -> Requests {
        let requested = requests.scalars.iter().filter(|&&(name, amount)| amount > 0 && !ignored(name));
        // What is not asked for is never short, and less than nothing is nothing (`SetMaxResource`).
        let or_nothing = |amount| if amount > 0 { amount } else { i64::MIN };
        Requests {
            milli_cpu: or_nothing(requests.milli_cpu),
            memory: or_nothing(requests.memory),
            ephemeral_storage: or_nothing(requests.ephemeral_storage),
            scalars: requested.copied().collect(),
        }
    }

    /// The nodes that have anything of the rarest resource, if that is rare.
    #[inline]
    fn candidate_nodes<'a>(&self, base: &'a Base) -> Option<&'a [NodeIndex]> {
        if self.scalars.is_empty() { None } else { self.rarest(base) }
    }

    fn rarest<'a>(&self, base: &'a Base) -> Option<&'a [NodeIndex]> {
        let nodes = self.scalars.iter().filter_map(|&(name, _)| base.nodes_with(name));
        nodes.min_by_key(|nodes| nodes.len()).filter(|nodes| nodes.len() <= base.count() / RARE_RATIO)
    }

    #[inline(always)]
    fn fit(&self, node: &NodeResources) -> Result<(), Insufficient> {
        let (has, used) = (&node.allocatable, &node.requested);
        let fits = !has_max_pods(node)
            && !is_insufficient(self.milli_cpu, has.milli_cpu, used.milli_cpu)
            && !is_insufficient(self.memory, has.memory, used.memory)
            && !is_insufficient(self.ephemeral_storage, has.ephemeral_storage, used.ephemeral_storage)
            && (self.scalars.is_empty()
                || self
                    .scalars(node)
                    .all(|(_, (requested, allocatable, used))| !is_insufficient(requested, allocatable, used)));
        if fits { Ok(()) } else { Err(Insufficient { unresolvable: self.is_unresolvable(node) }) }
    }

    #[inline(always)]
    fn is_unresolvable(&self, node: &NodeResources) -> bool {
        let (has, used) = (&node.allocatable, &node.requested);
        let unresolvable =
            |requested, allocatable, used| is_insufficient(requested, allocatable, used) && requested > allocatable;
        unresolvable(self.milli_cpu, has.milli_cpu, used.milli_cpu)
            || unresolvable(self.memory, has.memory, used.memory)
            || unresolvable(self.ephemeral_storage, has.ephemeral_storage, used.ephemeral_storage)
            || self.scalars(node).any(|(_, (requested, allocatable, used))| unresolvable(requested, allocatable, used))
    }

    #[inline(always)]
    fn basic(&self, node: &NodeResources) -> impl Iterator<Item = ResourceAmounts> {
        let (has, used) = (&node.allocatable, &node.requested);
        [
            (self.milli_cpu, has.milli_cpu, used.milli_cpu),
            (self.memory, has.memory, used.memory),
            (self.ephemeral_storage, has.ephemeral_storage, used.ephemeral_storage),
        ]
        .into_iter()
    }

    #[inline(always)]
    fn scalars(&self, node: &NodeResources) -> impl Iterator<Item = (Symbol, ResourceAmounts)> {
        self.scalars.iter().map(|&(name, requested)| {
            let (allocatable, used) = (node.allocatable_scalar(name), node.requested_scalar(name));
            (name, (requested, allocatable.unwrap_or(0), used.unwrap_or(0)))
        })
    }
}

#[inline(always)]
fn least_allocated(used: ResourceUsage) -> i64 {
    if used.after > used.allocatable {
        return 0;
    }
    used.allocatable.wrapping_sub(used.after).wrapping_mul(MAX_NODE_SCORE).wrapping_div(used.allocatable)
}

#[inline(always)]
fn most_allocated(used: ResourceUsage) -> i64 {
    used.after.min(used.allocatable).wrapping_mul(MAX_NODE_SCORE).wrapping_div(used.allocatable)
}

impl RequestedToCapacityRatio {
    /// The value of the shape at the utilization in whole percent, stretched from 0..=10 to 0..=100.
    #[inline(always)]
    fn score(&self, used: ResourceUsage) -> i64 {
        let utilization = match used.after > used.allocatable {
            true => 100,
            false => used.after.wrapping_mul(100).wrapping_div(used.allocatable),
        };
        let mut before: Option<UtilizationShapePoint> = None;
        for point in &self.shape {
            if utilization <= point.utilization {
                let Some(before) = before else { return point.score * 10 };
                let (rise, run) = (point.score - before.score, point.utilization - before.utilization);
                return before.score * 10 + rise * 10 * (utilization - before.utilization) / run;
            }
            before = Some(*point);
        }
        before.map_or(0, |last| last.score * 10)
    }
}

/// Whether the arguments tell Filter not to look at a scalar resource. Only extended resources can be ignored.
fn is_ignored(args: &NodeResourcesFitArgs, name: Symbol, interner: &Interner) -> bool {
    if args.ignored_resources.is_empty() && args.ignored_resource_groups.is_empty() {
        return false;
    }
    let name = interner.resolve(name);
    let group = name.split('/').next().unwrap_or_default();
    is_extended(name)
        && (args.ignored_resources.iter().any(|ignored| ignored == name)
            || args.ignored_resource_groups.iter().any(|ignored| ignored == group))
}

/// Kubernetes' `IsExtendedResourceName`.
fn is_extended(name: &str) -> bool {
    name.contains('/')
        && !name.contains("kubernetes.io/")
        && !name.starts_with("requests.")
        && label_key_problems(&format!("requests.{name}")).is_empty()
}

#[cfg(test)]
mod tests;
