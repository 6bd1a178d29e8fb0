//! Pods of one template share what they have in common, however the cluster told of them.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use hashbrown::HashTable;

use crate::map::FixedHasher;
use crate::model::{Pod, PodSpec, PodUsage};

/// A table of so many templates becomes the older one.
const LIMIT: usize = 4096;

/// What pods of one template look like.
struct PodTemplate {
    hash: u64,
    spec: Arc<PodSpec>,
    usage: Arc<PodUsage>,
}

/// The templates of pods that were seen lately. Who knows a pod by its spec finds it by address, and a million pods take the
/// memory of a few.
#[derive(Default)]
pub(super) struct Templates {
    young: HashTable<PodTemplate>,
    /// Those of them that are seen again get young.
    old: HashTable<PodTemplate>,
}

impl Templates {
    /// Lets a pod share what another one of its template has.
    pub(super) fn share(&mut self, pod: &mut Pod) {
        let mut hasher = FixedHasher::default();
        pod.spec.hash(&mut hasher);
        let hash = hasher.finish();
        let template = match self.young.find(hash, |known| known.hash == hash && known.spec == pod.spec) {
            Some(template) => template,
            None => self.promote(hash, pod),
        };
        pod.spec = template.spec.clone();
        if template.usage == pod.usage {
            pod.usage = template.usage.clone();
        }
    }

    /// The template of a pod that is none of the young ones, which it is from now on.
    fn promote(&mut self, hash: u64, pod: &Pod) -> &PodTemplate {
        let template = match self.old.find_entry(hash, |known| known.hash == hash && known.spec == pod.spec) {
            Ok(found) => found.remove().0,
            Err(_) => PodTemplate { hash, spec: pod.spec.clone(), usage: pod.usage.clone() },
        };
        if self.young.len() == LIMIT {
            std::mem::swap(&mut self.young, &mut self.old);
            self.young.clear();
        }
        self.young.insert_unique(hash, template, |known| known.hash).into_mut()
    }
}
