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

impl Step {
    /// In words.
    pub(crate) fn tell(self, things: &[Thing]) -> String {
        match self {
            Step::Refuse => "pods are tried, and their bindings refused".to_owned(),
            Step::Remove { thing } => format!("{} goes", things[thing]),
            Step::Set { thing, variant } => {
                let json = things[thing].variants[variant].to_json().map(|json| json.to_string());
                format!("{} comes or changes: {}", things[thing], json.unwrap_or_default())
            }
        }
    }
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
