//! What is taken down for a pod that has a node goes again, whatever becomes of the pod.

use std::collections::BTreeMap;

use schedc_core::profile::Bundle;
use schedc_core::scheduler::Outcome;

use super::equal;
use crate::history::Step;
use crate::material::Thing;
use crate::world::World;

/// How often everything is tried in vain before it is looked at what is left of that.
const IN_VAIN: usize = 4;
/// Longer than plugins mind what happened.
const HOUR: i64 = 3_600_000_000_000;

pub(super) fn play<B: Bundle>(world: &mut World<B>, steps: &[Step], things: &[Thing]) -> Result<(), String> {
    for (at, step) in steps.iter().enumerate() {
        world.happen(*step, things);
        if *step != Step::Refuse {
            if steps.get(at + 1) != Some(&Step::Refuse) {
                // Pods are bound, and PostBind is told.
                world.run();
            }
            continue;
        }
        world.refuse(true);
        (0..IN_VAIN).for_each(|_| drop(world.try_all()));
        world.pass(HOUR);
        let mut anew = world.anew()?;
        anew.refuse(true);
        let (expected, got) = (outcomes(anew.try_all()), outcomes(world.try_all()));
        for (pod, expected) in &expected {
            let what = format!("{pod}, after pods had nodes and were not bound");
            equal(&what, &Some(expected), &got.get(pod))?;
        }
        world.refuse(false);
    }
    Ok(())
}

/// What became of each pod at last.
fn outcomes(outcomes: Vec<Outcome>) -> BTreeMap<String, String> {
    let in_words = |outcome: Outcome| {
        let name = outcome.pod.namespaced_name().to_string();
        match outcome.result {
            Ok(placed) => (name, format!("on {}", placed.node)),
            Err(failure) => (name, failure.message().to_owned()),
        }
    };
    outcomes.into_iter().map(in_words).collect()
}
