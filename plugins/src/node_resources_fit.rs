//! NodeResourcesFit
//!
//! **What it does.** Rejects nodes without enough of a requested resource, or with the maximum number of
//! pods. Scores nodes by their utilization with the pod: lower is better (LeastAllocated), higher is better
//! (MostAllocated), or by a function of the utilization (RequestedToCapacityRatio).
//!
//! **Extension points.** PreFilter, Filter, PreScore, Score.
//!
//! **Arguments.** [`NodeResourcesFitArgs`].
//!
//! **Upstream.** `plugins/noderesources/fit.go` and its scorers (kube-scheduler 1.36.2).
//!
//! **Differences.** Events of device classes wake pods, and devices are scored, only in a profile with
//! DynamicResources. The selectors of a device class are evaluated for current devices and current node labels;
//! kube-scheduler keeps the first results. At most 32 resources can be scored.

use schedc_core::cache::Base;
use schedc_core::column::Position;
use schedc_core::extension_points::{
    FilterPlugin, MAX_NODE_SCORE, PreFilterPlugin, PreFilterResult, PreScorePlugin, ScoreError, ScorePlugin,
    SkipFrequency,
};
use schedc_core::handle::Handle;
use schedc_core::incremental::{DependsOn, Incremental};
use schedc_core::intern::{Interner, Symbol};
use schedc_core::model::{NodeIndex, PodSpec, Resources};
use schedc_core::node_mask::NodeMask;
use schedc_core::plugin::{CompileContext, CycleSlot, View};
use schedc_core::status::{Code, Reasons, Status};
use schedc_core::{Plugin, plugin};
use smallvec::SmallVec;

mod args;
mod hint;

pub use args::{
    NodeResourcesFitArgs, RequestedToCapacityRatio, ResourceSpec, ScoringStrategy, ScoringStrategyType,
    UtilizationShapePoint,
};

use crate::columns::NodeResources;
use crate::exact::{floor, sums};
use crate::indexes::DeviceClasses;
use crate::resource_name::{
    BackingDevices, RequestedAmounts, ResourceName, ResourceUsage, ResourceUsages, is_extended,
};

/// Compares requests with the unused resources.
#[derive(Debug, Default)]
pub struct NodeResourcesFit {
    handle: Handle,
}

/// The columns of a node that the kernels read.
type Row<'a> = (&'a NodeResources, NodeIndex);

/// Requests of a pod.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NodeResourcesFitPod {
    requests: Requests,
    scored: RequestedAmounts,
}

/// A request that every node satisfies.
const ALWAYS_FITS: i64 = i64::MIN;

/// A resource is rare if at most one in this many nodes has it. If a pod requests a rare resource, Filter evaluates
/// nodes without the resource only if their reasons are needed.
const RARE_RATIO: usize = 2;

/// Requests that Filter reads.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Requests {
    milli_cpu: i64,
    memory: i64,
    ephemeral_storage: i64,
    /// Without requests of 0 and without ignored resources.
    scalars: Box<[ScalarRequest]>,
}

/// Request of a scalar resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct ScalarRequest {
    name: Symbol,
    amount: i64,
    /// Amount that Filter requires of nodes without the resource: [`ALWAYS_FITS`] if a device class backs it, because
    /// devices may serve it there.
    amount_if_absent: i64,
}

/// Rejection of a node with insufficient resources. [`FilterPlugin::explain`] determines the reasons again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Insufficient {
    /// Whether the pod requests more than the node has without pods.
    unresolvable: bool,
    /// One bit each: whether the node has the maximum number of pods, and whether each of the basic resources is
    /// insufficient. `None`: the pod requests scalar resources.
    reasons: Option<u8>,
}

#[plugin]
impl Plugin for NodeResourcesFit {
    type Args = NodeResourcesFitArgs;
    type Columns = (NodeResources, Position);
    type Indexes = DeviceClasses;
    type Pod = NodeResourcesFitPod;

    fn new(args: &'static NodeResourcesFitArgs, handle: &Handle) -> Result<Self, String> {
        BackingDevices::request(args.scoring_strategy.resources.iter().map(|resource| resource.name), handle);
        Ok(NodeResourcesFit { handle: handle.clone() })
    }

    #[inline]
    fn compile(args: &NodeResourcesFitArgs, pod: &PodSpec, cx: CompileContext<'_, Self>) -> NodeResourcesFitPod {
        let names = args.scoring_strategy.resources.iter().map(|resource| resource.name);
        NodeResourcesFitPod {
            requests: Requests::new(&pod.requests, cx.indexes, |name| is_ignored(args, name, cx.interner)),
            scored: RequestedAmounts::new(&pod.fit_score_requests, names, cx.interner),
        }
    }
}

impl PreFilterPlugin for NodeResourcesFit {
    type Cycle = ();

    #[inline]
    fn pre_filter(
        &self,
        _: &NodeResourcesFitArgs,
        pod: &NodeResourcesFitPod,
        view: View<'_, Self>,
    ) -> Result<PreFilterResult<()>, Status> {
        let all = PreFilterResult::ready(());
        Ok(match pod.requests.candidate_nodes(view.base) {
            Some(nodes) => all.predicted(nodes.iter().copied()),
            None => all,
        })
    }
}

impl FilterPlugin for NodeResourcesFit {
    type Cycle = ();
    type Rejection = Insufficient;

    #[inline(always)]
    fn filter(
        _: &NodeResourcesFitArgs,
        pod: &NodeResourcesFitPod,
        _: &(),
        (node, _): Row<'_>,
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
        (node, _): Row<'_>,
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
    type Cycle = BackingDevices;

    fn pre_score(
        &self,
        _: &NodeResourcesFitArgs,
        pod: &NodeResourcesFitPod,
        view: View<'_, Self>,
        _: &NodeMask,
    ) -> Result<CycleSlot<BackingDevices>, Status> {
        Ok(CycleSlot::ready(pod.scored.backing_devices(view.base, &self.handle)))
    }
}

impl ScorePlugin for NodeResourcesFit {
    type Cycle = BackingDevices;

    #[inline(always)]
    fn score(
        args: &NodeResourcesFitArgs,
        pod: &NodeResourcesFitPod,
        devices: &BackingDevices,
        row: Row<'_>,
    ) -> Result<i64, ScoreError> {
        let strategy = &args.scoring_strategy;
        if let Some(score) = exact_mean(strategy, &pod.scored, row.0) {
            return Ok(score);
        }
        let used = row.0.non_zero;
        let usages = pod.scored.usages(row, devices, (used.milli_cpu, used.memory));
        let mut mean = Mean { strategy, usages, sum: 0, weights: 0 };
        strategy.resources.iter().for_each(|resource| mean.add(resource));
        Ok(mean.finish())
    }
}

impl Incremental for NodeResourcesFit {
    const SKIPS: SkipFrequency = SkipFrequency::Never;
    const FILTER_CAN_FAIL: bool = false;

    #[inline]
    fn reasons_key(rejection: &Insufficient) -> Option<u32> {
        Some(u32::from(rejection.reasons?) << 1 | u32::from(rejection.unresolvable))
    }
    #[inline]
    fn compile_epoch(classes: &DeviceClasses) -> Option<u64> {
        Some(classes.epoch())
    }

    #[inline]
    fn filter_depends_on(_: &NodeResourcesFitPod, _: &()) -> DependsOn {
        DependsOn::Node
    }

    #[inline]
    fn score_depends_on(pod: &NodeResourcesFitPod) -> DependsOn {
        pod.scored.depend_on()
    }
}

/// Computes the usual case of [`Mean`]: CPU and memory, the node has both, and [exact arithmetic](crate::exact) is
/// possible. Returns `None` in other cases.
#[inline(always)]
fn exact_mean(strategy: &ScoringStrategy, pod: &RequestedAmounts, node: &NodeResources) -> Option<i64> {
    let is_least = match strategy.r#type {
        ScoringStrategyType::LeastAllocated => true,
        ScoringStrategyType::MostAllocated => false,
        // The mean of this strategy omits scores of 0.
        ScoringStrategyType::RequestedToCapacityRatio => return None,
    };
    let [one, other] = strategy.resources.as_slice() else { return None };
    let weights = match (one.name, other.name) {
        (ResourceName::Cpu, ResourceName::Memory) => [one.weight, other.weight],
        (ResourceName::Memory, ResourceName::Cpu) => [other.weight, one.weight],
        _ => return None,
    };
    let (_, requested) = (node.evenness()?, pod.exact_cpu_and_memory()?);
    let (has, used) = (node.allocatable, node.non_zero);
    let allocatable = sums([has.milli_cpu, has.memory], [0; 2]);
    let after = sums([used.milli_cpu, used.memory], requested);
    let [cpu, memory] = [0, 1].map(|at: usize| {
        let (allocatable, after) = (allocatable[at], after[at]);
        let counted = if is_least { (allocatable - after).max(0.0) } else { after.min(allocatable) };
        counted * MAX_NODE_SCORE as f64 / allocatable
    });
    let sum = floor(cpu).wrapping_mul(weights[0]).wrapping_add(floor(memory).wrapping_mul(weights[1]));
    Some(sum / (weights[0] + weights[1]))
}

/// Weighted mean of the scores by resource.
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
            // Decoding the arguments rejects this case.
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

/// Request of a pod, allocatable amount of a node, and requests of the pods on the node.
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
    fn new(requests: &Resources, classes: &DeviceClasses, mut ignored: impl FnMut(Symbol) -> bool) -> Requests {
        let requested = requests.scalars.iter().filter(|&&(name, amount)| amount > 0 && !ignored(name));
        // Negative amounts count as 0 (`SetMaxResource`), and every node satisfies a request of 0.
        let or_always_fits = |amount| if amount > 0 { amount } else { ALWAYS_FITS };
        let scalars = requested.map(|&(name, amount)| {
            let amount_if_absent = if classes.is_backed(name) { ALWAYS_FITS } else { amount };
            ScalarRequest { name, amount, amount_if_absent }
        });
        // A boxed slice that is collected from an iterator of unknown length would be allocated twice.
        let scalars: SmallVec<[ScalarRequest; 4]> = scalars.collect();
        Requests {
            milli_cpu: or_always_fits(requests.milli_cpu),
            memory: or_always_fits(requests.memory),
            ephemeral_storage: or_always_fits(requests.ephemeral_storage),
            scalars: scalars.as_slice().into(),
        }
    }

    /// Returns the nodes with the rarest requested scalar resource, if it is rare.
    #[inline]
    fn candidate_nodes<'a>(&self, base: &'a Base) -> Option<&'a [NodeIndex]> {
        if self.scalars.is_empty() { None } else { self.rarest(base) }
    }

    fn rarest<'a>(&self, base: &'a Base) -> Option<&'a [NodeIndex]> {
        let by_nodes = self.scalars.iter().filter(|request| request.amount_if_absent != ALWAYS_FITS);
        let nodes = by_nodes.filter_map(|request| base.nodes_with(request.name));
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
        if fits {
            return Ok(());
        }
        Err(Insufficient { unresolvable: self.is_unresolvable(node), reasons: self.basic_reasons(node) })
    }

    #[inline(always)]
    fn basic_reasons(&self, node: &NodeResources) -> Option<u8> {
        let add =
            |bits, (requested, allocatable, used)| bits << 1 | u8::from(is_insufficient(requested, allocatable, used));
        self.scalars.is_empty().then(|| self.basic(node).fold(u8::from(has_max_pods(node)), add))
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
        self.scalars.iter().map(|&ScalarRequest { name, amount, amount_if_absent }| {
            let allocatable = node.allocatable_scalar(name).unwrap_or(0);
            let requested = if allocatable > 0 { amount } else { amount_if_absent };
            (name, (requested, allocatable, node.requested_scalar(name).unwrap_or(0)))
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
    /// Returns the value of the shape at the utilization, which is in whole percent. The value is scaled from 0..=10 to
    /// 0..=100.
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

/// Returns whether the arguments exclude a scalar resource from Filter. Only extended resources can be
/// ignored.
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

#[cfg(test)]
mod tests;
