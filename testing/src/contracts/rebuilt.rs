//! Columns and indexes that followed events say what those of a cluster that is built anew say.

use std::sync::Arc;

use schedc_core::cache::{Cache, State};
use schedc_core::engine::Engine;
use schedc_core::model::Pod;
use schedc_core::profile::{Bundle, Profile, Visitor};

use super::difference::Difference;
use super::{bundle, fresh};
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
        let mut other = rebuilt(cache, pending, &[], &[]);
        let expected = fresh::<P>()?.explain(pod, &mut other, true);
        let got = fresh::<P>()?.explain(pod, cache, true);
        let mut difference =
            Difference::of(pod.namespaced_name().to_string(), ["rebuilt cluster", "cluster after events"]);
        difference.explanations(&expected, &got);
        difference.finish()
    }
}
