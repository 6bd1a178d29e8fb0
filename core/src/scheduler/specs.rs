//! Specs of pods that wait, each once: pods of a workload are alike, and whoever looks at one again knows it by its address.

use std::sync::Arc;

use crate::map::Set;
use crate::model::PodSpec;

/// How many are known at most.
const LIMIT: usize = 8192;

/// The specs that pods had that waited last.
#[derive(Debug, Default)]
pub(super) struct Specs(Set<Arc<PodSpec>>);

impl Specs {
    /// Makes the spec the one that an equal pod has.
    pub(super) fn share(&mut self, spec: &mut Arc<PodSpec>) {
        if let Some(known) = self.0.get(spec) {
            *spec = known.clone();
            return;
        }
        if self.0.len() >= LIMIT {
            self.0.retain(|spec| Arc::strong_count(spec) > 1);
        }
        if self.0.len() >= LIMIT {
            self.0.clear();
        }
        self.0.insert(spec.clone());
    }
}
