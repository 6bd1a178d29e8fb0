//! Sharing of specs between pods of one template.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use hashbrown::HashTable;

use crate::model::cache_size::CacheSize;
use crate::model::map::FixedHasher;
use crate::model::{Pod, PodSpec, PodUsage};

/// When a table has this number of templates, it becomes the older one.
const LIMIT: usize = 4096;

/// The common parts of pods of one template.
struct PodTemplate {
    hash: u64,
    spec: Arc<PodSpec>,
    usage: Arc<PodUsage>,
}

/// Recently seen templates. Compiled pods are found by the address of their spec, and a million pods need the memory of
/// a few.
#[derive(Default)]
pub(super) struct Templates {
    young: HashTable<PodTemplate>,
    /// Older templates; those that are seen again move to the young ones.
    old: HashTable<PodTemplate>,
}

impl Templates {
    pub(super) fn cache_size(&self) -> CacheSize {
        CacheSize::limited("templates", self.young.len() + self.old.len(), 2 * LIMIT)
    }

    /// Replaces a pod's spec with the shared one of its template.
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

    /// Moves the template of a pod to the young ones, or adds it.
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
