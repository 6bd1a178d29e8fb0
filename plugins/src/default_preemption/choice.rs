//! The choice among nodes where preemption would work.

use std::cmp::Reverse;

use schedc_core::extension_points::Candidate;

use super::importance::start_time;

/// Marks the best candidates (`pickOneNodeForPreemption`), and tells their number.
pub(super) fn mark_best(candidates: &mut [Candidate], now: i64) -> usize {
    let harms: Vec<Harm> = candidates.iter().map(|candidate| Harm::of(candidate, now)).collect();
    let least = harms.iter().min();
    for (candidate, harm) in candidates.iter_mut().zip(&harms) {
        candidate.best = Some(harm) == least;
    }
    candidates.iter().filter(|candidate| candidate.best).count()
}

/// How bad it would be, what weighs most first.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Harm {
    violations: usize,
    highest_priority: i32,
    /// Each priority counts from the lowest that there can be, so that more pods are worse even if priorities are
    /// negative.
    sum_of_priorities: i64,
    pods: usize,
    /// Of the pods of the highest priority, when the first of them started: the later the better.
    earliest_start: Reverse<i64>,
}

impl Harm {
    fn of(candidate: &Candidate, now: i64) -> Harm {
        let priorities = || candidate.victims.iter().map(|pod| pod.spec.priority);
        let highest_priority = priorities().max().unwrap_or(i32::MIN);
        let most_important = candidate.victims.iter().filter(|pod| pod.spec.priority == highest_priority);
        Harm {
            violations: candidate.violations,
            highest_priority,
            sum_of_priorities: priorities().map(|priority| i64::from(priority) - i64::from(i32::MIN)).sum(),
            pods: candidate.victims.len(),
            earliest_start: Reverse(most_important.map(|pod| start_time(pod, now)).min().unwrap_or(now)),
        }
    }
}
