//! Scores by resources.

use schedc_plugins::columns::NodeResources;

use super::pod::Pod;

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

/// Returns the mean of two scores with equal weights. Omits resources that the node does not have.
#[inline(always)]
fn mean_of_cpu_and_memory(pod: &Pod, node: &NodeResources, score: impl Fn(i64, i64) -> i64) -> i64 {
    let cpu = (node.non_zero.milli_cpu.wrapping_add(pod.scored.0), node.allocatable.milli_cpu);
    let memory = (node.non_zero.memory.wrapping_add(pod.scored.1), node.allocatable.memory);
    // Divisors are above 0; divisions therefore need no check.
    if cpu.1 > 0 && memory.1 > 0 {
        score(cpu.0, cpu.1).wrapping_add(score(memory.0, memory.1)) / 2
    } else {
        mean_of_allocatable([cpu, memory], score)
    }
}

#[cold]
#[inline(never)]
fn mean_of_allocatable(amounts: [(i64, i64); 2], score: impl Fn(i64, i64) -> i64) -> i64 {
    let (mut sum, mut count) = (0_i64, 0);
    for (used, has) in amounts.into_iter().filter(|amount| amount.1 != 0) {
        sum = sum.wrapping_add(score(used, has));
        count += 1;
    }
    if count == 0 { 0 } else { sum / count }
}

/// Returns the score by the change of balance between cpu and memory.
#[inline(always)]
pub(super) fn balance((milli_cpu, memory): (i64, i64), node: &NodeResources) -> i64 {
    let (has, used) = (&node.allocatable, &node.requested);
    if has.milli_cpu == 0 || has.memory == 0 {
        // A single resource is always balanced.
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
