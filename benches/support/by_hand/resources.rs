//! Scores by resources.

use schedc_plugins::columns::NodeResources;

/// Requests of CPU and memory, and whether they are exact as floating-point numbers, like the amounts of a node with
/// [`NodeResources::evenness`].
#[derive(Clone, Copy)]
pub(super) struct Requests {
    amounts: [i64; 2],
    are_exact: bool,
}

impl Requests {
    pub(super) fn new(milli_cpu: i64, memory: i64) -> Requests {
        Requests { amounts: [milli_cpu, memory], are_exact: (milli_cpu | memory) as u64 >> 46 == 0 }
    }
}

/// Adds exact amounts, as the low bits of floating-point numbers from 2^52 on.
#[inline(always)]
fn sums(amounts: [i64; 2], others: [i64; 2]) -> [f64; 2] {
    const INTEGERS: f64 = (1_u64 << 52) as f64;
    [0, 1].map(|at: usize| f64::from_bits(INTEGERS.to_bits() | (amounts[at] + others[at]) as u64) - INTEGERS)
}

#[inline(always)]
pub(super) fn least_allocated(requests: Requests, node: &NodeResources) -> i64 {
    mean_of_cpu_and_memory(
        requests,
        node,
        |used, has| (has - used).max(0.0),
        |used, has| if used > has { 0 } else { has.wrapping_sub(used) },
    )
}

#[inline(always)]
pub(super) fn most_allocated(requests: Requests, node: &NodeResources) -> i64 {
    mean_of_cpu_and_memory(requests, node, f64::min, i64::min)
}

/// Returns the mean of two scores with equal weights: the share of `counted` in the allocatable amount, in percent.
#[inline(always)]
fn mean_of_cpu_and_memory(
    requests: Requests,
    node: &NodeResources,
    counted: impl Fn(f64, f64) -> f64,
    counted_of_integers: impl Fn(i64, i64) -> i64,
) -> i64 {
    let (used, has) = (node.non_zero, node.allocatable);
    let (used, has) = ([used.milli_cpu, used.memory], [has.milli_cpu, has.memory]);
    if node.evenness().is_some() && requests.are_exact {
        let (used, has) = (sums(used, requests.amounts), sums(has, [0; 2]));
        let [cpu, memory] = [0, 1].map(|at: usize| counted(used[at], has[at]) * 100.0 / has[at]);
        (i64::from(cpu as u8) + i64::from(memory as u8)) / 2
    } else {
        let amounts = [0, 1].map(|at: usize| (used[at].wrapping_add(requests.amounts[at]), has[at]));
        mean_of_allocatable(amounts, |used, has| counted_of_integers(used, has).wrapping_mul(100).wrapping_div(has))
    }
}

/// Omits resources that the node does not have.
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
pub(super) fn balance(requests: Requests, node: &NodeResources) -> i64 {
    let (used, has) = (node.requested, node.allocatable);
    let (used, has) = ([used.milli_cpu, used.memory], [has.milli_cpu, has.memory]);
    match node.evenness() {
        Some(before) if requests.are_exact => {
            let after = evenness(sums(used, requests.amounts), sums(has, [0; 2]));
            50 + (50 + i64::from(after as u8) - before) / 2
        }
        _ => balance_of_integers(requests.amounts, used, has),
    }
}

#[cold]
#[inline(never)]
fn balance_of_integers(requests: [i64; 2], used: [i64; 2], has: [i64; 2]) -> i64 {
    if has.contains(&0) {
        // A single resource is always balanced.
        return 75;
    }
    let to_f64 = |amounts: [i64; 2]| amounts.map(|amount| amount as f64);
    let before = evenness(to_f64(used), to_f64(has)) as i64;
    let after = [0, 1].map(|at: usize| used[at].wrapping_add(requests[at]));
    50 + (50 + evenness(to_f64(after), to_f64(has)) as i64 - before) / 2
}

/// Returns 100 minus the standard deviation of two utilizations in percent.
#[inline(always)]
fn evenness(used: [f64; 2], has: [f64; 2]) -> f64 {
    let [cpu, memory] = [0, 1].map(|at: usize| (used[at] / has[at]).min(1.0));
    (1.0 - ((cpu - memory) / 2.0).abs()) * 100.0
}
