//! A pod on its way through a scheduling cycle.

use std::sync::Arc;

use crate::cache::Cache;
use crate::imagined::Imagined;
use crate::model::{NodeIndex, Pod};
use crate::profile::{PreFilterRun, Profile};

/// What is known of a pod after PreFilter.
pub(crate) struct Attempt<P: Profile> {
    pub(crate) compiled: Arc<P::Pod>,
    pub(crate) cycle: P::Cycle,
    pub(crate) pre_filter: PreFilterRun,
}

impl<P: Profile> Attempt<P> {
    /// The node with further pods on it.
    pub(crate) fn with_pods<'a>(
        &'a mut self,
        pods: &[Arc<Pod>],
        cache: &'a Cache<P::State>,
        node: NodeIndex,
    ) -> Imagined<'a, P> {
        let mut imagined = Imagined::new(&*self.compiled, &mut self.cycle, cache, node);
        pods.iter().for_each(|pod| imagined.add_pod(pod));
        imagined
    }
}
