//! What happens in a cluster, drawn at random. Each step means something whatever comes before it, so that a history from which
//! steps are taken out is a history.

use schedc_core::random::Random;

use crate::material::Thing;

/// One thing that happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// A thing comes, or changes.
    Set { thing: usize, variant: usize },
    /// A thing goes.
    Remove { thing: usize },
    /// Pods are tried, and all bindings are refused.
    Refuse,
}

/// The steps of a history in words, and the manifests that they apply, as a file with a document for each.
pub(crate) fn describe(steps: &[Step], things: &[Thing]) -> String {
    let mut manifests: Vec<(usize, usize)> = Vec::new();
    let mut text = "Steps:\n".to_owned();
    for (at, step) in (1..).zip(steps) {
        let step = match *step {
            Step::Refuse => "schedule all pods, and let all bindings fail".to_owned(),
            Step::Remove { thing } => format!("delete {}", things[thing]),
            Step::Set { thing, variant } => {
                let known = manifests.iter().position(|manifest| *manifest == (thing, variant));
                let number = known.unwrap_or_else(|| {
                    manifests.push((thing, variant));
                    manifests.len() - 1
                });
                format!("apply {} (manifest {})", things[thing], number + 1)
            }
        };
        text.push_str(&format!("{at:3}. {step}\n"));
    }
    text.push_str("Manifests:\n");
    for (number, (thing, variant)) in (1..).zip(manifests) {
        let manifest = things[thing].manifest(variant);
        text.push_str(&format!("--- # manifest {number}\n{manifest}"));
    }
    text
}

/// The history of a seed.
pub(crate) fn draw(seed: u64, things: &[Thing]) -> Vec<Step> {
    let mut random = Random::new(seed);
    let set = |thing: usize, random: &mut Random| {
        let variant = random.below(things[thing].variants.len());
        Step::Set { thing, variant }
    };
    // Most is there in the beginning, nodes first; how much, differs from history to history.
    let often = [50, 75, 95][random.below(3)];
    let is_node = |thing: &usize| things[*thing].kind() == "Node";
    let (nodes, others): (Vec<usize>, Vec<usize>) = (0..things.len()).partition(is_node);
    let mut steps = Vec::new();
    for thing in nodes.into_iter().chain(others) {
        if random.below(100) < often {
            steps.push(set(thing, &mut random));
        }
    }
    if random.below(2) == 0 {
        steps.push(Step::Refuse);
    }
    for _ in 0..5 + random.below(20) {
        let thing = random.below(things.len());
        let goes = random.below(100) < 30;
        steps.push(if goes { Step::Remove { thing } } else { set(thing, &mut random) });
        if random.below(100) < 25 {
            steps.push(Step::Refuse);
        }
    }
    steps
}
