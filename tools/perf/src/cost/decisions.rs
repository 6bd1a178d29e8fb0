//! Instructions and allocations of whole decisions.
//!
//! Instructions are read from the processor's counter. Where a program has no access to it, as in most virtual machines,
//! valgrind counts them: this program runs itself under callgrind with different numbers of decisions, and the difference
//! is the cost of the additional ones. Everything else, such as the creation of the cluster, cancels out.

use std::process::{Command, Stdio};

use schedc_core::erased::AnyBundle;
use serde::Serialize;

use super::cluster::Cluster;
use super::instructions::Counter;
use crate::Error;

/// Number of decisions before the counted ones: they fill caches and allocate memory for answers.
const WARM_UP_DECISIONS: usize = 8;
/// Number of counted decisions.
const COUNTED_DECISIONS: usize = 64;

/// Cost of a decision about each of the two pods, whose signatures are known. One node has changed since the previous
/// decision: a pod was placed there, and ended.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct DecisionCost {
    /// Allocations for the plain pod; `None` if the binary does not count.
    pub plain_allocations: Option<f64>,
    /// Allocations for the demanding pod.
    pub demanding_allocations: Option<f64>,
    /// Instructions for the plain pod; `None` if they are not counted.
    pub plain_instructions: Option<f64>,
    /// Instructions for the demanding pod.
    pub demanding_instructions: Option<f64>,
}

impl DecisionCost {
    /// Returns the larger number of instructions.
    pub fn instructions(&self) -> Option<f64> {
        larger(self.plain_instructions, self.demanding_instructions)
    }

    /// Returns the larger number of allocations.
    pub fn allocations(&self) -> Option<f64> {
        larger(self.plain_allocations, self.demanding_allocations)
    }
}

/// Returns the larger one of two costs.
pub(super) fn larger(plain: Option<f64>, demanding: Option<f64>) -> Option<f64> {
    plain.into_iter().chain(demanding).reduce(f64::max)
}

/// Measures decisions of a profile, and their instructions if the processor counts them.
pub(super) fn measure(profile: usize, cluster: &mut Cluster, counter: &mut Result<Counter, String>) -> DecisionCost {
    let mut measured = [(None, None); 2];
    for (measured, pod) in measured.iter_mut().zip([cluster.plain.clone(), cluster.demanding.clone()]) {
        cluster.decide(profile, &pod, WARM_UP_DECISIONS);
        let before = schedc_allocator::allocations();
        cluster.decide(profile, &pod, COUNTED_DECISIONS);
        let allocations = schedc_allocator::allocations().wrapping_sub(before);
        let mut work = || cluster.decide(profile, &pod, COUNTED_DECISIONS);
        let instructions = counter.as_mut().ok().and_then(|counter| counter.count(&mut work));
        let each = |number: u64| number as f64 / COUNTED_DECISIONS as f64;
        *measured = (crate::measure::is_counting().then(|| each(allocations)), instructions.map(each));
    }
    let [(plain_allocations, plain_instructions), (demanding_allocations, demanding_instructions)] = measured;
    DecisionCost { plain_allocations, demanding_allocations, plain_instructions, demanding_instructions }
}

/// Decides about both pods. This function measures nothing itself; callgrind counts its instructions.
///
/// # Errors
/// Returns an error if plugins cannot start.
pub fn decide(bundle: &AnyBundle, profile: usize, nodes: usize, [plain, demanding]: [usize; 2]) -> Result<(), Error> {
    let mut cluster = Cluster::new(bundle.cluster(None)?, nodes.max(1))?;
    for (pod, count) in [(cluster.plain.clone(), plain), (cluster.demanding.clone(), demanding)] {
        cluster.decide(profile, &pod, WARM_UP_DECISIONS + count);
    }
    Ok(())
}

/// Counts the instructions of a decision about each of the two pods. `arguments` returns the command-line arguments with
/// which this program calls [`decide`] for the given numbers of decisions.
///
/// # Errors
/// Returns the reason why valgrind cannot count them.
pub(super) fn with_valgrind(arguments: &dyn Fn([usize; 2]) -> Vec<String>) -> Result<[f64; 2], String> {
    let [none, plain, demanding] =
        [[0, 0], [COUNTED_DECISIONS, 0], [0, COUNTED_DECISIONS]].map(|counts| callgrind(&arguments(counts)));
    let none = none?;
    let each = |all: u64| all.saturating_sub(none) as f64 / COUNTED_DECISIONS as f64;
    Ok([each(plain?), each(demanding?)])
}

/// Runs this program under callgrind, and returns the number of its instructions.
fn callgrind(arguments: &[String]) -> Result<u64, String> {
    let program = std::env::current_exe().map_err(|error| format!("this program is not found: {error}"))?;
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("valgrind, which could count them, does not start: {error}"))?;
    let report = String::from_utf8_lossy(&output.stderr);
    match collected_instructions(&report).filter(|_| output.status.success()) {
        Some(instructions) => Ok(instructions),
        None => Err(format!("valgrind failed: {}", report.lines().last().unwrap_or("no output"))),
    }
}

/// Returns the number of instructions in the report of callgrind.
fn collected_instructions(report: &str) -> Option<u64> {
    report.lines().find_map(|line| line.split_once("Collected :")?.1.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_instructions_is_read_from_the_report_of_callgrind() {
        let report = "==7== Callgrind, a call-graph generating cache profiler\n==7== Events    : Ir\n==7== Collected : 8150216\n";
        assert_eq!(collected_instructions(report), Some(8_150_216));
        assert_eq!(collected_instructions("==7== Events    : Ir\n"), None);
    }
}
