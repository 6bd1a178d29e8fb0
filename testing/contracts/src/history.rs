//! Random histories of a cluster. Every step is valid after any other, so a history without some of its steps is
//! valid.

use schedc_core::random::Random;

use crate::test_object::TestObject;

/// A step of a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// An object is created or updated.
    Set { object: usize, variant: usize },
    /// An object is deleted.
    Remove { object: usize },
    /// All pods are scheduled, and all bindings are refused.
    Refuse,
}

/// Returns the steps of a history as text, and the manifests that they apply, as one file.
pub(crate) fn describe(steps: &[Step], objects: &[TestObject]) -> String {
    let mut manifests: Vec<(usize, usize)> = Vec::new();
    let mut text = "Steps:\n".to_owned();
    for (at, step) in (1..).zip(steps) {
        let step = match *step {
            Step::Refuse => "schedule all pods, and let all bindings fail".to_owned(),
            Step::Remove { object } => format!("delete {}", objects[object]),
            Step::Set { object, variant } => {
                let known = manifests.iter().position(|manifest| *manifest == (object, variant));
                let number = known.unwrap_or_else(|| {
                    manifests.push((object, variant));
                    manifests.len() - 1
                });
                format!("apply {} (manifest {})", objects[object], number + 1)
            }
        };
        text.push_str(&format!("{at:3}. {step}\n"));
    }
    text.push_str("Manifests:\n");
    for (number, (object, variant)) in (1..).zip(manifests) {
        let manifest = objects[object].manifest(variant);
        text.push_str(&format!("--- # manifest {number}\n{manifest}"));
    }
    text
}

/// Returns the history of a seed.
pub(crate) fn draw(seed: u64, objects: &[TestObject]) -> Vec<Step> {
    let mut random = Random::new(seed);
    let set = |object: usize, random: &mut Random| {
        let variant = random.below(objects[object].variants.len());
        Step::Set { object, variant }
    };
    // Most objects exist at the start, nodes first. The fraction varies between histories.
    let percentage = [50, 75, 95][random.below(3)];
    let is_node = |object: &usize| objects[*object].kind() == "Node";
    let (nodes, others): (Vec<usize>, Vec<usize>) = (0..objects.len()).partition(is_node);
    let mut steps = Vec::new();
    for object in nodes.into_iter().chain(others) {
        if random.below(100) < percentage {
            steps.push(set(object, &mut random));
        }
    }
    if random.below(2) == 0 {
        steps.push(Step::Refuse);
    }
    for _ in 0..5 + random.below(20) {
        let object = random.below(objects.len());
        let removes = random.below(100) < 30;
        steps.push(if removes { Step::Remove { object } } else { set(object, &mut random) });
        if random.below(100) < 25 {
            steps.push(Step::Refuse);
        }
    }
    steps
}
