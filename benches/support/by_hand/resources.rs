//! Scores by resources.

use schedc_plugins::columns::NodeResources;

use super::pod::Pod;

/// The mean of two scores that count alike, without resources that the node does not have.
#[inline(always)]
fn mean_of_cpu_and_memory(pod: &Pod, node: &NodeResources, score: impl Fn(i64, i64) -> i64) -> i64 {
    let has = (node.allocatable.milli_cpu, node.allocatable.memory);
    let cpu = || score(node.non_zero.milli_cpu.wrapping_add(pod.scored.0), has.0);
    let memory = || score(node.non_zero.memory.wrapping_add(pod.scored.1), has.1);
    match has {
        (0, 0) => 0,
        (_, 0) => cpu(),
        (0, _) => memory(),
        _ => cpu().wrapping_add(memory()) / 2,
    }
}

#[inline(always)]
pub(super) fn least_allocated(pod: &Pod, node: &NodeResources) -> i64 {
    mean_of_cpu_and_memory(pod, node, |used, has| {
        if used > has { 0 } else { has.wrapping_sub(used).wrapping_mul(100).wrapping_div(has) }
    })
}

#[inline(always)]
pub(super) fn most_allocated(pod: &Pod, node: &NodeResources) -> i64 {
    mean_of_cpu_and_memory(pod, node, |used, has| used.min(has).wrapping_mul(100).wrapping_div(has))
}

/// How much more evenly cpu and memory are used with the pod than without.
#[inline(always)]
pub(super) fn balance((milli_cpu, memory): (i64, i64), node: &NodeResources) -> i64 {
    let (has, used) = (&node.allocatable, &node.requested);
    if has.milli_cpu == 0 || has.memory == 0 {
        // A single resource is always even.
        return 75;
    }
    let (cpus, bytes) = (has.milli_cpu as f64, has.memory as f64);
    let evenness = |milli_cpu: i64, memory: i64| {
        let (cpu, memory) = ((milli_cpu as f64 / cpus).min(1.0), (memory as f64 / bytes).min(1.0));
        ((1.0 - ((cpu - memory) / 2.0).abs()) * 100.0) as i64
    };
    let before = evenness(used.milli_cpu, used.memory);
    let after = evenness(used.milli_cpu.wrapping_add(milli_cpu), used.memory.wrapping_add(memory));
    50 + (50 + after - before) / 2
}
