//! What happens in a cluster, drawn at random. Each step means something whatever comes before it, so that a history from which
//! steps are taken out is a history.

use schedc_core::random::Random;

use crate::test_object::TestObject;

/// One thing that happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// A thing comes, or changes.
    Set { object: usize, variant: usize },
    /// A thing goes.
    Remove { object: usize },
    /// Pods are tried, and all bindings are refused.
    Refuse,
}

/// The steps of a history in words, and the manifests that they apply, as a file with a document for each.
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

/// The history of a seed.
pub(crate) fn draw(seed: u64, objects: &[TestObject]) -> Vec<Step> {
    let mut random = Random::new(seed);
    let set = |object: usize, random: &mut Random| {
        let variant = random.below(objects[object].variants.len());
        Step::Set { object, variant }
    };
    // Most is there in the beginning, nodes first; how much, differs from history to history.
    let often = [50, 75, 95][random.below(3)];
    let is_node = |object: &usize| objects[*object].kind() == "Node";
    let (nodes, others): (Vec<usize>, Vec<usize>) = (0..objects.len()).partition(is_node);
    let mut steps = Vec::new();
    for object in nodes.into_iter().chain(others) {
        if random.below(100) < often {
            steps.push(set(object, &mut random));
        }
    }
    if random.below(2) == 0 {
        steps.push(Step::Refuse);
    }
    for _ in 0..5 + random.below(20) {
        let object = random.below(objects.len());
        let goes = random.below(100) < 30;
        steps.push(if goes { Step::Remove { object } } else { set(object, &mut random) });
        if random.below(100) < 25 {
            steps.push(Step::Refuse);
        }
    }
    steps
}
