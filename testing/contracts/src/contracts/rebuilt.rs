//! Contract of columns and indexes: their state after a series of events equals that of a rebuilt cluster.

use std::sync::Arc;

use schedc_core::cache::{Cache, State};
use schedc_core::engine::Engine;
use schedc_core::model::Pod;
use schedc_core::profile::{Bundle, Profile, Visitor};

use super::difference::Difference;
use super::{bundle, new_engine};
use crate::history::Step;
use crate::test_cluster::{TestCluster, rebuilt};
use crate::test_object::TestObject;

pub(super) fn play<B: Bundle>(
    test_cluster: &mut TestCluster<B>,
    steps: &[Step],
    objects: &[TestObject],
) -> Result<(), String> {
    for step in steps {
        test_cluster.apply_step(*step, objects);
        let pending = test_cluster.pending();
        for pod in &pending {
            let compare = Compare { cache: &mut test_cluster.cluster.scheduler.cache, pod, pending: &pending };
            bundle::<B>()?.with(test_cluster.profile, compare)?;
        }
        test_cluster.run();
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
        let expected = new_engine::<P>()?.explain(pod, &mut other, true);
        let actual = new_engine::<P>()?.explain(pod, cache, true);
        let mut difference =
            Difference::of(pod.namespaced_name().to_string(), ["rebuilt cluster", "cluster after events"]);
        difference.explanations(&expected, &actual);
        difference.finish()
    }
}
