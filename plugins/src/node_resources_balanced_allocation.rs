//! NodeResourcesBalancedAllocation
//!
//! **What it does.** Prefers nodes where the pod makes the utilization of resources more even. The score is
//! 75 if the pod changes nothing, up to 100 if it improves the balance, and down to 50 if it makes the
//! balance worse.
//!
//! **Extension points.** PreScore (skips pods that request none of the resources), Score.
//!
//! **Arguments.** [`NodeResourcesBalancedAllocationArgs`].
//!
//! **Upstream.** `plugins/noderesources/balanced_allocation.go` (kube-scheduler 1.36.2).
//!
//! **Differences.** At most 32 resources. Devices that back an extended resource are scored only in a profile with
//! DynamicResources. If the device class has selectors, they are evaluated; in this case, kube-scheduler crashes.

use schedc_core::args::{Args, List};
use schedc_core::column::Position;
use schedc_core::extension_points::{MAX_NODE_SCORE, PreScorePlugin, ScoreError, ScorePlugin, SkipFrequency};
use schedc_core::handle::Handle;
use schedc_core::incremental::{DependsOn, Incremental};
use schedc_core::model::{NodeIndex, PodSpec};
use schedc_core::node_mask::NodeMask;
use schedc_core::plugin::{CompileContext, CycleSlot, View};
use schedc_core::status::Status;
use schedc_core::{Plugin, plugin};

use crate::columns::NodeResources;
use crate::exact::{evenness_of_two, sums};
use crate::resource_name::{BackingDevices, RequestedAmounts, ResourceName};

/// Maximum number of resources.
const MAX_RESOURCES: usize = 32;

/// Arguments of NodeResourcesBalancedAllocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Args)]
pub struct NodeResourcesBalancedAllocationArgs {
    /// the resources that should be used evenly; default cpu and memory
    #[args(min = 1, unique = "name", default = [
        BalancedResource { name: ResourceName::Cpu, weight: 1 },
        BalancedResource { name: ResourceName::Memory, weight: 1 },
    ])]
    pub resources: List<BalancedResource, MAX_RESOURCES>,
}

/// A resource with a utilization to balance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Args)]
pub struct BalancedResource {
    /// the resource
    #[args(required)]
    pub name: ResourceName,
    /// its weight among the resources; default 1
    #[args(default = 1, range = 1..=1)]
    pub weight: i64,
}

/// Compares the utilization of resources.
#[derive(Debug, Default)]
pub struct NodeResourcesBalancedAllocation {
    handle: Handle,
}

#[plugin]
impl Plugin for NodeResourcesBalancedAllocation {
    type Args = NodeResourcesBalancedAllocationArgs;
    type Columns = (NodeResources, Position);
    type Pod = RequestedAmounts;

    fn new(args: &'static NodeResourcesBalancedAllocationArgs, handle: &Handle) -> Result<Self, String> {
        BackingDevices::request(args.resources.iter().map(|resource| resource.name), handle);
        Ok(NodeResourcesBalancedAllocation { handle: handle.clone() })
    }

    #[inline]
    fn compile(
        args: &NodeResourcesBalancedAllocationArgs,
        pod: &PodSpec,
        cx: CompileContext<'_, Self>,
    ) -> RequestedAmounts {
        RequestedAmounts::new(&pod.balance_requests, args.resources.iter().map(|resource| resource.name), cx.interner)
    }
}

impl PreScorePlugin for NodeResourcesBalancedAllocation {
    type Cycle = BackingDevices;

    fn pre_score(
        &self,
        _: &NodeResourcesBalancedAllocationArgs,
        pod: &RequestedAmounts,
        view: View<'_, Self>,
        _: &NodeMask,
    ) -> Result<CycleSlot<BackingDevices>, Status> {
        Ok(match pod.is_zero() {
            true => CycleSlot::skip(BackingDevices::default()),
            false => CycleSlot::ready(pod.backing_devices(view.base, &self.handle)),
        })
    }
}

impl ScorePlugin for NodeResourcesBalancedAllocation {
    type Cycle = BackingDevices;

    #[inline(always)]
    fn score(
        args: &NodeResourcesBalancedAllocationArgs,
        pod: &RequestedAmounts,
        devices: &BackingDevices,
        row: (&NodeResources, NodeIndex),
    ) -> Result<i64, ScoreError> {
        if pod.is_zero() {
            return Ok(0);
        }
        if are_cpu_and_memory(args)
            && let Some(improvement) = exact_improvement(pod, row.0)
        {
            return Ok(improvement);
        }
        let used = row.0.requested;
        let mut usages = pod.usages(row, devices, (used.milli_cpu, used.memory));
        let mut before = Fractions::default();
        let mut after = Fractions::default();
        for resource in &args.resources {
            if let Some(used) = usages.next(resource.name) {
                before.push(used.before, used.allocatable);
                after.push(used.after, used.allocatable);
            }
        }
        Ok(improvement(before.evenness(), after.evenness()))
    }
}

impl Incremental for NodeResourcesBalancedAllocation {
    const SKIPS: SkipFrequency = SkipFrequency::Never;

    #[inline]
    fn score_depends_on(pod: &RequestedAmounts) -> DependsOn {
        pod.depend_on()
    }
}

/// Returns whether the arguments are the usual resources. With constant arguments, the compiler removes unused code.
#[inline(always)]
fn are_cpu_and_memory(args: &NodeResourcesBalancedAllocationArgs) -> bool {
    use ResourceName::{Cpu, Memory};
    matches!(args.resources.as_slice(), [one, other] if matches!((one.name, other.name), (Cpu, Memory) | (Memory, Cpu)))
}

/// Returns the score by CPU and memory, if the node has both and [exact arithmetic](crate::exact) is possible.
#[inline(always)]
fn exact_improvement(pod: &RequestedAmounts, node: &NodeResources) -> Option<i64> {
    let (before, requested) = (node.evenness()?, pod.exact_cpu_and_memory()?);
    let (has, used) = (node.allocatable, node.requested);
    let after = sums([used.milli_cpu, used.memory], requested);
    Some(improvement(before, evenness_of_two(after, sums([has.milli_cpu, has.memory], [0; 2]))))
}

#[inline(always)]
fn improvement(before: i64, after: i64) -> i64 {
    const HALF: i64 = MAX_NODE_SCORE / 2;
    let doubled = HALF.wrapping_add(after).wrapping_sub(before);
    // Divides by 2, and rounds towards 0. The compiler turns `/ 2` into a longer 16-bit division.
    HALF + ((doubled - (doubled >> 63)) >> 1)
}

#[inline(always)]
fn fraction(used: i64, allocatable: i64) -> f64 {
    (used as f64 / allocatable as f64).min(1.0)
}

#[inline(always)]
fn percent(deviation: f64) -> i64 {
    ((1.0 - deviation) * MAX_NODE_SCORE as f64) as i64
}

/// Utilizations of resources, each from 0 to 1.
#[derive(Clone, Copy)]
struct Fractions {
    values: [f64; MAX_RESOURCES],
    len: usize,
}

impl Default for Fractions {
    #[inline]
    fn default() -> Self {
        Fractions { values: [0.0; MAX_RESOURCES], len: 0 }
    }
}

impl Fractions {
    #[inline]
    fn push(&mut self, used: i64, allocatable: i64) {
        if let Some(value) = self.values.get_mut(self.len) {
            *value = fraction(used, allocatable);
            self.len += 1;
        }
    }

    /// Returns 100 minus the standard deviation in percent. Sums are computed in kube-scheduler's order,
    /// therefore results agree to the last bit.
    #[inline]
    fn evenness(&self) -> i64 {
        let deviation = match self.values.get(..self.len).unwrap_or_default() {
            [] | [_] => 0.0,
            [a, b] => ((a - b) / 2.0).abs(),
            values => {
                let count = values.len() as f64;
                let mean = values.iter().fold(0.0, |sum, value| sum + value) / count;
                let squares = values.iter().fold(0.0, |sum, value| sum + (value - mean) * (value - mean));
                (squares / count).sqrt()
            }
        };
        percent(deviation)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use schedc_core::intern::Interner;
    use schedc_core::model::Resources;

    use super::*;
    use crate::testing::{Cluster, any_amount, args, node_with};

    const DEFAULT: NodeResourcesBalancedAllocationArgs = NodeResourcesBalancedAllocationArgs::DEFAULT;

    fn with_requests(requests: &str) -> String {
        format!("spec: {{nodeName: n1, containers: [{{name: c, resources: {{requests: {{{requests}}}}}}}]}}")
    }

    /// Returns a cluster with a node that has 10 of each resource, and with a pod on it that requests `used`.
    fn cluster(used: &str) -> Cluster<NodeResources> {
        let amounts = "cpu: 10, memory: 10, ephemeral-storage: 10, example.com/gpu: 10";
        let node = format!("{{metadata: {{name: n1}}, status: {{allocatable: {{{amounts}}}}}}}");
        Cluster::new(&[&node]).with_pods(&[&with_requests(used)])
    }

    #[test]
    fn pods_that_balance_usage_score_higher() {
        let check = |used: &str, requests: &str, expected: i64| {
            let scores = cluster(used).scores::<NodeResourcesBalancedAllocation>(&DEFAULT, &with_requests(requests));
            assert_eq!(scores, [expected], "{used}; {requests}");
        };
        check("", "cpu: 1, memory: 1", 75);
        // The evenness is 90 before, 100 after.
        check("cpu: 2, memory: 4", "cpu: 2", 80);
        // The evenness is 100 before, 90 after.
        check("cpu: 4, memory: 4", "cpu: 2", 70);
        check("memory: 10", "cpu: 10", 100);
        check("", "cpu: 10", 50);
        // Utilization is at most 1.
        check("cpu: 10, memory: 10", "cpu: 90", 75);
    }

    #[test]
    fn more_than_two_resources_score_by_standard_deviation() {
        let many = args(
            r#"resources = [{ name = "cpu" }, { name = "memory" }, { name = "ephemeral-storage" }, { name = "example.com/gpu" }]"#,
        )
        .unwrap();
        let check = |used: &str, requests: &str, expected: i64| {
            let scores = cluster(used).scores::<NodeResourcesBalancedAllocation>(many, &with_requests(requests));
            assert_eq!(scores, [expected], "{used}; {requests}");
        };
        // The deviation of 3, 0 and 0 is 1.41; gpus are omitted, because the pod requests none.
        check("example.com/gpu: 9", "cpu: 3", 67);
        // The deviation of 1, 1, 1 and 9 is 3.46.
        check("cpu: 1, memory: 1, ephemeral-storage: 1, example.com/gpu: 8", "example.com/gpu: 1", 73);
    }

    #[test]
    fn pods_without_requests_skip() {
        for (requests, skip) in [("", true), ("example.com/gpu: 1", true), ("cpu: 0", true), ("memory: 1", false)] {
            let mut cluster = cluster("");
            let pod = cluster.compile::<NodeResourcesBalancedAllocation>(&DEFAULT, &with_requests(requests));
            let plugin = cluster.plugin::<NodeResourcesBalancedAllocation>(&DEFAULT);
            let slot = plugin.pre_score(&DEFAULT, &pod, cluster.view(), &NodeMask::default()).unwrap();
            assert_eq!(slot.skip, skip, "{requests}");
        }
    }

    /// Returns the evenness of CPU and memory as kube-scheduler computes it, if the node has both.
    fn evenness_of([cpu, memory]: [(i64, i64); 2]) -> i64 {
        percent(((fraction(cpu.0, cpu.1) - fraction(memory.0, memory.1)) / 2.0).abs())
    }

    proptest! {
        #[test]
        fn scores_equal_those_of_converted_integers(
            allocatable in [any_amount(), any_amount()],
            used in [any_amount(), any_amount()],
            requested in [any_amount(), any_amount()],
        ) {
            prop_assume!(!allocatable.contains(&0) && requested != [0; 2]);
            let node = node_with(allocatable, used, [0; 2]);
            let requests = Resources { milli_cpu: requested[0], memory: requested[1], ..Resources::default() };
            let names = DEFAULT.resources.iter().map(|resource| resource.name);
            let pod = RequestedAmounts::new(&requests, names, &mut Interner::default());
            let row = (&node, NodeIndex(0));
            let score = NodeResourcesBalancedAllocation::score(&DEFAULT, &pod, &BackingDevices::default(), row);
            let before = evenness_of([0, 1].map(|at| (used[at], allocatable[at])));
            let after = evenness_of([0, 1].map(|at| (used[at].wrapping_add(requested[at]), allocatable[at])));
            prop_assert_eq!(score.ok(), Some(improvement(before, after)));
        }
    }

    #[test]
    fn a_resource_is_named_once_and_weighs_1() {
        let complaints = args::<NodeResourcesBalancedAllocationArgs>(
            r#"resources = [{ name = "cpu" }, { name = "cpu", weight = 2 }]"#,
        );
        let expected = "p.toml:1:41: `resources` has two entries whose `name` is \"cpu\"\n\
                        p.toml:1:57: `weight` is 2, but must be 1..=1";
        assert_eq!(complaints.unwrap_err(), expected);
    }
}
