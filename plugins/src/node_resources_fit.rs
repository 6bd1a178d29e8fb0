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
//! **Differences.** Extended resources are never left to dynamic resource allocation, and device classes wake no pod. At most
//! 32 resources can be scored. The hint does not ask whether a deleted or changed pod had a node: no other is reported.

use schedc_core::extension_points::{
    FilterPlugin, MAX_NODE_SCORE, PreFilter, PreFilterPlugin, PreScorePlugin, ScoreError, ScorePlugin,
};
use schedc_core::handle::Handle;
use schedc_core::intern::{Interner, Symbol};
use schedc_core::mask::Mask;
use schedc_core::model::{PodSpec, Resources, label_key_problems};
use schedc_core::plugin::{Compile, Plugin, Slot, View};
use schedc_core::status::{Code, Reasons, Status};

mod args;
mod hint;

pub use args::{
    NodeResourcesFitArgs, RequestedToCapacityRatio, ResourceSpec, ScoringStrategy, ScoringStrategyType,
    UtilizationShapePoint,
};

use crate::columns::NodeResources;
use crate::resource_name::{Amounts, Use};

/// Compares requests with what is left.
#[derive(Debug)]
pub struct NodeResourcesFit;

/// What a pod asks for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NodeResourcesFitPod {
    requests: Requests,
    scored: Amounts,
}

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
    never: bool,
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

    fn compile(args: &NodeResourcesFitArgs, pod: &PodSpec, cx: Compile<'_, Self>) -> NodeResourcesFitPod {
        let names = args.scoring_strategy.resources.iter().map(|resource| resource.name);
        NodeResourcesFitPod {
            requests: Requests::new(&pod.requests, |name| is_ignored(args, name, cx.interner)),
            scored: Amounts::new(&pod.fit_score_requests, names, cx.interner),
        }
    }
}

impl PreFilterPlugin for NodeResourcesFit {
    type Cycle = ();

    fn pre_filter(
        &self,
        _: &NodeResourcesFitArgs,
        _: &NodeResourcesFitPod,
        _: View<'_, Self>,
    ) -> Result<PreFilter<()>, Status> {
        Ok(PreFilter::ready(()))
    }
}

impl FilterPlugin for NodeResourcesFit {
    type Cycle = ();
    type Rejection = Insufficient;

    #[inline]
    fn filter(
        _: &NodeResourcesFitArgs,
        pod: &NodeResourcesFitPod,
        _: &(),
        node: &NodeResources,
    ) -> Result<(), Insufficient> {
        pod.requests.fit(node)
    }

    fn code(insufficient: &Insufficient) -> Code {
        if insufficient.never { Code::UnschedulableAndUnresolvable } else { Code::Unschedulable }
    }

    fn explain(
        _: &NodeResourcesFitArgs,
        pod: &NodeResourcesFitPod,
        _: &(),
        node: &NodeResources,
        _: Insufficient,
        out: &mut Reasons<'_>,
    ) {
        if no_room(node) {
            out.push("Too many pods");
        }
        for ((asked, allocatable, used), name) in pod.requests.basic(node).zip(["cpu", "memory", "ephemeral-storage"]) {
            if is_short(asked, allocatable, used) {
                out.push(format!("Insufficient {name}"));
            }
        }
        for (name, (asked, allocatable, used)) in pod.requests.scalars(node) {
            if is_short(asked, allocatable, used) {
                out.push(format!("Insufficient {}", out.interner.resolve(name)));
            }
        }
    }
}

impl PreScorePlugin for NodeResourcesFit {
    type Cycle = ();

    fn pre_score(
        &self,
        _: &NodeResourcesFitArgs,
        _: &NodeResourcesFitPod,
        _: View<'_, Self>,
        _: &Mask,
    ) -> Result<Slot<()>, Status> {
        Ok(Slot::ready(()))
    }
}

impl ScorePlugin for NodeResourcesFit {
    type Cycle = ();

    #[inline]
    fn score(
        args: &NodeResourcesFitArgs,
        pod: &NodeResourcesFitPod,
        _: &(),
        node: &NodeResources,
    ) -> Result<i64, ScoreError> {
        let strategy = &args.scoring_strategy;
        let names = strategy.resources.iter().map(|resource| resource.name);
        let uses = pod.scored.uses(names, node, node.non_zero.milli_cpu, node.non_zero.memory);
        let (mut sum, mut weights) = (0_i64, 0_i64);
        for (resource, used) in strategy.resources.iter().zip(uses) {
            let Some(used) = used else { continue };
            let score = match (strategy.r#type, &strategy.requested_to_capacity_ratio) {
                (ScoringStrategyType::LeastAllocated, _) => least_allocated(used),
                (ScoringStrategyType::MostAllocated, _) => most_allocated(used),
                (ScoringStrategyType::RequestedToCapacityRatio, Some(ratio)) => {
                    let score = ratio.score(used);
                    if score <= 0 {
                        continue;
                    }
                    score
                }
                // The arguments were checked for this.
                (ScoringStrategyType::RequestedToCapacityRatio, None) => 0,
            };
            sum = sum.wrapping_add(score.wrapping_mul(resource.weight));
            weights += resource.weight;
        }
        Ok(match strategy.r#type {
            _ if weights == 0 => 0,
            ScoringStrategyType::RequestedToCapacityRatio => (sum as f64 / weights as f64).round() as i64,
            _ => sum / weights,
        })
    }
}

/// An amount that a pod asks for, what the node has, and what its pods take.
type Triple = (i64, i64, i64);

#[inline]
fn is_short(asked: i64, allocatable: i64, used: i64) -> bool {
    asked > 0 && asked > allocatable.wrapping_sub(used)
}

#[inline]
fn no_room(node: &NodeResources) -> bool {
    node.pods + 1 > node.allowed_pods
}

impl Requests {
    fn new(requests: &Resources, mut ignored: impl FnMut(Symbol) -> bool) -> Requests {
        let asked = requests.scalars.iter().filter(|&&(name, amount)| amount != 0 && !ignored(name));
        Requests {
            milli_cpu: requests.milli_cpu,
            memory: requests.memory,
            ephemeral_storage: requests.ephemeral_storage,
            scalars: asked.copied().collect(),
        }
    }

    #[inline]
    fn fit(&self, node: &NodeResources) -> Result<(), Insufficient> {
        let mut short = no_room(node);
        let mut never = false;
        for (asked, allocatable, used) in self.basic(node).chain(self.scalars(node).map(|scalar| scalar.1)) {
            let is_short = is_short(asked, allocatable, used);
            short |= is_short;
            never |= is_short && asked > allocatable;
        }
        if short { Err(Insufficient { never }) } else { Ok(()) }
    }

    #[inline]
    fn basic(&self, node: &NodeResources) -> impl Iterator<Item = Triple> {
        let (has, used) = (&node.allocatable, &node.requested);
        [
            (self.milli_cpu, has.milli_cpu, used.milli_cpu),
            (self.memory, has.memory, used.memory),
            (self.ephemeral_storage, has.ephemeral_storage, used.ephemeral_storage),
        ]
        .into_iter()
    }

    #[inline]
    fn scalars(&self, node: &NodeResources) -> impl Iterator<Item = (Symbol, Triple)> {
        self.scalars.iter().map(|&(name, asked)| {
            let amount = |resources: &Resources| resources.scalar(name).unwrap_or(0);
            (name, (asked, amount(&node.allocatable), amount(&node.requested)))
        })
    }
}

#[inline]
fn least_allocated(used: Use) -> i64 {
    if used.after > used.allocatable {
        return 0;
    }
    used.allocatable.wrapping_sub(used.after).wrapping_mul(MAX_NODE_SCORE).wrapping_div(used.allocatable)
}

#[inline]
fn most_allocated(used: Use) -> i64 {
    used.after.min(used.allocatable).wrapping_mul(MAX_NODE_SCORE).wrapping_div(used.allocatable)
}

impl RequestedToCapacityRatio {
    /// The value of the shape at the utilization in whole percent, stretched from 0..=10 to 0..=100.
    #[inline]
    fn score(&self, used: Use) -> i64 {
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
