//! Columns and indexes that followed events say what those of a cluster that is built anew say.

use std::sync::Arc;

use schedc_core::cache::{Cache, State};
use schedc_core::engine::Engine;
use schedc_core::explain::Explanation;
use schedc_core::model::Pod;
use schedc_core::profile::{Bundle, Profile, Visitor};

use super::{bundle, equal, fresh};
use crate::history::Step;
use crate::material::Thing;
use crate::world::{World, rebuilt};

pub(super) fn play<B: Bundle>(world: &mut World<B>, steps: &[Step], things: &[Thing]) -> Result<(), String> {
    for step in steps {
        world.happen(*step, things);
        let pending = world.pending();
        for pod in &pending {
            let compare = Compare { cache: &mut world.cluster.scheduler.cache, pod, pending: &pending };
            bundle::<B>()?.with(world.profile, compare)?;
        }
        world.run();
    }
    Ok(())
}

struct Compare<'a, S> {
    cache: &'a mut Cache<S>,
    pod: &'a Arc<Pod>,
    pending: &'a [Arc<Pod>],
}

impl<S: State> Visitor<S> for Compare<'_, S> {
    type Output = Result<(), String>;

    fn visit<P: Profile<State = S>>(self, _: &mut Engine<P>) -> Self::Output {
        let Compare { cache, pod, pending } = self;
        let mut anew = rebuilt(cache, pending, &[], &[]);
        let expected = fresh::<P>()?.explain(pod, &mut anew, true);
        let got = fresh::<P>()?.explain(pod, cache, true);
        same(&format!("{} in a cluster that is built anew, and in one that followed events", pod.name), &expected, &got)
    }
}

/// That two explanations say the same, but for the numbers of nodes.
pub(super) fn same(what: &str, expected: &Explanation, got: &Explanation) -> Result<(), String> {
    equal(&format!("{what}: PreEnqueue"), &expected.held, &got.held)?;
    equal(&format!("{what}: PreFilter"), &expected.pre_filter, &got.pre_filter)?;
    equal(&format!("{what}: narrowed"), &expected.narrowed, &got.narrowed)?;
    let names =
        |explanation: &Explanation| -> Vec<String> { explanation.nodes.iter().map(|node| node.node.clone()).collect() };
    equal(&format!("{what}: nodes"), &names(expected), &names(got))?;
    for (expected, got) in expected.nodes.iter().zip(&got.nodes) {
        equal(&format!("{what}: {}", expected.node), expected, got)?;
    }
    Ok(())
}
