//! Contract of Reserve and Permit: their state is removed after every outcome of a binding.

use std::collections::{BTreeMap, BTreeSet};

use schedc_core::profile::Bundle;
use schedc_core::scheduler::{Failure, Outcome};

use super::difference::Difference;
use crate::history::Step;
use crate::test_cluster::TestCluster;
use crate::test_object::TestObject;

/// Number of times that all pods are scheduled with failing bindings before the state is compared.
const FAILED_ROUNDS: usize = 4;
/// Time in nanoseconds that is longer than plugins keep state about past events.
const HOUR: i64 = 3_600_000_000_000;

pub(super) fn play<B: Bundle>(
    test_cluster: &mut TestCluster<B>,
    steps: &[Step],
    objects: &[TestObject],
) -> Result<(), String> {
    for (at, step) in steps.iter().enumerate() {
        test_cluster.apply_step(*step, objects);
        if *step != Step::Refuse {
            if steps.get(at + 1) != Some(&Step::Refuse) {
                // Binds pods and calls PostBind.
                test_cluster.run();
            }
            continue;
        }
        test_cluster.refuse(true);
        (0..FAILED_ROUNDS).for_each(|_| drop(test_cluster.try_all()));
        test_cluster.advance(HOUR);
        let mut restarted = test_cluster.restarted()?;
        restarted.refuse(true);
        let (expected, actual) = (outcomes(restarted.try_all()), outcomes(test_cluster.try_all()));
        for (pod, expected) in &expected {
            let mut difference = Difference::of(
                format!("{pod}, after bindings of pods failed"),
                ["scheduler that has just started", "scheduler after failed bindings"],
            );
            let no_attempt = LastAttempt::default();
            let actual = actual.get(pod).unwrap_or(&no_attempt);
            difference.name_plugins(actual.plugins.symmetric_difference(&expected.plugins).copied());
            difference.field("result", expected.text.clone(), actual.text.clone());
            difference.finish()?;
        }
        test_cluster.refuse(false);
    }
    Ok(())
}

/// The result of a pod's last attempt.
struct LastAttempt {
    text: String,
    /// The plugins that rejected the pod.
    plugins: BTreeSet<&'static str>,
}

impl Default for LastAttempt {
    fn default() -> Self {
        LastAttempt { text: "no attempt".to_owned(), plugins: BTreeSet::new() }
    }
}

/// Returns the last attempt of each pod.
fn outcomes(outcomes: Vec<Outcome>) -> BTreeMap<String, LastAttempt> {
    let last_attempt = |outcome: Outcome| {
        let (text, plugins) = match outcome.result {
            Ok(placed) => (format!("on {}", placed.node), BTreeSet::new()),
            Err(failure) => {
                let plugins = match &failure {
                    Failure::Unschedulable(unschedulable) => {
                        unschedulable.diagnosis.unschedulable_plugins.iter().copied().collect()
                    }
                    Failure::Error(_) => BTreeSet::new(),
                };
                (failure.message().to_owned(), plugins)
            }
        };
        (outcome.pod.namespaced_name().to_string(), LastAttempt { text, plugins })
    };
    outcomes.into_iter().map(last_attempt).collect()
}
