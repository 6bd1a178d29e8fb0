//! Pods as the plugins read them, kept for pods that are alike.

use std::sync::Arc;

use crate::cache::Cache;
use crate::map::Map;
use crate::model::PodSpec;
use crate::profile::Profile;

/// How many are kept at most.
const LIMIT: usize = 1024;

/// What the plugins of a profile read of pods, by their specs.
pub(super) struct CompiledPods<P: Profile> {
    pods: Map<Arc<PodSpec>, Arc<P::Pod>>,
    /// The cluster that they were compiled for, and [`Profile::compile_epoch`] then.
    cluster: Arc<()>,
    epoch: u64,
}

impl<P: Profile> Default for CompiledPods<P> {
    fn default() -> Self {
        CompiledPods { pods: Map::default(), cluster: Arc::default(), epoch: 0 }
    }
}

impl<P: Profile> CompiledPods<P> {
    pub(super) fn get(&mut self, spec: &Arc<PodSpec>, cache: &mut Cache<P::State>) -> Arc<P::Pod> {
        let Some(epoch) = P::compile_epoch(&cache.state) else { return Arc::new(compile::<P>(spec, cache)) };
        if epoch != self.epoch || !Arc::ptr_eq(&self.cluster, &cache.identity) {
            self.pods.clear();
            (self.cluster, self.epoch) = (cache.identity.clone(), epoch);
        }
        if let Some(compiled) = self.pods.get(spec) {
            return compiled.clone();
        }
        if self.pods.len() == LIMIT {
            self.pods.clear();
        }
        let compiled = Arc::new(compile::<P>(spec, cache));
        self.pods.insert(spec.clone(), compiled.clone());
        compiled
    }
}

pub(super) fn compile<P: Profile>(spec: &PodSpec, cache: &mut Cache<P::State>) -> P::Pod {
    P::compile(spec, &mut cache.base.interner, &mut cache.state)
}
