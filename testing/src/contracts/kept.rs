//! An answer that is kept and brought up to date is what a full evaluation says.

use std::collections::BTreeMap;
use std::sync::Arc;

use schedc_core::cache::{Cache, State};
use schedc_core::engine::{Engine, UNTIMED};
use schedc_core::explain::Explanation;
use schedc_core::model::Pod;
use schedc_core::profile::{Bundle, Profile, Visitor};

use super::{bundle, equal, fresh};
use crate::history::Step;
use crate::material::Thing;
use crate::world::World;

pub(super) fn play<B: Bundle>(world: &mut World<B>, steps: &[Step], things: &[Thing]) -> Result<(), String> {
    let mut keeping = bundle::<B>()?;
    for step in steps {
        world.happen(*step, things);
        // What is kept of a question is kept from the second time on.
        for pod in world.pending().iter().cycle().take(2 * world.pending().len()) {
            let compare = Compare { cache: &mut world.cluster.scheduler.cache, pod };
            keeping.with(world.profile, compare)?;
        }
        world.run();
    }
    Ok(())
}

struct Compare<'a, S> {
    cache: &'a mut Cache<S>,
    pod: &'a Arc<Pod>,
}

impl<S: State> Visitor<S> for Compare<'_, S> {
    type Output = Result<(), String>;

    fn visit<P: Profile<State = S>>(self, kept: &mut Engine<P>) -> Self::Output {
        let Compare { cache, pod } = self;
        kept.percentage_of_nodes_to_score = 100;
        // What plugins keep of their own is not what this is about: both sides know nothing.
        kept.plugins = fresh::<P>()?.plugins;
        // What is kept comes first, before anybody else asks anything of the cluster's indexes.
        let by_kept = kept.decide(pod, cache, UNTIMED, |_| 0);
        let answer = kept.kept_answer(pod, cache);
        let full = fresh::<P>()?.explain(pod, cache, false);
        let what = |what: &str| format!("{} by what is kept of it: {what}", pod.name);
        if let Some(answer) = answer {
            let name = |node| cache.base.name(node).to_owned();
            let feasible = full.nodes.iter().filter(|node| node.is_feasible());
            let expected: Vec<&str> = feasible.map(|node| node.node.as_str()).collect();
            let mut got: Vec<String> = answer.feasible.iter().map(name).collect();
            got.sort_unstable();
            equal(&what("feasible nodes"), &expected, &got.iter().map(String::as_str).collect())?;
            if got.len() > 1 {
                let got = answer.totals.iter().map(|&(node, total)| (name(node), total)).collect();
                equal(&what("totals"), &totals(&full), &got)?;
            }
        }
        let by_full = fresh::<P>()?.decide(pod, cache, UNTIMED, |_| 0);
        equal(&what("decision"), &by_full, &by_kept)
    }
}

fn totals(full: &Explanation) -> BTreeMap<String, Option<i64>> {
    let feasible = full.nodes.iter().filter(|node| node.is_feasible());
    feasible.map(|node| (node.node.clone(), Some(node.total()))).collect()
}
